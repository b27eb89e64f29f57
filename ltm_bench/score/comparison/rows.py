"""Puts the replies of all entrants to one example side by side."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import computed_field
from pydantic.dataclasses import dataclass

from ltm_bench.core.messages import Outcome
from ltm_bench.core.seeds import Seed, is_training, number_of
from ltm_bench.score.comparison.entrants import Asked, Scored, asked_by
from ltm_bench.score.results.examples import ExampleResult
from ltm_bench.score.results.run import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One entrant's result on one example."""

    run: str
    score: float | None
    outcome: Outcome
    """Outcome of the question that cost most."""
    reply: str | None = None
    """The reply to that question, if the entrants disagree; None if there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleRow:
    """One example, with the results of all entrants at its span."""

    span: int
    seed: Seed
    example: str
    question: str = ""
    """The question that cost most, for the entrant that it cost most; empty if the entrants agree."""
    expected: str = ""
    marks: dict[str, Mark]

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def disagree(self) -> bool:
        """Whether entrants differ."""
        return len({mark.score for mark in self.marks.values() if mark.score is not None}) > 1


def _worst(example: ExampleResult) -> int:
    """Return the question that represents an example: an infrastructure error first, else the lowest score."""
    questions = example.questions
    return min(
        range(len(questions)),
        key=lambda i: (
            not questions[i].outcome.infrastructure,
            1.0 if (score := questions[i].score) is None else score,
        ),
    )


def rows_of(grouped: Mapping[tuple[str, int], Sequence[Scored]]) -> Iterator[ExampleRow]:
    """Yield every example with each entrant's result; a second run of the same seed counts in the cell, not here."""
    asked: dict[tuple[int, Seed, Asked], dict[str, tuple[Results, ExampleResult]]] = {}
    for (entrant, span), runs in grouped.items():
        for run in runs:
            for known_by, example in asked_by(run):
                key = (span, run.results.seed, known_by)
                asked.setdefault(key, {}).setdefault(entrant, (run.results, example))
    order = {name: i for i, name in enumerate(dict.fromkeys(key[2] for key in asked))}
    for key in sorted(asked, key=lambda key: (key[0], is_training(key[1]), number_of(key[1]), order[key[2]])):
        yield _row(key, asked[key])


def _row(key: tuple[int, Seed, Asked], by_entrant: Mapping[str, tuple[Results, ExampleResult]]) -> ExampleRow:
    span, seed, (name, *_) = key
    examples = [example for _, example in by_entrant.values()]
    weakest = min(examples, key=lambda e: 1.0 if e.score is None else e.score)
    shown = _worst(weakest)
    question = weakest.questions[shown]
    same = all([q.expected for q in e.questions[shown : shown + 1]] == [question.expected] for e in examples)
    differ = same and len({e.score for e in examples if e.score is not None}) > 1
    return ExampleRow(
        span=span,
        seed=seed,
        example=name,
        question=question.text if differ else "",
        expected=question.expected if differ else "",
        marks={
            entrant: Mark(
                run=results.run,
                score=example.score,
                outcome=example.questions[_worst(example)].outcome,
                reply=example.questions[shown].reply if differ else None,
            )
            for entrant, (results, example) in by_entrant.items()
        },
    )
