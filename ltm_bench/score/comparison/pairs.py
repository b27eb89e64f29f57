"""Compares two entrants at one span, on the examples that both were given."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from pydantic import BaseModel, computed_field

from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.statistics.intervals import CONFIDENCE, Paired, paired
from ltm_bench.score.statistics.power import (
    MOST,
    Noise,
    Size,
    noise_of,
    seeds_needed,
    size_of,
    smallest_difference,
)


class Pair(BaseModel):
    """Two entrants at one span, in order of their names, on their common examples."""

    span: int
    first: str
    second: str
    complete: bool
    paired: Paired
    """First minus second, in points of the sum over the scenarios in common."""
    separated: bool
    """Whether they differ even after correcting for all pairs at this span (Bonferroni)."""
    size: Size | None = None
    """Size of the comparison; None without a common example."""
    noise: Noise | None = None
    """How much the differences vary; None if a scenario has only one common example."""
    only_first: list[str]
    """Examples that only the first got fully right."""
    only_second: list[str]

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def verdict(self) -> str:
        """The result in words: who is better than whom, if the data shows it."""
        if self.paired.n == 0:
            return "no example in common"
        if self.paired.interval is None:
            return "too few examples to say"
        if not self.paired.shown:
            return "no difference shown"
        better, worse = sorted(
            (self.first, self.second), key=lambda name: (name == self.first) == (self.paired.difference < 0)
        )
        return f"{better} is better than {worse}"

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def seeds_needed(self) -> int | None:
        """Number of seeds, with as many examples each, that would probably show a difference of this size.

        None if a difference is already shown, if there is none, or if it would take more than `MOST`.
        """
        if self.paired.shown or self.size is None or self.noise is None or not self.paired.difference:
            return None
        gap = abs(self.paired.difference)
        found = seeds_needed(gap, self.size.scenarios, self.size.examples, self.noise)
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
        if self.paired.shown or self.size is None or self.noise is None:
            return ""
        if not self.paired.difference:
            return "these two scored the same: there is no telling how many examples it would take"
        each, seeds = self.size.examples, self.seeds_needed
        many = f"more than {MOST:,}" if seeds is None else f"about {seeds:,}"
        return (
            f"to tell these two apart you would need {many} seeds of {each:.3g} examples a scenario, "
            f"if they differ by as much as here ({self.size.seeds} so far)"
        )


_Asked = tuple[str, str]
"""An example's name and its scenario's content: only the same question can be compared."""


def _asked(runs: Sequence[Scored]) -> dict[int, dict[_Asked, float]]:
    """Return the scores by seed and example; runs of the same seed are averaged."""
    found: dict[int, dict[_Asked, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        content = {
            entry.name: json.dumps([entry.version, entry.hash, entry.parameters], sort_keys=True, default=str)
            for entry in run.manifest.suite.scenarios
        }
        for example in run.results.examples:
            if example.score is not None:
                found[run.results.seed][example.id, content.get(example.scenario, "")].append(example.score)
    return {
        seed: {name: sum(scores) / len(scores) for name, scores in each.items()}
        for seed, each in found.items()
    }


def pair(
    span: int, first: str, second: str, a: Sequence[Scored], b: Sequence[Scored], count: int = 1
) -> Pair:
    """Compare two entrants at one span, on their common examples.

    Args:
        span: The runs' span.
        first: The name of the first entrant.
        second: The name of the second one.
        a: The runs of the first entrant.
        b: The runs of the second one.
        count: Number of pairs compared at this span, for the correction of `separated`.
    """
    ours, theirs = _asked(a), _asked(b)
    seeds = [seed for seed in ours if seed in theirs]
    clusters: list[dict[str, list[float]]] = []
    only_first: list[str] = []
    only_second: list[str] = []
    for seed in seeds:
        gaps: dict[str, list[float]] = defaultdict(list)
        for (name, content), score in ours[seed].items():
            if (other := theirs[seed].get((name, content))) is None:
                continue
            gaps[name.rpartition("/")[0]].append(score - other)
            if (score >= 1) != (other >= 1):
                winner = only_first if score >= 1 else only_second
                winner.append(name if len(seeds) == 1 else f"{name} (seed {seed})")
        if gaps:
            clusters.append(gaps)
    found = paired(clusters)
    return Pair(
        span=span,
        first=first,
        second=second,
        complete=all(run.results.complete for run in (*a, *b)),
        paired=found,
        separated=found.p is not None and found.p < (1 - CONFIDENCE) / count,
        size=size_of(clusters) if clusters else None,
        noise=noise_of(clusters),
        only_first=only_first,
        only_second=only_second,
    )
