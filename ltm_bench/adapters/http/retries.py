"""Retries with growing pauses, for adapters whose SDK does not."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

T = TypeVar("T")

LONGEST_PAUSE = 60.0
"""Maximum seconds between attempts, whatever the server asks for: a run can be resumed later."""


@dataclass(frozen=True, slots=True)
class Again:
    """A failed call may be retried."""

    after: float | None = None
    """Seconds to wait, if the server says so."""


async def retrying(
    call: Callable[[], Awaitable[T]],
    *,
    retries: int,
    pause: float,
    again: Callable[[Exception], Again | None],
    before: Callable[[], Awaitable[None]] | None = None,
) -> T:
    """Return what `call` returns; retry it if it fails.

    Args:
        call: The call. Its last error is raised.
        retries: Maximum number of retries.
        pause: Seconds before the first retry; doubled before each further one.
        again: Decides whether an error may be retried; None raises it.
        before: Awaited after each pause, before the retry; nothing by default. Its exceptions propagate.
    """
    for attempt in range(retries):
        try:
            return await call()
        except Exception as error:  # `again` knows which ones are transient; all others are raised
            verdict = again(error)
            if verdict is None:
                raise
        seconds = pause * 2**attempt if verdict.after is None else verdict.after
        await asyncio.sleep(min(seconds, LONGEST_PAUSE))
        if before is not None:
            await before()
    return await call()


_SPAN = re.compile(
    r"(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?"
)
_UNITS = (3600, 60, 1, 0.001)


def seconds_in(said: str, *, thousandths: bool = False) -> float | None:
    """Return how long a server asks to wait: a number, a span such as `6m0s`, or a date; None if it says nothing."""
    with suppress(ValueError):
        number = float(said) / (1000 if thousandths else 1)
        return number if number >= 0 else None  # nor is NaN a pause
    if said and (span := _SPAN.fullmatch(said)):
        return sum(float(many or 0) * unit for many, unit in zip(span.groups(), _UNITS, strict=True))
    for dated in (parsedate_to_datetime, datetime.fromisoformat):
        with suppress(ValueError, TypeError, OverflowError):
            return dated(said).timestamp() - time.time()  # noqa: TID251  # a date of the server's
    return None


def passing(status: int) -> bool:
    """Whether an HTTP status is transient."""
    return status in (408, 409, 429) or status >= 500
