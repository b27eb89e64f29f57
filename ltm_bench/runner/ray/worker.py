"""The worker: resumes one run from its log, and reports to the budget server."""

import asyncio
import contextlib
import signal
import socket
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import (
    BudgetReached,
    ConfigError,
    LtmBenchError,
    ManifestDiffers,
    RunIncomplete,
    RunLocked,
)
from ltm_bench.core.messages import Turn
from ltm_bench.log.environment import record_facts
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.recorder import locked, start_run
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.conversation import Verdicts
from ltm_bench.runner.conversations import at_work, run_conversations, timed_out
from ltm_bench.runner.observer import Silent
from ltm_bench.runner.ray.sharing import Files, Shared
from ltm_bench.runner.spent import cost_of, finished
from ltm_bench.runner.sweep import Job
from ltm_bench.schedule.scheduler import Completed

LEASE = 60.0
"""Seconds to wait for the stale lock of a lost worker."""

GRACE = 5.0
"""Seconds that a run whose time is over, or that is to stop, may take by itself; then its agent is interrupted."""

T = TypeVar("T")

OFTEN = 0.5
"""Seconds between a worker's reports, and between the driver's reads of them."""


@dataclass(frozen=True)
class Assignment:
    """What a worker needs to execute a run."""

    number: int
    name: str
    manifest: Manifest
    folder: str
    """The run's folder, if all nodes see it; with a URL, the worker uses its own."""
    url: str | None
    limit: Decimal | None
    places: int
    checkpoint: float
    remake: Callable[[Path], Job]
    publish: Callable[[Path, Plan, Verdicts], None] | None = None
    """Writes the pages of a run that is over; None leaves that to the driver."""
    time: float | None = None
    """Seconds after which it stops."""
    tags: Mapping[str, str] | None = None
    outlook: str = ""
    """What was printed of the agent's window."""


class WorkerResult(NamedTuple):
    """How an attempt at a run ended."""

    problem: LtmBenchError | None
    node: str
    """Where, as the cluster calls it."""
    host: str
    faulty: bool = False
    """Whether the node, not the run, is the problem: it lacks what the run needs, and another node may have it."""


AHEAD = 3
"""Further calls that an entry in the ledger covers, so that not every call has to wait for one."""


class MoneyLedger:
    """What a run may have cost at most, written to its URL before a call may go out.

    Args:
        write: Writes the amount.
        logged: What the replies in its log have cost.
        lost: What it may have cost beyond that, by calls whose replies are lost.
    """

    def __init__(self, write: Callable[[Decimal], None], logged: Decimal, lost: Decimal) -> None:
        self._write, self._lost = write, lost
        self._most = self._written = logged + lost

    def add(self, price: Decimal) -> None:
        """Take a call that may go out now."""
        self._most += price
        if self._most > self._written:
            self._write(self._most + AHEAD * price)
            self._written = self._most + AHEAD * price

    def settle(self, held: Decimal, cost: Decimal) -> None:
        """Replace what a call could have cost by what it did."""
        self._most += cost - held

    def lose(self, price: Decimal) -> None:
        """Take a lost call that the run counts now, unless it is among those that are known to be lost."""
        known = min(price, self._lost)
        self._lost -= known
        self._most += price - known

    def close(self) -> None:
        """Write what the run has cost by now, when no call is under way."""
        if self._written != self._most:
            self._write(self._most)


class _RemoteBudget(Budget):
    """A worker's budget: asks the budget server before each call, and reports after it."""

    def __init__(self, assignment: Assignment, attempt: str, server: Any, ledger: MoneyLedger) -> None:
        super().__init__(assignment.limit)
        self._number, self._attempt, self._server = assignment.number, attempt, server
        self._ledger = ledger

    def take(self, price: Decimal | None) -> Decimal:
        answer = self._tell("take", price, self.spent, unknown=self.unknown)
        if isinstance(answer, str):
            raise BudgetReached(answer)
        with self.lock:
            self._ledger.add(answer)
        self.held += answer
        return Decimal(answer)

    def settle(self, usage: Any, *, free: bool, held: Decimal = Decimal(0)) -> None:
        before = self.spent
        super().settle(usage, free=free, held=held)
        self._give(held, self.spent - before)

    def release(self, held: Decimal) -> None:
        super().release(held)
        self._give(held)

    def charge(self, price: Decimal, held: Decimal = Decimal(0)) -> None:
        super().charge(price, held)
        self._give(held, price)

    def lose(self, price: Decimal) -> None:
        super().lose(price)
        if price:
            self._tell("lose", price)
            with self.lock:
                self._ledger.lose(price)

    def _give(self, held: Decimal, cost: Decimal = Decimal(0)) -> None:
        if held:  # not a reply of the log, which the ledger knows
            # Not waited for: it arrives before the next request, since a worker's requests keep their order.
            self._server.give.remote(self._number, self._attempt, held, self.spent, unknown=self.unknown)
            with self.lock:
                self._ledger.settle(held, cost)

    def _tell(self, method: str, *given: Any, **more: Any) -> Any:
        """Call the server, and wait for its answer: the next call must not start before the server knows of this."""
        import ray

        return ray.get(getattr(self._server, method).remote(self._number, self._attempt, *given, **more))


class _Watcher(Silent):
    """Reports a run's progress to the budget server, and copies the run when due; the driver scores its log."""

    def __init__(self, report: Callable[[int, int], None], copy: Callable[[], None], every: float) -> None:
        self._report, self._copy, self._every = report, copy, every
        self._turns = self._examples = 0
        self._reported = 0.0
        self._copied = time.monotonic()
        self.replied = False
        """Whether there was a reply that the log did not have."""

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Count a turn. Between turns, an agent without concurrent calls is idle."""
        self._turns += 1
        self.replied |= not replayed
        now = time.monotonic()
        if now - self._reported >= OFTEN:
            self._reported = now
            self.report()
        if not replayed and now - self._copied >= self._every:
            with contextlib.suppress(RunIncomplete):  # the next copy includes it
                self._copy()
            # read again: the copy may have taken longer than the time between two
            self._copied = time.monotonic()
        if _stopping.is_set():
            raise RunIncomplete("interrupted")

    def ended(self, ended: Completed) -> None:
        """Count an example."""
        self._examples += 1

    def report(self) -> None:
        """Report progress."""
        self._report(self._turns, self._examples)


def _interrupt(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


_stopping = threading.Event()
"""Set once the driver is interrupted: no further call begins, and those under way are not lost."""


def _stop(signum: int, frame: object) -> None:
    """Let the turn under way end; interrupt it if it takes long. asyncio's own way would wait forever."""
    _stopping.set()
    signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, GRACE)


class _Unfit(RunIncomplete):
    """A node lacks what a run needs; another one may have it."""


def execute(assignment: Assignment, files: Files, server: Any) -> WorkerResult:
    """Execute a run in a worker; return what became of it."""
    import ray

    _stopping.clear()
    signal.signal(signal.SIGINT, _stop)
    node, host = ray.get_runtime_context().get_node_id(), socket.gethostname()
    try:
        with tempfile.TemporaryDirectory(prefix="ltm-bench-", ignore_cleanup_errors=True) as scratch:
            stand = Path(scratch, "stand")
            stand.mkdir()
            with contextlib.chdir(files.stand(stand)):
                if assignment.url is None:
                    wait_for(Path(assignment.folder, "events.jsonl"))
                    return WorkerResult(
                        _execute_in(assignment, Path(assignment.folder), None, server), node, host
                    )
                folder = Path(scratch, assignment.name)  # some agents use its name
                folder.mkdir()
                try:
                    shared = Shared(assignment.url)
                    _insist(shared.claim)
                    _insist(lambda: shared.fetch(folder))
                except RunIncomplete as error:
                    raise _Unfit(str(error)) from error
                return WorkerResult(_execute_in(assignment, folder, shared, server), node, host)
    except _Unfit as error:
        return WorkerResult(error, node, host, faulty=True)
    except LtmBenchError as error:
        return WorkerResult(error, node, host)
    except OSError as error:  # with a URL, everything that is written lies on the node
        said = RunIncomplete(f"{error.filename or assignment.folder}: {error.strerror or error}")
        return WorkerResult(said, node, host, faulty=assignment.url is not None)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)  # this process may carry out another run


def _execute_in(
    assignment: Assignment, folder: Path, shared: Shared | None, server: Any
) -> LtmBenchError | None:
    import ray

    attempt = uuid.uuid4().hex
    with _locked_at_last(folder):
        try:
            start_run(folder, assignment.manifest)
            job = assignment.remake(folder)
        except (ConfigError, ManifestDiffers) as error:  # the driver could plan it
            raise _Unfit(str(error)) from error
        record_facts(folder, assignment.tags, outlook=assignment.outlook)
        already = finished(job.plan, folder)
        cost = cost_of(folder, assignment.manifest)
        unsettled = cost.charged if shared is None else None  # a copy may lack the last call
        written = None if shared is None else shared.ledger()
        known = {"already": already, "unsettled": unsettled, "ledger": written}
        carried = ray.get(server.open.remote(assignment.number, attempt, cost.logged, **known))
        kept = None if shared is None or assignment.limit is None else shared.write_ledger
        ledger = MoneyLedger(kept or (lambda _: None), cost.logged, carried)
        budget = _RemoteBudget(assignment, attempt, server, ledger)

        def report(turns: int, examples: int) -> None:
            # Only the last report is waited for, at the end; waiting for each would hold the conversation up.
            reported[:] = [server.report.remote(assignment.number, attempt, turns, examples, budget.spent)]

        def copy() -> None:
            if shared is not None:
                shared.push(folder, whole=False)

        reported: list[Any] = []
        watcher = _Watcher(report, copy, assignment.checkpoint)
        verdicts: Verdicts = {}
        try:
            if not already:
                verdicts = _conversed(assignment, job, budget, watcher)
        except ConfigError as error:
            if watcher.replied:
                raise
            raise _Unfit(str(error)) from error
        finally:
            watcher.report()
            if shared is not None:
                _insist(lambda: shared.push(folder, whole=True))
            if not already:
                ledger.close()
            ray.get(reported)
        if assignment.publish is not None:
            with contextlib.suppress(Exception):  # the driver makes what is missing, or says why not
                assignment.publish(folder, job.plan, verdicts)
                if shared is not None:
                    shared.push(folder, whole=True)
    return None


def _conversed(assignment: Assignment, job: Job, budget: Budget, watcher: _Watcher) -> Verdicts:
    """Run or resume the conversations within the run's time. An agent that blocks is interrupted soon after that."""

    async def converse() -> Verdicts:
        async with at_work(job.plan, job.folder, assignment.time):
            return await run_conversations(
                job.plan,
                job.plan.agents,
                job.folder,
                budget=budget,
                observer=watcher,
                places=asyncio.Semaphore(assignment.places),
                concurrent=assignment.places,
            )

    if assignment.time is None:
        return asyncio.run(converse())
    rung = False

    def ring(signum: int, frame: object) -> None:
        nonlocal rung
        rung = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, assignment.time + GRACE)
    try:
        return asyncio.run(converse())
    except KeyboardInterrupt:
        if not rung:
            raise
        raise RunIncomplete(
            f"{timed_out(assignment.time)}, in a call of its agent that does not end"
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _insist(act: Callable[[], T]) -> T:
    """Do something at a URL, which may be out of reach for a moment. Raises RunIncomplete."""
    for pause in (1.0, 5.0, 20.0):
        try:
            return act()
        except RunIncomplete:
            time.sleep(pause)
    return act()


def wait_for(path: Path, seconds: float = 10.0) -> None:
    """Wait until a file written by the driver is visible here. Raises _Unfit."""
    until = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > until:
            raise _Unfit(
                f"{socket.gethostname()} does not see {path}: set --shared to a folder that all nodes see, or to a URL"
            )
        time.sleep(0.2)


@contextlib.contextmanager
def _locked_at_last(folder: Path) -> Iterator[None]:
    """Lock a run, waiting for a lost worker's lock. Raises RunLocked if that stays."""
    until = time.monotonic() + LEASE
    with contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(locked(folder))
                break
            except RunLocked:
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)
        yield
