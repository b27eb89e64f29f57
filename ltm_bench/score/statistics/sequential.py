"""Looks at a comparison after every round of seeds, and may stop at each: group-sequential tests. Pure.

The error that a comparison may make is spent round by round, as a power of the share of rounds (Lan and DeMets 1983;
Kim and DeMets 1987), so that all looks together err as rarely as one look would. The interval of a look is the repeated
confidence interval (Jennison and Turnbull 2000): at 95 %, all intervals of a comparison contain the truth together.
`perf/races.py` simulates what that is worth with few rounds and scores such as ours.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

from pydantic import BaseModel

from ltm_bench.score.statistics.intervals import CONFIDENCE, Clusters, Interval, Pool
from ltm_bench.score.statistics.power import smallest

FIRST = 2
"""The first round after which anything can be decided: a single seed does not show how much seeds differ."""

_POWER = 2.0
"""Power of the share of rounds to which the error is spent: a lower one stops earlier, a higher one spends less."""

_CARE = 0.8
"""Share of the error that is spent: levels are those of normal means, and few rounds give them a variance too small."""

_STEP = 0.15
"""Distance between points at which densities are integrated, in standard deviations of one round."""


class Interim(BaseModel, frozen=True):
    """What a comparison shows after a number of rounds."""

    rounds: int
    difference: float
    """In points of the sum over scenarios."""
    interval: Interval
    """It holds together with those of all other looks."""


@lru_cache(maxsize=64)
def levels(most: int, error: float) -> tuple[float, ...]:
    """Return the two-sided level of each look at a normal mean, from round `FIRST` on, if all together err by `error`.

    Args:
        most: Maximum number of rounds.
        error: Probability that any look excludes the truth.
    """
    found: list[float] = []
    density: dict[int, float] = {}
    spent = 0.0
    for rounds in range(FIRST, most + 1):
        spend = _CARE * error * (rounds / most) ** _POWER - spent
        spent += spend
        gone = rounds if not found else 1
        before = density or {0: 1.0}
        end = _end(before, math.sqrt(gone), spend)
        found.append(math.erfc(end / math.sqrt(2 * rounds)))
        if rounds < most:
            density = _carried(before, gone, end)
    return tuple(found)


def _end(density: dict[int, float], deviation: float, spend: float) -> float:
    """Return how far from 0 a sum of rounds must lie for the look to exclude 0 with this probability."""

    def beyond(end: float) -> float:
        return sum(
            weight * math.erfc((end - _STEP * place) / (deviation * math.sqrt(2)))
            for place, weight in density.items()
        )

    return smallest(lambda end: beyond(end) <= spend, 60.0 * deviation + _STEP * max(density))


def _carried(density: dict[int, float], rounds: int, end: float) -> dict[int, float]:
    """Return the density of the sum after more rounds, where no look excluded 0, at points `_STEP` apart."""
    places = int(end / _STEP)
    edge = end / _STEP - places + 0.5  # the last points stand for all that lies up to the end
    scale = _STEP / math.sqrt(2 * math.pi * rounds)
    kernel = [scale * math.exp(-((_STEP * gap) ** 2) / (2 * rounds)) for gap in range(4 * places + 999)]
    return {
        place: (edge if abs(place) == places else 1.0)
        * sum(weight * kernel[abs(place - was)] for was, weight in density.items())
        for place in range(-places, places + 1)
    }


@lru_cache(maxsize=4096)
def quantile(freedom: int, level: float) -> float:
    """Return the two-sided quantile of Student's t at a level, however small, for whole degrees of freedom."""
    return smallest(lambda t: _beyond(t, freedom) <= level, 1e6)


def _beyond(t: float, freedom: int) -> float:
    """Return the two-sided p-value of Student's t (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, odd = math.cos(angle), freedom % 2
    term, total = (cosine, cosine if freedom > 1 else 0.0) if odd else (1.0, 1.0)
    for k in range(2 + odd, freedom, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return max(0.0, 1 - inside)


def look(rounds: Clusters, most: int, error: float = 1 - CONFIDENCE) -> Interim | None:
    """Return what these rounds show; None before round `FIRST`, or if a scenario has no example.

    The variance is the one observed between rounds, and one example that disagrees is added, as in `paired_clusters`.
    It is not averaged with that of the examples: where seeds differ much, races would be wrong too often.

    Args:
        rounds: For every round, the differences by scenario.
        most: Maximum number of rounds.
        error: Probability that any look excludes the truth.
    """
    count = len(rounds)
    if count < FIRST or not (pool := Pool(rounds)).strata:
        return None
    half = arm(pool.between, min(map(len, pool.strata.values())), count, most, error)
    top = len(pool.strata)
    interval = Interval(low=max(-top, pool.total - half), high=min(top, pool.total + half))
    return Interim(rounds=count, difference=pool.total, interval=interval)


def arm(between: float, smallest: int, rounds: int, most: int, error: float) -> float:
    """Return the length of an arm of a look's interval.

    Args:
        between: Variance of the difference, as observed between rounds.
        smallest: The number of examples of the scenario with the fewest, in all rounds.
        rounds: Number of rounds.
        most: Maximum number of rounds.
        error: Probability that any look excludes the truth.
    """
    level = levels(most, error)[min(rounds, most) - FIRST]
    return quantile(rounds - 1, level) * math.sqrt(between + 1 / smallest**2)


def earliest(scenarios: Sequence[int], most: int, error: float = 1 - CONFIDENCE) -> int | None:
    """Return the first round after which the largest possible difference is shown; None if none of them shows it.

    Args:
        scenarios: The number of examples of each scenario in a round.
        most: Maximum number of rounds.
        error: Probability that any look excludes the truth.
    """
    clear = {str(place): [1.0] * count for place, count in enumerate(scenarios)}
    for rounds in range(FIRST, most + 1):
        found = look([clear] * rounds, most, error)
        if found is not None and found.interval.low > 0:
            return rounds
    return None
