"""Run one conversation with an agent, score it, write its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial

import typer

from ltm_bench.api import Run, compare, execute
from ltm_bench.cli.carrying_out import carry_out
from ltm_bench.cli.console import out
from ltm_bench.cli.options import (
    Acknowledge,
    AgentName,
    Baseline,
    BaseUrl,
    Cache,
    Config,
    Connections,
    Data,
    Examples,
    FailUnder,
    FillerKind,
    Fresh,
    Isolated,
    Judges,
    LogLevel,
    MaxCost,
    MaxDrop,
    MaxRetries,
    Name,
    Parameters,
    Questions,
    Quick,
    Quiet,
    Repeats,
    Scenario,
    Seed,
    Settings,
    Span,
    Suite,
    Tags,
    Timeout,
    Tokenizer,
    examples_of,
)
from ltm_bench.cli.parsing import parse_tags
from ltm_bench.cli.thresholds import Thresholds
from ltm_bench.core.budget import Budget
from ltm_bench.core.tokens import DEFAULT
from ltm_bench.judge.judges import find_judges
from ltm_bench.plan.folders import run_folder
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plan.values import parse_parameters, parse_settings
from ltm_bench.runner.conversations import CONCURRENT


def run(
    span: Span = None,
    agent: AgentName = "vector_memory",
    suite: Suite = "standard",
    data: Data = None,
    scenario: Scenario = None,
    examples: Examples = None,
    seed: Seed = 0,
    repeats: Repeats = 1,
    isolated: Isolated = False,
    filler: FillerKind = "scripted",
    questions: Questions = "in-line",
    acknowledge: Acknowledge = "live",
    quick: Quick = False,
    tokenizer: Tokenizer = DEFAULT,
    name: Name = None,
    fresh: Fresh = False,
    max_cost: MaxCost = None,
    setting: Settings = None,
    parameter: Parameters = None,
    base_url: BaseUrl = None,
    timeout: Timeout = None,
    max_retries: MaxRetries = None,
    cache: Cache = False,
    connections: Connections = CONCURRENT,
    judge: Judges = None,
    fail_under: FailUnder = None,
    baseline: Baseline = None,
    max_drop: MaxDrop = 0.05,
    tag: Tags = None,
    config: Config = None,
    quiet: Quiet = False,
    log_level: LogLevel = None,
) -> None:
    """Run one conversation with an agent, score it, write its page. Resumes a run that was interrupted."""
    request = Request(
        span=span,
        agent=agent,
        suite=suite,
        data=data,
        scenarios=scenario or (),
        examples=examples,
        seed=seed,
        isolated=isolated,
        filler=filler,
        questions=questions,
        acknowledge=acknowledge,
        quick=quick,
        tokenizer=tokenizer,
        settings=parse_settings(setting or ()),
        base_url=base_url,
        parameters=parse_parameters(parameter or ()),
        timeout=timeout,
        max_retries=max_retries,
    )
    thresholds = Thresholds(fail_under, baseline, max_drop)
    seeds = range(seed, seed + repeats)
    plans = [
        make_plan(replace(request, seed=each)) for each in seeds
    ]  # show mistakes before anything is paid for
    measure = thresholds.find_baseline(plans[0].manifest, seeds)
    find_judges(judge or ())
    tags = parse_tags(tag or [])
    runs: list[Run] = []
    limit = max_cost
    for each, plan in zip(seeds, plans, strict=True):
        chosen = plan.name if name is None else f"{name}-seed{each}" if repeats > 1 else name
        budget = Budget(limit)
        do = partial(execute, plan, run_folder(chosen, fresh=fresh))
        runs.append(
            carry_out(do, budget=budget, judges=judge or (), cache=cache, tags=tags, connections=connections)
        )
        if limit is not None:
            limit = max(Decimal(), limit - budget.spent)
    if repeats > 1:
        _print_together(runs)
    thresholds.check(runs, measure)


def _print_together(runs: Sequence[Run]) -> None:
    """Print the combined result of several seeds, and write a page of them."""
    from ltm_bench.cli.comparison import print_spread, write_comparison

    comparison = compare(*runs)
    for cell in comparison.cells:
        interval = f", 95 % {cell.interval.low:.2f} – {cell.interval.high:.2f}" if cell.interval else ""
        score = f"{cell.score:.2f} / {cell.out_of}" if cell.complete else "incomplete"
        out().print(f"{len(runs)} seeds together: {score}{interval}, n = {cell.n}")
        print_spread(cell)
    folder = runs[0].folder
    page = folder.with_name(f"{folder.name}-to-{runs[-1].manifest.seed}.html")
    write_comparison(comparison, [each.folder for each in runs], page)
    out().print(f"page of all: {page}")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples_of(
            "run",
            "run --span 120k --agent gpt-6-luna --max-cost 40",
            "run --span 120k --agent gpt-6-luna --quick",
            "run --span 2k --scenario colours --scenario jokes --examples 10",
            "run --span 32k --agent gpt-6-luna --repeats 3 --baseline standard-32k-gpt-6-luna-seed0",
            "run --config nightly.toml --tag commit=1a2b3c",
            "run --agent openai_chat -A model=my-model --base-url http://localhost:8000/v1",
        )
    )(run)
