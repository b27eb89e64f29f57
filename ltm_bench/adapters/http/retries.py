"""Calls again what may succeed another time, with growing pauses. For adapters whose SDK does not do so itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

LONGEST_PAUSE = 60.0
"""Seconds between two attempts at most, whatever the server asks for: a run can be resumed later."""


@dataclass(frozen=True, slots=True)
class Again:
    """A failed call may be made again."""

    after: float | None = None
    """In how many seconds, where the server says so."""


async def retrying(
    call: Callable[[], Awaitable[T]],
    *,
    retries: int,
    pause: float,
    again: Callable[[Exception], Again | None],
    before: Callable[[], Awaitable[None]] | None = None,
) -> T:
    """Return what `call` returns; where it fails, call again.

    Args:
        call: The call. Its last error is raised.
        retries: How often it is made again at most.
        pause: Seconds before the first retry; twice as many before each following one.
        again: Says of an error whether the call may be made again; None raises it.
        before: Awaited after each pause, before the call is made again. What it raises is raised.
    """
    for attempt in range(retries):
        try:
            return await call()
        except Exception as error:  # `again` knows which ones pass; all others are raised
            verdict = again(error)
            if verdict is None:
                raise
        seconds = pause * 2**attempt if verdict.after is None else verdict.after
        await asyncio.sleep(min(seconds, LONGEST_PAUSE))
        if before is not None:
            await before()
    return await call()


def passing(status: int) -> bool:
    """Whether an HTTP status may be another one when the request is sent again."""
    return status in (408, 409, 429) or status >= 500
