"""Computes how many examples and runs it takes to show a difference, and which difference a run can show. Pure.

A comparison shows a difference `d` with the wanted power where `d = z(0.975) * e0 + z(0.8) * e`, the formula of sample
sizes (Cohen 1988, chapter 2; Miller 2024, arXiv:2411.00640). `e` is the standard error of the difference, and `e0` the
one that the paired score test takes: that one is larger where examples or runs are few, since the test is careful then.
Two other precautions of the test are small, and left out. `perf/power.py` compares the formula with simulated runs.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from statistics import NormalDist

from pydantic import BaseModel, Field

from ltm_bench.score.statistics.intervals import CONFIDENCE, Clusters, Pool, sample_variance, student

POWER = 0.8
"""The probability of showing a difference of the requested size."""

MOST = 1000
"""Maximum number of seeds, or examples of a scenario, considered; anything more is out of reach."""

_HALF = 0.25
"""Variance of scores that are right half of the time: the maximum for right-or-wrong scores."""


class Noise(BaseModel, frozen=True):
    """How much the difference between two agents varies, in scores of 0..1 each; squared."""

    within: float = Field(ge=0)
    """From one example of a scenario to the next."""
    between: float = Field(default=0.0, ge=0)
    """From one pair of runs to the next: what a run's examples have in common."""


UNKNOWN = Noise(within=2 * _HALF)
"""For two unknown agents: each right half of the time, independently of the other."""


class Size(BaseModel, frozen=True):
    """The size of a comparison."""

    scenarios: int = Field(ge=1)
    examples: float = Field(gt=0)
    """Examples per scenario and run; the harmonic mean if scenarios differ."""
    seeds: int = Field(ge=1)
    """Runs of each agent, each with a different seed."""

    @property
    def total(self) -> int:
        """Examples per agent."""
        return round(self.scenarios * self.examples * self.seeds)


def size_of(clusters: Clusters) -> Size:
    """Return a comparison's size, from the differences or scores of each pair of runs by scenario."""
    pool = Pool(clusters)
    each = len(pool.strata) / sum(1 / len(of) for of in pool.strata.values())
    return Size(scenarios=len(pool.strata), examples=round(each / len(clusters), 9), seeds=len(clusters))


def noise_of(clusters: Clusters) -> Noise | None:
    """Estimate the noise from observed differences; None if a scenario has only one.

    A few agreeing examples say little, so one disagreeing example is added. Few runs count for less, as in the test.

    Args:
        clusters: For every pair of runs, the differences by scenario.
    """
    pool = Pool(clusters)
    if not pool.strata or any(len(each) < 2 for each in pool.strata.values()):
        return None
    count, runs = len(pool.strata), len(clusters)
    within = sum(sample_variance(each) for each in pool.strata.values()) / count
    between = 0.0
    if runs > 1:
        excess = (pool.between - pool.within) * runs / count**2
        between = max(0.0, excess * (runs - 1) / (runs + 1))
    return Noise(within=within + 1 / (count * min(map(len, pool.strata.values()))), between=between)


def against_unknown(own: Clusters) -> Noise | None:
    """Return the noise of a comparison between an agent with known scores and an unknown one.

    Args:
        own: The known agent's scores by scenario, for every run.
    """
    mine = noise_of(own)
    return None if mine is None else Noise(within=mine.within + _HALF, between=2 * mine.between)


def _errors(difference: float, size: Size, noise: Noise) -> tuple[float, float]:
    """Return the standard error that the test assumes, and the actual one, in points of the sum over scenarios."""
    each = size.examples * size.seeds
    within = size.scenarios * noise.within / each
    there = within + size.scenarios**2 * noise.between / size.seeds
    centre = (min(1.0, difference / size.scenarios) + 1) / 2
    taken = size.scenarios / each
    if centre < 1:
        taken = min(taken, (within + 1 / each**2) / (4 * centre * (1 - centre)))
    return math.sqrt(taken) * _stretch(size, noise), math.sqrt(there)


def _stretch(size: Size, noise: Noise) -> float:
    """Return by how much several runs lengthen the interval, on average: see `Pool.stretch`."""
    runs = size.seeds
    if runs < 2 or not noise.within:
        return 1.0
    ratio = 1 + size.scenarios * size.examples * noise.between / noise.within
    return student(runs + 1) / _SURE * math.sqrt((2 + (runs - 1) * ratio) / (runs + 1))


_SURE = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)


def power(difference: float, size: Size, noise: Noise) -> float:
    """Return the probability that a paired comparison shows a difference, in points of the sum over scenarios."""
    taken, there = _errors(difference, size, noise)
    return NormalDist().cdf((difference - _SURE * taken) / there)


def smallest_difference(size: Size, noise: Noise) -> float:
    """Return the smallest difference that a comparison would probably show, at most the highest score possible."""
    return smallest(lambda points: power(points, size, noise) >= POWER, float(size.scenarios))


def smallest(enough: Callable[[float], bool], high: float) -> float:
    """Return the smallest number from 0 on that is enough, if all larger ones are; `high` if none is."""
    low = 0.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def seeds_needed(difference: float, scenarios: int, examples: float, noise: Noise) -> int | None:
    """Return the number of seeds, with this many examples, that would probably show a difference; None if too many.

    Args:
        difference: In points of the sum over scenarios.
        scenarios: Number of scenarios.
        examples: Examples per scenario and run.
        noise: Noise of the difference.
    """
    return _least(
        lambda seeds: power(difference, Size(scenarios=scenarios, examples=examples, seeds=seeds), noise)
    )


def seeds_in_words(seeds: int | None) -> str:
    """Write a number of planned seeds: `about 12 seeds`, `more than 1,000 seeds`; None stands for too many."""
    return f"more than {MOST:,} seeds" if seeds is None else f"about {seeds:,} seed{'s' * (seeds != 1)}"


def examples_needed(difference: float, scenarios: int, seeds: int, noise: Noise) -> int | None:
    """Return the number of examples per scenario, in each of this many runs, that would show it; None if too many.

    Args:
        difference: In points of the sum over scenarios.
        scenarios: Number of scenarios.
        seeds: Runs of each agent.
        noise: Noise of the difference.
    """
    return _least(
        lambda each: power(difference, Size(scenarios=scenarios, examples=each, seeds=seeds), noise)
    )


def _least(reached: Callable[[int], float]) -> int | None:
    """Return the smallest number up to MOST that reaches POWER."""
    found = bisect_left(range(1, MOST + 1), POWER, key=reached) + 1
    return None if found > MOST else found
