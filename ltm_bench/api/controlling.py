"""Asks the questions of runs that have ended again, within the budget of all of them together."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from ltm_bench.adapters.product import MemoryProduct
from ltm_bench.api.options import Options
from ltm_bench.core.errors import CannotCombine
from ltm_bench.log.controls import RUNGS, again_of, check_ladder, ladder_to_go, old_ladder, parse_controls
from ltm_bench.log.environment import window_of
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.control_costs import control_lines, ladder_line
from ltm_bench.runner.controls import asked_of, check_controls
from ltm_bench.runner.conversations import run_locked
from ltm_bench.runner.observer import Silent
from ltm_bench.runner.standing import cost_of


def controls_for(plan: Plan, options: Options) -> Sequence[str]:
    """Return the controls that the options name, or those asked for, or the suite. Raises ConfigError."""
    kinds = parse_controls(options.controls) or (plan.asked and plan.asked.controls) or plan.controls
    check_controls(kinds, isolated=plan.manifest.suite.isolated)
    if options.ladder and plan.agents.sample.interactive:
        raise CannotCombine(
            "--ladder: a person who has read the run cannot read it for the first time again; leave it out"
        )
    return kinds


def again_for(plan: Plan, options: Options) -> Sequence[str]:
    """Return how a run's questions are to be asked again: its controls, and the rungs of the ladder."""
    return [*controls_for(plan, options), *(RUNGS if options.ladder else ())]


def spent_before(plan: Plan, folder: Path, options: Options) -> Decimal:
    """Return what asking a run's questions again has cost so far. Raises LogError if a log is damaged."""
    asked = {again_of(folder, kind): kind for kind in again_for(plan, options)}
    if options.ladder:
        # What releases up to 0.4.0 spent there counts, too, or a limit is spent twice.
        asked[old_ladder(folder)] = "again"
    return sum((cost_of(home, plan.manifest.again(kind)).total for home, kind in asked.items()), Decimal())


async def again_lines(plan: Plan, folder: Path, options: Options) -> list[str]:
    """Return a line for what each control, and what is missing of the ladder, would take. Raises ConfigError."""
    lines = []
    if options.ladder:
        check_ladder(folder)
        lines += [await ladder_line(plan)] if ladder_to_go(folder) else []
    return [*lines, *await control_lines(plan, controls_for(plan, options))]


async def ask_again(plan: Plan, folder: Path, options: Options) -> None:
    """Ask what is missing of an ended run's controls and ladder; their costs so far are counted.

    Raises:
        RunIncomplete, BudgetReached: A conversation had to stop; the others were finished.
    """
    sample = plan.agents.sample
    await plan.agents.find_window(window_of(folder))
    # The rungs of an agent that forks are asked where it is told the run's log.
    rungs = RUNGS if options.ladder and sample.forks == "no" and ladder_to_go(folder) else ()
    kinds = [*controls_for(plan, options), *rungs]
    # A person, or a product's server, is shared by all conversations.
    shared = sample.interactive or isinstance(sample, MemoryProduct)
    for asked, home in [(plan, folder), *((asked_of(plan, kind), again_of(folder, kind)) for kind in kinds)]:
        await run_locked(
            asked,
            home,
            budget=options.budget,
            observer=lambda _: Silent(),
            notify=options.notify,
            concurrent=1 if shared and asked is not plan else options.connections,
            counted=True,
            limit=options.run_timeout,
            ladder=options.ladder and asked is plan,
        )
