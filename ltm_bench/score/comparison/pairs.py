"""Compares two entrants at one span, on the examples that both were given."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel, Field, computed_field

from ltm_bench.core.grouping import grouped
from ltm_bench.core.seeds import Seed
from ltm_bench.score.comparison.breaking_even import BreakEven
from ltm_bench.score.comparison.entrants import Asked, Scored, asked_by
from ltm_bench.score.results.headline import worth
from ltm_bench.score.statistics.figures import Row, clusters
from ltm_bench.score.statistics.intervals import CONFIDENCE, Clusters, Paired, paired_clusters
from ltm_bench.score.statistics.power import (
    Noise,
    Size,
    noise_of,
    seeds_in_words,
    seeds_needed,
    size_of,
    smallest_difference,
)


class Pair(BaseModel):
    """Two entrants at one span, on their common examples: the one that scored more comes first."""

    span: int
    first: str
    second: str
    complete: bool
    paired: Paired
    """First minus second, in points of the sum over the scenarios in common, if all that is undecided were wrong.

    It is never negative.
    """
    if_right: Paired
    """The same if all that is undecided were right."""
    readers: list[str] = Field(default_factory=list)
    """Who read the replies that are for a blind reader, if not the same for both."""
    separated: bool
    """Whether they differ even after correcting for all pairs at this span (Bonferroni)."""
    size: Size | None = None
    """Size of the comparison; None without a common example."""
    noise: Noise | None = None
    """How much the differences vary; None if a scenario has only one common example."""
    moves: dict[str, float] = Field(default_factory=dict)
    """How far each of the two moves by itself, in points: the standard deviation of its score over runs of one seed.

    Only those of which it is known.
    """
    break_even: list[BreakEven] = Field(default_factory=list)
    """Where along the conversation one of the two begins to take less than the other."""
    only_first: list[str]
    """Examples that only the first got fully right."""
    only_second: list[str]

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def shown(self) -> bool:
        """Whether the data shows a difference, whatever the undecided replies are worth."""
        shown = self.paired.shown and self.if_right.shown and _same_way(self.paired, self.if_right)
        return shown and not self.readers

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def verdict(self) -> str:
        """The result in words: who is better than whom, if the data shows it."""
        if self.paired.n == 0:
            return "no example in common"
        if self.paired.interval is None:
            return "too few examples to say"
        if self.readers:
            return f"not comparable, since they were read by different blind readers: {' and '.join(self.readers)}"
        if not self.shown:
            open_still = self.paired.shown or self.if_right.shown
            return f"no difference shown{', since it depends on undecided replies' if open_still else ''}"
        return f"{self.first} is better than {self.second}"

    @property
    def decided(self) -> bool:
        """Whether more examples would tell nothing new: what is undecided or unlike has to be read first."""
        return bool(self.readers) or self.paired.shown or self.if_right.shown

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def seeds_needed(self) -> int | None:
        """Number of seeds, with as many examples each, that would probably show a difference of this size.

        None if that is decided, if there is no difference, or if it would take more than 1,000.
        """
        if self.decided or self.size is None or self.noise is None or not self.paired.difference:
            return None
        found = seeds_needed(self.paired.difference, self.size.scenarios, self.size.examples, self.noise)
        # At least one seed more: these have not shown it, whatever the formula says.
        return None if found is None else max(found, self.size.seeds + 1)

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def detectable(self) -> float | None:
        """The smallest difference that this comparison would probably show, in points; None if unknown."""
        if self.size is None or self.noise is None:
            return None
        return smallest_difference(self.size, self.noise)

    @property
    def needed(self) -> str:
        """What it would take to tell the two apart, in words; empty if they are told apart, or if it is unknown."""
        if self.decided or self.size is None or self.noise is None:
            return ""
        if not self.paired.difference:
            return "these two scored the same: there is no telling how many examples it would take"
        return (
            f"to tell these two apart you would need {seeds_in_words(self.seeds_needed)} of {self.size.examples:.3g} "
            f"examples a scenario, if they differ by as much as here ({self.size.seeds} so far)"
        )


def _same_way(one: Paired, other: Paired) -> bool:
    return one.difference * other.difference > 0


def _bounds(runs: Sequence[Scored]) -> dict[tuple[Seed, Asked], tuple[float, ...]]:
    """Return the scores by seed and example, if all that is undecided were wrong and right.

    Runs of the same seed are averaged.
    """
    found = grouped(
        ((run.results.seed, known_by), (each.score, each.score + worth(each)))
        for run in runs
        for known_by, each in asked_by(run)
        if each.score is not None
    )
    return {key: tuple(sum(each) / len(of) for each in zip(*of, strict=True)) for key, of in found.items()}


class Differences(NamedTuple):
    """The differences between two entrants on their common examples, for each pair of runs by scenario."""

    wrong: Clusters
    """If all that is undecided were wrong."""
    right: Clusters
    """If it were right."""
    only_first: list[str]
    """Examples that only the first got fully right."""
    only_second: list[str]


def differences(a: Sequence[Scored], b: Sequence[Scored]) -> Differences:
    """Return the scores of one entrant's runs minus those of another's, on the examples that both were asked."""
    ours, theirs = _bounds(a), _bounds(b)
    several = len({seed for seed, _ in ours} & {seed for seed, _ in theirs}) > 1
    wrong, right, only = list[Row](), list[Row](), (list[str](), list[str]())
    for (seed, known_by), (score, most) in ours.items():
        if (their := theirs.get((seed, known_by))) is None:
            continue
        name, (other, others_most) = known_by[0], their
        wrong.append(Row(score - other, name.rpartition("/")[0], seed))
        right.append(wrong[-1]._replace(score=most - others_most))
        if (score >= 1) != (other >= 1):
            only[score < 1].append(f"{name} (seed {seed})" if several else name)
    return Differences(clusters(wrong), clusters(right), *only)


def readers_of(runs: Sequence[Scored]) -> list[str]:
    """Return who read the replies that are for a blind reader, if not the same for all runs."""
    readers = sorted({reader for run in runs for reader in run.results.readers})
    return readers if len(readers) > 1 else []


def pair(
    span: int, first: str, second: str, a: Sequence[Scored], b: Sequence[Scored], count: int = 1
) -> Pair:
    """Compare two entrants at one span, on their common examples.

    The one that scored more on these comes first in the pair that is returned; if neither did, the order stays.

    Args:
        span: The runs' span.
        first: The name of the first entrant.
        second: The name of the second one.
        a: The runs of the first entrant.
        b: The runs of the second one.
        count: Number of pairs compared at this span, for the correction of `separated`.
    """
    gaps, if_right, only_first, only_second = differences(a, b)
    found = paired_clusters(gaps)
    if found.difference < -1e-9:  # less is rounding, and has no sign
        return pair(span, second, first, b, a, count)
    most_found = found if if_right == gaps else paired_clusters(if_right)
    readers = readers_of((*a, *b))
    strict = all(each.p is not None and each.p < (1 - CONFIDENCE) / count for each in (found, most_found))
    return Pair(
        span=span,
        first=first,
        second=second,
        complete=all(run.results.complete for run in (*a, *b)),
        paired=found,
        if_right=most_found,
        readers=readers,
        separated=strict and _same_way(found, most_found) and not readers,
        size=size_of(gaps) if gaps else None,
        noise=noise_of(gaps),
        only_first=only_first,
        only_second=only_second,
    )
