"""Runs the benchmark from Python: plan, run, score, publish. Nothing here prints.

    from ltm_bench import run

    result = run(agent="vector_memory", span="32k", scenarios=["colours"], examples=20)
    result.score, result.interval, result.verdict
    result.report("page.html")

The command line, sweeps and notebooks go through the same functions. Every function with a blocking and an async form
(`run`, `arun`) does the same in both; the blocking ones also work where an event loop is running already, as in a
notebook.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ltm_bench.api.options import Options
from ltm_bench.api.publication import REFERENCES, published, rescore
from ltm_bench.api.running import CACHE, check_price, execute, start
from ltm_bench.api.runs import Run, stored_references
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.core.tokens import DEFAULT
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.folders import REPORTS, find_run
from ltm_bench.plan.planning import plan_of
from ltm_bench.plan.request import CallSettings, Request
from ltm_bench.plan.scenarios import abouts
from ltm_bench.runner.progress import Progress
from ltm_bench.score.results.scoring import score_run

if TYPE_CHECKING:
    from ltm_bench.score.comparison.entrants import Scored
    from ltm_bench.score.comparison.runs import Comparison

__all__ = [
    "CACHE",
    "REFERENCES",
    "Options",
    "Run",
    "aresume",
    "arun",
    "check_price",
    "compare",
    "execute",
    "load_run",
    "plot",
    "published",
    "rescore",
    "resume",
    "run",
    "start",
]

T = TypeVar("T")
P = ParamSpec("P")


def _blocking(main: Callable[P, Coroutine[Any, Any, T]], name: str) -> Callable[P, T]:
    """Return the blocking form of a function: it runs in this thread, or in another one if an event loop runs here."""

    @wraps(main)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(main(*args, **kwargs))
        with ThreadPoolExecutor(max_workers=1) as pool:
            return pool.submit(lambda: asyncio.run(main(*args, **kwargs))).result()

    call.__name__ = call.__qualname__ = name
    return call


async def arun(
    agent: str = "vector_memory",
    span: str | int | None = None,
    *,
    suite: str = "standard",
    data: str | None = None,
    scenarios: Sequence[str] = (),
    examples: int | None = None,
    seed: int = 0,
    isolated: bool = False,
    filler: str = "scripted",
    questions: str = "in-line",
    acknowledge: str = "live",
    quick: bool = False,
    tokenizer: str = DEFAULT,
    settings: Mapping[str, Any] | None = None,
    base_url: str | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    timeout: float | None = None,
    max_retries: int | None = None,
    name: str | None = None,
    fresh: bool = False,
    reports: str | os.PathLike[str] = REPORTS,
    max_cost: Decimal | float | None = None,
    judges: Sequence[str] = (),
    cache: bool = False,
    tags: Mapping[str, str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run one conversation with an agent, score it and write its page. Continues a run that was interrupted.

    Args:
        agent: A preset, an adapter, a provider and its model such as `openai:gpt-6-luna`, a path to an adapter's file,
            or `python:MODULE:NAME`.
        span: Tokens between what is told and what is asked: `120k`, `1M`, or a number; the suite's by default, usually
            32k.
        suite: The name of a suite, or `goodai:FOLDER`.
        data: The file or folder of a public set, if the suite is one.
        scenarios: Only these scenarios, instead of all of the suite.
        examples: Examples per scenario, instead of the suite's; for a public set, the total number of questions.
        seed: The same seed gives the same conversation.
        isolated: Run every example in its own conversation, without filler.
        filler: `scripted` (the agent observes it; if it cannot, it is asked), `live` (it is asked), `triviaqa:PATH`,
            or `live,triviaqa:PATH`.
        questions: `in-line` (part of the conversation), or `forked` (asked beside it, concurrently).
        acknowledge: Who replies to needles: `live` (the agent), or `scripted` (a script, while the agent observes).
        quick: Fork questions, and script acknowledgements and filler.
        tokenizer: The encoding that measures spans.
        settings: The agent's settings.
        base_url: A compatible server for the agent's adapter.
        parameters: Scenario parameters by scenario, instead of the suite's: `{"counting_stars": {"stars": 32}}`.
        timeout: Seconds to wait for one reply, instead of the agent's own setting.
        max_retries: Retries of a failed request, instead of the agent's own setting.
        name: The folder's name in `reports`; derived from the run by default.
        fresh: Start a new run beside one of the same name.
        reports: The folder that holds the runs.
        max_cost: Limit in US dollars; never exceeded.
        judges: Agents that decide when text alone cannot tell.
        cache: Keep providers' answers in `reports`, and reuse them for identical requests.
        tags: Your own notes about the run, by name: kept beside its log, not part of its identity.
        progress: Called with a `Progress` after every turn.

    Returns:
        The complete run.

    Raises:
        ConfigError: An argument is invalid.
        RunIncomplete: The run stopped early, and can be resumed; `AgentError` if the agent could not reply.
        BudgetReached: The next call could exceed `max_cost`.
        LogError: The folder holds another run, a damaged one, or one in use by another process.
    """
    request = Request(
        agent=agent,
        span=span,
        suite=suite,
        data=data,
        scenarios=scenarios,
        examples=examples,
        seed=seed,
        isolated=isolated,
        filler=filler,
        questions=questions,
        acknowledge=acknowledge,
        quick=quick,
        tokenizer=tokenizer,
        settings=settings or {},
        base_url=base_url,
        parameters=parameters or {},
        timeout=timeout,
        max_retries=max_retries,
    )
    options = Options(
        reports=Path(reports),
        budget=_budget(max_cost),
        judges=judges,
        cache=cache,
        tags=tags or {},
        progress=progress,
    )
    return await start(request, options, name=name, fresh=fresh)


run = _blocking(arun, "run")


async def aresume(
    run: str | os.PathLike[str] | None = None,
    *,
    timeout: float | None = None,
    max_retries: int | None = None,
    reports: str | os.PathLike[str] = REPORTS,
    max_cost: Decimal | float | None = None,
    judges: Sequence[str] = (),
    cache: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Resume an interrupted run exactly where it stopped. No logged reply is asked for again.

    Args:
        run: Its name or folder; the newest one in `reports` if left out.
        timeout: Seconds to wait for one reply, instead of the agent's own setting.
        max_retries: Retries of a failed request, instead of the agent's own setting.
        reports: The folder in which runs land.
        max_cost: Limit in US dollars, including what the run has cost so far; never exceeded.
        judges: Agents that decide when text alone cannot tell.
        cache: Keep providers' answers in `reports`, and answer the same requests from there.
        progress: Called with a `Progress` after every turn.

    Raises:
        ConfigError: There is no such run.
        ManifestDiffers: A scenario or the adapter has changed since.
        RunIncomplete, BudgetReached: As for `run`.
    """
    options = Options(
        reports=Path(reports), budget=_budget(max_cost), judges=judges, cache=cache, progress=progress
    )
    folder = find_run(None if run is None else os.fspath(run), options.reports)
    return await execute(plan_of(folder, CallSettings(timeout, max_retries)), folder, options)


resume = _blocking(aresume, "resume")


def load_run(run: str | os.PathLike[str] | None = None, *, reports: str | os.PathLike[str] = REPORTS) -> Run:
    """Load an existing run, scored from its log by today's matchers. Writes nothing.

    Args:
        run: Its name or folder; the newest one in `reports` if left out.
        reports: The folder in which runs land.

    Raises:
        ConfigError: There is no such run.
        LogError: Its log is damaged.
    """
    folder = find_run(None if run is None else os.fspath(run), Path(reports))
    manifest = read_manifest(folder)
    results = score_run(folder, manifest, about=abouts(manifest))
    return Run(
        folder, manifest, results.model_copy(update={"references": stored_references(folder, results)})
    )


def compare(*runs: Run | str | os.PathLike[str], reports: str | os.PathLike[str] = REPORTS) -> Comparison:
    """Compare runs: scores over spans, differences by example, and how the runs differ. Calls no agent.

    Args:
        runs: Runs, their names, or their folders.
        reports: The folder in which names are looked up.

    Raises:
        ConfigError: There is no such run, or no run was given.
    """
    if not runs:
        raise ConfigError("compare() needs at least one run; give runs, names or folders")
    from ltm_bench.score.comparison.runs import compare as compare_scored

    return compare_scored(_scored(runs, reports))


def plot(
    *runs: Run | str | os.PathLike[str],
    kind: str = "scenarios",
    path: str | os.PathLike[str] = "plot.svg",
    scenarios: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    width: int | None = None,
    reports: str | os.PathLike[str] = REPORTS,
) -> Path:
    """Draw a chart of runs, and return where it was written. Needs the extra `plot`.

    Args:
        runs: Runs, their names, or their folders.
        kind: The chart; `ltm-bench plot --help` lists them.
        path: The file to write, in the format of its suffix: `.svg`, `.png` or `.pdf`.
        scenarios: Only these scenarios, and only runs that asked any of them; costs and latencies are still those of
            whole runs.
        labels: Labels to use instead of agents' names, by name of the run.
        width: Width of the plot in pixels, without labels and legend.
        reports: The folder in which names are looked up.

    Raises:
        ConfigError: The chart or format is unknown, the extra is not installed, or there is nothing to draw.
    """
    from ltm_bench.report.charts import WIDTH, draw
    from ltm_bench.report.publishing import replace_file
    from ltm_bench.score.results.scoring import narrowed

    target, shown = Path(path), []
    scored, names = _scored(runs, reports), dict(labels or {})
    known = [each.results.run for each in scored]
    for wanted in names:
        if wanted not in known:
            raise ConfigError(f"--label {wanted}: no drawn run has this name{nearest(wanted, known)}")
    asked = list(dict.fromkeys(s.name for each in scored for s in each.results.scenarios))
    for wanted in scenarios:
        if wanted not in asked:
            raise ConfigError(
                f"--scenario {wanted}: no run asked it{nearest(wanted, asked)} ({', '.join(asked)})"
            )
    for each in scored:
        if scenarios and not any(s.name in scenarios for s in each.results.scenarios):
            continue
        results = narrowed(each.results, scenarios) if scenarios else each.results
        changes = {"agent": names.get(results.run, results.agent)}
        shown.append(each._replace(results=results.model_copy(update=changes)))
    replace_file(target, draw(kind, shown, target.suffix.removeprefix("."), width or WIDTH))
    return target


def _scored(runs: Sequence[Run | str | os.PathLike[str]], reports: str | os.PathLike[str]) -> list[Scored]:
    from ltm_bench.score.comparison.entrants import Scored

    loaded = [each if isinstance(each, Run) else load_run(each, reports=reports) for each in runs]
    return [Scored(each.manifest, each.results) for each in loaded]


def _budget(limit: Decimal | float | None) -> Budget:
    return Budget(None if limit is None else Decimal(str(limit)))
