"""What the judged sets share: a judge that answers prompts, and a published scorer's prompts about one reply."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from typing import NamedTuple, TypeVar

from ltm_bench.core.messages import Outcome

Ask = Callable[[str], Awaitable[str | None]]
"""Asks a judge; None if it fails."""

T = TypeVar("T")


class Judged(NamedTuple):
    """The verdict on a reply, derived from a judge's answers."""

    outcome: Outcome
    score: float
    """From 0 to 1, as the run is scored."""
    reason: str
    scores: Mapping[str, float]
    """From 0 to 1, by the columns of the published scorer."""


Inquiry = Generator[str, str, Judged | None]
"""Yields prompts to a judge about a reply, receives its answers, and returns the resulting verdict.

None if an answer could not be read.
"""


async def conduct(inquiry: Inquiry, ask: Ask) -> Judged | None:
    """Ask a judge an inquiry's prompts, one after the other. Returns None if it fails, or cannot be understood."""
    try:
        text = next(inquiry)
        while True:
            answer = await ask(text)
            if answer is None:
                return None
            text = inquiry.send(answer)
    except StopIteration as done:
        found: Judged | None = done.value
        return found
    finally:
        inquiry.close()


async def together(tasks: Iterable[Awaitable[T]]) -> list[T]:
    """Await tasks concurrently. Raises the first of their errors, after all have ended."""
    found = await asyncio.gather(*tasks, return_exceptions=True)
    results: list[T] = []
    for each in found:
        if isinstance(each, BaseException):
            raise each
        results.append(each)
    return results
