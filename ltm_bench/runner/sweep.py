"""Holds many runs at the same time, in one process: connections are shared by provider, the budget by all.

A run that fails stops nothing but itself. What is finished already is not begun again, so that a sweep is resumed by
starting it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import LtmBenchError, RunIncomplete
from ltm_bench.log.recorder import locked, start_run
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.observer import Observer
from ltm_bench.runner.runs import finished, run_conversations


@dataclass(frozen=True)
class Job:
    """A run of a sweep."""

    plan: Plan
    folder: Path
    make_agent: Callable[[], Agent]
    provider: str
    """Whose connections it takes: jobs of the same provider share them."""


class SweepObserver(Protocol):
    """Is told how a sweep goes on."""

    def begun(self, job: Job, *, already: bool) -> Observer:
        """Report that a run begins, or was finished already; returns who is told of its turns."""

    def doubtful(self, job: Job, where: str) -> None:
        """Report a turn that the agent may get twice."""

    def done(self, job: Job, problem: LtmBenchError | None) -> None:
        """Report that a run has come to its end, or what stopped it."""


async def sweep(
    jobs: Sequence[Job],
    budget: Budget,
    observer: SweepObserver,
    *,
    connections: int,
    clock: Callable[[], float],
) -> list[LtmBenchError | None]:
    """Hold all runs, and return for each what stopped it; `connections` are the calls at a time to one provider."""
    places = {provider: asyncio.Semaphore(connections) for provider in {job.provider for job in jobs}}

    async def one(job: Job) -> LtmBenchError | None:
        problem: LtmBenchError | None = None
        try:
            job.folder.mkdir(parents=True, exist_ok=True)
            with locked(job.folder):
                start_run(job.folder, job.plan.manifest)
                already = finished(job.plan, job.folder)
                turns = observer.begun(job, already=already)
                if not already:
                    await run_conversations(
                        job.plan,
                        job.make_agent,
                        job.folder,
                        budget=budget,
                        observer=turns,
                        clock=clock,
                        on_doubt=partial(observer.doubtful, job),
                        places=places[job.provider],
                        concurrent=connections,
                    )
        except LtmBenchError as error:
            problem = error
        except OSError as error:  # a folder that cannot be written, a disk that is full
            problem = RunIncomplete(f"{error.filename or job.folder}: {error.strerror or error}")
        observer.done(job, problem)
        return problem

    runs = [asyncio.ensure_future(one(job)) for job in jobs]
    try:
        return list(await asyncio.gather(*runs))
    except KeyboardInterrupt:
        # A signal that came in the midst of a run has stopped the loop, and comes by here while that ends.
        ended = [each.exception() for each in runs if each.done() and not each.cancelled()]
        if any(isinstance(each, KeyboardInterrupt) for each in ended):
            raise asyncio.CancelledError from None
        raise
