"""`sweep`: many runs at the same time, from flags or from a file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich import box
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ltm_bench.adapters.http import caching
from ltm_bench.cli.comparing import write_comparison
from ltm_bench.cli.console import err, out, safe
from ltm_bench.cli.running import doubt
from ltm_bench.cli.showing import check_output, publish
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached, ConfigError, LtmBenchError, RunIncomplete, nearest
from ltm_bench.core.messages import Turn, Verdict
from ltm_bench.core.tokens import DEFAULT
from ltm_bench.log.manifest import AgentEntry
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan import config
from ltm_bench.plan.planning import (
    PLAIN,
    REPORTS,
    Calls,
    Wish,
    agent_maker,
    make_plan,
    plan_of,
    run_folder,
)
from ltm_bench.runner import ray as clusters
from ltm_bench.runner.observer import Observer
from ltm_bench.runner.sweep import Job, sweep
from ltm_bench.schedule import Ended
from ltm_bench.score.comparison import Run, compare
from ltm_bench.score.results import Results
from ltm_bench.script.scenario import Example

DERIVED = ("verdicts.jsonl", "results.json", "report.html", "transcript.html")
"""What `publish` makes of a log."""


@dataclass(frozen=True)
class Cluster:
    """That a sweep is held by a cluster, and how."""

    shared: str | None
    """Where its runs land: a folder that all nodes see, or a URL; None for reports/."""
    checkpoint: float


class Grid(BaseModel):
    """What a sweep runs: every agent at every span with every seed on every suite."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agents: list[str] = Field(default_factory=list)
    spans: list[str] = Field(default_factory=lambda: ["32k"])
    seeds: list[int] = Field(default_factory=lambda: [0])
    suites: list[str] = Field(default_factory=lambda: ["standard"])
    examples: int | None = Field(default=None, ge=1)
    isolated: bool = False
    """Every example alone, without filler."""
    settings: list[str] = Field(default_factory=list)
    """For all agents, as `-A`."""
    parameters: list[str] = Field(default_factory=list)
    """For all suites, as `-P`."""
    base_url: str | None = None
    resources: dict[str, clusters.Resources] = Field(default_factory=dict)
    """What a run takes of a cluster's node, by agent; `*` is for all. Of no meaning on this machine alone."""


def read_grid(path: Path) -> Grid:
    """Read a sweep's file. Raises ConfigError with file and key."""
    content = config.read_toml(path)
    try:
        grid = Grid.model_validate(content)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        if problem["type"] == "extra_forbidden":
            known = list(Grid.model_fields if len(problem["loc"]) == 1 else clusters.Resources.model_fields)
            raise ConfigError(
                f"{path}: unknown key {where!r}{nearest(where, known)} (known: {', '.join(known)})"
            ) from error
        raise ConfigError(f"{path}: {where} = {problem['input']!r:.60}: {problem['msg'].lower()}") from error
    for name in grid.resources:
        if grid.agents and name not in (clusters.EVERYBODY, *grid.agents):
            raise ConfigError(
                f"{path}: resources.{name}: no agent of this sweep is called so{nearest(name, grid.agents)} "
                f"(for all: [resources.'{clusters.EVERYBODY}'])"
            )
    return grid


def with_resources(grid: Grid, given: str | None) -> Grid:
    """Return a grid whose runs take this much of a node, where an agent's own table says nothing else."""
    if given is None:
        return grid
    everybody = {clusters.EVERYBODY: clusters.read_resources(given)}
    return grid.model_copy(update={"resources": grid.resources | everybody})


def provider_of(entry: AgentEntry) -> str:
    """Return whose connections an agent takes."""
    return agent_maker(entry)().connections


def remake(folder: Path) -> Job:
    """Return the job of a run's folder, elsewhere than where it was planned. Raises ManifestDiffers."""
    plan = plan_of(folder)
    return Job(plan, folder, agent_maker(plan.manifest.agent), provider_of(plan.manifest.agent))


def jobs_of(grid: Grid, calls: Calls = PLAIN) -> list[Job]:
    """Return the runs of a sweep, in the order of the grid. Raises ConfigError before anything is written."""
    if not grid.agents:
        raise ConfigError("sweep: no agent is named; give --agent, or agents = […] in the file")
    jobs = []
    cells = [
        (suite, span, agent, seed)
        for suite in dict.fromkeys(grid.suites)
        for span in dict.fromkeys(grid.spans)
        for agent in dict.fromkeys(grid.agents)
        for seed in dict.fromkeys(grid.seeds)
    ]
    for suite, span, agent, seed in cells:
        plan = make_plan(
            Wish(
                span=span,
                agent=agent,
                suite=suite,
                scenarios=(),
                examples=grid.examples,
                seed=seed,
                isolated=grid.isolated,
                filler="scripted",
                tokenizer=DEFAULT,
                settings=grid.settings,
                base_url=grid.base_url,
                parameters=grid.parameters,
            )
        )
        entry = plan.manifest.agent
        folder = run_folder(plan.manifest, None, fresh=False)
        make = agent_maker(entry, calls)
        if calls.settings:
            make()  # an agent that has no such setting is found before anything is written
        jobs.append(Job(plan, folder, make, provider_of(entry)))
    folders = [job.folder for job in jobs]
    twice = next((folder for folder in folders if folders.count(folder) > 1), None)
    if twice is not None:
        raise ConfigError(f"sweep: two of its runs would be {twice}; name their agents differently")
    return jobs


class Display:
    """One display for all runs: how many are done, what they have said, what it cost."""

    def __init__(self, jobs: Sequence[Job], budget: Budget) -> None:
        self._budget = budget
        self._runs = len(jobs)
        self._free = all(job.plan.manifest.agent.free for job in jobs)
        self._running: set[Path] = set()
        self._done = self._failed = self._turns = self._examples = self._shown = 0
        self._planned = sum(len(job.plan.examples) for job in jobs)
        self._began = self._last = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if err().is_terminal:
            self._live = Live(console=err(), auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
        err().print(self._line(), markup=False)

    def begun(self, job: Job, *, already: bool) -> Observer:
        """Count a run that begins, or was finished already."""
        self._running.add(job.folder)
        if already:
            self._examples += len(job.plan.examples)
        return self

    def doubtful(self, job: Job, where: str) -> None:
        """Name a turn that the agent may get twice."""
        err().print(f"{job.folder.name}: {doubt(where)}", markup=False)

    def done(self, job: Job, problem: LtmBenchError | None) -> None:
        """Count a run that has ended; name one that failed."""
        self._running.discard(job.folder)  # one that another process holds never began
        self._done += problem is None
        self._failed += problem is not None
        if problem is not None:
            err().print(f"{job.folder.name}: {safe(str(problem))}", markup=False)
        self._show(now=True)

    def again(self, job: Job) -> None:
        """Name a run whose worker was lost."""
        err().print(f"{job.folder.name}: its worker was lost; another goes on from its log", markup=False)

    def heard(self, turns: int, examples: int) -> None:
        """Count what was said elsewhere."""
        self._turns += turns
        self._examples += examples
        self._show()

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Count a turn."""
        self._turns += 1
        self._show()

    def verdict(self, example: Example, verdict: Verdict) -> None:
        """Pass over a verdict: the runs' pages show them."""

    def ended(self, ended: Ended) -> None:
        """Count an example."""
        self._examples += 1

    def _line(self) -> str:
        cost = "free" if self._free else f"${self._budget.spent:.4f}"
        failed = f", {self._failed} failed" if self._failed else ""
        seconds = time.monotonic() - self._began
        return (
            f"{self._done}/{self._runs} runs done{failed}, {len(self._running)} under way · "
            f"{self._examples}/{self._planned} examples · {self._turns:,} turns "
            f"({self._turns / max(seconds, 0.001):.1f} a second) · {cost}"
        )

    def _show(self, *, now: bool = False) -> None:
        at = time.monotonic()
        if not now and at - self._last < (0.2 if self._live is not None else 10.0):
            return
        self._last = at
        if self._live is not None:
            self._live.update(Text(self._line()), refresh=True)
        elif not now:
            err().print(self._line(), markup=False)


def run_sweep(
    grid: Grid,
    *,
    connections: int,
    limit: Decimal | None,
    output: Path | None,
    cluster: Cluster | None = None,
    calls: Calls = PLAIN,
) -> None:
    """Hold all runs of a grid, print what each came to, and put them side by side on a page.

    Raises RunIncomplete or BudgetReached when some could not be finished; the same command goes on with those.
    """
    if output is not None:
        check_output(output)
    jobs, budget, reports = jobs_of(grid, calls), Budget(limit), REPORTS
    if cluster is not None and cluster.shared is not None and not clusters.is_url(cluster.shared):
        reports = Path(cluster.shared)
        jobs = [replace(job, folder=reports / job.folder.name) for job in jobs]
    try:
        if cluster is None:
            err().print(f"{len(jobs)} runs, {connections} calls at a time to each provider", markup=False)
            with caching(calls.path), Display(jobs, budget) as display:
                problems = asyncio.run(
                    sweep(jobs, budget, display, connections=connections, clock=time.perf_counter)
                )
        else:
            problems = _elsewhere(jobs, budget, grid, connections, cluster)
    except KeyboardInterrupt:
        raise RunIncomplete("interrupted; nothing is lost: the same command goes on from here") from None
    found: list[tuple[Job, LtmBenchError | None, Results | None]] = []
    for job, problem in zip(jobs, problems, strict=True):
        found.append((job, problem, publish(job.folder) if (job.folder / "events.jsonl").exists() else None))
    if cluster is not None and cluster.shared is not None and clusters.is_url(cluster.shared):
        _bring_pages(cluster.shared, [job for job, _, results in found if results is not None])
    _print(found)
    whole = [(job, results) for job, _, results in found if results is not None and results.complete]
    if len(whole) > 1:
        page = output or reports / "sweep.html"
        runs = [Run(read_manifest(job.folder), results) for job, results in whole]
        write_comparison(compare(runs), [job.folder for job, _ in whole], page)
        out().print(f"page of all: {page}", markup=False)
    stopped = [problem for problem in problems if problem is not None]
    if stopped:
        what = f"{len(stopped)} of {len(jobs)} runs are not finished; the same command goes on with them"
        if all(isinstance(problem, BudgetReached) for problem in stopped):
            raise BudgetReached(f"--max-cost {limit} is reached: {what}, with a larger one")
        raise RunIncomplete(what)


def _elsewhere(
    jobs: Sequence[Job], budget: Budget, grid: Grid, connections: int, cluster: Cluster
) -> list[LtmBenchError | None]:
    terms = clusters.Terms(
        remake,
        connections,
        cluster.shared if cluster.shared is not None and clusters.is_url(cluster.shared) else None,
        grid.resources,
        cluster.checkpoint,
    )
    for job in jobs[:1]:
        terms.shared(job)  # a URL that cannot be used is a mistake of the command's, not of every run
    with clusters.connected() as ray:
        nodes = sum(bool(node["Alive"]) for node in ray.nodes())
        err().print(f"{len(jobs)} runs, on a Ray cluster of {nodes} node{'s' * (nodes != 1)}", markup=False)
        for line in clusters.too_large(jobs, terms, ray):
            err().print(line, markup=False)
        with Display(jobs, budget) as display:
            return asyncio.run(clusters.sweep_on(ray, jobs, budget, display, terms))


def _bring_pages(url: str, jobs: Sequence[Job]) -> None:
    """Put what was made of the logs here beside them."""
    for job in jobs:
        try:
            clusters.Shared(f"{url.rstrip('/')}/{job.folder.name}").put(job.folder, DERIVED)
        except RunIncomplete as error:
            err().print(safe(str(error)), markup=False)


def _print(found: Sequence[tuple[Job, LtmBenchError | None, Results | None]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("run", "score", "95 %", "cost"):
        table.add_column(column, justify="left" if column == "run" else "right", overflow="fold")
    for job, problem, results in found:
        row: list[Any] = [job.folder.name, "not begun", "", ""]
        if results is not None:
            score = "incomplete" if results.score is None else f"{results.score:.2f} / {results.out_of}"
            interval = results.interval
            cost = results.costs.dollars
            row = [
                job.folder.name,
                score if problem is None else "unfinished",
                "" if interval is None else f"{interval.low:.2f} – {interval.high:.2f}",
                "free" if job.plan.manifest.agent.free else "unknown" if cost is None else f"${cost:.4f}",
            ]
        table.add_row(*row)
    out().print(table)
