"""How much of what an agent could have had is memory: a ratio of sums, with an interval. Pure.

    memory = (score - blind) / (evidence - blind)

Sums over the same examples. Nothing is clipped: who gets more than with everything in hand has more than all.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from ltm_bench.score.statistics.figures import Row
from ltm_bench.score.statistics.intervals import Clusters, Interval, Pool

_Z = 1.96

_CARE = 1.5
"""Factor of what is added to a variance because few examples were seen; chosen by `perf/coverage.py`."""

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


class MemoryShare(BaseModel, frozen=True):
    """Memory, as a share of what could be had."""

    share: float | None = None
    """None if it is not shown."""
    interval: Interval | None = None
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

    The interval contains every memory that a score test would not refuse: at which what the agent got is within 1.96
    standard errors of what it should have got. An example in which evidence gets more than blind is a trial: did the
    agent get it too? If all that varies is that, the test is Wilson's, each trial counted by how much there is to get,
    and the variance reduced if scenarios differ. Where luck shows, the variance may also be the one observed, at that
    memory (Fieller 1954). How much several runs differ stretches the interval.

    Args:
        clusters: For every run, its triples by scenario.
    """
    names = dict.fromkeys(name for cluster in clusters for name in cluster)
    strata = [[triple for cluster in clusters for triple in cluster.get(name, ())] for name in names]
    triples = [triple for each in strata for triple in each]
    n = len(triples)
    if not strata or any(len(each) < 2 for each in strata):
        return MemoryShare(n=n, why="too few examples to say how much of it is memory")
    gained = Pool(_mapped(clusters, Triple.at_most))
    could, examples = gained.total, min(map(len, strata))
    surely = could - gained.stretch() * _Z * math.sqrt(gained.within) - _Z**2 / examples / 2
    if surely <= LEAST * len(strata):
        why = "with everything in hand it hardly gets more than by guessing, so how much of it is memory cannot be said"
        return MemoryShare(n=n, why=why)
    got = Pool(_mapped(clusters, Triple.got))
    share = got.total / could
    rest = Pool(_mapped(clusters, lambda triple: triple.got() - share * triple.at_most()))
    bounded = min(max(share, 0.0), 1.0)
    # One more example that disagrees with the others: examples that all agree show no variance.
    disagreeing = min(1.0, max(abs(each.got() - bounded * each.at_most()) for each in triples))
    surprise = (disagreeing / examples) ** 2
    trials = sum(sum(triple.at_most() ** 2 for triple in each) / len(each) ** 2 for each in strata)
    chance = bounded * (1 - bounded) * trials
    if rest.within + surprise / 2 < chance:
        trials *= (rest.within + surprise / 2) / chance
    # Luck shows in examples that get less than by guessing, or more than with everything in hand.
    lucky = any(not each.blind <= each.score <= each.evidence for each in triples)
    # The variance, as a polynomial in memory: of trials, and as observed.
    variances = [(0.0 if lucky else _CARE * max(0.0, rest.within - chance), trials, -trials)]
    if lucky:
        lost = Pool(_mapped(clusters, lambda triple: triple.got() - triple.at_most())).within
        variances.append((got.within + _CARE * surprise, lost - got.within - gained.within, gained.within))
    ends = [share, *(end for each in variances for end in _ends(got.total, could, *each))]
    stretch = rest.stretch()
    interval = Interval(low=share - stretch * (share - min(ends)), high=share + stretch * (max(ends) - share))
    return MemoryShare(share=share, interval=interval, n=n)


def kept_by(rows: Iterable[Row], blind: str, evidence: str, score: str) -> MemoryShare:
    """Return the memory that rows of three runs show, paired by what was asked: each is named by how its rows were."""
    told: dict[Hashable, dict[str, Row]] = {}
    for row in rows:
        told.setdefault((row.run, row.asked), {})[row.how] = row
    found: dict[Hashable, dict[str, list[Triple]]] = {}
    for each in told.values():
        if {score, blind, evidence} <= each.keys():
            own = each[score]
            triple = Triple(own.score, each[blind].score, each[evidence].score)
            found.setdefault(own.run, {}).setdefault(own.scenario, []).append(triple)
    return kept([*found.values()])


def _mapped(clusters: Sequence[Strata], value: Callable[[Triple], float]) -> Clusters:
    return [{name: [*map(value, each)] for name, each in cluster.items()} for cluster in clusters]


def _ends(got: float, could: float, constant: float, linear: float, square: float) -> Sequence[float]:
    """Return between which memories `(got - memory * could)**2` is at most `_Z**2` variances; nothing if nowhere."""
    scale, middle = could**2 - _Z**2 * square, got * could + _Z**2 * linear / 2
    root = middle**2 - scale * (got**2 - _Z**2 * constant)
    return [(middle + sign * math.sqrt(root)) / scale for sign in (-1, 1)] if root > 0 else []
