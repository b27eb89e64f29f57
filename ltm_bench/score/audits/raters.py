"""Agreement between raters of the same replies: reviewers of doubtful verdicts, and auditors of confident ones."""

from collections.abc import Mapping
from itertools import combinations
from typing import Literal

from pydantic import BaseModel

from ltm_bench.core.messages import Outcome
from ltm_bench.score.audits.judgements import Override, Place
from ltm_bench.score.audits.records import Records
from ltm_bench.score.statistics.intervals import Interval, wilson

Read = Mapping[tuple[str, int, str], bool]
"""Whether a rater calls a reply right, by example, turn and the reply's hash."""


class Agreement(BaseModel, frozen=True):
    """Two raters' agreement on whether replies are right."""

    of: Literal["review", "audit"]
    """What they read: doubtful verdicts (`review`), or a sample of confident ones (`audit`)."""
    first: str
    second: str
    read: int
    """Replies that both have read."""
    alike: int
    """Replies among these that both call right, or that neither does."""
    kappa: float | None
    """Cohen's kappa; None if both call everything right, or nothing."""
    interval: Interval | None
    """Interval of kappa: Wilson's for the share of `alike`, given the raters' observed habits."""
    apart: tuple[tuple[str, int], ...]
    """Example and turn of the replies on which they differ."""

    @property
    def headline(self) -> str:
        """The agreement in one line."""
        known = "κ is undefined if both say the same about everything"
        if self.kappa is not None and self.interval is not None:
            known = f"κ = {self.kappa:.2f} ({self.interval.low:.2f} – {self.interval.high:.2f})"
        replies = "1 reply" if self.read == 1 else f"{self.read} replies"
        return (
            f"{self.first} and {self.second} read the same {replies} ({self.of}), {self.alike} alike; {known}"
        )


def agreements(ratings: Mapping[Place, Mapping[str, Override]], audits: Records) -> list[Agreement]:
    """Return the agreement of every two raters with common replies: reviewers, and auditors."""
    reviewers: dict[str, dict[tuple[str, int, str], bool]] = {}
    for (example, turn), said in ratings.items():
        for name, each in said.items():
            reviewers.setdefault(name, {})[example, turn, each.reply] = each.outcome is Outcome.CORRECT
    auditors: dict[str, dict[tuple[str, int, str], bool]] = {}
    for (name, _, example, turn), reading in audits.readings.items():
        auditors.setdefault(name, {})[example, turn, reading.reply] = reading.outcome is Outcome.CORRECT
    found = [
        *(agreement("review", *pair) for pair in combinations(reviewers.items(), 2)),
        *(agreement("audit", *pair) for pair in combinations(auditors.items(), 2)),
    ]
    return [each for each in found if each.read]


def agreement(of: Literal["review", "audit"], one: tuple[str, Read], other: tuple[str, Read]) -> Agreement:
    """Compare two raters, given by name, on the replies that both have read."""
    (first, ours), (second, theirs) = one, other
    common = [place for place in ours if place in theirs]
    apart = [place for place in common if ours[place] != theirs[place]]
    found = interval = None
    if common:
        share = 1 - len(apart) / len(common)
        habits = [sum(said[place] for place in common) / len(common) for said in (ours, theirs)]
        found = kappa(share, *habits)
        if found is not None:
            interval = wilson(share, len(common)).mapped(lambda end: kappa(end, *habits) or 0.0)
    return Agreement(
        of=of,
        first=first,
        second=second,
        read=len(common),
        alike=len(common) - len(apart),
        kappa=found,
        interval=interval,
        apart=tuple((example, turn) for example, turn, _ in apart),
    )


def kappa(alike: float, first: float, second: float) -> float | None:
    """Return Cohen's kappa; None if chance alone would make them agree on everything.

    Args:
        alike: The share of replies on which they agree.
        first: The share that the first calls right.
        second: The share that the second calls right.
    """
    by_chance = first * second + (1 - first) * (1 - second)
    return None if by_chance > 1 - 1e-12 else (alike - by_chance) / (1 - by_chance)
