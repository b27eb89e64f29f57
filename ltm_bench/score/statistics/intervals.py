"""Intervals and tests: how much of a figure, or a difference, is luck. Pure; knows no files.

Scores lie in 0..1. A *stratum* is a scenario: its examples repeat each other, and the headline is the sum of the
strata's means. A *cluster* is a run: its examples share filler, order and the agent's state that day, so they resemble
each other, and five runs of 33 examples say less than 165 independent examples would. `docs/design/statistics.md` gives
the reasons, and the simulated coverage of each interval.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import Any

from pydantic import BaseModel

CONFIDENCE = 0.95

TEST = "paired score test"
"""The name of the test behind a paired difference's interval and p-value."""


class Interval(BaseModel, frozen=True):
    """A two-sided confidence interval."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether it contains a value; its ends are included."""
        return self.low <= value <= self.high

    def mapped(self, change: Callable[[float], float]) -> "Interval":
        """Return it with both ends changed alike."""
        return Interval(low=change(self.low), high=change(self.high))


def wilson(mean: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's score interval for a mean of scores in 0..1 (Wilson 1927).

    Intended for right-or-wrong scores; conservative for partial ones, whose variance is at most `mean * (1 - mean)`.

    Args:
        mean: The mean score.
        n: Number of scores; may be an effective number.
        confidence: Nominal coverage.
    """
    # Rounding can put a mean just outside 0..1, and the square root below then fails.
    z, mean = _normal(confidence), min(1.0, max(0.0, mean))
    centre = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    return Interval(low=max(0.0, centre - half), high=min(1.0, centre + half))


def sum_interval(strata: Mapping[str, Sequence[float]], confidence: float = CONFIDENCE) -> Interval | None:
    """Return an interval for the sum of the strata's means; None without strata, or if one has fewer than two scores.

    It is Wilson's interval for the mean over the strata, with the effective number of scores that would give that mean
    the variance observed within the strata (as Korn & Graubard 1998 do for surveys). If all three scores of a stratum
    agree, that says little, so two precautions keep the interval from collapsing: the variance includes one more score
    that disagrees, and the effective number is never smaller than the real one. `perf/coverage.py` simulates its
    coverage.

    Args:
        strata: The scores of each scenario.
        confidence: Nominal coverage.
    """
    if not strata or any(len(scores) < 2 for scores in strata.values()):
        return None
    return _sum_interval(list(strata.values()), confidence, surprise=1.0)


def mean_interval(scores: Sequence[float]) -> Interval:
    """Return an interval for the mean of at least two scores, which may be partial: that of a sum of one stratum."""
    return _sum_interval([scores], CONFIDENCE, surprise=1.0)


def _sum_interval(groups: Sequence[Sequence[float]], confidence: float, surprise: float) -> Interval:
    """Return the interval for scores in 0..1; `surprise` is how far the one disagreeing score lies from the others."""
    return wilson(*_mean_and_number(groups, surprise), confidence).mapped(lambda end: len(groups) * end)


def _mean_and_number(groups: Sequence[Sequence[float]], surprise: float) -> tuple[float, float]:
    """Return the mean over groups, and the effective number of scores that it rests on."""
    count = len(groups)
    variance = sum(sample_variance(scores) / len(scores) for scores in groups)
    # Scores that all agree have no variance, and would give an interval without width.
    variance += (surprise / min(map(len, groups))) ** 2
    mean = sum(sum(scores) / len(scores) for scores in groups) / count
    number = max(
        count**2 / sum(1 / len(scores) for scores in groups), mean * (1 - mean) * count**2 / variance
    )
    return mean, number


def sample_variance(scores: Sequence[float]) -> float:
    """Return the unbiased variance of two or more scores."""
    mean = sum(scores) / len(scores)
    return sum((score - mean) ** 2 for score in scores) / (len(scores) - 1)


def percentile(values: Sequence[float], level: float) -> float:
    """Return the value below which `level` per cent of the values lie, interpolated as `numpy.percentile` does."""
    ranked = sorted(values)
    place = (len(ranked) - 1) * level / 100
    below = math.floor(place)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (place - below) * (ranked[above] - ranked[below])


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Return an interval for a median, whatever the distribution: two of the values themselves (Conover 1999, 3.2).

    How many values lie below the true median is binomial, here in its normal form. None for fewer than six values.
    """
    ranked = sorted(values)
    count = len(ranked)
    if count < 6:
        return None
    half = _normal(confidence) * math.sqrt(count) / 2
    low, high = math.floor(count / 2 - half), math.ceil(count / 2 + half)
    return Interval(low=ranked[max(0, low)], high=ranked[min(count - 1, high)])


Clusters = Sequence[Mapping[str, Sequence[float]]]
"""Scores, or differences, by stratum: one mapping per run, or per pair of runs."""


class Paired(BaseModel, frozen=True):
    """The difference between two agents on the same examples, in points of the sum over strata."""

    difference: float
    interval: Interval | None
    """None if a stratum has a single pair."""
    p: float | None
    """Two-sided p-value of the same test as the interval's: below 0.05 where the interval does not contain 0.

    None if there is no interval.
    """
    n: int
    """Number of pairs of examples."""
    clusters: int
    """Number of pairs of runs that these come from."""

    @property
    def shown(self) -> bool:
        """Whether the data shows a difference: the interval does not contain 0."""
        return self.interval is not None and not self.interval.holds(0.0)


class Pool:
    """The strata of all clusters, pooled."""

    def __init__(self, clusters: Clusters) -> None:
        self.clusters = clusters
        names = list(dict.fromkeys(name for cluster in clusters for name in cluster if cluster[name]))
        self.strata = {name: [d for cluster in clusters for d in cluster.get(name, ())] for name in names}
        self.means = {name: sum(each) / len(each) for name, each in self.strata.items()}
        self.total = sum(self.means.values())

    @property
    def within(self) -> float:
        """Variance of the sum of means if examples are independent."""
        return sum(sample_variance(each) / len(each) for each in self.strata.values())

    @property
    def between(self) -> float:
        """Variance of the sum of means as observed between clusters; there must be two or more."""
        parts = [
            sum(
                sum(d - self.means[name] for d in cluster.get(name, ())) / len(each)
                for name, each in self.strata.items()
            )
            for cluster in self.clusters
        ]
        return len(parts) / (len(parts) - 1) * sum(part**2 for part in parts)

    def stretch(self) -> float:
        """Return the factor by which clustering lengthens an interval's arms; at least 1.

        Three runs say little about how much runs vary. So the observed variance is averaged with the one that
        independence predicts, each weighted with its degrees of freedom (moderated variance: Smyth 2004), and Student's
        quantile replaces the normal one. It is computed at 95 % for any confidence: further out the prior alone would
        decide.
        """
        count, within = len(self.clusters), self.within
        if count < 2 or within == 0:
            return 1.0
        variance, freedom = moderated(within, self.between, count - 1)
        return max(1.0, student(freedom) / _normal(CONFIDENCE) * math.sqrt(variance / within))


_PRIOR = 2
"""Weight of the variance that independence predicts, in degrees of freedom."""


def moderated(expected: float, observed: float, freedom: int) -> tuple[float, int]:
    """Average the variance of a few runs with the one that independence predicts (Smyth 2004).

    Args:
        expected: The variance if examples are independent.
        observed: The variance as observed between runs.
        freedom: Its degrees of freedom.

    Returns:
        The variance, and its degrees of freedom: at least three if something was observed.
    """
    total = _PRIOR + freedom
    return (_PRIOR * expected + freedom * observed) / total, total


def clustered_sum_interval(clusters: Clusters, confidence: float = CONFIDENCE) -> Interval | None:
    """Return an interval for the sum of the strata's means over several runs, which may differ more than chance allows.

    None if a stratum has fewer than two scores.

    Args:
        clusters: For every run, its scores by scenario.
        confidence: Nominal coverage.
    """
    pool = Pool(clusters)
    interval = sum_interval(pool.strata, confidence)
    if interval is None or len(clusters) < 2:
        return interval
    stretch = pool.stretch()
    return Interval(
        low=max(0.0, pool.total - stretch * (pool.total - interval.low)),
        high=min(len(pool.strata), pool.total + stretch * (interval.high - pool.total)),
    )


def paired_clusters(clusters: Clusters) -> Paired:
    """Compare two agents by the differences of their scores, example by example: the paired score test.

    The interval is that of `sum_interval`, for the differences rescaled to 0..1. With several pairs of runs its arms
    are longer, since the examples of one run are not independent. The p-value is that of the level at which the
    interval would just end at 0.

    Args:
        clusters: For every pair of runs, the differences by scenario, each in -1..1.
    """
    pool = Pool(clusters)
    pairs = [d for each in pool.strata.values() for d in each]
    interval = p = None
    if pairs and all(len(each) > 1 for each in pool.strata.values()):
        most = len(pool.strata)
        moved = [[(d + 1) / 2 for d in each] for each in pool.strata.values()]
        found = _sum_interval(moved, CONFIDENCE, surprise=0.5)
        stretch = pool.stretch()
        p = _p_value(*_mean_and_number(moved, surprise=0.5), stretch)
        interval = Interval(
            low=max(-most, pool.total - stretch * (pool.total - (2 * found.low - most))),
            high=min(most, pool.total + stretch * ((2 * found.high - most) - pool.total)),
        )
    return Paired(difference=pool.total, interval=interval, p=p, n=len(pairs), clusters=len(clusters))


def above_zero(differences: Sequence[float], confidence: float = CONFIDENCE) -> bool:
    """Whether the mean of differences lies above 0, by Student's one-sided test; they are at least four.

    Differences that are all alike have no spread to be tested against: their sign decides.
    """
    mean = sum(differences) / len(differences)
    error = math.sqrt(sample_variance(differences) / len(differences))
    return mean > max(1e-9, student(len(differences) - 1, 2 * confidence - 1) * error)


def _p_value(mean: float, number: float, stretch: float) -> float:
    """Return the p-value of a mean of differences, rescaled to 0..1, against one half.

    An arm that is stretched reaches one half where an arm as it is would reach `end`.
    """
    end = mean - (mean - 0.5) / stretch
    z = abs(mean - end) / math.sqrt(end * (1 - end) / number)
    return min(1.0, math.erfc(z / math.sqrt(2)))


def _normal(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def student(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Return the two-sided quantile of Student's t, for at least three degrees of freedom (Fisher & Cornish 1960)."""
    z = _normal(confidence)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def amount_interval(amounts: Sequence[float | None]) -> Interval | None:
    """Return Student's interval for a mean of amounts such as costs; None for fewer than four, or unknown ones."""
    known = [each for each in amounts if each is not None]
    if len(known) < max(4, len(amounts)):
        return None
    mean = sum(known) / len(known)
    arm = student(len(known) - 1) * math.sqrt(sample_variance(known) / len(known))
    return Interval(low=max(0.0, mean - arm), high=mean + arm)


class Spread(BaseModel, frozen=True):
    """How much the scores of several runs of one agent vary, as standard deviations."""

    total: float | None
    """The spread of all scores. None for a single run."""
    seeds: float | None
    """What another seed changes: other needles, another schedule. None without two runs of one seed."""
    agent: float | None
    """What repeating the same conversation changes. None without two runs of one seed."""
    judge: float | None = None
    """What another judge of the same replies changes. None without two judges of one run."""


def spread(by_seed: Mapping[Any, Sequence[float]], by_judge: Sequence[Sequence[float]] = ()) -> Spread | None:
    """Split the variance of runs' scores by analysis of variance (method of moments).

    Returns None for a single run, unless it had several judges.

    Args:
        by_seed: The scores of the runs of each seed.
        by_judge: For every run, its score by each of its judges alone.
    """
    judged = [scores for scores in by_judge if len(scores) > 1]
    judge = None
    if judged:
        gaps = sum((score - sum(each) / len(each)) ** 2 for each in judged for score in each)
        judge = math.sqrt(gaps / sum(len(each) - 1 for each in judged))
    groups = [scores for scores in by_seed.values() if scores]
    runs = [score for scores in groups for score in scores]
    n, k = len(runs), len(groups)
    if n < 2:
        return None if judge is None else Spread(total=None, seeds=None, agent=None, judge=judge)
    mean = sum(runs) / n
    total = math.sqrt(sum((score - mean) ** 2 for score in runs) / (n - 1))
    if n == k:
        return Spread(total=total, seeds=None, agent=None, judge=judge)
    means = [sum(scores) / len(scores) for scores in groups]
    within = sum((s - m) ** 2 for scores, m in zip(groups, means, strict=True) for s in scores) / (n - k)
    seeds = None
    if k > 1:
        between = sum(len(scores) * (m - mean) ** 2 for scores, m in zip(groups, means, strict=True)) / (
            k - 1
        )
        size = (n - sum(len(scores) ** 2 for scores in groups) / n) / (k - 1)
        seeds = math.sqrt(max(0.0, (between - within) / size))
    return Spread(total=total, seeds=seeds, agent=math.sqrt(within), judge=judge)
