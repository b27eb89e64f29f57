"""Starts or resumes one run in its folder, with exclusive access."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError, RunIncomplete
from ltm_bench.log.environment import record_environment, record_window, window_of
from ltm_bench.log.ladder import ladder_to_go
from ltm_bench.log.recorder import locked, start_run
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.conversation import Verdicts
from ltm_bench.runner.conversations import CONCURRENT, run_conversations
from ltm_bench.runner.observer import Observer
from ltm_bench.runner.standing import finished


async def run_locked(
    plan: Plan,
    folder: Path,
    *,
    budget: Budget,
    observer: Callable[[bool], Observer],
    notify: Callable[[str], None],
    places: asyncio.Semaphore | None = None,
    concurrent: int = CONCURRENT,
    counted: bool = False,
    limit: float | None = None,
    ladder: bool = False,
) -> Verdicts | None:
    """Start a run, or resume it, while no other process can.

    Args:
        plan: The plan.
        folder: The run's folder; created if missing.
        budget: What may be spent.
        observer: Called with whether the run was finished before; returns an observer of its turns.
        notify: Called with single lines about a repaired log and turns that the agent may get twice.
        places: Limits concurrent calls to agents; several runs may share it.
        concurrent: Maximum concurrent examples of an isolated run.
        counted: Whether the budget already includes the run's cost so far.
        limit: Seconds after which it stops.
        ladder: Whether to ask missed questions again, of a finished run too.

    Returns:
        The matchers' verdicts on every reply; None if there was nothing left to do.

    Raises:
        RunIncomplete, BudgetReached: It stopped early, and can be resumed.
        ManifestDiffers: The folder holds another run.
        RunLocked: Another process is working on it.
    """
    with ExitStack() as working:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            working.enter_context(locked(folder))
            start_run(folder, plan.manifest)
        except OSError as error:
            blocked = isinstance(error, FileExistsError | NotADirectoryError)
            advice = "; it must be a folder, so move away what is in its place" if blocked else ""
            raise ConfigError(f"{error.filename or folder}: {error.strerror or error}{advice}") from error
        already = finished(plan, folder) and not (ladder and ladder_to_go(folder))
        watching = observer(already)
        if already:
            return None
        try:
            async with at_work(plan, folder, limit):
                return await run_conversations(
                    plan,
                    plan.agents,
                    folder,
                    budget=budget,
                    observer=watching,
                    notify=notify,
                    places=places,
                    concurrent=concurrent,
                    counted=counted,
                    ladder=ladder,
                )
        except OSError as error:  # a full disk
            raise RunIncomplete(
                f"{error.filename or folder}: {error.strerror or error}; "
                f"`ltm-bench resume {folder.name}` continues once it can be written again"
            ) from error


@asynccontextmanager
async def at_work(plan: Plan, folder: Path, limit: float | None) -> AsyncIterator[None]:
    """Record where a locked run runs, and stop it after so many seconds. Raises RunIncomplete."""
    try:
        async with asyncio.timeout(limit) as clock:
            await plan.agents.find_window(window_of(folder))
            record_window(folder, window=plan.agents.window)
            record_environment(folder)
            yield
    except TimeoutError:
        if not clock.expired():
            raise
        raise RunIncomplete(timed_out(limit)) from None


def timed_out(limit: float | None) -> str:
    """Say that a run was stopped for its time."""
    return f"stopped after {limit:g} seconds (--run-timeout)"
