"""Run many agents, spans, seeds and suites at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from ltm_bench.adapters.http import caching
from ltm_bench.api import CACHE, Run, compare, published
from ltm_bench.cli.comparison import write_comparison
from ltm_bench.cli.console import err, out, safe
from ltm_bench.cli.display import SweepDisplay
from ltm_bench.cli.forecasting import sweep_lines
from ltm_bench.cli.options import (
    Acknowledge,
    BaseUrl,
    Cache,
    Connections,
    Fresh,
    Isolated,
    LogLevel,
    MaxCost,
    MaxRetries,
    Name,
    Parameters,
    Questions,
    Quick,
    Quiet,
    Settings,
    Tags,
    Timeout,
    examples_of,
    output_option,
)
from ltm_bench.cli.outputs import check_output
from ltm_bench.cli.parsing import parse_tags, seconds, whole
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached, ConfigError, LogError, ManifestDiffers, RunIncomplete
from ltm_bench.log.environment import record_tags
from ltm_bench.plan.folders import REPORTS
from ltm_bench.plan.planning import Plan
from ltm_bench.plan.request import PLAIN, CallSettings
from ltm_bench.report.publishing import DERIVED
from ltm_bench.runner import ray as clusters
from ltm_bench.runner.estimate import MOST_SIMULATED, Estimate, forecast
from ltm_bench.runner.grid import Grid, jobs_of, read_grid, remake, with_resources
from ltm_bench.runner.measured import seconds_per_reply
from ltm_bench.runner.sweep import Job, JobResult
from ltm_bench.runner.sweep import sweep as run_all


@dataclass(frozen=True)
class Cluster:
    """How a cluster runs a sweep."""

    shared: str | None
    """Where its runs go: a folder that all nodes see, or a URL; None for reports/."""
    checkpoint: float
    """Seconds between copies of a run to a URL."""
    connections: int
    """Maximum concurrent calls to one provider."""

    @property
    def url(self) -> str | None:
        """The URL where runs go, if it is one."""
        return self.shared if self.shared is not None and clusters.is_url(self.shared) else None

    @property
    def reports(self) -> Path:
        """The local folder where runs go."""
        return REPORTS if self.shared is None or self.url is not None else Path(self.shared)


def sweep(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A TOML file: agents, spans, seeds, suites, examples, …"),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", envvar="LTM_BENCH_AGENT", help="An agent; can be repeated."),
    ] = None,
    span: Annotated[
        list[str] | None,
        typer.Option(metavar="TOKENS", envvar="LTM_BENCH_SPAN", help="A span; can be repeated."),
    ] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N",
            parser=whole("--seed"),
            envvar="LTM_BENCH_SEED",
            help="A seed; can be repeated.",
        ),
    ] = None,
    suite: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", envvar="LTM_BENCH_SUITE", help="A suite; can be repeated."),
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=whole("--examples", 1),
            envvar="LTM_BENCH_EXAMPLES",
            help="Examples per scenario, instead of the suites'.",
        ),
    ] = None,
    isolated: Isolated = False,
    questions: Questions = "in-line",
    acknowledge: Acknowledge = "live",
    quick: Quick = False,
    connections: Connections = 16,
    max_cost: MaxCost = None,
    setting: Settings = None,
    parameter: Parameters = None,
    base_url: BaseUrl = None,
    timeout: Timeout = None,
    max_retries: MaxRetries = None,
    cache: Cache = False,
    name: Name = None,
    fresh: Fresh = False,
    output: Annotated[
        Path | None,
        output_option(
            "sweep", "The page of all runs; by default, reports/sweep.html, or named after --name."
        ),
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            "--executor",
            "--backend",
            "--on",
            metavar="CLUSTER",
            envvar=["LTM_BENCH_EXECUTOR", "LTM_BENCH_ON"],
            help="Where to run them: ray, for the local Ray cluster or the one at RAY_ADDRESS.",
        ),
    ] = None,
    resources: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=N,…",
            envvar="LTM_BENCH_RESOURCES",
            help="On a cluster: what a run needs from a node, such as num_cpus=1,num_gpus=0.5; FILE can set it per "
            "agent.",
        ),
    ] = None,
    shared: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            envvar="LTM_BENCH_SHARED",
            help="On a cluster: where the runs go, a folder that all nodes see or a URL (s3://…); by default, "
            "reports/.",
        ),
    ] = None,
    checkpoint: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            parser=seconds("--checkpoint"),
            envvar="LTM_BENCH_CHECKPOINT",
            help="On a cluster: how often an active run is copied to a URL.",
        ),
    ] = 30.0,
    tag: Tags = None,
    quiet: Quiet = False,
    log_level: LogLevel = None,
) -> None:
    """Run every combination of agents, spans, seeds and suites concurrently. Repeat the command to resume."""
    if executor not in (None, "ray"):
        raise ConfigError(f"--executor {executor}: use ray, or leave --executor out to run in this process")
    for option, value in (("--resources", resources), ("--shared", shared)):
        if value is not None and executor is None:
            raise ConfigError(f"{option} {value}: this only applies to a cluster; add --executor ray")
    calls = CallSettings(timeout, max_retries)
    if executor is not None and (calls != PLAIN or cache):
        raise ConfigError(
            f"--executor {executor}: --timeout, --max-retries and --cache are for calls from this machine; set the "
            "agents' own settings, such as -A timeout=300"
        )
    if output is not None:
        check_output(output)
    tags = parse_tags(tag or [])
    flags = {
        "agents": agent,
        "spans": span,
        "seeds": seed,
        "suites": suite,
        "examples": examples,
        "isolated": isolated,
        "questions": questions if questions != "in-line" else None,
        "acknowledge": acknowledge if acknowledge != "live" else None,
        "quick": quick,
        "settings": setting,
        "parameters": parameter,
        "base_url": base_url,
    }
    given = {key: value for key, value in flags.items() if value}
    grid = with_resources((Grid() if file is None else read_grid(file)).model_copy(update=given), resources)
    cluster = None if executor is None else Cluster(shared, checkpoint, connections)
    reports = REPORTS if cluster is None else cluster.reports
    jobs, budget = jobs_of(grid, calls, reports, name=name, fresh=fresh), Budget(max_cost)
    try:
        if cluster is None:
            err().print(f"{len(jobs)} runs, {connections} calls at a time to each provider")
            _print_forecasts(jobs)
            with caching(REPORTS / CACHE if cache else None), SweepDisplay(jobs, budget) as display:
                ended = asyncio.run(run_all(jobs, budget, display, connections=connections))
        else:
            ended = _elsewhere(jobs, budget, grid, cluster)
    except KeyboardInterrupt:
        raise RunIncomplete("interrupted; nothing is lost: the same command continues") from None
    for each in ended:
        if _begun(each):
            record_tags(each.job.folder, tags)
    runs = {each.job.folder: asyncio.run(_published(each)) for each in ended if _begun(each)}
    if cluster is not None and cluster.url is not None:
        _bring_pages(cluster.url, [each.job for each in ended if each.job.folder in runs])
    _print(ended, runs)
    _write_together(
        [run for run in runs.values() if run.complete], output or reports / f"{name or 'sweep'}.html"
    )
    _raise_if_unfinished(ended, max_cost)


def _print_forecasts(jobs: Sequence[Job]) -> None:
    """Print a forecast of the runs that have not started, one for all that differ only in the seed.

    Simulates as many as the time for one forecast allows; prints a lower bound for the others.
    """
    alike: dict[str, list[Job]] = {}
    for job in jobs:
        if not (job.folder / "events.jsonl").exists():
            manifest = job.plan.manifest
            key = f"{manifest.agent.model_dump_json()} {manifest.suite.model_dump_json()} {manifest.span}"
            alike.setdefault(key, []).append(job)
    groups: list[tuple[Plan, Estimate | None, int]] = []
    left = MOST_SIMULATED
    for same in alike.values():
        plan = same[0].plan
        latency = seconds_per_reply(plan.manifest.agent, plan.manifest.span, same[0].folder.parent)
        found = asyncio.run(forecast(plan, latency)) if left > 0 else None
        left -= 0 if found is None else found.tokens
        groups.append((plan, found, len(same)))
    for line in sweep_lines(groups):
        err().print(safe(line))


def _begun(done: JobResult) -> bool:
    """Whether this run has begun; a folder with another run does not count."""
    return not isinstance(done.problem, LogError) and (done.job.folder / "events.jsonl").exists()


async def _published(done: JobResult) -> Run:
    job = done.job
    results = await published(job.folder, job.plan, done.verdicts or {})
    return Run(job.folder, job.plan.manifest, results)


def _write_together(runs: Sequence[Run], page: Path) -> None:
    if len(runs) > 1:
        write_comparison(compare(*runs), [run.folder for run in runs], page)
        out().print(f"page of all: {page}")


def _raise_if_unfinished(ended: Sequence[JobResult], limit: Decimal | None) -> None:
    stopped = [each.problem for each in ended if each.problem is not None]
    if not stopped:
        return
    foreign = sum(isinstance(problem, ManifestDiffers) for problem in stopped)
    if foreign == len(stopped):
        raise ManifestDiffers(
            f"{foreign} of {len(ended)} folders hold other runs, which were left alone; start new ones beside them "
            "with --fresh, or under another --name"
        )
    what = f"{len(stopped)} of {len(ended)} runs are not finished; the same command continues with them"
    if all(isinstance(problem, BudgetReached) for problem in stopped):
        raise BudgetReached(f"--max-cost {limit} is reached: {what} with a larger one")
    raise RunIncomplete(what)


def _elsewhere(jobs: Sequence[Job], budget: Budget, grid: Grid, cluster: Cluster) -> list[JobResult]:
    terms = clusters.Terms(remake, cluster.connections, cluster.url, grid.resources, cluster.checkpoint)
    for job in jobs[:1]:
        terms.shared(job)  # an unusable URL is an error of the command, not of every run
    with clusters.connected() as ray:
        nodes = sum(bool(node["Alive"]) for node in ray.nodes())
        err().print(f"{len(jobs)} runs, on a Ray cluster of {nodes} node{'s' * (nodes != 1)}")
        _print_forecasts(jobs)
        for line in clusters.too_large(jobs, terms, ray):
            err().print(line)
        with SweepDisplay(jobs, budget) as display:
            problems = asyncio.run(clusters.sweep_on(ray, jobs, budget, display, terms))
    return [JobResult(job, problem) for job, problem in zip(jobs, problems, strict=True)]


def _bring_pages(url: str, jobs: Sequence[Job]) -> None:
    """Copy the pages written here to where the logs are."""
    for job in jobs:
        try:
            clusters.Shared(f"{url.rstrip('/')}/{job.folder.name}").put(job.folder, DERIVED)
        except RunIncomplete as error:
            err().print(safe(str(error)))


def _print(ended: Sequence[JobResult], runs: dict[Path, Run]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("run", "score", "95 %", "cost"):
        table.add_column(column, justify="left" if column == "run" else "right", overflow="fold")
    for each in ended:
        table.add_row(*_row(each, runs.get(each.job.folder)))
    out().print(table)


def _row(done: JobResult, run: Run | None) -> list[str]:
    name = done.job.folder.name
    if run is None:
        return [name, "another run" if isinstance(done.problem, ManifestDiffers) else "not begun", "", ""]
    results, interval = run.results, run.interval
    score = "incomplete" if results.score is None else f"{results.score:.2f} / {results.out_of}"
    cost = results.costs.dollars
    return [
        name,
        score if done.problem is None else "unfinished",
        "" if interval is None else f"{interval.low:.2f} – {interval.high:.2f}",
        "free" if run.manifest.agent.free else "unknown" if cost is None else f"${cost:.4f}",
    ]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples_of(
            "sweep --agent gpt-6-luna --agent vector_memory --span 32k --span 120k --seed 0 --seed 1",
            "sweep sweep.toml --max-connections 32 --max-cost 100",
            "sweep sweep.toml --executor ray --shared s3://bucket/runs --resources num_cpus=1,num_gpus=0.5",
        )
    )(sweep)
