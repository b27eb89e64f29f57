"""How much of what an agent could have had is memory: a ratio of sums, with an interval. Pure.

    memory = (score - blind) / (evidence - blind)

Sums over the same examples. Nothing is clipped: who gets more than with everything in hand has more than all.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from ltm_bench.score.statistics.intervals import Clusters, Interval, Pool, wilson

_Z = 1.96

LEAST = 0.1
"""Share of the points that evidence must surely be above blind."""


class Triple(NamedTuple):
    """What one example scores."""

    score: float
    blind: float
    evidence: float

    def got(self) -> float:
        """Return what it got beyond guessing."""
        return self.score - self.blind

    def at_most(self) -> float:
        """Return what there was to get; below 0 where guessing did better than evidence."""
        return self.evidence - self.blind

    def beyond(self) -> float:
        """Return what it got above or below all that there was to get, or to lose."""
        low, high = sorted((0.0, self.at_most()))
        return self.got() - min(max(self.got(), low), high)


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

    Every example in which evidence gets more than blind is a trial: did the agent get it too? The interval is Wilson's
    for these trials, each counted by how much there is to get, with the effective number that the variance within the
    scenarios gives them. Replies vary besides: what an example scores beyond what there was to get, and whatever
    variance is more than that of trials, lengthens both arms, by the squares (MOVER: Zou and Donner 2008). How much
    several runs differ stretches them.

    Args:
        clusters: For every run, its triples by scenario.
    """
    names = dict.fromkeys(name for cluster in clusters for name in cluster)
    strata = [[triple for cluster in clusters for triple in cluster.get(name, ())] for name in names]
    n = sum(map(len, strata))
    if not strata or any(len(each) < 2 for each in strata):
        return MemoryShare(
            share=None, interval=None, n=n, why="too few examples to say how much of it is memory"
        )
    gained = Pool(_mapped(clusters, Triple.at_most))
    could, examples = gained.total, min(map(len, strata))
    surely = could - gained.stretch() * _Z * math.sqrt(gained.within) - _Z**2 / examples / 2
    if surely <= LEAST * len(strata):
        why = "with everything in hand it hardly gets more than by guessing, so how much of it is memory cannot be said"
        return MemoryShare(share=None, interval=None, n=n, why=why)
    share = Pool(_mapped(clusters, Triple.got)).total / could
    rest = Pool(_mapped(clusters, lambda triple: triple.got() - share * triple.at_most()))
    trials = could**2 / _squares(strata, Triple.at_most)
    bounded = min(max(share, 0.0), 1.0)
    chance = bounded * (1 - bounded) / trials
    # One more example that disagrees with the others: examples that all agree show no variance.
    disagreeing = min(1.0, max(abs(d) for each in rest.strata.values() for d in each))
    surprise = (disagreeing / examples / could) ** 2
    variance = rest.within / could**2
    if variance + surprise < chance:
        trials *= chance / (variance + surprise)
    beyond = variance + min(surprise, _squares(strata, Triple.beyond) / could**2) - chance
    luck = _Z * math.sqrt(max(0.0, beyond))
    known, stretch = wilson(bounded, trials), rest.stretch()
    interval = Interval(
        low=share - stretch * math.hypot(bounded - known.low, luck),
        high=share + stretch * math.hypot(known.high - bounded, luck),
    )
    return MemoryShare(share=share, interval=interval, n=n)


def _mapped(clusters: Sequence[Strata], value: Callable[[Triple], float]) -> Clusters:
    return [{name: [*map(value, each)] for name, each in cluster.items()} for cluster in clusters]


def _squares(strata: Sequence[Sequence[Triple]], value: Callable[[Triple], float]) -> float:
    """Return the variance of the sum of means if a value's mean square were its variance."""
    return sum(sum(value(triple) ** 2 for triple in each) / len(each) ** 2 for each in strata)
