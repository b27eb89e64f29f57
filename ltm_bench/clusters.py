"""Hands the runs of a sweep to a Ray cluster that is there already: one task a run, from its log on wherever it goes.

What is exact and what is not is written in docs/design/sweeps.md. Ray and fsspec are imported when they are needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ltm_bench.errors import BudgetReached, ConfigError, LtmBenchError, RunIncomplete, RunLocked, nearest
from ltm_bench.log import (
    Manifest,
    conversations,
    is_finished,
    locked,
    read_events,
    read_manifest,
    reply_of,
    start_run,
)
from ltm_bench.messages import Turn, Verdict
from ltm_bench.prices import dollars
from ltm_bench.runner import Budget, finished, run
from ltm_bench.scenario import Example
from ltm_bench.schedule import Ended
from ltm_bench.sweeping import Job, SweepObserver

RETRIES = 5
"""How often a run is begun again, from its log, when its worker or its node is lost."""

CHECKPOINT = 30.0
"""Seconds between two copies of a run to a URL."""

_LEASE = 60.0
"""Seconds for which a run waits until whoever was lost lets go of its folder."""

_OFTEN = 0.5
"""Seconds between two reports of a worker, and between two looks of the driver at them."""

_DOORS = ("scenarios", "agents", "configs")
_LARGEST = 64 << 20
"""Bytes that the files of a user's own may have together, as they go to every worker."""


class Resources(BaseModel):
    """What a run of an agent takes of a node, in Ray's words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_cpus: float = Field(default=1, ge=0, allow_inf_nan=False)
    num_gpus: float = Field(default=0, ge=0, allow_inf_nan=False)
    memory: int = Field(default=0, ge=0)
    """In bytes."""
    custom: dict[str, float] = Field(default_factory=dict)
    """Resources that the cluster's owner has named."""

    @field_validator("num_cpus", "num_gpus")
    @classmethod
    def _whole_above_one(cls, value: float) -> float:
        if value > 1 and value != int(value):
            raise ValueError("above 1 Ray takes whole numbers alone")
        return value

    def asked(self) -> dict[str, float]:
        """Return what is asked for by the names under which a node says what it has."""
        named = {"CPU": self.num_cpus, "GPU": self.num_gpus, "memory": float(self.memory), **self.custom}
        return {name: amount for name, amount in named.items() if amount}

    def options(self) -> dict[str, Any]:
        """Return the options of a task."""
        given: dict[str, Any] = {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus}
        if self.memory:
            given["memory"] = self.memory
        if self.custom:
            given["resources"] = dict(self.custom)
        return given


EVERYBODY = "*"
"""The name of the table for agents that have none of their own, or leave something out in it."""


def read_resources(text: str) -> Resources:
    """Read `num_cpus=1,num_gpus=0.5`. Raises ConfigError."""
    values: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = (each.strip() for each in part.partition("="))
        if not equals or key not in Resources.model_fields or key == "custom":
            known = [name for name in Resources.model_fields if name != "custom"]
            raise ConfigError(
                f"--resources {text}: write it as num_cpus=1,num_gpus=0.5{nearest(key, known)} "
                f"(known: {', '.join(known)}; those with names of their own go into the file)"
            )
        values[key] = value
    try:
        return Resources.model_validate(values)
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigError(
            f"--resources {text}: {'.'.join(map(str, problem['loc']))}: {problem['msg'].lower()}"
        ) from error


def resources_of(agent: str, tables: Mapping[str, Resources]) -> Resources:
    """Return what a run of an agent takes: its own table, and for what that leaves out the one for everybody."""
    merged: dict[str, Any] = {}
    for table in (tables.get(EVERYBODY), tables.get(agent)):
        if table is not None:
            merged |= table.model_dump(exclude_unset=True)
    return Resources.model_validate(merged)


def fits(resources: Resources, nodes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one of the nodes is large enough."""
    asked = resources.asked().items()
    alive = [node.get("Resources", {}) for node in nodes if node.get("Alive")]
    return any(all(has.get(name, 0) >= amount for name, amount in asked) for has in alive)


def is_url(place: str) -> bool:
    """Whether a place is reached through fsspec, and is no path."""
    return "://" in place or "::" in place


class Shared:
    """The folder of one run behind a URL."""

    _HOLDER = ".holder"

    def __init__(self, url: str) -> None:
        self.url = url
        try:
            import fsspec
        except ImportError as error:
            raise ConfigError(f"{url}: this needs fsspec: pip install 'ltm-bench[ray]'") from error
        try:
            self._fs, root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise ConfigError(f"{url}: {error}") from error
        self._root = root.rstrip("/")
        self._is_local = "file" in ((p,) if isinstance(p := self._fs.protocol, str) else p)
        self._known: dict[str, tuple[int, int]] = {}
        self._token = b""

    @contextlib.contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except LtmBenchError:
            raise
        except Exception as error:  # every file system has errors of its own
            raise RunIncomplete(f"{self.url}: {type(error).__name__}: {error}") from error

    def names(self) -> list[str]:
        """Return the files that are there, by their paths in the run's folder."""
        with self._reaching():
            self._fs.invalidate_cache()
            found = [path[len(self._root) :].lstrip("/") for path in self._fs.find(self._root)]
        return [name for name in found if not _is_passed_over(name) and ".." not in name.split("/")]

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with self._reaching():
            content: bytes = self._fs.cat_file(f"{self._root}/{name}")
        return content

    def fetch(self, folder: Path) -> None:
        """Bring everything that is there into a folder."""
        for name in self.names():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._reaching():
                self._fs.get_file(f"{self._root}/{name}", str(path))
            self._known[name] = _state(path)

    def claim(self) -> None:
        """Take the run from whoever had it: a worker that was believed lost, and is not, copies no more."""
        self._token = uuid.uuid4().hex.encode()
        self._write(self._HOLDER, self._token)

    def push(self, folder: Path, *, whole: bool) -> None:
        """Copy what has changed: first the agent's own files, then the logs, which must never be ahead of those.

        Not `whole` is a copy in the middle of a run: of an isolated one the examples that are over. Raises RunLocked if
        another worker has taken over.
        """
        if self.read(self._HOLDER) != self._token:
            raise RunLocked(f"{self.url}: another worker has taken this run over")
        isolated = read_manifest(folder).suite.isolated
        paths = [path for path in folder.rglob("*") if path.is_file()]
        names = {path.relative_to(folder).as_posix() for path in paths}
        names = {name for name in names if not _is_passed_over(name)}
        logs = {
            path.relative_to(folder).as_posix() for path in (*conversations(folder), folder / "events.jsonl")
        }
        if isolated and not whole:
            over = {name for name in logs if name == "events.jsonl" or is_finished(folder / name)}
            names, logs = {name for name in names if "/" not in name} | over, over
        texts = {name: (_state(folder / name), (folder / name).read_bytes()) for name in sorted(logs)}
        for name in sorted(names - logs):
            state = _state(folder / name)
            if self._known.get(name) != state:
                with contextlib.suppress(FileNotFoundError):  # an agent's own, gone in between
                    self._write(name, (folder / name).read_bytes())
                    self._known[name] = state
        for name in [name for name in self._known if name.startswith("agent/")]:
            if not (folder / name).exists():
                with self._reaching():
                    self._fs.rm_file(f"{self._root}/{name}")
                del self._known[name]
        for name, (state, text) in texts.items():
            if self._known.get(name) != state:
                self._write(name, text)
                self._known[name] = state

    def put(self, folder: Path, names: Sequence[str]) -> None:
        """Copy these files, as far as there are such."""
        for name in names:
            if (folder / name).is_file():
                self._write(name, (folder / name).read_bytes())

    def _write(self, name: str, content: bytes) -> None:
        path = f"{self._root}/{name}"
        with contextlib.suppress(Exception):  # stores without folders; others complain at once
            self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        with self._reaching():
            if self._is_local:  # an object store takes a file whole or not at all; this is how a disk does
                self._fs.pipe_file(f"{path}.part", content)
                os.replace(f"{path}.part", path)
            else:
                self._fs.pipe_file(path, content)


def _is_passed_over(name: str) -> bool:
    last = name.rpartition("/")[2]
    return not name or name.endswith(".part") or ("/" not in name and last.startswith("."))


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


@dataclass(frozen=True)
class Files:
    """The user's own scenarios, agents and suites, which every worker must have."""

    here: str
    content: Mapping[str, bytes]

    @classmethod
    def of(cls, here: Path) -> Files:
        """Read those of a folder. Raises ConfigError if they are too large to be handed around."""
        content, size = {}, 0
        for path in (path for door in _DOORS for path in sorted((here / door).rglob("*"))):
            name = path.relative_to(here).as_posix()
            if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in name.split("/")):
                size += path.stat().st_size
                if size > _LARGEST:
                    raise ConfigError(
                        f"{path}: {', '.join(_DOORS)} hold more than {_LARGEST >> 20} MiB; "
                        "keep large files elsewhere, where all nodes see them"
                    )
                content[name] = path.read_bytes()
        return cls(str(here), content)

    def stand(self, scratch: Path) -> Path:
        """Return where a worker stands: in the same folder if it sees it, else in one with copies of these."""
        here = Path(self.here)
        with contextlib.suppress(OSError, ConfigError):
            if here.is_dir() and Files.of(here).content == self.content:
                return here
        for name, content in self.content.items():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            (scratch / name).write_bytes(content)
        return scratch


@dataclass
class Account:
    """What one run has said and spent."""

    attempt: str = ""
    attempts: int = 0
    already: bool = False
    turns: int = 0
    examples: int = 0
    spent: Decimal = field(default_factory=Decimal)
    """By its present attempt, with what its log had cost before."""
    held: Decimal = field(default_factory=Decimal)
    carried: Decimal = field(default_factory=Decimal)
    """What attempts that were lost had paid or could have, and the log does not say."""
    unknown: bool = False


class Desk:
    """Where all workers say how far they are, and ask before they spend. One for a sweep, beside the driver."""

    def __init__(self, limit: Decimal | None, runs: int) -> None:
        self._limit = limit
        self._accounts = [Account() for _ in range(runs)]

    def open(self, number: int, attempt: str, logged: Decimal, *, already: bool) -> None:
        """Begin a run, or begin it again: what a lost attempt had spent beyond its log stays spent."""
        old = self._accounts[number]
        known = not already or bool(old.attempt)  # what was over before the sweep is not of this sweep
        carried = max(old.carried + old.spent + old.held - logged, Decimal()) if old.attempt else Decimal()
        self._accounts[number] = Account(
            attempt,
            old.attempts + 1,
            already,
            spent=logged if known else Decimal(),
            carried=carried,
            unknown=old.unknown,
        )

    def take(
        self, number: int, attempt: str, price: Decimal | None, spent: Decimal, *, unknown: bool
    ) -> Decimal | str:
        """Set money aside for a call, and return it, or why not."""
        account = self._accounts[number]
        if account.attempt != attempt:
            return "another worker has taken this run over"
        account.spent = max(account.spent, spent)
        account.unknown = account.unknown or unknown
        everything = Budget(
            self._limit,
            spent=self.spent(),
            unknown=any(each.unknown for each in self._accounts),
            held=sum((each.held for each in self._accounts), Decimal()),
        )
        try:
            everything.take(price)
        except BudgetReached as error:
            return str(error)
        account.held += price or Decimal()
        return price or Decimal()

    def give(self, number: int, attempt: str, held: Decimal, spent: Decimal, *, unknown: bool) -> None:
        """Give back what was set aside for a call, with what the run has spent by now."""
        account = self._accounts[number]
        if account.attempt == attempt:
            account.held -= held
            account.spent = max(account.spent, spent)
            account.unknown = account.unknown or unknown

    def report(self, number: int, attempt: str, turns: int, examples: int, spent: Decimal) -> None:
        """Note how far a run is."""
        account = self._accounts[number]
        if account.attempt == attempt:
            account.turns, account.examples = turns, examples
            account.spent = max(account.spent, spent)

    def spent(self) -> Decimal:
        """Return what all runs have spent together."""
        return sum((each.carried + each.spent for each in self._accounts), Decimal())

    def look(self) -> tuple[dict[int, tuple[int, bool]], int, int, Decimal]:
        """Return which runs have begun (how often, whether they were over), all turns, all examples, all money."""
        begun = {n: (each.attempts, each.already) for n, each in enumerate(self._accounts) if each.attempt}
        turns = sum(each.turns for each in self._accounts)
        return begun, turns, sum(each.examples for each in self._accounts), self.spent()


@dataclass(frozen=True)
class Order:
    """What a worker is given to hold a run."""

    number: int
    name: str
    manifest: Manifest
    folder: str
    """Where it lands, if all nodes see that; the worker has one of its own where there is a URL."""
    url: str | None
    limit: Decimal | None
    places: int
    checkpoint: float
    remake: Callable[[Path], Job]


class _Account(Budget):
    """A worker's budget: asks the desk before each call, and tells it after."""

    def __init__(self, order: Order, attempt: str, desk: Any) -> None:
        super().__init__(order.limit)
        self._order, self._attempt, self._desk = order, attempt, desk

    def take(self, price: Decimal | None) -> Decimal:
        import ray

        answer = ray.get(
            self._desk.take.remote(self._order.number, self._attempt, price, self.spent, unknown=self.unknown)
        )
        if isinstance(answer, str):
            raise BudgetReached(answer)
        self.held += answer
        return Decimal(answer)

    def settle(self, usage: Any, *, free: bool, held: Decimal = Decimal(0)) -> None:
        super().settle(usage, free=free, held=held)
        self._give(held)

    def release(self, held: Decimal) -> None:
        super().release(held)
        self._give(held)

    def _give(self, held: Decimal) -> None:
        if held:
            import ray

            ray.get(
                self._desk.give.remote(
                    self._order.number, self._attempt, held, self.spent, unknown=self.unknown
                )
            )


class _Watcher:
    """Reports a run's progress to the desk, and copies the run where that is due."""

    def __init__(self, report: Callable[[int, int], None], copy: Callable[[], None], every: float) -> None:
        self._report, self._copy, self._every = report, copy, every
        self._turns = self._examples = 0
        self._reported = 0.0
        self._copied = time.monotonic()

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Count a turn. Between two turns an agent that is asked one at a time is at rest."""
        self._turns += 1
        now = time.monotonic()
        if now - self._reported >= _OFTEN:
            self._reported = now
            self.report()
        if not replayed and now - self._copied >= self._every:
            with contextlib.suppress(RunIncomplete):  # the next copy has it all
                self._copy()
            self._copied = time.monotonic()

    def verdict(self, example: Example, verdict: Verdict) -> None:
        """Pass over a verdict: the driver scores the log."""

    def ended(self, ended: Ended) -> None:
        """Count an example."""
        self._examples += 1

    def report(self) -> None:
        """Say how far it is."""
        self._report(self._turns, self._examples)


def _logged(folder: Path) -> Decimal:
    """Return what the replies in a run's logs have cost."""
    cost = Decimal()
    for path in conversations(folder):
        for event in read_events(path):
            if event["event"] == "replied" and (usage := reply_of(event).usage) is not None:
                cost += dollars(usage) or Decimal()
    return cost


def _interrupt(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


def _hold(order: Order, files: Files, desk: Any) -> LtmBenchError | None:
    """Hold a run to its end, in a worker; return what stopped it."""
    signal.signal(signal.SIGINT, _interrupt)  # asyncio's own would wait for an agent that never lets go
    try:
        with tempfile.TemporaryDirectory(prefix="ltm-bench-", ignore_cleanup_errors=True) as scratch:
            stand = Path(scratch, "stand")
            stand.mkdir()
            with contextlib.chdir(files.stand(stand)):
                if order.url is None:
                    return _hold_in(order, Path(order.folder), None, desk)
                shared = Shared(order.url)
                folder = Path(scratch, order.name)  # some agents go by its name
                folder.mkdir()
                shared.claim()
                shared.fetch(folder)
                return _hold_in(order, folder, shared, desk)
    except LtmBenchError as error:
        return error
    except OSError as error:
        return RunIncomplete(f"{error.filename or order.folder}: {error.strerror or error}")


def _hold_in(order: Order, folder: Path, shared: Shared | None, desk: Any) -> LtmBenchError | None:
    import ray

    if shared is None:
        _wait_for(folder / "events.jsonl")
    attempt = uuid.uuid4().hex
    with _locked_at_last(folder):
        start_run(folder, order.manifest)
        job = order.remake(folder)
        already = finished(job.plan, folder)
        ray.get(desk.open.remote(order.number, attempt, _logged(folder), already=already))
        budget = _Account(order, attempt, desk)

        def report(turns: int, examples: int) -> None:
            reported.append(desk.report.remote(order.number, attempt, turns, examples, budget.spent))
            del reported[:-1]

        def copy() -> None:
            if shared is not None:
                shared.push(folder, whole=False)

        reported: list[Any] = []
        watcher = _Watcher(report, copy, order.checkpoint)
        try:
            if not already:
                asyncio.run(
                    run(
                        job.plan,
                        job.make_agent,
                        folder,
                        budget=budget,
                        observer=watcher,
                        clock=time.perf_counter,
                        places=asyncio.Semaphore(order.places),
                        concurrent=order.places,
                    )
                )
        finally:
            watcher.report()
            if shared is not None:
                _push_at_last(shared, folder)
            ray.get(reported)
    return None


def _push_at_last(shared: Shared, folder: Path) -> None:
    for pause in (1.0, 5.0, 20.0):
        try:
            return shared.push(folder, whole=True)
        except RunIncomplete:
            time.sleep(pause)
    return shared.push(folder, whole=True)


def _wait_for(path: Path, seconds: float = 10.0) -> None:
    """Wait until a file that the driver has written can be seen here too. Raises RunIncomplete."""
    until = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > until:
            raise RunIncomplete(
                f"{socket.gethostname()} does not see {path}: give a folder that all nodes see, or a URL, as --shared"
            )
        time.sleep(0.2)


@contextlib.contextmanager
def _locked_at_last(folder: Path) -> Iterator[None]:
    """Hold a run, once whoever was lost has let go of it. Raises RunLocked if nobody does."""
    until = time.monotonic() + _LEASE
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


class ClusterObserver(SweepObserver, Protocol):
    """Is told how a sweep goes on elsewhere."""

    def again(self, job: Job) -> None:
        """Report that a run's worker was lost, and another goes on with it."""

    def heard(self, turns: int, examples: int) -> None:
        """Report so many more turns and ends of examples; fewer, where a run begins again."""


@dataclass(frozen=True)
class Terms:
    """How runs are handed over."""

    remake: Callable[[Path], Job]
    """Makes a job of a run's folder, in a worker; it must be importable there."""
    connections: int
    url: str | None = None
    """Under which the runs land, each in a folder of its own; None where all nodes see the jobs' folders."""
    resources: Mapping[str, Resources] = field(default_factory=dict)
    checkpoint: float = CHECKPOINT

    def of(self, job: Job) -> Resources:
        """Return what a job takes."""
        return resources_of(job.plan.manifest.agent.name, self.resources)

    def shared(self, job: Job) -> Shared | None:
        """Return where a job lands behind a URL."""
        return None if self.url is None else Shared(f"{self.url.rstrip('/')}/{job.folder.name}")


def _address() -> str:
    """Return where the cluster is, having knocked: Ray itself would wait for minutes. Raises ConfigError."""
    address = os.environ.get("RAY_ADDRESS") or "auto"
    where = address
    if address == "auto":
        noted = Path(os.environ.get("RAY_TMPDIR") or "/tmp", "ray", "ray_current_cluster")
        with contextlib.suppress(OSError, UnicodeDecodeError):
            where = noted.read_text("utf-8").strip()
    host, _, port = where.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
        except (OSError, OverflowError) as error:
            raise ConfigError(
                f"--on ray: no cluster answers at {where} ({error}); start one with `ray start --head`, or say with "
                "RAY_ADDRESS where it is"
            ) from error
    return address


@contextlib.contextmanager
def connected() -> Iterator[Any]:
    """Join the Ray cluster that is there, and leave it in the end. Raises ConfigError if there is none, or no Ray."""
    try:
        import ray
    except ImportError as error:
        raise ConfigError("--on ray: Ray is not installed: pip install 'ltm-bench[ray]'") from error
    mine = not ray.is_initialized()
    if mine:
        main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(address=_address(), log_to_driver=False, logging_level=logging.ERROR)
        except ConfigError:
            raise
        except (Exception, SystemExit) as error:
            said = " ".join(str(error).split())[:300]
            raise ConfigError(
                f"--on ray: no cluster can be joined ({said}); start one with `ray start --head`, or say with "
                "RAY_ADDRESS where it is"
            ) from error
        if main:
            signal.signal(signal.SIGTERM, before)  # Ray takes it for itself
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            yield ray  # which would tell of lost workers at length, among the results
    finally:
        if mine:
            ray.shutdown()


def too_large(jobs: Sequence[Job], terms: Terms, ray: Any) -> list[str]:
    """Return a line for every agent that asks for more than any node has now: Ray waits until one has it."""
    nodes = ray.nodes()
    agents = {job.plan.manifest.agent.name: terms.of(job) for job in jobs}
    return [
        f"{name}: no node has {', '.join(f'{k}={v:g}' for k, v in asked.asked().items())} now; its runs wait for one"
        for name, asked in agents.items()
        if not fits(asked, nodes)
    ]


def shares(
    jobs: Sequence[Job], terms: Terms, nodes: Sequence[Mapping[str, Any]]
) -> dict[str, tuple[int, int]]:
    """Return for each provider how many runs are held at a time, and how many calls each of them may make at a time.

    Their product is never more than the connections. Runs of agents that call nobody are bounded by the cluster alone.
    """
    cpus = sum(node.get("Resources", {}).get("CPU", 0) for node in nodes if node.get("Alive"))
    found = {}
    for provider, many in Counter(job.provider for job in jobs).items():
        own = [job for job in jobs if job.provider == provider]
        if all(job.plan.manifest.agent.free for job in own):
            found[provider] = (many, terms.connections)
            continue
        least = min(terms.of(job).num_cpus for job in own)
        room = int(cpus / least) if least else many
        at_once = max(1, min(many, terms.connections, room))
        found[provider] = (at_once, terms.connections // at_once)
    return found


async def sweep_on(
    ray: Any, jobs: Sequence[Job], budget: Budget, observer: ClusterObserver, terms: Terms
) -> list[LtmBenchError | None]:
    """Have all runs held by the cluster, and return for each what stopped it. Its folder holds the log then."""
    driver = _Driver(ray, jobs, budget, observer, terms)
    try:
        return await driver.all()
    finally:
        driver.stop()


class _Driver:
    def __init__(
        self, ray: Any, jobs: Sequence[Job], budget: Budget, observer: ClusterObserver, terms: Terms
    ) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray, self._jobs, self._budget = ray, jobs, budget
        self._observer, self._terms = observer, terms
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._desk = (
            ray.remote(Desk).options(num_cpus=0, scheduling_strategy=here).remote(budget.limit, len(jobs))
        )
        try:
            ray.get(self._desk.look.remote(), timeout=120)
        except ray.exceptions.RayError as error:
            raise ConfigError(
                f"--on ray: the cluster's Python cannot run ltm-bench; install it there ({_first_line(error)})"
            ) from error
        self._files = ray.put(Files.of(Path.cwd()))
        # A process for each run: what one leaves behind, in memory or on a GPU, is not there for the next.
        self._hold = ray.remote(max_calls=1)(_hold)
        self._shares = shares(jobs, terms, ray.nodes())
        self._open = {provider: asyncio.Semaphore(many) for provider, (many, _) in self._shares.items()}
        self._pending: set[Any] = set()
        self._begun: set[int] = set()
        self._attempts: dict[int, int] = {}
        self._turns = self._examples = 0

    async def all(self) -> list[LtmBenchError | None]:
        watching = asyncio.create_task(self._watch())
        try:
            return list(await asyncio.gather(*(self._one(n, job) for n, job in enumerate(self._jobs))))
        finally:
            watching.cancel()

    def stop(self) -> None:
        """Have what is under way come to rest: its logs are written, and copied, before the sweep ends."""
        for ref in self._pending:
            self._ray.cancel(ref)
        if self._pending:
            self._ray.wait(list(self._pending), num_returns=len(self._pending), timeout=_LEASE)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_OFTEN)
            await self._look()

    async def _look(self) -> None:
        try:
            begun, turns, examples, self._budget.spent = await self._desk.look.remote()
        except self._ray.exceptions.RayError:  # the runs themselves say that the desk is gone
            return
        for number, (attempts, already) in begun.items():
            self._begin(number, already=already and attempts == 1)
            for _ in range(attempts - self._attempts.get(number, 1)):
                self._observer.again(self._jobs[number])
            self._attempts[number] = attempts
        self._observer.heard(turns - self._turns, examples - self._examples)
        self._turns, self._examples = turns, examples

    def _begin(self, number: int, *, already: bool) -> None:
        if number not in self._begun:
            self._begun.add(number)
            self._observer.begun(self._jobs[number], already=already)

    async def _one(self, number: int, job: Job) -> LtmBenchError | None:
        problem: LtmBenchError | None = None
        try:
            shared = self._terms.shared(job)
            if await asyncio.to_thread(_prepare, job, shared):
                self._begin(number, already=True)
            else:
                places = self._shares[job.provider][1]
                async with self._open[job.provider]:
                    problem = await self._handed_over(number, job, places, shared)
                await self._look()
                if shared is not None:
                    await asyncio.to_thread(shared.fetch, job.folder)
        except LtmBenchError as error:
            problem = problem or error
        except OSError as error:
            problem = RunIncomplete(f"{error.filename or job.folder}: {error.strerror or error}")
        self._begin(number, already=False)
        self._observer.done(job, problem)
        return problem

    async def _handed_over(
        self, number: int, job: Job, places: int, shared: Shared | None
    ) -> LtmBenchError | None:
        order = Order(
            number=number,
            name=job.folder.name,
            manifest=job.plan.manifest,
            folder=str(job.folder.absolute()),
            url=None if shared is None else shared.url,
            limit=self._budget.limit,
            places=places,
            checkpoint=self._terms.checkpoint,
            remake=self._terms.remake,
        )
        options = self._terms.of(job).options()
        task = self._hold.options(
            name=order.name, max_retries=RETRIES, scheduling_strategy="SPREAD", **options
        )
        ref = task.remote(order, self._files, self._desk)
        self._pending.add(ref)
        lost = self._ray.exceptions
        try:
            answer = await ref
        except (lost.WorkerCrashedError, lost.NodeDiedError, lost.OutOfMemoryError) as error:
            return RunIncomplete(f"its worker was lost {RETRIES + 1} times ({_first_line(error)})")
        except lost.RayError as error:
            return RunIncomplete(_first_line(error))
        self._pending.discard(ref)
        return answer if answer is None or isinstance(answer, LtmBenchError) else RunIncomplete(str(answer))


def _first_line(error: BaseException) -> str:
    """Return what a worker complained of, in one line: its own error where there is one."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        return f"{type(cause).__name__}: {cause}"
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _prepare(job: Job, shared: Shared | None) -> bool:
    """Begin a run, or bring it here; say whether it is over. Raises ManifestDiffers, RunLocked or LogError."""
    if shared is not None:
        _bring(job, shared)
        if not (job.folder / "events.jsonl").exists():
            return False
    job.folder.mkdir(parents=True, exist_ok=True)
    with locked(job.folder):
        start_run(job.folder, job.plan.manifest)
        return finished(job.plan, job.folder)


def _bring(job: Job, shared: Shared) -> None:
    """Bring a run here from its URL, unless another stands in its place. Raises RunLocked."""
    logs = [job.folder / "events.jsonl", *(job.folder / "isolated").glob("*.jsonl")]
    there = shared.names()
    for path in logs:
        name = path.relative_to(job.folder).as_posix()
        if path.exists() and not (name in there and shared.read(name).startswith(path.read_bytes())):
            raise RunLocked(
                f"{job.folder} holds a run that is not the one at {shared.url}: move it away, or copy it there"
            )
    shared.fetch(job.folder)
