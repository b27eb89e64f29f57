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
import gc
import os
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, replace
from functools import wraps
from inspect import getdoc, signature
from itertools import islice
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar, cast, get_type_hints

from ltm_bench.api.loading import load, load_each
from ltm_bench.api.options import Options
from ltm_bench.api.publication import REFERENCES, publish, rescore
from ltm_bench.api.running import check_price, equipped, execute, start
from ltm_bench.api.runs import Run, framed
from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.log.remote import is_url
from ltm_bench.plan.declaring import Given, Option, arguments
from ltm_bench.plan.folders import REPORTS, find_run
from ltm_bench.plan.planning import plan_of
from ltm_bench.plan.request import Conduct, NewRun, Request
from ltm_bench.runner.progress import Progress

if TYPE_CHECKING:
    from ltm_bench.score.comparison.runs import Comparison

__all__ = [
    "REFERENCES",
    "Options",
    "Run",
    "aresume",
    "arun",
    "check_price",
    "compare",
    "equipped",
    "execute",
    "frame",
    "load_run",
    "plot",
    "publish",
    "rescore",
    "resume",
    "run",
    "start",
]

_SECTION = re.compile(r"^(Returns|Raises):", re.MULTILINE)

T = TypeVar("T")
P = ParamSpec("P")
D = TypeVar("D")


def taking(
    declaration: Callable[P, D],
) -> Callable[[Callable[[D], Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Return a decorator: the function gets the fields of a declaration as its parameters, and in its docstring."""
    declared = arguments(cast(type, declaration))

    def decorate(main: Callable[[D], Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @wraps(main)
        async def call(*args: P.args, **kwargs: P.kwargs) -> T:
            asked = declaration(*args, **kwargs)
            getattr(asked, "said", Given()).update(took.bind(*args, **kwargs).arguments)
            return await main(asked)

        took = signature(declaration)
        known = [each for each in took.parameters.values() if each.name in declared]
        parameters = [each.replace(annotation=declared[each.name].kind) for each in known]
        returned = get_type_hints(main)["return"]
        vars(call)["__signature__"] = took.replace(parameters=parameters, return_annotation=returned)
        call.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": returned}
        lines = (f"{each.name}: {declared[each.name].option.help}" for each in parameters)
        told = [fill(line, 108, initial_indent=" " * 4, subsequent_indent=" " * 8) for line in lines]
        call.__doc__ = _SECTION.sub("\n".join(["Args:", *told, "", r"\g<0>"]), getdoc(main) or "", count=1)
        return call

    return decorate


def blocking(main: Callable[P, Coroutine[Any, Any, T]], name: str) -> Callable[P, T]:
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


Report = Annotated[
    Callable[[Progress], None] | None, Option("Called with a `Progress` after every turn.", terminal=False)
]


@dataclass(frozen=True, kw_only=True)
class RunArguments(NewRun, Conduct, Request):
    """The parameters of `run`."""

    progress: Report = None


@dataclass(frozen=True)
class ResumeArguments(Conduct):
    """The parameters of `resume`."""

    run: Annotated[
        str | os.PathLike[str] | None,
        Option("Its name or folder; the newest one in `reports` if left out.", terminal=False),
    ] = None
    _: KW_ONLY
    progress: Report = None


@taking(RunArguments)
async def arun(asked: RunArguments) -> Run:
    """Run one conversation with an agent, score it and write its page. Continues a run that was interrupted.

    Returns:
        The complete run.

    Raises:
        ConfigError: An argument is invalid.
        RunIncomplete: The run stopped early, and can be resumed; `AgentError` if the agent could not reply.
        BudgetReached: The next call could exceed `max_cost`.
        LogError: The folder holds another run, a damaged one, or one in use by another process.
    """
    options = replace(Options.of(asked), progress=asked.progress)
    return await start(asked, options, name=asked.name, fresh=asked.fresh)


run = blocking(arun, "run")


@taking(ResumeArguments)
async def aresume(asked: ResumeArguments) -> Run:
    """Resume an interrupted run exactly where it stopped. No logged reply is asked for again.

    What is not given is as it was when the run was begun: limit, gateway, reader, judges, controls and so on. What the
    run has cost so far counts towards `max_cost`.

    Raises:
        ConfigError: There is no such run, or it would be protected less than when it was begun, and `without` does not
            say so.
        ManifestDiffers: A scenario or the adapter has changed since.
        RunIncomplete, BudgetReached: As for `run`.
    """
    options = replace(Options.of(asked), progress=asked.progress)
    folder = find_run(None if asked.run is None else os.fspath(asked.run), options.reports)
    return await execute(plan_of(folder, asked.calls), folder, options)


resume = blocking(aresume, "resume")


def load_run(run: str | os.PathLike[str] | None = None, *, reports: str | os.PathLike[str] = REPORTS) -> Run:
    """Load an existing run, as today's matchers score it. Writes nothing.

    If its `results.json` says what its log would give, the log is not read.

    Args:
        run: Its name, folder or URL; the newest one in `reports` if left out.
        reports: The folder in which runs land.

    Raises:
        ConfigError: There is no such run, or there are several.
        LogError: Its log is damaged.
        RunIncomplete: The URL cannot be reached.
    """
    if run is None or not is_url(os.fspath(run)):
        return load(find_run(None if run is None else os.fspath(run), Path(reports)))
    first, *others = islice(load_each([run], Path(reports)), 2)
    if others:
        raise ConfigError(f"{os.fspath(run)}: there are several runs; name the URL of one")
    return first


def frame(*runs: Run | str | os.PathLike[str], reports: str | os.PathLike[str] = REPORTS) -> Any:
    """Return the questions of runs as one table, a row each: of pandas, or of polars if pandas is not installed.

    Args:
        runs: Runs, their names, folders or URLs, or folders or URLs of runs.
        reports: The folder in which names are looked up.

    Raises:
        ConfigError: There is no such run, or neither package is installed.
    """
    return framed([row for run in load_each(runs, Path(reports)) for row in run.rows()])


def compare(*runs: Run | str | os.PathLike[str], reports: str | os.PathLike[str] = REPORTS) -> Comparison:
    """Compare runs: scores over spans, differences by example, and how the runs differ. Calls no agent.

    Args:
        runs: Runs, their names, folders or URLs, or folders or URLs of runs.
        reports: The folder in which names are looked up.

    Raises:
        ConfigError: There is no such run, or no run was given.
    """
    if not runs:
        raise ConfigError("compare() needs at least one run; give runs, names or folders")
    from ltm_bench.score.comparison.runs import compare as compare_scored
    from ltm_bench.score.comparison.thin import Thinner

    thinner, collects = Thinner(), gc.isenabled()
    gc.disable()  # a fifth of the time for ten thousand runs, which hold nothing that it could free
    try:
        scored = [thinner.thin(each.manifest, each.results) for each in load_each(runs, Path(reports))]
        return compare_scored(scored)
    finally:
        if collects:
            gc.enable()


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
        runs: Runs, their names, folders or URLs, or folders or URLs of runs.
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
    from ltm_bench.score.comparison.entrants import Scored
    from ltm_bench.score.results.scoring import narrowed

    target, shown = Path(path), []
    scored = [Scored(each.manifest, each.results) for each in load_each(runs, Path(reports))]
    names = dict(labels or {})
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
