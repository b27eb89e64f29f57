"""Runs all conversations of a plan in its folder: one, or many that know nothing of each other.

Of an isolated run each is an example; of one that asks another run's questions again, that run's log says which.

`run_locked` starts or resumes them with exclusive access to the folder.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from ltm_bench.adapters.routing import conversing
from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import AgentError, ConfigError, RunIncomplete
from ltm_bench.core.messages import Verdict
from ltm_bench.log.calls import CALLS, SideFiles
from ltm_bench.log.controls import RUNGS, to_go
from ltm_bench.log.environment import calls_kept, environment_of, record_environment, record_facts, window_of
from ltm_bench.log.forks import ForkFile
from ltm_bench.log.recorder import Recorder, locked, start_run
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.controls import AskedTalk, asked_talks
from ltm_bench.runner.conversation import Conversation, Verdicts
from ltm_bench.runner.guarding import traced
from ltm_bench.runner.ladder import Ladder
from ltm_bench.runner.observer import Observer
from ltm_bench.runner.retelling import Retelling, say_again
from ltm_bench.runner.spent import cost_of, finished
from ltm_bench.script.scenario import Example

CONCURRENT = 8
"""Number of isolated examples that run concurrently."""

TRACEBACKS = "tracebacks.txt"
"""The side file with the traceback of every error that an agent raised and that stopped a conversation, newest last."""


async def run_conversations(
    plan: Plan,
    make_agent: Callable[[], Agent],
    folder: Path,
    *,
    budget: Budget,
    observer: Observer,
    notify: Callable[[str], None] = lambda _: None,
    places: asyncio.Semaphore | None = None,
    concurrent: int = CONCURRENT,
    counted: bool = False,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ladder: bool = False,
    again: Callable[[str], Sequence[AskedTalk]] | None = None,
) -> Verdicts:
    """Run or resume all conversations of a plan in a run folder whose manifest has been written.

    Args:
        plan: What to run.
        make_agent: Makes the agent of each conversation.
        folder: The run's folder.
        budget: What may be spent.
        observer: Gets every turn.
        notify: Called with single lines about a repaired log and turns that the agent may get twice.
        places: Limits concurrent calls to agents; several runs may share it.
        concurrent: Maximum concurrent examples of an isolated run.
        counted: Whether the budget already includes the run's cost so far.
        clock: Seconds from any fixed moment, for measuring durations.
        sleep: Waits for some seconds, before questions that do not wait for indexers.
        ladder: Whether to ask missed questions again, of an agent that forks.
        again: Begins what the plan asks of another run again, as `asked_talks` says; None if it is asked alone.

    Returns:
        The matchers' verdicts on every reply.

    Raises:
        RunIncomplete, BudgetReached: A conversation had to stop; the others were finished.
    """
    cost = cost_of(folder, plan.manifest)
    if cost.unkept and calls_kept(environment_of(folder)):
        notify(
            f"{CALLS} lacks the calls of {cost.unkept} replies: what failed calls cost is lost, and not counted."
        )
    if not counted:  # before any conversation calls its agent: replies of the others were paid for too
        budget.lose(cost.charged)
        budget.count(cost.logged)
    home = folder / "agent"
    places = places or asyncio.Semaphore(concurrent)
    # Besides the calls, the open examples are limited: each has an agent of its own, with connections and files.
    open_ones = asyncio.Semaphore(concurrent)
    verdicts: dict[tuple[str, int], Verdict] = {}

    kind = plan.manifest.asks

    async def converse(
        log: Path, about: Sequence[Example] | AskedTalk, home: Path, files: SideFiles
    ) -> Verdicts:
        with Recorder(log) as recorder, ForkFile(log) as forks:
            if recorder.cut:
                notify(f"A torn last line of {recorder.cut} bytes was cut off the log.")
            name = log.stem if plan.manifest.suite.isolated else None
            try:
                async with conversing((files if steps is None else steps.files["again"]).calls, name):
                    calls = Caller(
                        make_agent,
                        recorder,
                        files,
                        home=home,
                        budget=budget,
                        places=places,
                        conversation=name,
                        on_doubt=lambda where: notify(_doubtful(where)),
                        charged=cost.replies,
                        role="agent" if kind is None else "control",
                        sleep=sleep,
                    )
                    if isinstance(about, AskedTalk):
                        conversation: Conversation = Retelling(plan, about, calls, recorder, forks, observer)
                    else:
                        conversation = Conversation(plan, about, calls, recorder, forks, observer, steps)
                    try:
                        await conversation.run()
                    finally:
                        if calls.agent.left:
                            notify(calls.agent.left)
            except AgentError as error:
                if error.__cause__ is not None:
                    with (folder / TRACEBACKS).open("a", encoding="utf-8", errors="backslashreplace") as file:
                        file.write(f"{error}\n{traced(error.__cause__)}\n")
                raise
            return conversation.verdicts

    async def alone(name: str, about: Sequence[Example] | AskedTalk, files: SideFiles) -> Verdicts:
        async with open_ones:
            return await converse(folder / "isolated" / f"{name}.jsonl", about, home / name, files)

    with SideFiles(folder, clock) as files, ExitStack() as climbing:
        steps = climbing.enter_context(Ladder(plan, folder, clock, say_again)) if ladder else None
        if not plan.manifest.suite.isolated:
            return await converse(folder / "events.jsonl", plan.examples, home, files)
        if kind is None:
            talks = [alone(each.id.replace("/", "-"), [each], files) for each in plan.examples]
        else:
            begin = again or asked_talks(plan, [*RUNGS] if kind in RUNGS else [kind], folder.parents[1])
            talks = [alone(talk.name, talk, files) for talk in begin(kind)]
        # A failure waits until the others have ended: cancelling them would throw away replies that are paid for.
        outcomes = await asyncio.gather(*talks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        verdicts |= outcome
    return verdicts


def _doubtful(where: str) -> str:
    """Return the warning about a turn that an agent may get twice."""
    return (
        f"{where[:1].upper()}{where[1:]} may have been sent twice: its message was on the way when the run "
        "stopped, and the log has no reply to it."
    )


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
    again: Callable[[str], Sequence[AskedTalk]] | None = None,
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
        ladder: Whether to ask missed questions again, of an agent that forks; of a finished run too.
        again: As for `run_conversations`.

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
            start_run(folder, plan.manifest, plan.asked)
        except OSError as error:
            blocked = isinstance(error, FileExistsError | NotADirectoryError)
            advice = "; it must be a folder, so move away what is in its place" if blocked else ""
            raise ConfigError(f"{error.filename or folder}: {error.strerror or error}{advice}") from error
        ladder = ladder and plan.agents.sample.forks != "no"
        already = finished(plan, folder) and not (ladder and to_go(folder, RUNGS))
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
                    again=again,
                )
        except OSError as error:  # a full disk
            raise RunIncomplete(
                f"{error.filename or folder}: {error.strerror or error}; `ltm-bench resume "
                f"{folder if plan.manifest.asks else folder.name}` continues once it can be written again"
            ) from error


@asynccontextmanager
async def at_work(plan: Plan, folder: Path, limit: float | None) -> AsyncIterator[None]:
    """Record where a locked run runs, and stop it after so many seconds. Raises RunIncomplete."""
    try:
        async with asyncio.timeout(limit) as clock:
            await plan.agents.find_window(window_of(folder))
            record_facts(folder, window=plan.agents.window)
            record_environment(folder)
            yield
    except TimeoutError:
        if not clock.expired():
            raise
        raise RunIncomplete(timed_out(limit)) from None


def timed_out(limit: float | None) -> str:
    """Say that a run was stopped for its time."""
    return f"stopped after {limit:g} seconds (--run-timeout)"
