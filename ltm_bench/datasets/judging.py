"""What the judged sets share: somebody who answers questions."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Ask = Callable[[str], Awaitable[str | None]]
"""Puts a question to a judge; None if it fails."""

T = TypeVar("T")


async def together(tasks: Iterable[Awaitable[T]]) -> list[T]:
    """Await tasks at the same time. Raises what the first of them raises, after all have ended."""
    found = await asyncio.gather(*tasks, return_exceptions=True)
    results: list[T] = []
    for each in found:
        if isinstance(each, BaseException):
            raise each
        results.append(each)
    return results
