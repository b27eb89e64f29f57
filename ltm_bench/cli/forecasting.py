"""Says what a run will use, before it starts: tokens of conversation, calls, dollars, minutes."""

from __future__ import annotations

from collections.abc import Iterator

from ltm_bench.plan.planning import Plan
from ltm_bench.plan.values import spell_span
from ltm_bench.runner.estimate import Estimate
from ltm_bench.schedule import USABLE


def forecast_lines(plan: Plan, found: Estimate | None) -> Iterator[str]:
    """Yield what a person should know before a run starts.

    Args:
        plan: Of the run.
        found: What it will use; None where it is too long to be simulated in passing.
    """
    manifest = plan.manifest
    if asked := asking(plan, found):
        yield asked
    if found is None:
        rounds = max(example.index for example in plan.examples) + 1
        least = int(rounds * USABLE * manifest.span)
        yield f"at least {least:,} tokens of conversation; `ltm-bench estimate` says what that takes"
        return
    took = duration(found.minutes)
    yield ", ".join(
        filter(
            None,
            [
                f"about {_about(found.tokens)} tokens of conversation",
                f"{found.calls:,} calls",
                price(plan, found),
                took,
            ],
        )
    )
    if found.overruns > found.examples / 2:
        yield (
            f"{found.overruns} of {found.examples} examples will probably overrun: so many do not fit into a span of "
            f"{spell_span(manifest.span)}, and what is asked will lie further back; take a larger --span, or fewer "
            "--scenario or --examples"
        )


def asking(plan: Plan, found: Estimate | None) -> str:
    """Say what it takes to ask an agent everything, filler included; empty where filler is not asked."""
    manifest = plan.manifest
    if manifest.filler.mode != "live" or manifest.suite.isolated:
        return ""
    reason = (
        "is asked everything"
        if plan.agents.sample.observes
        else "does not observe, so it is asked everything"
    )
    if found is None:
        return (
            f"{manifest.agent.name} {reason}, filler included: about 3 times as many calls as without filler"
        )
    times = found.calls / max(found.calls - found.filler, 1)
    return (
        f"{manifest.agent.name} {reason}: about {found.calls:,} calls, {found.filler:,} of them filler "
        f"({times:.1f} times as many as without filler)"
    )


def _about(tokens: int) -> str:
    """Write a number that is an estimate: two digits of it."""
    unit = 10 ** max(0, len(str(tokens)) - 2)
    return f"{round(tokens / unit) * unit:,}"


def price(plan: Plan, found: Estimate) -> str:
    """Say what a run would cost."""
    if plan.manifest.agent.free:
        return "free"
    if found.dollars is None:
        return "price unknown"
    if found.bounded:
        return f"at most ${found.dollars:.2f}"
    return f"${found.dollars:.2f}"


def duration(minutes: float | None) -> str:
    """Say how long a run would take; empty where nobody knows."""
    if minutes is None:
        return ""
    if minutes < 1:
        return "under a minute"
    if minutes < 90:
        return f"{minutes:.0f} minute{'s' * (round(minutes) != 1)}"
    return f"{minutes / 60:.1f} hours"
