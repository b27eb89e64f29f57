"""Executes many runs concurrently in one process: each provider's runs share connections, all runs share the budget.

A failing run does not stop the others. Finished runs are skipped, so a sweep is resumed by repeating it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached, CannotResume, LtmBenchError, RunIncomplete
from ltm_bench.core.messages import Message
from ltm_bench.core.pricing import dollars
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.conversation import Verdicts
from ltm_bench.runner.conversations import run_locked
from ltm_bench.runner.observer import Observer
from ltm_bench.runner.spent import cost_before, finished

OPEN = 8
"""How many runs are open beyond the calls that may go out at once: they go on where another one needs no call."""


@dataclass(frozen=True)
class Job:
    """A run of a sweep."""

    plan: Plan
    folder: Path
    outlook: str = ""
    """What was printed of the agent's window, for the page."""

    @property
    def connections(self) -> str:
        """What its calls connect to; jobs of the same provider share connections."""
        return self.plan.agents.sample.connections


@dataclass(frozen=True)
class JobResult:
    """The result of a job."""

    job: Job
    problem: LtmBenchError | None = None
    """The error that stopped it, if any."""
    verdicts: Verdicts | None = None
    """The matchers' verdicts on every reply; None if it ran elsewhere, or was finished before."""


def too_late(job: Job, budget: Budget) -> BudgetReached | None:
    """Return why a run does not start: not even its first call can be paid for. None if it can, or if that is unknown.

    Reservations for pending calls count as unspent, since most of them are released.
    """
    agent = job.plan.agents.sample
    if budget.limit is None or agent.free:
        return None
    try:
        most = agent.reserve(Message("", job.plan.manifest.suite.start, 0))
    except Exception:  # an adapter can raise anything, and this one has not been opened
        return None
    price = None if most is None else dollars(most)
    if price is None or budget.spent + price <= budget.limit:
        return None
    state = "continued" if (job.folder / "events.jsonl").exists() else "started"
    return BudgetReached(
        f"not {state}: ${budget.spent:.4f} of --max-cost {budget.limit} is spent, and its first call could cost "
        f"${price:.4f}"
    )


def pause(tries: int) -> float:
    """Return the seconds before a run that failed is tried again: 0 at first, then 3, 15, and 60."""
    return min(60.0, 4.0 ** (tries - 1) - 1)


def is_worth_trying(problem: LtmBenchError | None) -> bool:
    """Whether a run that stopped with this could go on if it were continued at once."""
    return isinstance(problem, RunIncomplete) and not isinstance(problem, CannotResume)


class SweepObserver(Protocol):
    """Observes a sweep."""

    def begun(self, job: Job, *, already: bool) -> Observer:
        """Note that a run starts, or was already finished. Returns an observer of its turns."""

    def noted(self, job: Job, line: str) -> None:
        """Show a person a note about a run."""

    def done(self, job: Job, problem: LtmBenchError | None) -> None:
        """Note that a run finished, or was stopped by an error."""


async def sweep(
    jobs: Sequence[Job],
    budget: Budget,
    observer: SweepObserver,
    *,
    connections: int,
    limit: float | None = None,
    retries: int = 0,
    publish: Callable[[Job, Verdicts], None] | None = None,
    ladder: bool = False,
) -> list[JobResult]:
    """Execute all runs.

    Args:
        jobs: The runs.
        budget: The budget they share.
        observer: Observes the sweep.
        connections: Maximum concurrent calls to one provider.
        limit: Seconds after which a run stops.
        retries: How often a run that fails is continued.
        publish: Called with each run that was carried out, in a thread beside the calls of the others, one at a time.
        ladder: Whether to ask missed questions again, of agents that fork.
    """
    publishing = asyncio.Semaphore()
    for job in jobs:  # count all of them before any spends more
        budget.count(cost_before(job.plan, job.folder, budget).total)
    providers = {job.connections for job in jobs}
    places = {name: asyncio.Semaphore(connections) for name in providers}
    open_ones = {name: asyncio.Semaphore(connections + OPEN) for name in providers}

    async def tried(job: Job) -> JobResult:
        if not finished(job.plan, job.folder) and (short := too_late(job, budget)):
            return JobResult(job, short)
        try:
            verdicts = await run_locked(
                job.plan,
                job.folder,
                budget=budget,
                observer=lambda already: observer.begun(job, already=already),
                notify=partial(observer.noted, job),
                places=places[job.connections],
                concurrent=connections,
                counted=True,
                limit=limit,
                ladder=ladder,
            )
        except LtmBenchError as error:
            return JobResult(job, error)
        return JobResult(job, verdicts=verdicts)

    async def one(job: Job) -> JobResult:
        async with open_ones[job.connections]:
            for tries in range(1, retries + 1):
                result = await tried(job)
                if not is_worth_trying(result.problem):
                    break
                observer.noted(job, f"{result.problem}; retry {tries} of {retries}")
                await asyncio.sleep(pause(tries))
            else:
                result = await tried(job)
        observer.done(job, result.problem)
        if publish is not None and result.verdicts is not None:
            async with publishing:
                await asyncio.to_thread(publish, job, result.verdicts)
        return result

    runs = [asyncio.ensure_future(one(job)) for job in jobs]
    try:
        return list(await asyncio.gather(*runs))
    except KeyboardInterrupt:
        # A signal in the middle of a turn stopped the loop, and arrives here while the loop ends.
        ended = [each.exception() for each in runs if each.done() and not each.cancelled()]
        if any(isinstance(each, KeyboardInterrupt) for each in ended):
            raise asyncio.CancelledError from None
        raise
