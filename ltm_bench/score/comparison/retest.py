"""How far one agent moves by itself: several runs of equal seeds, question by question (test-retest)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from pydantic import BaseModel, computed_field

from ltm_bench.core.grouping import grouped
from ltm_bench.core.messages import Outcome
from ltm_bench.core.seeds import Seed
from ltm_bench.score.results.examples import ExampleResult
from ltm_bench.score.results.headline import mean
from ltm_bench.score.results.run import Results
from ltm_bench.score.statistics.intervals import (
    Interval,
    Spread,
    moderated,
    sample_variance,
    spread,
    student,
    wilson,
)

_ONE_SIDED = 0.9
"""The two-sided confidence whose upper end is a one-sided 95 %: a gate asks only whether a score fell."""


class Moved(BaseModel, frozen=True):
    """A question on which runs of one seed got different verdicts."""

    seed: Seed
    example: str
    question: str
    outcomes: list[Outcome]
    """One for each run of the seed."""


class Retest(BaseModel, frozen=True):
    """How far one agent moves by itself: what runs of equal seeds differ in."""

    seeds: list[Seed]
    """Those that were run several times."""
    runs: int
    """Number of runs of these seeds."""
    out_of: int
    score: float
    """Standard deviation of the score over runs of one seed, in points."""
    by_scenario: dict[str, float]
    """The same of each scenario's score, from 0 to 1."""
    questions: int
    """Number of questions that were asked several times."""
    same: int
    """Number of these that got one verdict in all runs."""
    agreement: float
    """The share of pairs of runs that agree on a question's verdict, averaged over questions."""
    moved: list[Moved]
    steady: float
    """The standard deviation with which a difference is judged; not as unsure as `score`, and never 0.

    The variance of few scores says little, so it is averaged with the one that the examples' own variance predicts,
    to which one verdict is added that moved.
    """
    freedom: int
    """Degrees of freedom of `steady`."""

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def same_interval(self) -> Interval:
        """95 % interval of the share of questions with one verdict in all runs."""
        return wilson(self.same / self.questions, self.questions)

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def max_drop(self) -> float:
        """The drop, as a share of all points, that an unchanged agent exceeds in 5 % of comparisons of single runs."""
        return self.drop()

    def drop(self, here: int = 1, there: int = 1) -> float:
        """Return the same for a comparison of the means of `here` runs and of `there` runs."""
        error = self.steady * math.sqrt(1 / here + 1 / there)
        return min(1.0, student(self.freedom, _ONE_SIDED) * error / self.out_of)


def retest(results: Sequence[Results]) -> Retest | None:
    """Compare complete runs of one agent with equal seeds; None if no seed was run several times."""
    by_seed = grouped((each.seed, each) for each in results if each.complete and each.scenarios)
    groups = [group for group in by_seed.values() if len(group) > 1]
    if not groups:
        return None
    asked = [found for group in groups for found in _asked(group)]
    runs, expected, smallest = 0, 0.0, math.inf
    for group in groups:
        runs += len(group)
        expected += (len(group) - 1) * _expected(group)
        smallest = min(smallest, *(each.n for each in group[0].scenarios))
    freedom = runs - len(groups)
    moved = _moves({group[0].seed: [each.score_so_far for each in group] for group in groups})
    variance, total = moderated(expected / freedom + 1 / (smallest**2 * runs), moved**2, freedom)
    return Retest(
        seeds=[group[0].seed for group in groups],
        runs=runs,
        out_of=groups[0][0].out_of,
        score=moved,
        by_scenario={
            name: _moves(
                {
                    group[0].seed: [mean(each.by_scenario.get(name, ())) or 0.0 for each in group]
                    for group in groups
                }
            )
            for name in dict.fromkeys(name for group in groups for name in group[0].by_scenario)
        },
        questions=len(asked),
        same=sum(share == 1 for _, share in asked),
        agreement=sum(share for _, share in asked) / len(asked),
        moved=[where for where, share in asked if share < 1],
        steady=math.sqrt(variance),
        freedom=total,
    )


def _moves(by_seed: Mapping[Seed, Sequence[float]]) -> float:
    found: Spread | None = spread(by_seed)
    return 0.0 if found is None or found.agent is None else found.agent


def _examples(group: Sequence[Results]) -> list[list[ExampleResult]]:
    """Return the examples that all runs of a seed have, each with its result in every run."""
    known = [{example.id: example for example in each.examples} for each in group]
    return [[each[name] for each in known] for name in known[0] if all(name in each for each in known)]


def _expected(group: Sequence[Results]) -> float:
    """Return the variance of one run's score if every example moved by itself."""
    sizes = {scenario.name: scenario.n for scenario in group[0].scenarios}
    return sum(
        sample_variance([each.score or 0.0 for each in of]) / sizes[of[0].scenario] ** 2
        for of in _examples(group)
    )


def _asked(group: Sequence[Results]) -> Iterator[tuple[Moved, float]]:
    """Yield every question of a seed, with the share of pairs of its runs that agree on its verdict."""
    for of in _examples(group):
        for asked in zip(*(each.questions for each in of), strict=False):  # an order may end them early
            said = combinations([(each.outcome, each.score) for each in asked], 2)
            alike = [one == other for one, other in said]
            outcomes = [each.outcome for each in asked]
            where = Moved(seed=group[0].seed, example=of[0].id, question=asked[0].text, outcomes=outcomes)
            yield where, sum(alike) / len(alike)
