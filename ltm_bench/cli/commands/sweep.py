"""Run many agents, spans, seeds and suites at the same time."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.api import Options, Run, compare, equipped
from ltm_bench.api.continuing import together
from ltm_bench.api.controlling import again_for, again_lines, ask_again, left_to_ask, spent_before
from ltm_bench.api.publication import publish_at_once
from ltm_bench.cli.comparison import write_comparison
from ltm_bench.cli.config_file import values_of
from ltm_bench.cli.console import err, out, print_table, safe, table_of
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.display import SweepDisplay
from ltm_bench.cli.ending import saying_when_it_ends
from ltm_bench.cli.forecasting import sweep_lines
from ltm_bench.cli.options import LogLevel, Quiet, check_output, output_option
from ltm_bench.cli.publishing import Press, publish_all
from ltm_bench.core.errors import BudgetReached, ConfigError, LtmBenchError, ManifestDiffers, RunIncomplete
from ltm_bench.core.grouping import grouped
from ltm_bench.judge.judges import find_judges, find_reader
from ltm_bench.log.remote import is_url
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import REPORTS
from ltm_bench.plan.planning import Plan
from ltm_bench.plan.request import RUN, Conduct, Connections, NewRun, Notify, Repeats, Request
from ltm_bench.plan.values import seconds, spell_span
from ltm_bench.report.words import plural
from ltm_bench.runner import ray as clusters
from ltm_bench.runner.estimate import MOST_SIMULATED, Estimate, bound, forecast
from ltm_bench.runner.grid import Grid, Shard, jobs_of, remake, resources_in
from ltm_bench.runner.measured import seconds_per_reply
from ltm_bench.runner.outlook import outlook
from ltm_bench.runner.sweep import Job, JobResult
from ltm_bench.runner.sweep import sweep as run_all
from ltm_bench.score.results.stored import DERIVED


def _take(ctx: typer.Context, file: Path | None) -> Path | None:
    if file is not None:
        ctx.default_map = values_of(ctx, file, besides=("resources",))
    return file


app = group()


@command(
    app,
    "sweep --agent gpt-6-luna --agent vector_memory --span 32k --span 120k --seed 0 --seed 1",
    "sweep sweep.toml --max-connections 32 --max-cost 100",
    "sweep sweep.toml --seed 0..99 --shard 3/16  # on the third of sixteen machines",
    "sweep sweep.toml --executor ray --shared s3://bucket/runs --resources num_cpus=1,num_gpus=0.5",
    idle=RUN,
)
def sweep(
    grid: Grid,
    request: Request,
    new: NewRun,
    conduct: Conduct,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            is_eager=True,
            callback=_take,
            help="A TOML file: agents, spans, seeds, suites, and other options by their names.",
        ),
    ] = None,
    repeats: Repeats = 1,
    shard: Annotated[
        Shard | None,
        Option("Only a part of the runs: 3/16 is the third of sixteen equal ones.", "N/M", Shard.parse),
    ] = None,
    connections: Connections = 16,
    output: Annotated[
        Path | None,
        output_option(
            "sweep", "The page of all runs; by default, reports/sweep.html, or named after --name."
        ),
    ] = None,
    retries: Annotated[
        int | None,
        Option(
            "How often a run that fails is continued: at once, then after 3, 15, 60 seconds, on a cluster on another "
            "node. If left out, only a run whose worker is lost is, five times.",
            "N",
            least=0,
        ),
    ] = None,
    executor: Annotated[
        str | None,
        Option(
            "Where to run them: ray, for the local Ray cluster or the one at RAY_ADDRESS.",
            "CLUSTER",
            variable=("EXECUTOR", "ON"),
        ),
    ] = None,
    resources: Annotated[
        str | None,
        Option(
            "On a cluster: what a run needs from a node, such as num_cpus=1,num_gpus=0.5; FILE can set it per agent.",
            "NAME=N,…",
        ),
    ] = None,
    shared: Annotated[
        str | None,
        Option(
            "On a cluster: where the runs go, a folder that all nodes see or a URL (s3://…); by default, reports/.",
            "PLACE",
        ),
    ] = None,
    checkpoint: Annotated[
        float, Option("On a cluster: how often an active run is copied to a URL.", "SECONDS", seconds)
    ] = 30.0,
    notify: Notify = None,
    quiet: Quiet = False,
    log_level: LogLevel = None,
) -> None:
    """Run every combination of agents, spans, seeds and suites concurrently. Repeat the command to resume."""
    check_output(output)
    needs = resources_in(file, grid.agents, resources)
    url = shared if shared is not None and is_url(shared) else None
    options = replace(
        Options.of(conduct),
        reports=REPORTS if shared is None or url is not None else Path(shared),
        notify=lambda line: err().print(safe(line)),
    )
    budget = options.budget
    jobs, skipped = jobs_of(
        grid, request, repeats=repeats, calls=conduct.calls, reports=options.reports, new=new, shard=shard
    )
    jobs, options = together(jobs, options)
    _check_executor(executor, options, {"--resources": resources, "--shared": shared})
    with saying_when_it_ends(notify) as folders:
        folders += [job.folder for job in jobs]
        find_judges(options.judges)
        for job in jobs:
            find_reader(options.reader, job.plan.manifest.agent)
        for line in skipped:
            err().print(safe(line))
        try:
            if executor is None:
                err().print(f"{plural(len(jobs), 'run')}, {connections} calls at a time to each provider")
                with equipped(options):
                    jobs = _foresee(jobs)
                    budget.count(_foresee_again(jobs, options))
                    with SweepDisplay(jobs, budget) as display, closing(Press(options)) as press:
                        ended = asyncio.run(
                            run_all(
                                jobs,
                                budget,
                                display,
                                connections=connections,
                                limit=options.run_timeout,
                                retries=retries or 0,
                                publish=press.publish,
                                ladder=options.ladder and not options.gateway,
                            )
                        )
                    ended = _asked_again(ended, options)
            else:
                terms = clusters.Terms(
                    partial(remake, calls=options.calls),
                    connections,
                    url,
                    needs,
                    checkpoint,
                    publish=None if options.judges or options.reader else publish_at_once,
                    time=options.run_timeout,
                    retries=retries,
                    tags=options.tags,
                )
                ended = _elsewhere(jobs, options, terms)
            bring = None if url is None else partial(_bring_pages, url)
            ended, runs = publish_all(ended, options, bring)
        except KeyboardInterrupt:
            raise RunIncomplete("interrupted; nothing is lost: the same command continues") from None
        _print(ended, runs)
        unwritten = None
        if len(complete := [run for run in runs.values() if run.complete]) > 1:
            part = "" if shard is None else f"-{shard.number}-of-{shard.of}"
            page = output or options.reports / f"{new.name or 'sweep'}{part}.html"
            try:
                write_comparison(compare(*complete), [run.folder for run in complete], page)
                out().print(f"page of all: {page}")
            except (ConfigError, OSError) as error:  # a full disk; the runs' own page and count come first
                unwritten = error
        _raise_if_unfinished(ended, budget.limit)
        if unwritten is not None:
            raise unwritten


def _check_executor(executor: str | None, conduct: Conduct, for_cluster: Mapping[str, str | None]) -> None:
    """Raise ConfigError if it is unknown, or if an option is only for a cluster, or only for this machine."""
    if executor not in (None, "ray"):
        raise ConfigError(f"--executor {executor}: use ray, or leave --executor out to run in this process")
    for option, value in for_cluster.items():
        if value is not None and executor is None:
            raise ConfigError(f"{option} {value}: this only applies to a cluster; add --executor ray")
    if is_url(for_cluster["--shared"] or "") and (conduct.controls or conduct.ladder):
        raise ConfigError(
            f"--shared {for_cluster['--shared']}: --control and --ladder are asked from this machine, of runs in a "
            "folder that it sees; run `ltm-bench control RUN` on the runs once they have ended"
        )
    if executor is not None and (conduct.cache or conduct.gateway):
        raise ConfigError(
            f"--executor {executor}: --cache and --gateway work on this machine alone; leave them out"
        )


def _asked_again(ended: Sequence[JobResult], options: Options) -> list[JobResult]:
    """Ask controls and ladder of all runs that have ended, one after the other; one that cannot go on is unfinished."""
    found = list(ended)
    for place, each in enumerate(ended):
        job = each.job
        if each.problem is not None or not again_for(job.plan, options):
            continue
        if left := left_to_ask(job.plan, job.folder, options):
            options.notify(f"{job.folder.name}: asking again: {', '.join(left)}")
        try:
            asyncio.run(ask_again(job.plan, job.folder, options))
        except LtmBenchError as error:
            options.notify(f"{job.folder.name}: {error}")
            found[place] = replace(each, problem=error)
    return found


def _raise_if_unfinished(ended: Sequence[JobResult], limit: Decimal | None) -> None:
    stopped = [each.problem for each in ended if each.problem is not None]
    if not stopped:
        return
    if all(isinstance(problem, ManifestDiffers) for problem in stopped):
        raise ManifestDiffers(
            f"{len(stopped)} of {len(ended)} folders hold other runs, which were left alone; start new ones beside "
            "them with --fresh, or under another --name"
        )
    first = next(f" ({each.job.folder.name}: {each.problem})" for each in ended if each.problem is not None)
    why = first if err().quiet else ""  # which was not said yet
    what = f"{len(stopped)} of {len(ended)} runs are not finished{why}; the same command continues with them"
    if all(isinstance(problem, BudgetReached) for problem in stopped):
        raise BudgetReached(f"--max-cost {limit} is reached: {what} with a larger one")
    raise RunIncomplete(what)


def _elsewhere(jobs: Sequence[Job], options: Options, terms: clusters.Terms) -> list[JobResult]:
    """Carry the runs out on the cluster, and ask controls and ladder of those in a folder from here, at the end."""
    if terms.url is not None and any(job.plan.controls for job in jobs):
        err().print(
            "controls of suites are not asked of runs at a URL; `ltm-bench control RUN` asks them afterwards"
        )
    for job in jobs[:1]:
        terms.shared(job)  # an unusable URL is an error of the command, not of every run
    with clusters.connected() as ray:
        nodes = sum(bool(node["Alive"]) for node in ray.nodes())
        err().print(f"{plural(len(jobs), 'run')}, on a Ray cluster of {plural(nodes, 'node')}")
        jobs = _foresee(jobs)
        if terms.url is None:
            terms = replace(terms, besides=_foresee_again(jobs, options))
        for line in clusters.too_large(jobs, terms, ray):
            err().print(line)
        with SweepDisplay(jobs, options.budget) as display:
            problems = asyncio.run(clusters.sweep_on(ray, jobs, options.budget, display, terms))
    ended = [JobResult(job, problem) for job, problem in zip(jobs, problems, strict=True)]
    with equipped(options):
        return _asked_again(ended, options) if terms.url is None else ended


def _bring_pages(url: str, job: Job) -> None:
    """Copy the pages written here to where the log is."""
    try:
        clusters.Shared(f"{url.rstrip('/')}/{job.folder.name}").put(job.folder, DERIVED)
    except RunIncomplete as error:
        err().print(safe(str(error)))


def _print(ended: Sequence[JobResult], runs: dict[Path, Run]) -> None:
    table = table_of("run", "score", "95 %", "cost", pad_edge=False)
    for each in ended:
        table.add_row(*_row(each, runs.get(each.job.folder)))
    print_table(table)
    for run in runs.values():
        if run.results.undecided:
            most = f"{run.results.extremes[1]:.2f}"
            out().print(
                safe(f"{run.name}: {run.results.undecided} undecided; {most} if all of them were right")
            )


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


def _foresee(jobs: Sequence[Job]) -> list[Job]:
    """Print a forecast of the runs that have not started, one for all that differ only in the seed.

    Simulates as many as the time for one forecast allows; prints a lower bound for the others. Returns the jobs, each
    with what it is foretold of its agent's window.
    """
    new = (job for job in jobs if not (job.folder / "events.jsonl").exists())
    alike = grouped((_but_for_the_seed(job), job) for job in new)
    groups: list[tuple[Plan, Estimate | None, int]] = []
    foretold: dict[Path, str] = {}
    left = MOST_SIMULATED
    for same in alike.values():
        plan = same[0].plan
        latency = seconds_per_reply(plan.manifest.agent, plan.manifest.span, same[0].folder.parent)
        found = asyncio.run(forecast(plan, latency)) if left > 0 else None
        left -= 0 if found is None else found.tokens * (len(same) if found.bounded else 1)
        if found is not None and found.bounded:  # conversations of other seeds take other numbers of calls
            bounds = [bound(each.plan) for each in same] if left > 0 else []
            found.bounded = None not in bounds and len(bounds) == len(same)
            found.dollars = max(filter(None, bounds), default=found.dollars)
        groups.append((plan, found, len(same)))
        foretold |= dict.fromkeys((job.folder for job in same), outlook(plan, found))
    for line in sweep_lines(groups):
        err().print(safe(line))
    return [replace(job, outlook=foretold.get(job.folder, "")) for job in jobs]


def _foresee_again(jobs: Sequence[Job], options: Options) -> Decimal:
    """Print what is left of controls and ladder, once for all runs that differ only in the seed.

    Returns what they have cost so far, which counts before anything else is spent.
    """
    alike = grouped(
        ((_but_for_the_seed(job), *left_to_ask(job.plan, job.folder, options)), job) for job in jobs
    )
    for (_, *left), (job, *more) in alike.items():
        plan, each = job.plan, f", in each of {len(more) + 1} runs" if more else ""
        for line in asyncio.run(again_lines(plan, left)):
            name = f"{plan.manifest.agent.name} at {spell_span(plan.manifest.span)}"
            err().print(safe(f"{name}: {line}{each}"))
    return sum((spent_before(job.plan, job.folder, options) for job in jobs), Decimal())


def _but_for_the_seed(job: Job) -> str:
    manifest = job.plan.manifest
    return f"{manifest.agent.model_dump_json()} {manifest.suite.model_dump_json()} {manifest.span}"
