"""How much of what an agent could have had is memory: a ratio of sums, with an interval. Pure.

    memory = (score - blind) / (evidence - blind)

Sums over the same examples. Nothing is clipped: who gets more than with everything in hand has more than all.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from ltm_bench.core.dice import Dice
from ltm_bench.score.statistics.intervals import CONFIDENCE, Interval, Pool, percentile

RESAMPLES = 2000

_Z = 1.96

LEAST = 0.1
"""Share of the points that evidence must surely be above blind."""


class Triple(NamedTuple):
    """What one example scores."""

    score: float
    blind: float
    evidence: float


class MemoryShare(BaseModel, frozen=True):
    """Memory, as a share of what could be had."""

    share: float | None
    """None if it is not shown."""
    interval: Interval | None
    n: int
    """Examples."""
    why: str = ""
    """Why it is not shown."""

    @property
    def percent(self) -> str:
        """It with its interval, in per cent; empty if it is not shown."""
        if self.share is None or self.interval is None:
            return ""
        return f"{100 * self.share:.0f} % ({100 * self.interval.low:.0f}–{100 * self.interval.high:.0f} %)"

    @property
    def sentence(self) -> str:
        """It in words."""
        return f"it kept {self.percent} of what it could have" if self.percent else self.why


Strata = Mapping[str, Sequence[Triple]]
"""Triples by scenario."""


def kept(clusters: Sequence[Strata]) -> MemoryShare:
    """Return the memory that examples of one or more runs show.

    The interval is a joint bootstrap of the triples within each scenario (one draw fewer than examples, so that the
    variance is not too small), around Wilson's centre and never shorter than his (1927), so that it holds the truth
    near 0 and 1 as well. How much several runs differ lengthens it.

    Args:
        clusters: For every run, its triples by scenario.
    """
    names = dict.fromkeys(name for cluster in clusters for name in cluster)
    pooled = [[triple for cluster in clusters for triple in cluster.get(name, ())] for name in names]
    n = sum(map(len, pooled))
    if not pooled or any(len(each) < 2 for each in pooled):
        return MemoryShare(
            share=None, interval=None, n=n, why="too few examples to say how much of it is memory"
        )
    had, could = _sums(pooled)
    dice = Dice("memory")
    drawn = [_sums([_drawn(dice, each) for each in pooled]) for _ in range(RESAMPLES)]
    tail = 50 * (1 - CONFIDENCE)
    examples = min(map(len, pooled))
    if percentile([below for _, below in drawn], tail) - _Z**2 / examples / 2 <= LEAST * len(pooled):
        why = "with everything in hand it hardly gets more than by guessing, so how much of it is memory cannot be said"
        return MemoryShare(share=None, interval=None, n=n, why=why)
    share = had / could
    ratios = [above / below for above, below in drawn if below > 0]
    stretch = Pool(
        [
            {name: [_residual(each, share) for each in of] for name, of in cluster.items()}
            for cluster in clusters
        ]
    ).stretch()
    number = examples * could + _Z**2  # examples that tell evidence from blind, as if of one scenario
    pull = _Z**2 / number
    bounded = min(max(share, 0.0), 1.0)
    shift = pull * (0.5 - bounded)
    least = _Z * math.sqrt((bounded + shift) * (1 - bounded - shift) / number)
    spread = (percentile(ratios, 100 - tail) - percentile(ratios, tail)) / 2 * math.sqrt(1 - pull)
    arm = stretch * max(spread, least)
    interval = Interval(low=min(share, share + shift - arm), high=max(share, share + shift + arm))
    return MemoryShare(share=share, interval=interval, n=n)


def _residual(triple: Triple, share: float) -> float:
    return triple.score - triple.blind - share * (triple.evidence - triple.blind)


def _drawn(dice: Dice, triples: Sequence[Triple]) -> list[Triple]:
    return [triples[int(dice.fraction() * len(triples))] for _ in triples[1:]]


def _sums(strata: Sequence[Sequence[Triple]]) -> tuple[float, float]:
    """Return the sums over scenarios of the means: of score - blind, and of evidence - blind."""
    had = sum(sum(each.score - each.blind for each in of) / len(of) for of in strata)
    return had, sum(sum(each.evidence - each.blind for each in of) / len(of) for of in strata)
