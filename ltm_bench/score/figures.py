"""What pages and charts show of results beyond their scores: by skill, by distance, and needle by needle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ltm_bench.score.results import ExampleResult, Results
from ltm_bench.score.statistics import Interval, bootstrap, sum_interval, wilson

MOST_BINS = 6
"""Maximum number of bins."""

LEAST_IN_BIN = 5
"""Minimum number of scores per bin."""


class Skill(NamedTuple):
    """The mean score over the scenarios that need a skill."""

    name: str
    score: float
    interval: Interval | None
    n: int
    """Examples that have a score."""
    scenarios: Sequence[str]


def skills(results: Results) -> list[Skill]:
    """Return the skills that the scenarios name; those that most scenarios need come first."""
    found = []
    for name in dict.fromkeys(skill for s in results.scenarios for skill in sorted(s.skills)):
        needing = [s.name for s in results.scenarios if name in s.skills]
        strata = {
            scenario: [e.score for e in results.examples if e.scenario == scenario and e.score is not None]
            for scenario in needing
        }
        strata = {scenario: scores for scenario, scores in strata.items() if scores}
        if not strata:
            continue
        count = len(strata)
        whole = sum_interval(strata)
        found.append(
            Skill(
                name,
                sum(sum(scores) / len(scores) for scores in strata.values()) / count,
                whole and Interval(low=whole.low / count, high=whole.high / count),
                sum(map(len, strata.values())),
                needing,
            )
        )
    return sorted(found, key=lambda skill: -len(skill.scenarios))


class Point(NamedTuple):
    """How well something was remembered, and how many tokens before the question it was told."""

    distance: int
    score: float


class Bin(NamedTuple):
    """Scores at similar distances."""

    low: int
    high: int
    mean: float
    interval: Interval
    n: int


def matched_parts(example: ExampleResult) -> Sequence[float]:
    """Return a score for every needle if a question of the example has one for each, otherwise nothing."""
    each = (q.parts for q in reversed(example.questions) if q.parts and len(q.parts) == len(example.needles))
    return next(each, ())


def points(results: Results) -> Iterator[Point]:
    """Yield every score with its distance: from its own needle, otherwise from the last needle before the question."""
    for example in results.examples:
        parts = matched_parts(example)
        for needle, part in zip(example.needles, parts, strict=False):
            yield Point(needle.depth, part)
        for question in example.questions:
            if parts and question.parts == parts:
                continue
            told = [
                n.position
                for n in example.needles
                if question.position is not None and n.position < question.position
            ]
            if told and question.score is not None and question.position is not None:
                yield Point(question.position - told[-1], question.score)


def bins(found: Sequence[Point]) -> list[Bin]:
    """Group scores by distance into bins of similar size. A bin whose scores are all equal gets Wilson's interval."""
    import numpy as np

    ordered = sorted(found)
    count = min(MOST_BINS, len(ordered) // LEAST_IN_BIN)
    groups = [ordered[i * len(ordered) // count : (i + 1) * len(ordered) // count] for i in range(count)]
    made = []
    for group in groups:
        scores = [point.score for point in group]
        mean = sum(scores) / len(scores)
        interval = bootstrap(scores, np.mean) or wilson(mean, len(scores))
        made.append(Bin(group[0].distance, group[-1].distance, mean, interval, len(group)))
    return made


class Heat(NamedTuple):
    """Which needles of a scenario were recalled: a row for every example, a column for every needle."""

    scenario: str
    rows: Sequence[ExampleResult]
    shares: Sequence[float]
    """Mean over the examples, for the first needle, the second, and so on."""


def heats(results: Results) -> list[Heat]:
    """Return a heat map for every scenario whose questions have a score for each of several needles."""
    found = []
    for scenario in results.scenarios:
        rows = [e for e in results.examples if e.scenario == scenario.name and len(matched_parts(e)) > 1]
        if not rows:
            continue
        columns = max(len(row.needles) for row in rows)
        by_column = [[matched_parts(row)[i] for row in rows if i < len(row.needles)] for i in range(columns)]
        found.append(Heat(scenario.name, rows, [sum(each) / len(each) for each in by_column]))
    return found
