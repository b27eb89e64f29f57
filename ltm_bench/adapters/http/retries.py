"""Retries with growing pauses, for adapters whose SDK does not."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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


def passing(status: int) -> bool:
    """Whether an HTTP status is transient."""
    return status in (408, 409, 429) or status >= 500
