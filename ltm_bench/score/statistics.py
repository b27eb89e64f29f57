"""Intervals and tests: how much of a figure, or of a difference, is luck. Pure, seeded, and knows no files.

Scores lie in 0..1. A *stratum* is a scenario: its examples are repetitions of each other, and the headline is the sum
of the strata's means. A *cluster* is a run: what its examples share (the filler, the order, the agent's mood) makes
them alike, so that five runs of 33 examples say less than 165 examples of as many runs would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

RESAMPLES = 2000
CONFIDENCE = 0.95

FLIPS = 1 << 14
"""Arrangements of signs that a permutation test looks at: all there are, or as many drawn at random."""


class Interval(BaseModel):
    """A two-sided confidence interval."""

    model_config = ConfigDict(frozen=True)

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value lies in it, ends included."""
        return self.low <= value <= self.high


def wilson(mean: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's interval for a mean of `n` scores in 0..1 (Wilson 1927); `n` may be an effective number.

    Exact for right-or-wrong scores; conservative for partial ones, whose variance is at most `mean * (1 - mean)`.
    """
    z, mean = _normal(confidence), min(1.0, max(0.0, mean))  # a sum of floats may be a hair outside
    centre = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    return Interval(low=max(0.0, centre - half), high=min(1.0, centre + half))


def sum_interval(strata: Mapping[str, Sequence[float]], confidence: float = CONFIDENCE) -> Interval | None:
    """Return an interval for the sum of the strata's means; None if a stratum has a single score.

    Wilson's interval for the mean over the strata, with as many scores as would give that mean the variance that the
    strata's own scores show (Korn & Graubard 1998 do so for surveys). Two things keep it from collapsing where all
    scores of a stratum are alike, which with three of them says little: the variance is that of one more score that
    differs from its like, and the scores never count for fewer than they are. `benchmarks/coverage.py` says how often
    it holds the truth.
    """
    if not strata or any(len(scores) < 2 for scores in strata.values()):
        return None
    return _sum_interval(list(strata.values()), confidence, surprise=1.0)


def _sum_interval(groups: Sequence[Sequence[float]], confidence: float, surprise: float) -> Interval:
    """Return the interval for scores in 0..1; `surprise` is how far a score can be from its like."""
    count = len(groups)
    variance = sum(_variance(scores) / len(scores) for scores in groups)
    variance += (surprise / min(map(len, groups))) ** 2
    mean = sum(sum(scores) / len(scores) for scores in groups) / count
    effective = max(
        count**2 / sum(1 / len(scores) for scores in groups), mean * (1 - mean) * count**2 / variance
    )
    found = wilson(mean, effective, confidence)
    return Interval(low=count * found.low, high=count * found.high)


def _variance(scores: Sequence[float]) -> float:
    mean = sum(scores) / len(scores)
    return sum((score - mean) ** 2 for score in scores) / (len(scores) - 1)


def bootstrap(
    values: Sequence[float],
    statistic: Callable[[Any, int], Any],
    *,
    method: Literal["percentile", "bca"] = "bca",
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Return a bootstrap interval for a statistic of one sample; None for fewer than two values, or all alike.

    Args:
        values: The sample, of any unit.
        statistic: Takes an array and an axis, as `numpy.mean` and `numpy.median` do.
        method: `percentile` takes the quantiles of the resampled statistic as they are. `bca` corrects them for bias
            and for a spread that changes with the value (Efron 1987), which skewed samples such as seconds need.
        confidence: How often it should hold the truth.
        resamples: How many samples are drawn; the draws are the same each time.
    """
    import numpy as np

    sample = np.asarray(values, float)
    if len(sample) < 2 or np.ptp(sample) == 0:
        return None
    draws = np.sort(statistic(sample[_indices(len(sample), resamples)], 1))
    normal, tail = NormalDist(), (1 - confidence) / 2
    levels = [tail, 1 - tail]
    if method == "bca":
        observed = statistic(sample[np.newaxis], 1)[0]
        below = (np.sum(draws < observed) + np.sum(draws <= observed)) / (2 * resamples)
        bias = normal.inv_cdf(min(max(float(below), 0.5 / resamples), 1 - 0.5 / resamples))
        left_out = np.array([statistic(np.delete(sample, i)[np.newaxis], 1)[0] for i in range(len(sample))])
        lean = left_out.mean() - left_out
        cubes, squares = float((lean**3).sum()), float((lean**2).sum())
        acceleration = cubes / (6 * squares**1.5) if squares > 0 else 0.0
        for i, level in enumerate(levels):
            shifted = bias + normal.inv_cdf(level)
            levels[i] = normal.cdf(bias + shifted / (1 - acceleration * shifted))
    low, high = np.quantile(draws, levels)
    return Interval(low=float(low), high=float(high))


def _indices(n: int, resamples: int) -> Any:
    """Draw rows of `n` indices. The raw stream of PCG64 is the same in every version of numpy."""
    import numpy as np

    raw = np.random.PCG64(n).random_raw(n * resamples)
    return ((raw >> np.uint64(11)) * 2.0**-53 * n).astype(np.intp).reshape(resamples, n)


Clusters = Sequence[Mapping[str, Sequence[float]]]
"""For every run, or pair of runs, its figures by stratum."""


class Paired(BaseModel):
    """The difference between two agents that were asked the same, in points of the sum over strata."""

    model_config = ConfigDict(frozen=True)

    difference: float
    interval: Interval | None
    """None where a stratum has a single pair."""
    p: float
    """Of the permutation test: how often luck alone gives so large a mean difference."""
    n: int
    """Pairs."""
    clusters: int
    """Pairs of runs that they come from."""

    @property
    def shown(self) -> bool:
        """Whether there is a difference: the interval does not hold 0."""
        return self.interval is not None and not self.interval.holds(0.0)


class _Pool:
    """The strata of all clusters together."""

    def __init__(self, clusters: Clusters) -> None:
        self.clusters = clusters
        names = list(dict.fromkeys(name for cluster in clusters for name in cluster if cluster[name]))
        self.strata = {name: [d for cluster in clusters for d in cluster.get(name, ())] for name in names}
        self.means = {name: sum(each) / len(each) for name, each in self.strata.items()}
        self.total = sum(self.means.values())

    @property
    def within(self) -> float:
        """The variance of the sum of means, if examples are independent."""
        return sum(_variance(each) / len(each) for each in self.strata.values())

    @property
    def between(self) -> float:
        """The variance of the sum of means that the clusters show, of which there are two or more."""
        parts = [
            sum(
                sum(d - self.means[name] for d in cluster.get(name, ())) / len(each)
                for name, each in self.strata.items()
            )
            for cluster in self.clusters
        ]
        return len(parts) / (len(parts) - 1) * sum(part**2 for part in parts)

    def stretch(self) -> float:
        """Return how many times longer an interval's arms are because examples come in clusters; at least 1.

        Three runs say little of how much runs vary. So what they show is averaged with what independence predicts,
        each weighted with its degrees of freedom (moderated variance: Smyth 2004), and Student's quantile replaces
        the normal one. At 95 % for any confidence: what lies further out would be all prior.
        """
        count, within = len(self.clusters), self.within
        if count < 2 or within == 0:
            return 1.0
        freedom = _PRIOR + count - 1
        variance = (_PRIOR * within + (count - 1) * self.between) / freedom
        return max(1.0, student(freedom) / _normal(CONFIDENCE) * math.sqrt(variance / within))


_PRIOR = 2
"""How many degrees of freedom the variance that independence predicts is worth."""


def clustered_sum_interval(clusters: Clusters, confidence: float = CONFIDENCE) -> Interval | None:
    """Return an interval for the sum of the strata's means over several runs; None if a stratum has a single score."""
    pool = _Pool(clusters)
    interval = sum_interval(pool.strata, confidence)
    if interval is None or len(clusters) < 2:
        return interval
    stretch = pool.stretch()
    return Interval(
        low=max(0.0, pool.total - stretch * (pool.total - interval.low)),
        high=min(len(pool.strata), pool.total + stretch * (interval.high - pool.total)),
    )


def paired(clusters: Clusters, confidence: float = CONFIDENCE) -> Paired:
    """Compare two agents by the differences of their scores, example by example.

    The interval is that of `sum_interval`, for the differences moved into 0..1. Where there are several pairs of runs
    its arms grow, since what happens in one run has something in common.

    Args:
        clusters: For every pair of runs the differences by stratum, each in -1..1.
        confidence: How often the interval should hold the truth.
    """
    pool = _Pool(clusters)
    pairs = [d for each in pool.strata.values() for d in each]
    interval = None
    if pairs and all(len(each) > 1 for each in pool.strata.values()):
        most = len(pool.strata)
        moved = [[(d + 1) / 2 for d in each] for each in pool.strata.values()]
        found = _sum_interval(moved, confidence, surprise=0.5)
        stretch = pool.stretch()
        interval = Interval(
            low=max(-most, pool.total - stretch * (pool.total - (2 * found.low - most))),
            high=min(most, pool.total + stretch * ((2 * found.high - most) - pool.total)),
        )
    return Paired(
        difference=pool.total,
        interval=interval,
        p=permutation_test(pairs),
        n=len(pairs),
        clusters=len(clusters),
    )


def _normal(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def student(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Return the two-sided quantile of Student's t for three degrees of freedom or more (Fisher & Cornish 1960)."""
    z = _normal(confidence)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


class Spread(BaseModel):
    """How much the scores of several runs of one agent differ, as standard deviations."""

    model_config = ConfigDict(frozen=True)

    total: float | None
    """Of the scores as they are. None for a single run."""
    seeds: float | None
    """What another seed changes: other needles, another schedule. None without two runs of one seed."""
    agent: float | None
    """What happens when the same conversation is held again. None without two runs of one seed."""
    judge: float | None = None
    """What another judge of the same replies changes. None without two judges of one run."""


def spread(by_seed: Mapping[int, Sequence[float]], by_judge: Sequence[Sequence[float]] = ()) -> Spread | None:
    """Split the variance of runs' scores by analysis of variance (method of moments).

    None for a single run, unless several judges were asked.

    Args:
        by_seed: The scores of all runs of each seed.
        by_judge: For every run what it would score by each of its judges alone.
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


def permutation_test(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of paired differences: how often exchanging the two of some pairs gives as much.

    Exact for up to 14 pairs that differ; beyond that from draws that are the same each time, the observed arrangement
    counted among them (Phipson & Smyth 2010).
    """
    import numpy as np

    sample = np.asarray([d for d in differences if d != 0], float)
    n = len(sample)
    if n == 0:
        return 1.0
    observed = abs(sample.sum()) - 1e-9
    exact = 1 << n <= FLIPS
    if exact:
        exchanged = (np.arange(1 << n)[:, np.newaxis] >> np.arange(n)) & 1 == 1
    else:
        exchanged = np.random.PCG64(n).random_raw(FLIPS * n).reshape(FLIPS, n) >> np.uint64(63) == 1
    sums = np.where(exchanged, -sample, sample).sum(axis=1)
    extreme = int((np.abs(sums) >= observed).sum())
    return extreme / (1 << n) if exact else (extreme + 1) / (FLIPS + 1)
