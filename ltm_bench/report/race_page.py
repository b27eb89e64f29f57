"""The page of a race: what it decided, and how the intervals narrowed, round by round."""

from collections.abc import Mapping

from ltm_bench.report.templating import templates
from ltm_bench.report.words import cost, plural, signed
from ltm_bench.score.comparison.racing import Duel, End, Preference, Race


def standing(duel: Duel) -> str:
    """Say where a pair stands: `a is better than b: +0.42 points (95 % +0.10 to +0.74)`."""
    if not duel.looks:
        return duel.verdict
    difference, (low, high) = duel.looks[-1].difference, duel.ends[-1]
    if duel.decision is Preference.SECOND:  # the sentence begins with the second agent
        difference, low, high = -difference, -high, -low
    line = f"{duel.verdict}: {signed(difference)} points (95 % {signed(low)} to {signed(high)})"
    if duel.readers:
        line += (
            f"; not decided, since they were read by different blind readers: {' and '.join(duel.readers)}"
        )
    return line


def ended(race: Race) -> str:
    """Say why a race ended, and what it cost."""
    why = {
        End.DECIDED: "everything is decided",
        End.MOST: "that is the most it may take",
        End.BUDGET: "--max-cost is reached; the same command with a larger one continues",
        None: "it goes on",
    }[race.end]
    paid = "" if race.dollars == 0 else f", cost {cost(race.dollars, free=False)}"
    return f"{plural(race.rounds, 'round')} of at most {race.rules.most}{paid}: {why}"


def saved(race: Race) -> str:
    """Say what a race took beside a fixed plan for the smallest difference that matters; empty if none is known."""
    plans = [duel.planned for duel in race.duels if duel.planned is not None]
    if not plans:
        return ""
    plan, taken = max(plans) * len(race.agents), sum(map(len, race.runs.values()))
    left = f" and left {plural(len(race.open), 'pair')} undecided"
    apart = f"{abs(plan - taken):,} {'fewer' if taken < plan else 'more'}" if taken != plan else "as many"
    beside = left if race.open else f", {apart}"
    return (
        f"to show a difference of {race.rules.least:.2f} points with the noise seen here, plan-size would plan "
        f"{plural(max(plans), 'seed')}, {plural(plan, 'run')} in all: the race took {taken:,}{beside}"
    )


def render_race(race: Race, reports: Mapping[str, str]) -> str:
    """Return the page of a race.

    Args:
        race: The race.
        reports: Paths of the runs' pages, relative to this page, by run.
    """
    reach = max((max(-low, high) for duel in race.duels for low, high in duel.ends), default=1.0)
    return (
        templates()
        .get_template("race.html.jinja")
        .render(race=race, reports=reports, reach=reach, standing=standing, ended=ended, saved=saved)
    )
