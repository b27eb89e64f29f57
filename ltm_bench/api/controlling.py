"""Asks the questions of runs that have ended again, within the budget of all of them together."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from ltm_bench.adapters import MemoryProduct
from ltm_bench.api.options import Options
from ltm_bench.core.errors import CannotCombine
from ltm_bench.log.controls import KINDS, RUNGS, again_of, check_ladder, old_ladder, parse_controls, to_go
from ltm_bench.log.environment import window_of
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.control_costs import control_lines, ladder_line
from ltm_bench.runner.controls import asked_of, asked_talks, check_controls
from ltm_bench.runner.conversations import run_locked
from ltm_bench.runner.observer import Silent
from ltm_bench.runner.spent import cost_of


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


def left_to_ask(plan: Plan, folder: Path, options: Options) -> list[str]:
    """Return which controls of a run are not asked to the end, and `ladder` if it is not. Raises ConfigError."""
    if options.ladder:
        check_ladder(folder)
    left = to_go(folder, again_for(plan, options))
    return [*(kind for kind in left if kind in KINDS), *["ladder"] * any(kind in RUNGS for kind in left)]


async def again_lines(plan: Plan, left: Sequence[str]) -> list[str]:
    """Return a line for what the ladder and each control would take, of those that are left to ask."""
    lines = [await ladder_line(plan)] if "ladder" in left else []
    return [*lines, *await control_lines(plan, [kind for kind in left if kind in KINDS])]


async def ask_again(plan: Plan, folder: Path, options: Options) -> None:
    """Ask what is missing of an ended run's controls and ladder; their costs so far are counted.

    Raises:
        RunIncomplete, BudgetReached: A conversation had to stop; the others were finished.
    """
    sample = plan.agents.sample
    await plan.agents.find_window(window_of(folder))
    # The rungs of an agent that forks are asked where it is told the run's log.
    rungs = RUNGS if options.ladder and sample.forks == "no" and to_go(folder, RUNGS) else ()
    kinds = [*controls_for(plan, options), *rungs]
    # A person, or a product's server, is shared by all conversations.
    shared = sample.interactive or isinstance(sample, MemoryProduct)
    again = asked_talks(plan, kinds, folder)
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
            again=again,
        )
