"""The driver: joins the cluster, gives each run to a worker, and reports the sweep's progress."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError, LtmBenchError, RunIncomplete, RunLocked
from ltm_bench.core.extras import extra
from ltm_bench.log.recorder import locked, start_run
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.conversation import Verdicts
from ltm_bench.runner.ray.budget_server import BudgetServer
from ltm_bench.runner.ray.resources import Resources, fits, resources_of
from ltm_bench.runner.ray.sharing import Files, Shared
from ltm_bench.runner.ray.worker import OFTEN, Assignment, WorkerResult
from ltm_bench.runner.spent import Cost, cost_before, finished
from ltm_bench.runner.sweep import Job, SweepObserver, is_worth_trying, pause, too_late

LOSSES = 5
"""How often a run is resumed from its log when its worker or node is lost, unless --retries says otherwise."""

RUNS_A_PROCESS = 20
"""How many runs a process carries out, one after the other: its imports take seconds."""

PATIENCE = 10.0
"""Seconds that an interrupted sweep waits for its workers."""

CHECKPOINT = 30.0
"""Seconds between two copies of a run to a URL."""


class ClusterObserver(SweepObserver, Protocol):
    """Observes a sweep on a cluster."""

    def heard(self, turns: int, examples: int) -> None:
        """Add turns and finished examples; negative if a run restarts."""

    def stopping(self, runs: int, seconds: float) -> None:
        """Note that an interrupted sweep waits for its workers, so long at most."""


@dataclass(frozen=True)
class Terms:
    """How runs are handed over."""

    remake: Callable[[Path], Job]
    """Makes a job from a run's folder, in a worker; it must be importable there."""
    connections: int
    url: str | None = None
    """The URL below which each run has a folder; None if all nodes see the jobs' folders."""
    resources: Mapping[str, Resources] = field(default_factory=dict)
    checkpoint: float = CHECKPOINT
    publish: Callable[[Path, Plan, Verdicts], None] | None = None
    """Writes the pages of a run, in a worker; it must be importable there. None leaves that to the caller."""
    time: float | None = None
    """Seconds after which a run stops."""
    retries: int | None = None
    """How often a run that fails is continued; None: only one whose worker is lost."""
    tags: Mapping[str, str] | None = None

    def of(self, job: Job) -> Resources:
        """Return a job's resources."""
        return resources_of(job.plan.manifest.agent.name, self.resources)

    def shared(self, job: Job) -> Shared | None:
        """Return a job's folder behind the URL."""
        return None if self.url is None else Shared(f"{self.url.rstrip('/')}/{job.folder.name}")


def _address() -> str:
    """Return the cluster's address, after a connection test: Ray itself would wait for minutes. Raises ConfigError."""
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
                f"--executor ray: no cluster answers at {where} ({error}); start one with `ray start --head`, or set "
                "RAY_ADDRESS"
            ) from error
    return address


@contextlib.contextmanager
def connected() -> Iterator[Any]:
    """Join the running Ray cluster, and leave it at the end. Raises ConfigError without a cluster or without Ray."""
    with extra("ray", wanted_by="--executor ray"):
        import ray
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
                f"--executor ray: no cluster can be joined ({said}); start one with `ray start --head`, or set "
                "RAY_ADDRESS"
            ) from error
        if main:
            signal.signal(signal.SIGTERM, before)  # Ray uses this name itself
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            yield ray  # it would log lost workers at length, among the results
    finally:
        if mine:
            ray.shutdown()


def too_large(jobs: Sequence[Job], terms: Terms, ray: Any) -> list[str]:
    """Return a line for every agent that needs more than any node has now: Ray waits for one that does."""
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
    """Return for each provider the number of concurrent runs, and of concurrent calls in each.

    Their product never exceeds the connections. Runs of agents that make no calls are bounded only by the cluster.
    """
    cpus = sum(node.get("Resources", {}).get("CPU", 0) for node in nodes if node.get("Alive"))
    found = {}
    for provider, many in Counter(job.connections for job in jobs).items():
        own = [job for job in jobs if job.connections == provider]
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
    """Execute all runs of a sweep on the cluster. When it returns, their folders hold the logs.

    Args:
        ray: The module, connected.
        jobs: The runs.
        budget: The budget of all runs together.
        observer: Told about the sweep's progress.
        terms: How runs are handed over.

    Returns:
        The error that stopped each run, or None.
    """
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
        self._server = (
            ray.remote(BudgetServer)
            .options(num_cpus=0, scheduling_strategy=here)
            .remote(budget.limit, _costs_before(jobs, budget, terms.url))
        )
        try:
            ray.get(self._server.look.remote(), timeout=120)
        except ray.exceptions.RayError as error:
            raise ConfigError(
                f"--executor ray: the cluster's Python cannot run ltm-bench; install it there ({_first_line(error)})"
            ) from error
        self._files = ray.put(Files.of(Path.cwd()))
        self._execute = {many: ray.remote(max_calls=many)(_by_value()) for many in (1, RUNS_A_PROCESS)}
        self._shares = shares(jobs, terms, ray.nodes())
        self._open = {provider: asyncio.Semaphore(many) for provider, (many, _) in self._shares.items()}
        self._pending: set[Any] = set()
        self._unfit = defaultdict[str, set[str]](set)  # nodes that lack what an agent's runs need
        self._begun: set[int] = set()
        self._turns = self._examples = 0

    async def all(self) -> list[LtmBenchError | None]:
        watching = asyncio.create_task(self._watch())
        try:
            return list(await asyncio.gather(*(self._one(n, job) for n, job in enumerate(self._jobs))))
        finally:
            watching.cancel()

    def stop(self) -> None:
        """Let active runs write and copy their logs before the sweep ends; kill those that take too long."""
        if not self._pending:
            return
        self._observer.stopping(len(self._pending), PATIENCE)
        for ref in self._pending:
            self._ray.cancel(ref)
        _, left = self._ray.wait(list(self._pending), num_returns=len(self._pending), timeout=PATIENCE)
        for ref in left:
            self._ray.cancel(ref, force=True)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(OFTEN)
            await self._look()

    async def _look(self) -> None:
        try:
            (
                begun,
                turns,
                examples,
                self._budget.spent,
                self._budget.unknown,
            ) = await self._server.look.remote()
        except self._ray.exceptions.RayError:  # the runs themselves report that the budget server is gone
            return
        for number, (attempts, already) in begun.items():
            self._begin(number, already=already and attempts == 1)
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
            known = shared is not None or (job.folder / "events.jsonl").exists()
            if known and await asyncio.to_thread(_prepare, job, shared):
                self._begin(number, already=True)
            else:
                async with self._open[job.connections]:
                    await self._look()
                    short = too_late(job, self._budget)
                    if short is not None:
                        self._observer.done(job, short)
                        return short
                    if not known:
                        await asyncio.to_thread(_prepare, job, shared)
                    problem = await self._handed_over(number, job, self._shares[job.connections][1], shared)
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
        assignment = Assignment(
            number=number,
            name=job.folder.name,
            manifest=job.plan.manifest,
            folder=str(job.folder.absolute()),
            url=None if shared is None else shared.url,
            limit=self._budget.limit,
            places=places,
            checkpoint=self._terms.checkpoint,
            remake=self._terms.remake,
            publish=self._terms.publish,
            time=self._terms.time,
            tags=self._terms.tags,
            outlook=job.outlook,
        )
        agent, last, tries = job.plan.manifest.agent.name, "", 0
        retries = self._terms.retries
        unfit = self._unfit[agent]
        while True:
            nodes = {node["NodeID"] for node in self._ray.nodes() if fits(self._terms.of(job), [node])}
            if unfit and nodes <= unfit:
                return RunIncomplete(f"no node can run {agent}")
            other = nodes - unfit - {last}
            ended = await self._tried(assignment, job, unfit | {last} if last and other else unfit)
            problem = ended.problem
            if ended.faulty:
                if ended.node not in unfit:
                    self._observer.noted(job, f"{problem}; {agent} does not run on {ended.host} from now on")
                    unfit.add(ended.node)
                continue
            most = retries if retries is not None else 0 if ended.node else LOSSES
            if not is_worth_trying(problem) or tries >= most:
                return problem
            tries, last = tries + 1, ended.node
            what = f"retry {tries} of {most}" if ended.node else "another continues from its log"
            self._observer.noted(job, f"{problem}; {what}")
            await asyncio.sleep(pause(tries))

    async def _tried(self, assignment: Assignment, job: Job, avoided: Set[str]) -> WorkerResult:
        """Hand a run to a node that is not avoided; the attempt of a worker that was lost has none."""
        elsewhere = {"ray.io/node-id": f"!in({','.join(sorted(avoided))})"} if avoided else None
        needs = self._terms.of(job)
        # What a run leaves behind on a device, or in a call that did not end in time, must not reach the next run.
        alone = bool(needs.num_gpus or needs.custom or self._terms.time)
        task = self._execute[1 if alone else RUNS_A_PROCESS].options(
            name=assignment.name,
            max_retries=0,
            scheduling_strategy="SPREAD",
            label_selector=elsewhere,
            **needs.options(),
        )
        packed = self._ray.cloudpickle.dumps(assignment)
        ref = task.remote(packed, [self._files], self._server)
        self._pending.add(ref)
        try:
            came = await ref
            attempt = came if isinstance(came, WorkerResult) else _without(*came)
        except self._ray.exceptions.RayError as error:
            attempt = WorkerResult(RunIncomplete(f"its worker was lost ({_first_line(error)})"), "", "")
        self._pending.discard(ref)
        return attempt


def _by_value() -> Callable[..., Any]:
    """Return `execute` for nodes that may lack ltm-bench: it travels whole, and unpacks its arguments there."""

    def carried(packed: bytes, files: Sequence[Any], server: Any) -> Any:
        import pickle
        import socket

        import ray

        try:
            from ltm_bench.runner.ray.worker import execute

            assignment = pickle.loads(packed)
        except (ImportError, AttributeError) as error:  # it is missing there, or another version
            return str(error), ray.get_runtime_context().get_node_id(), socket.gethostname()
        return execute(assignment, ray.get(files[0]), server)

    return carried


def _without(reason: str, node: str, host: str) -> WorkerResult:
    """Return what became of a run on a node that cannot import ltm-bench."""
    said = RunIncomplete(f"the Python of {host} cannot run ltm-bench; install it there ({reason})")
    return WorkerResult(said, node, host, faulty=True)


def _costs_before(jobs: Sequence[Job], budget: Budget, url: str | None) -> list[Cost]:
    """Return what each run has cost before: at a URL, at most what its ledger says, also if it is finished."""
    if url is None:
        return [cost_before(job.plan, job.folder, budget) for job in jobs]
    ledgers = {} if budget.limit is None else Shared.ledgers(url)
    return [Cost(charged=ledgers.get(job.folder.name, Decimal())) for job in jobs]


def _first_line(error: BaseException) -> str:
    """Return a worker's error in one line: its own if it has one."""
    cause = getattr(error, "cause", None)
    own = cause if isinstance(cause, BaseException) else error
    return next(
        (f"{type(own).__name__}: {line}" for line in str(own).splitlines() if line), type(own).__name__
    )


def _prepare(job: Job, shared: Shared | None) -> bool:
    """Start a run or fetch it; return whether it is finished. Raises ManifestDiffers, RunLocked or LogError."""
    if shared is not None:
        _bring(job, shared)
        if not (job.folder / "events.jsonl").exists():
            return False
    job.folder.mkdir(parents=True, exist_ok=True)
    with locked(job.folder):
        start_run(job.folder, job.plan.manifest, job.plan.asked)
        return finished(job.plan, job.folder)


def _bring(job: Job, shared: Shared) -> None:
    """Fetch a run from its URL, unless another run is in its place. Raises RunLocked."""
    logs = [job.folder / "events.jsonl", *(job.folder / "isolated").glob("*.jsonl")]
    there = shared.files()
    for path in logs:
        name = path.relative_to(job.folder).as_posix()
        if not path.exists() or (name in there and there[name].is_at(path)):
            continue
        content = path.read_bytes()
        if name not in there or (content and shared.read(name, len(content)) != content):
            raise RunLocked(
                f"{job.folder} holds a different run from the one at {shared.url}: move it away, or copy it there"
            )
    shared.fetch(job.folder)
