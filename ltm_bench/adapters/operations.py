"""Reports what a memory does for a turn (write, retrieve, answer), how long that takes and what it uses.

    with operating("retrieve") as done:
        found = await self.search(message.query)
        done.used(usage)

Operations do not overlap. For an adapter that reports none, observing a turn counts as one `write` and replying as one
`answer`. Waiting for indexers (`Agent.settle`) is timed by the benchmark.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from ltm_bench.adapters.routing import route
from ltm_bench.core.keys import cleaned
from ltm_bench.core.messages import Usage

Operation = Literal["write", "settle", "retrieve", "answer"]


@dataclass(slots=True)
class Done:
    """One operation."""

    name: Operation
    seconds: float = 0.0
    usage: list[Usage | None] = field(default_factory=list)
    """Usage of every model call; None for a call that does not report it."""

    def used(self, *usage: Usage | None) -> None:
        """Report its usage."""
        self.usage += cleaned(usage)


@contextmanager
def operating(name: Operation) -> Iterator[Done]:
    """Time an operation, and report it to the listener, if any. A failed operation is not reported."""
    done, begun, through = Done(name), time.perf_counter(), route()
    with nullcontext() if through is None else through.doing(name):
        yield done
    done.seconds = time.perf_counter() - begun
    if (noted := _noted.get()) is not None:
        noted.append(done)


_noted: ContextVar[list[Done] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[list[Done]]:
    """Collect the operations reported inside the block."""
    noted: list[Done] = []
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
