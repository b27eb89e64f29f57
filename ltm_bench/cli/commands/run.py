"""Run one conversation with an agent, score it, write its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_bench.cli.console import complain, out
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.ending import saying_when_it_ends, send_spans
from ltm_bench.cli.options import Config, LogLevel, Quiet
from ltm_bench.cli.thresholds import check_reachable, check_thresholds, find_baseline
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.seeds import seeds_from, spell_seed
from ltm_bench.plan.declaring import spelled
from ltm_bench.plan.folders import run_folder
from ltm_bench.plan.request import Conduct, NewRun, Request, Series, Thresholds

if TYPE_CHECKING:
    from ltm_bench.api import Run

app = group()


@command(
    app,
    "run",
    "run --span 120k --agent gpt-6-luna --max-cost 40",
    "run --span 120k --agent gpt-6-luna --quick",
    "run --span 2k --scenario colours --scenario jokes --examples 10",
    "run --span 32k --agent gpt-6-luna --repeats 3 --baseline standard-32k-gpt-6-luna-seed0",
    "run --span 32k --agent gpt-6-luna --quick --again 3",
    "run --config nightly.toml --tag commit=1a2b3c",
    "run --agent openai_chat -A model=my-model --base-url http://localhost:8000/v1",
)
def run(
    request: Request,
    new: NewRun,
    conduct: Conduct,
    series: Series,
    config: Config = None,
    quiet: Quiet = False,
    log_level: LogLevel = None,
) -> None:
    """Run one conversation with an agent, score it, write its page. Resumes a run that was interrupted."""
    with saying_when_it_ends(series.notify) as folders:
        _run(request, new, conduct, series, folders)


def _run(request: Request, new: NewRun, conduct: Conduct, series: Series, folders: list[Path]) -> None:
    from ltm_bench.api import Options, execute
    from ltm_bench.cli.watching import watch
    from ltm_bench.plan.planning import make_plan
    from ltm_bench.runner.reuse import folder_to_decide

    if series.otel is not None:
        from ltm_bench.export.sending import collector

        collector(series.otel)  # before anything is paid for
    seeds = seeds_from(request.seed, series.repeats)
    # All are planned first: mistakes show before anything is paid for.
    plans = [make_plan(replace(request, seed=seed), conduct.calls) for seed in seeds]
    check_reachable(series, plans[0].manifest)
    baseline = find_baseline(series.baseline, plans[0].manifest, seeds)
    executions = []
    if series.again > 1 and conduct.cache:
        complain("--cache is without effect with --again: equal requests would get equal answers")
        conduct = replace(conduct, cache=False)
    for seed, plan in zip(seeds, plans, strict=True):
        # Each seed in a folder of its own, or the second would be refused as another run of that name.
        several = f"{new.name}-seed{spell_seed(seed)}" if series.repeats > 1 else new.name
        name = plan.name if new.name is None else several or ""
        for time in range(1, series.again + 1):
            folder = run_folder(name if time == 1 else f"{name}-again{time}", fresh=new.fresh)
            if baseline is not None or series.fail_under is not None:
                folder = folder_to_decide(plan, folder, complain)
            folders.append(folder)
            executions.append(partial(execute, plan, folder))
    options = replace(Options.of(conduct), beside=spelled(Thresholds, series, Thresholds()))
    # Whoever states a limit has agreed to it already.
    left = sum(not (folder / "events.jsonl").exists() for folder in folders)
    dear = [] if series.yes or options.budget.limit is not None else [left]
    runs = [watch(each, options, dear=dear) for each in executions]
    for each in runs if series.otel is not None else ():
        try:
            send_spans(each, series.otel or "")
        except ConfigError as error:  # the run itself is fine
            complain(f"warning: {error}")
    if len(runs) > 1:
        _print_together(runs, "seeds" if series.again == 1 else "runs")
    check_thresholds(series, runs, baseline)


def _print_together(runs: Sequence[Run], what: str) -> None:
    """Print the combined result of several seeds, or of several runs of them, and write a page of them."""
    from ltm_bench.api import compare
    from ltm_bench.cli.comparison import print_spread, write_comparison

    comparison = compare(*runs)
    for cell in comparison.cells:
        interval = f", 95 % {cell.interval.low:.2f} – {cell.interval.high:.2f}" if cell.interval else ""
        score = f"{cell.score:.2f} / {cell.out_of}" if cell.complete else "incomplete"
        out().print(f"{len(runs)} {what} together: {score}{interval}, n = {cell.n}")
        print_spread(cell)
    folder, last = runs[0].folder, runs[-1].manifest.seed
    page = folder.with_name(
        f"{folder.name}-{'again' if last == runs[0].manifest.seed else f'to-{spell_seed(last)}'}.html"
    )
    write_comparison(comparison, [each.folder for each in runs], page)
    out().print(f"page of all: {page}")
