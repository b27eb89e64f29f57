"""The worker: resumes one run from its log, and reports to the budget server."""

import asyncio
import contextlib
import signal
import socket
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached, LtmBenchError, RunIncomplete, RunLocked
from ltm_bench.core.messages import Turn
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.recorder import locked, start_run
from ltm_bench.runner.conversations import run_conversations
from ltm_bench.runner.observer import Silent
from ltm_bench.runner.ray.files import Files
from ltm_bench.runner.ray.sharing import Shared
from ltm_bench.runner.standing import cost_of, finished
from ltm_bench.runner.sweep import Job
from ltm_bench.schedule.decisions import Completed

LEASE = 60.0
"""Seconds to wait for the stale lock of a lost worker."""

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

    def __init__(
        self, assignment: Assignment, attempt: str, server: Any, ledger: MoneyLedger | None = None
    ) -> None:
        super().__init__(assignment.limit)
        self._number, self._attempt, self._server = assignment.number, attempt, server
        self._ledger = ledger

    def take(self, price: Decimal | None) -> Decimal:
        answer = self._tell("take", price, self.spent, unknown=self.unknown)
        if isinstance(answer, str):
            raise BudgetReached(answer)
        if self._ledger is not None:
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
            if self._ledger is not None:
                with self.lock:
                    self._ledger.lose(price)

    def _give(self, held: Decimal, cost: Decimal = Decimal(0)) -> None:
        if held:  # not a reply of the log, which the ledger knows
            self._tell("give", held, self.spent, unknown=self.unknown)
            if self._ledger is not None:
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

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Count a turn. Between turns, an agent without concurrent calls is idle."""
        self._turns += 1
        now = time.monotonic()
        if now - self._reported >= OFTEN:
            self._reported = now
            self.report()
        if not replayed and now - self._copied >= self._every:
            with contextlib.suppress(RunIncomplete):  # the next copy includes it
                self._copy()
            # read again: the copy may have taken longer than the time between two
            self._copied = time.monotonic()

    def ended(self, ended: Completed) -> None:
        """Count an example."""
        self._examples += 1

    def report(self) -> None:
        """Report progress."""
        self._report(self._turns, self._examples)


def _interrupt(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


def execute(assignment: Assignment, files: Files, server: Any) -> LtmBenchError | None:
    """Execute a run in a worker; return the error that stopped it."""
    signal.signal(signal.SIGINT, _interrupt)  # asyncio's own would wait forever for an agent that blocks
    try:
        with tempfile.TemporaryDirectory(prefix="ltm-bench-", ignore_cleanup_errors=True) as scratch:
            stand = Path(scratch, "stand")
            stand.mkdir()
            with contextlib.chdir(files.stand(stand)):
                if assignment.url is None:
                    return _execute_in(assignment, Path(assignment.folder), None, server)
                shared = Shared(assignment.url)
                folder = Path(scratch, assignment.name)  # some agents use its name
                folder.mkdir()
                shared.claim()
                shared.fetch(folder)
                return _execute_in(assignment, folder, shared, server)
    except LtmBenchError as error:
        return error
    except OSError as error:
        return RunIncomplete(f"{error.filename or assignment.folder}: {error.strerror or error}")


def _execute_in(
    assignment: Assignment, folder: Path, shared: Shared | None, server: Any
) -> LtmBenchError | None:
    import ray

    if shared is None:
        wait_for(folder / "events.jsonl")
    attempt = uuid.uuid4().hex
    with _locked_at_last(folder):
        start_run(folder, assignment.manifest)
        job = assignment.remake(folder)
        already = finished(job.plan, folder)
        cost = cost_of(folder, assignment.manifest)
        unsettled = cost.charged if shared is None else None  # a copy may lack the last call
        written = None if shared is None else shared.ledger()
        known = {"already": already, "unsettled": unsettled, "ledger": written}
        carried = ray.get(server.open.remote(assignment.number, attempt, cost.logged, **known))
        ledger = None
        if shared is not None and assignment.limit is not None:
            ledger = MoneyLedger(shared.write_ledger, cost.logged, carried)
        budget = _RemoteBudget(assignment, attempt, server, ledger)

        def report(turns: int, examples: int) -> None:
            # Only the last report is waited for, at the end; waiting for each would hold the conversation up.
            reported[:] = [server.report.remote(assignment.number, attempt, turns, examples, budget.spent)]

        def copy() -> None:
            if shared is not None:
                shared.push(folder, whole=False)

        reported: list[Any] = []
        watcher = _Watcher(report, copy, assignment.checkpoint)
        try:
            if not already:
                asyncio.run(
                    run_conversations(
                        job.plan,
                        job.plan.agents,
                        folder,
                        budget=budget,
                        observer=watcher,
                        places=asyncio.Semaphore(assignment.places),
                        concurrent=assignment.places,
                    )
                )
        finally:
            watcher.report()
            if shared is not None:
                _push_at_last(shared, folder)
            if ledger is not None and not already:
                ledger.close()
            ray.get(reported)
    return None


def _push_at_last(shared: Shared, folder: Path) -> None:
    for pause in (1.0, 5.0, 20.0):
        try:
            return shared.push(folder, whole=True)
        except RunIncomplete:
            time.sleep(pause)
    return shared.push(folder, whole=True)


def wait_for(path: Path, seconds: float = 10.0) -> None:
    """Wait until a file written by the driver is visible here. Raises RunIncomplete."""
    until = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > until:
            raise RunIncomplete(
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
