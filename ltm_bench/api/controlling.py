"""Asks the controls of runs that have ended, within the budget of all of them together."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from ltm_bench.api.options import Options
from ltm_bench.log.controls import parse_controls
from ltm_bench.log.environment import window_of
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.controls import check_controls, cost_of_controls, run_controls


def controls_for(plan: Plan, options: Options) -> Sequence[str]:
    """Return the controls that the options name, or those asked for, or the suite. Raises ConfigError."""
    kinds = parse_controls(options.controls) or (plan.asked and plan.asked.controls) or plan.controls
    check_controls(kinds, isolated=plan.manifest.suite.isolated)
    return kinds


def spent_before(plan: Plan, folder: Path, kinds: Sequence[str]) -> Decimal:
    """Return what a run's controls have cost so far."""
    return sum((cost_of_controls(plan, folder, kind).total for kind in kinds), Decimal())


async def ask_controls(plan: Plan, folder: Path, kinds: Sequence[str], options: Options) -> None:
    """Ask what is missing of a finished run's controls; their costs so far are counted.

    Raises:
        RunIncomplete, BudgetReached: A conversation had to stop; the others were finished.
    """
    await plan.agents.find_window(window_of(folder))
    await run_controls(
        plan,
        folder,
        kinds,
        budget=options.budget,
        notify=options.notify,
        concurrent=options.connections,
    )
