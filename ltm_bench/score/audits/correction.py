"""The scorer's error, estimated from a sample read by an auditor. Pure; knows no files.

An auditor reads replies without seeing the scorer's verdicts. Where the two disagree, the scorer erred, or the auditor
did. How often a judge errs was measured when it was calibrated; a person is taken at their word.
`docs/design/audit.md` derives the formulas, and shows the coverage of the intervals.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from pydantic import BaseModel, Field

from ltm_bench.score.statistics.intervals import CONFIDENCE, Interval

_SURPRISE = 1 / 3
"""Cases of either kind added to each count before its variance is computed, so that no variance is 0."""

_STEPS = 8
"""Rounds of the search for the rates that fit a supposed error best; it settles after four or five."""

_STEP = 1 / 100
"""Distance between the supposed errors that are tried first; each end of the interval is then found between two."""


class Measured(BaseModel, frozen=True):
    """How often a judge was right about replies whose verdict is known."""

    right: int = Field(gt=0)
    """Right replies that it was shown."""
    accepted: int = Field(ge=0)
    """How many of these it called right."""
    other: int = Field(gt=0)
    """Replies that it was shown and that are not right."""
    rejected: int = Field(ge=0)
    """How many of these it did not call right."""

    @property
    def sensitivity(self) -> float:
        """Share of the right replies that it calls right."""
        return self.accepted / self.right

    @property
    def specificity(self) -> float:
        """Share of the other replies that it does not call right."""
        return self.rejected / self.other

    @property
    def informative(self) -> float:
        """How informative it is: 1 if it never errs, 0 if it answers without looking (Youden's index)."""
        return self.sensitivity + self.specificity - 1


class Seen(NamedTuple):
    """What a sample showed."""

    share: float
    """The share of verdicts that the auditor contradicts, from 0 to 1, weighted as in the run."""
    n: float
    """Number of verdicts that were read; an effective number if they have weights."""
    accepted: float
    """The share of all verdicts that call the reply right, weighted alike."""


class ScorerError(NamedTuple):
    """How often the scorer errs."""

    share: float
    interval: Interval


def scorer_error(seen: Seen, judge: Measured | None, confidence: float = CONFIDENCE) -> ScorerError | None:
    """Return the share of wrong verdicts among all that the sample was drawn from; None if nothing was read.

    The estimate is Rogan & Gladen's (1978): the disagreements that a judge of this sensitivity and specificity causes
    by itself are subtracted, and the rest is scaled up for what it misses. The interval holds every error that the
    counts (of the sample and of the calibration) do not contradict. Without a judge's errors they are tested with the
    binomial distribution, and with them by a score test; results are ranked by their likelihood ratio (Feldman &
    Cousins 1998), which keeps the level where the error is close to 0.

    Args:
        seen: What the sample showed.
        judge: How the auditor did in calibration; None for an auditor who is taken at their word.
        confidence: Nominal coverage.

    Raises:
        ValueError: The judge is uninformative: its sensitivity and specificity do not add up to more than 1.
    """
    if seen.n <= 0:
        return None
    if judge is None:
        return ScorerError(seen.share, _held(_exact(seen, confidence), seen.share))
    if judge.informative <= 0:
        raise ValueError("a judge whose sensitivity and specificity add up to 1 or less says nothing")
    by_itself = seen.accepted * (1 - judge.sensitivity) + (1 - seen.accepted) * (1 - judge.specificity)
    share = min(1.0, max(0.0, (seen.share - by_itself) / judge.informative))
    return ScorerError(share, _held(_score_test(seen, judge, confidence), share))


def _held(holds: Callable[[float], bool], estimate: float) -> Interval:
    """Return the interval of errors around the estimate that pass the test."""
    ends = []
    for step in (-_STEP, _STEP):
        inside, outside = estimate, estimate + step
        while 0 < outside < 1 and holds(outside):
            inside, outside = outside, outside + step
        ends.append(_edge(holds, min(1.0, max(0.0, outside)), inside))
    return Interval(low=ends[0], high=ends[1])


def _edge(holds: Callable[[float], bool], outside: float, inside: float) -> float:
    if holds(outside):
        return outside
    for _ in range(20):
        middle = (outside + inside) / 2
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside


def _exact(seen: Seen, confidence: float) -> Callable[[float], bool]:
    """Return a test of a supposed error, for an auditor who does not err."""
    n = max(1, round(seen.n))
    found = min(n, round(seen.share * n))
    ways = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(n + 1)]
    best = [_log_likelihood(k, n, k / n) for k in range(n + 1)]

    def holds(error: float) -> bool:
        logs = [_log_likelihood(k, n, error) for k in range(n + 1)]
        ranked = logs[found] - best[found]
        likelier = (ways[k] + logs[k] for k in range(n + 1) if logs[k] - best[k] > ranked + 1e-12)
        return sum(map(math.exp, likelier)) <= confidence

    return holds


def _log_likelihood(k: int, n: int, share: float) -> float:
    if (k and share <= 0) or (k < n and share >= 1):
        return -math.inf
    return (k * math.log(share) if k else 0.0) + ((n - k) * math.log1p(-share) if k < n else 0.0)


def _score_test(seen: Seen, judge: Measured, confidence: float) -> Callable[[float], bool]:
    """Return a test of a supposed error, for a judge who errs.

    With an error of e, the judge contradicts 1 - e - (a - e) * sensitivity - (1 - a - e) * specificity of the verdicts,
    where `a` is the share that call the reply right. The gap between that and what it did contradict is compared with
    its standard deviation under the rates that come closest to all three counts and leave no gap.
    """
    counts = ((seen.share * seen.n, seen.n), (judge.accepted, judge.right), (judge.rejected, judge.other))
    observed = [hits / n for hits, n in counts]
    softened = [(hits + _SURPRISE) / (n + 2 * _SURPRISE) for hits, n in counts]

    def holds(error: float) -> bool:
        factors = (1.0, seen.accepted - error, 1 - seen.accepted - error)
        gap = sum(map(math.prod, zip(factors, observed, strict=True))) - (1 - error)
        excess = sum(map(math.prod, zip(factors, softened, strict=True))) - (1 - error)
        rates = softened
        for _ in range(_STEPS):
            variances = [rate * (1 - rate) / n for rate, (_, n) in zip(rates, counts, strict=True)]
            total = sum(f * f * v for f, v in zip(factors, variances, strict=True))
            rates = [
                min(1 - 1e-4, max(1e-4, rate - excess / total * f * v))
                for rate, f, v in zip(softened, factors, variances, strict=True)
            ]
        spread = math.sqrt(
            sum(f * f * r * (1 - r) / n for f, r, (_, n) in zip(factors, rates, counts, strict=True))
        )
        from_zero = error * (rates[1] + rates[2] - 1) / spread
        return from_zero >= 0 and _likelier(from_zero + gap / spread, from_zero) <= confidence

    return holds


def _likelier(found: float, mean: float) -> float:
    """Return the probability of a result with a higher likelihood ratio than the observed one.

    Both are in standard deviations from an error of 0. A result below 0 fits an error of 0 best.
    """
    ratio = -((found - mean) ** 2) / 2 if found >= 0 else found * mean - mean * mean / 2
    arm = math.sqrt(max(0.0, -2 * ratio))
    above = arm
    if mean - arm >= 0:
        below = -arm
    elif mean > 0:
        below = (ratio + mean * mean / 2) / mean - mean
    else:
        below = -math.inf
    return _normal(above) - _normal(below)


def _normal(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))
