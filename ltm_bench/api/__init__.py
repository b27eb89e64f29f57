"""Runs the benchmark from Python: plan, run, score, publish. Nothing here prints.

    from ltm_bench import run

    result = run(agent="vector_memory", span="32k", scenarios=["colours"], examples=20)
    result.score, result.interval, result.verdict
    result.report("page.html")

The command line, sweeps and notebooks go through the same functions. `run` and `resume` are in `calling`.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_bench.api.loading import load, load_each
from ltm_bench.api.options import Options
from ltm_bench.api.publication import REFERENCES, publish, rescore
from ltm_bench.api.running import check_price, equipped, execute, start
from ltm_bench.api.runs import Run, framed
from ltm_bench.core.errors import ConfigError, check_known
from ltm_bench.log.remote import is_url
from ltm_bench.plan.folders import REPORTS, find_run

if TYPE_CHECKING:
    from ltm_bench.score.comparison.runs import Comparison

__all__ = [
    "REFERENCES",
    "Options",
    "Run",
    "check_price",
    "compare",
    "equipped",
    "execute",
    "frame",
    "load_run",
    "plot",
    "publish",
    "rescore",
    "start",
]


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
        check_known(f"--label {wanted}: no drawn run has this name", wanted, known)
    asked = list(dict.fromkeys(s.name for each in scored for s in each.results.scenarios))
    for wanted in scenarios:
        check_known(f"--scenario {wanted}: no run asked it", wanted, asked)
    for each in scored:
        if scenarios and not any(s.name in scenarios for s in each.results.scenarios):
            continue
        results = narrowed(each.results, scenarios) if scenarios else each.results
        changes = {"agent": names.get(results.run, results.agent)}
        shown.append(each._replace(results=results.model_copy(update=changes)))
    replace_file(target, draw(kind, shown, target.suffix.removeprefix("."), width or WIDTH))
    return target
