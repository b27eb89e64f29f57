"""What examples show beyond their scores: by skill, by distance, and needle by needle."""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import BaseModel

from ltm_bench.score.results.examples import ExampleResult, Question, ScenarioResult
from ltm_bench.score.statistics.figures import Figure, Row, figure
from ltm_bench.score.statistics.intervals import Interval

MOST_BINS = 6
"""Maximum number of bins."""

LEAST_IN_BIN = 5
"""Minimum number of scores per bin."""


class Skill(Figure, frozen=True):
    """The mean score over the scenarios that need a skill."""

    WRITTEN = "name score=mean interval n scenarios chance"
    scenarios: list[str]


class Bin(Figure, frozen=True):
    """Scores at similar distances, in tokens between needle and question."""

    WRITTEN = "low high mean interval n chance"
    low: int
    high: int
    interval: Interval


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
        needing = [s for s in scenarios if name in s.skills]
        rows = [
            Row(e.score, s.name)
            for s in needing
            for e in examples
            if e.scenario == s.name and e.score is not None
        ]
        if rows:
            chances = [s.chance for s in needing if any(row.scenario == s.name for row in rows)]
            more = {"scenarios": [s.name for s in needing], "chance": sum(chances) / len(chances)}
            found.append(Skill(**dict(figure(rows, name)) | more))
    return sorted(found, key=lambda skill: -len(skill.scenarios))


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


def points(examples: Sequence[ExampleResult]) -> Iterator[Row]:
    """Yield every score with its distance: from its own needle, otherwise from the last needle before the question."""
    for example in examples:
        parts = matched_parts(example)
        asked = [q.chance for q in example.questions if parts and q.parts == parts]
        for needle, part in zip(example.needles, parts, strict=False):
            yield Row(part, distance=needle.depth, chance=asked[-1])
        for question in example.questions:
            if parts and question.parts == parts:
                continue
            apart = distance(example, question)
            if apart is not None and question.counted is not None:
                yield Row(question.counted, distance=apart, chance=question.chance)


def bins(found: Iterable[Row]) -> list[Bin]:
    """Group scores by distance into bins of similar size."""
    ordered = sorted(found, key=lambda row: (row.distance, row.score, row.chance))
    count = min(MOST_BINS, len(ordered) // LEAST_IN_BIN)
    groups = [ordered[i * len(ordered) // count : (i + 1) * len(ordered) // count] for i in range(count)]
    return [Bin(low=of[0].distance, high=of[-1].distance, **dict(figure(of))) for of in groups]


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
