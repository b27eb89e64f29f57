"""What examples show beyond their scores: by skill, by distance, and needle by needle."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from ltm_bench.score.results.examples import ExampleResult, Question, ScenarioResult
from ltm_bench.score.statistics.intervals import Interval, mean_interval, sum_interval

MOST_BINS = 6
"""Maximum number of bins."""

LEAST_IN_BIN = 5
"""Minimum number of scores per bin."""


class Skill(BaseModel, frozen=True):
    """The mean score over the scenarios that need a skill."""

    name: str
    score: float
    interval: Interval | None
    n: int
    """Examples that have a score."""
    scenarios: list[str]
    chance: float | None = None
    """What guessing would score; None if unknown."""


class Bin(BaseModel, frozen=True):
    """Scores at similar distances, in tokens between needle and question."""

    low: int
    high: int
    mean: float
    interval: Interval
    n: int
    chance: float | None = None
    """What guessing would score; None if unknown."""


class NeedleRecall(BaseModel, frozen=True):
    """Recall of a scenario's needles."""

    scenario: str
    examples: list[str]
    """Examples whose questions have a score for every needle."""
    shares: list[float]
    """Mean over these, for the first needle, the second, and so on."""


def skills(scenarios: Sequence[ScenarioResult], examples: Sequence[ExampleResult]) -> list[Skill]:
    """Return the skills that the scenarios name; those that most scenarios need come first."""
    found = []
    for name in dict.fromkeys(skill for s in scenarios for skill in sorted(s.skills)):
        needing = [s.name for s in scenarios if name in s.skills]
        strata = {
            scenario: [e.score for e in examples if e.scenario == scenario and e.score is not None]
            for scenario in needing
        }
        strata = {scenario: scores for scenario, scores in strata.items() if scores}
        if not strata:
            continue
        count = len(strata)
        whole = sum_interval(strata)
        found.append(
            Skill(
                name=name,
                score=sum(sum(scores) / len(scores) for scores in strata.values()) / count,
                interval=whole and Interval(low=whole.low / count, high=whole.high / count),
                n=sum(map(len, strata.values())),
                scenarios=needing,
                chance=sum(s.chance for s in scenarios if s.name in strata) / count,
            )
        )
    return sorted(found, key=lambda skill: -len(skill.scenarios))


class Point(NamedTuple):
    """How well something was remembered, and how many tokens before the question it was told."""

    distance: int
    score: float
    chance: float = 0.0
    """What guessing would score."""


def matched_parts(example: ExampleResult) -> Sequence[float]:
    """Return a score for every needle if a question of the example has one for each, otherwise nothing."""
    each = (q.parts for q in reversed(example.questions) if q.parts and len(q.parts) == len(example.needles))
    return next(each, ())


def distance(example: ExampleResult, question: Question) -> int | None:
    """Return the tokens between a question and the last needle before it; None if there was none."""
    if question.position is None:
        return None
    told = [n.position for n in example.needles if n.position < question.position]
    return question.position - told[-1] if told else None


def points(examples: Sequence[ExampleResult]) -> Iterator[Point]:
    """Yield every score with its distance: from its own needle, otherwise from the last needle before the question."""
    for example in examples:
        parts = matched_parts(example)
        asked = [q.chance for q in example.questions if parts and q.parts == parts]
        for needle, part in zip(example.needles, parts, strict=False):
            yield Point(needle.depth, part, asked[-1])
        for question in example.questions:
            if parts and question.parts == parts:
                continue
            apart = distance(example, question)
            if apart is not None and question.counted is not None:
                yield Point(apart, question.counted, question.chance)


def bins(found: Sequence[Point]) -> list[Bin]:
    """Group scores by distance into bins of similar size."""
    ordered = sorted(found)
    count = min(MOST_BINS, len(ordered) // LEAST_IN_BIN)
    groups = [ordered[i * len(ordered) // count : (i + 1) * len(ordered) // count] for i in range(count)]
    made = []
    for group in groups:
        scores = [point.score for point in group]
        mean = sum(scores) / len(scores)
        made.append(
            Bin(
                low=group[0].distance,
                high=group[-1].distance,
                mean=mean,
                interval=mean_interval(scores),
                n=len(group),
                chance=sum(point.chance for point in group) / len(group),
            )
        )
    return made


def needle_recall(examples: Sequence[ExampleResult]) -> list[NeedleRecall]:
    """Return which needles were recalled, for every scenario whose questions have a score for each of several."""
    found = []
    for scenario in dict.fromkeys(e.scenario for e in examples):
        rows = [e for e in examples if e.scenario == scenario and len(matched_parts(e)) > 1]
        if not rows:
            continue
        columns = max(len(row.needles) for row in rows)
        by_column = [[matched_parts(row)[i] for row in rows if i < len(row.needles)] for i in range(columns)]
        found.append(
            NeedleRecall(
                scenario=scenario,
                examples=[row.id for row in rows],
                shares=[sum(each) / len(each) for each in by_column],
            )
        )
    return found
