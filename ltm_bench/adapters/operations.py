"""What a memory does for a turn: it writes, retrieves, answers. Whoever listens learns how long and for how much.

    with operating("retrieve") as done:
        found = await self.search(message.text)
        done.used(usage)

Sections do not overlap. An adapter that marks none is taken to do one thing: `write` where it observes, `answer` where
it replies. Waiting for indexers (`Agent.settle`) is timed by the benchmark.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from ltm_bench.core.messages import Usage

Operation = Literal["write", "settle", "retrieve", "answer"]


@dataclass(slots=True)
class Done:
    """One operation."""

    name: Operation
    seconds: float = 0.0
    usage: list[Usage | None] = field(default_factory=list)
    """Of every call to a model; None if a call does not say."""

    def used(self, *usage: Usage | None) -> None:
        """Say what it used."""
        self.usage += usage


@contextmanager
def operating(name: Operation) -> Iterator[Done]:
    """Time an operation, and report it to the listener, if there is one. What fails is not reported."""
    done, begun = Done(name), time.perf_counter()
    yield done
    done.seconds = time.perf_counter() - begun
    if (noted := _noted.get()) is not None:
        noted.append(done)


_noted: ContextVar[list[Done] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[list[Done]]:
    """Collect the operations that are reported within."""
    noted: list[Done] = []
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
