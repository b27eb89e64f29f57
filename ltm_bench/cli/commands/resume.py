"""Resume an interrupted run exactly where it stopped."""

from __future__ import annotations

from functools import partial

import typer

from ltm_bench.api import execute
from ltm_bench.cli.carrying_out import carry_out
from ltm_bench.cli.options import (
    Baseline,
    Cache,
    Connections,
    FailUnder,
    Judges,
    LogLevel,
    MaxCost,
    MaxDrop,
    MaxRetries,
    Quiet,
    RunName,
    Timeout,
    examples_of,
)
from ltm_bench.cli.thresholds import Thresholds
from ltm_bench.core.budget import Budget
from ltm_bench.judge.judges import find_judges
from ltm_bench.plan.folders import find_run
from ltm_bench.plan.planning import plan_of
from ltm_bench.plan.request import CallSettings
from ltm_bench.runner.conversations import CONCURRENT


def resume(
    run: RunName = None,
    max_cost: MaxCost = None,
    timeout: Timeout = None,
    max_retries: MaxRetries = None,
    cache: Cache = False,
    connections: Connections = CONCURRENT,
    judge: Judges = None,
    fail_under: FailUnder = None,
    baseline: Baseline = None,
    max_drop: MaxDrop = 0.05,
    quiet: Quiet = False,
    log_level: LogLevel = None,
) -> None:
    """Resume an interrupted run exactly where it stopped."""
    thresholds = Thresholds(fail_under, baseline, max_drop)
    find_judges(judge or ())
    folder = find_run(run)
    plan = plan_of(folder, CallSettings(timeout, max_retries))
    measure = thresholds.find_baseline(plan.manifest)
    done = carry_out(
        partial(execute, plan, folder),
        budget=Budget(max_cost),
        judges=judge or (),
        cache=cache,
        connections=connections,
        resumable=folder.name,
    )
    thresholds.check([done], measure)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=examples_of("resume", "resume standard-120k-gpt-6-luna-seed0 --max-cost 60"))(resume)
