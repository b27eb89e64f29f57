"""Forecasts of runs: tokens of conversation, calls, dollars, minutes."""

import signal
from collections.abc import Iterator, Sequence

from ltm_bench.cli.console import err
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.planning import Plan
from ltm_bench.plan.values import spell_span
from ltm_bench.runner.control_costs import price
from ltm_bench.runner.estimate import Estimate
from ltm_bench.runner.outlook import about, outlook
from ltm_bench.schedule.fitting import USABLE

DEAR = 5
"""Dollars above which a person at a terminal is asked before they are spent."""


def agree(plan: Plan, found: Estimate | None, runs: int) -> None:
    """Ask whether runs may begin that cost more than a little, or nobody knows how much. Raises ConfigError if not.

    Args:
        plan: The plan of one of them.
        found: Its estimate; None if it is too long to simulate quickly.
        runs: Their number.
    """
    spent = None if found is None or found.dollars is None else runs * found.dollars
    no_more_to_say = found is not None or plan.agents.sample.usage_model() is None
    if plan.manifest.agent.free or (no_more_to_say if spent is None else spent <= DEAR):
        return
    most = "at most" if found is not None and found.bounded else "about"
    sum_ = "an unknown sum (`ltm-bench estimate` tells)" if spent is None else f"{most} ${spent:.2f}"
    err().file.write(f"This will cost {sum_}. Begin? [y/N] ")  # with --quiet, too
    err().file.flush()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # asyncio's would wait for the answer
    try:
        said = input().strip().lower()
    except EOFError:
        said = ""
        err().print()
    finally:
        signal.signal(signal.SIGINT, before)
    if said not in {"y", "yes"}:
        raise ConfigError(
            "nothing was run; with --yes nobody is asked, and --max-cost USD sets a limit instead"
        )


def forecast_lines(plan: Plan, found: Estimate | None) -> Iterator[str]:
    """Yield the lines to print before a run starts.

    Args:
        plan: The run's plan.
        found: Its estimate; None if it is too long to simulate quickly.
    """
    manifest = plan.manifest
    if asked := asking(plan, found):
        yield asked
    if found is None:
        rounds = max(example.index for example in plan.examples) + 1
        least = int(rounds * USABLE * manifest.span)
        yield f"at least {least:,} tokens of conversation; `ltm-bench estimate` shows what that takes"
    else:
        yield foretold(plan, found)
    if said := outlook(plan, found):
        yield said
    if found is not None and found.overruns > found.examples / 2:
        yield (
            f"{found.overruns} of {found.examples} examples will probably overrun: not all of them fit into a span "
            f"of {spell_span(manifest.span)}, so their questions will come later; choose a larger --span, or fewer "
            "--scenario or --examples"
        )


def foretold(plan: Plan, found: Estimate) -> str:
    """Return a one-line forecast: tokens of conversation, calls, dollars, minutes."""
    parts = [
        f"about {about(found.tokens)} tokens of conversation",
        f"{found.calls:,} calls",
        price(plan, found),
        duration(found.minutes),
    ]
    return ", ".join(filter(None, parts))


def sweep_lines(groups: Sequence[tuple[Plan, Estimate | None, int]]) -> Iterator[str]:
    """Yield the lines to print before a sweep starts.

    Args:
        groups: Runs that differ only in the seed: the plan of one, its estimate (None if it is too long to simulate
            quickly), and their number.
    """
    for plan, found, count in groups:
        manifest = plan.manifest
        where = f"{manifest.suite.title} at {spell_span(manifest.span)}, {manifest.agent.name}"
        each = f", in each of {count} runs" if count > 1 else ""
        lines = list(forecast_lines(plan, found))
        yield f"{where}: {'; '.join(lines)}{each}"
    known = [(plan, found, count) for plan, found, count in groups if found is not None]
    if len(known) < len(groups) or sum(count for *_, count in known) < 2:
        return
    tokens = sum(found.tokens * count for _, found, count in known)
    calls = sum(found.calls * count for _, found, count in known)
    prices = [
        None if found.dollars is None and not plan.manifest.agent.free else float(found.dollars or 0) * count
        for plan, found, count in known
    ]
    if None in prices:
        spent = "price unknown"
    elif all(plan.manifest.agent.free for plan, *_ in known):
        spent = "free"
    else:
        bounds = [plan.manifest.agent.free or found.bounded for plan, found, _ in known]
        most = "at most " if all(bounds) else ""
        spent = f"{most}${sum(filter(None, prices)):.2f}"
    yield f"in all: about {about(tokens)} tokens of conversation, {calls:,} calls, {spent}{_longest(known)}"


def _longest(known: Sequence[tuple[Plan, Estimate, int]]) -> str:
    """Return the duration of the longest run, since all run concurrently; empty if any is unknown."""
    minutes = [found.minutes for _, found, _ in known]
    took = [each for each in minutes if each is not None]
    return f", {duration(max(took))} for the longest run" if len(took) == len(minutes) else ""


def asking(plan: Plan, found: Estimate | None) -> str:
    """Return the cost of asking an agent everything, filler included; empty if it is not asked filler."""
    manifest = plan.manifest
    if manifest.filler.mode != "live" or manifest.suite.isolated:
        return ""
    reason = f"{'' if plan.agents.sample.observes else 'does not observe, so it '}is asked everything"
    if found is None:
        return (
            f"{manifest.agent.name} {reason}, filler included: about 3 times as many calls as without filler"
        )
    times = found.calls / max(found.calls - found.filler, 1)
    return (
        f"{manifest.agent.name} {reason}: about {found.calls:,} calls, {found.filler:,} of them filler "
        f"({times:.1f} times as many as without filler)"
    )


def duration(minutes: float | None) -> str:
    """Return a run's duration, in words; empty if unknown."""
    if minutes is None:
        return ""
    if minutes < 1:
        return "under a minute"
    if minutes < 90:
        return f"{minutes:.0f} minute{'s' * (round(minutes) != 1)}"
    return f"{minutes / 60:.1f} hours"
