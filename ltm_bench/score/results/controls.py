"""What a run's controls show: guessing alone, everything in hand, and how much of what lies between is memory. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, computed_field

from ltm_bench.core.messages import Outcome, Reply, Verdict
from ltm_bench.core.pricing import dollars
from ltm_bench.log.controls import Control
from ltm_bench.score.audits.judgements import Place
from ltm_bench.score.results.examples import (
    ControlAnswer,
    Controlled,
    ExampleResult,
    Question,
    ScenarioResult,
)
from ltm_bench.score.results.headline import example_score, headline
from ltm_bench.score.statistics.intervals import Interval, sum_interval, wilson
from ltm_bench.score.statistics.memory import MemoryShare, Triple, kept

ENOUGH = 20
"""Minimum number of a scenario's examples for a memory of its own."""


class ControlFigure(BaseModel, frozen=True):
    """The score in a control, in points of the examples that it shares with the others."""

    score: float
    interval: Interval | None
    undecided: int
    """Replies that text alone cannot decide; they count 0."""
    dollars: float | None
    """What all of it cost; None if a price is unknown."""


class ScenarioControls(BaseModel, frozen=True):
    """A scenario's scores in the run and in its controls, each from 0 to 1."""

    name: str
    n: int
    """Examples that were asked so."""
    score: float
    """By the matchers alone."""
    blind: float | None = None
    evidence: float | None = None
    near: float | None = None
    guessable: bool = False
    """Whether blind is above declared chance: the scenario can be guessed, or the model has read it."""
    kept: MemoryShare | None = None
    """From 20 examples on."""


class Controls(BaseModel, frozen=True):
    """A run's controls, over the examples that all of them have asked."""

    n: int
    """Examples."""
    out_of: int
    """Scenarios of these examples."""
    of: int
    """Scenarios of the run."""
    score: float
    """What the run gets for these examples, by the matchers alone."""
    blind: ControlFigure | None = None
    evidence: ControlFigure | None = None
    near: ControlFigure | None = None
    kept: MemoryShare | None = None
    """Memory: (score - blind) / (evidence - blind). None without both controls."""
    scenarios: list[ScenarioControls]
    left_out: dict[str, str] = Field(default_factory=dict)
    """Why scenarios cannot be asked so."""
    missing: int = 0
    """Questions that are still to be asked."""

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def memory(self) -> float | None:
        """The share of what it could have that it kept; None if that is not shown."""
        return None if self.kept is None else self.kept.share

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def sentence(self) -> str:
        """What they show, in a sentence."""
        where = (
            ""
            if self.out_of == self.of
            else f"in the {self.out_of} of {self.of} scenarios that can be asked so: "
        )
        known = []
        if self.blind is not None:
            known.append(f"guessing alone {self.blind.score:.1f}")
        if self.near is not None:
            known.append(f"without filler {self.near.score:.1f}")
        if self.evidence is not None:
            known.append(f"with everything in hand {self.evidence.score:.1f}")
        said = f"{where}{self.score:.1f} of {self.out_of}; {', '.join(known)}"
        if self.kept is not None:
            said += f": {self.kept.sentence}"
        return f"{said} (incomplete: {self.missing} questions to go)" if self.missing else said


def controlled(
    controls: Mapping[str, Control],
    place: Place,
    verdict: Verdict,
    again: Callable[[Mapping[Place, Reply]], Verdict],
) -> Controlled | None:
    """Return a question's replies in the controls; None without any.

    Args:
        controls: All replies, by kind.
        place: The question.
        verdict: What the matcher says of the run's own reply.
        again: Returns the matcher's verdict if a control's replies stand in place of the run's.
    """
    found: dict[str, Any] = {}
    for kind, each in controls.items():
        if (reply := each.replies.get(place)) is not None:
            said = again(each.replies)
            found[kind] = ControlAnswer(
                reply=reply.text, outcome=said.outcome, score=said.score, reason=said.reason
            )
    return Controlled(by_matcher=verdict.score, **found) if found else None


def scores_of(example: ExampleResult, kinds: Sequence[str]) -> dict[str, float] | None:
    """Return an example's scores in its run (`score`) and in the controls; None if one of these lacks a question."""
    found: dict[str, float] = {}
    for kind in ("score", *kinds):
        asked = [_as_in(kind, question) for question in example.questions]
        known = [each for each in asked if each is not None]
        score = example_score(known) if len(known) == len(asked) else None
        if score is None:
            return None
        found[kind] = score
    return found


def _as_in(kind: str, question: Question) -> Question | None:
    """Return a question as if the run's reply were a control's; `score` stands for the run itself, by its matcher."""
    if (controls := question.controls) is None:
        return None
    if kind == "score":
        if question.outcome.infrastructure:
            return None
        said = Verdict(Outcome.WRONG, controls.by_matcher, "")
    elif (answer := getattr(controls, kind)) is None:
        return None
    else:
        said = Verdict(answer.outcome, answer.score, answer.reason)
    return question.model_copy(update={"verdict": said})


def triples_of(examples: Sequence[ExampleResult]) -> dict[str, list[Triple]]:
    """Return what examples score in the run, blind, and with the evidence, by scenario."""
    return {name: list(_triples(rows)) for name, rows in _strata(examples, ("blind", "evidence")).items()}


def _triples(rows: Sequence[Mapping[str, float]]) -> Iterator[Triple]:
    return (Triple(row["score"], row["blind"], row["evidence"]) for row in rows)


def _strata(examples: Sequence[ExampleResult], kinds: Sequence[str]) -> dict[str, list[dict[str, float]]]:
    """Return the scores of the examples that were asked in all of these ways, by scenario."""
    found: dict[str, list[dict[str, float]]] = {}
    for example in examples:
        if (scores := scores_of(example, kinds)) is not None:
            found.setdefault(example.scenario, []).append(scores)
    return found


def controls_of(
    controls: Mapping[str, Control],
    scenarios: Sequence[ScenarioResult],
    examples: Sequence[ExampleResult],
    *,
    free: bool,
) -> Controls | None:
    """Return what a run's controls show; None without any.

    Args:
        controls: All replies, by kind.
        scenarios: The run's scenarios.
        examples: Its examples, with their replies in the controls.
        free: Whether its agent costs nothing.
    """
    kinds = [kind for kind, each in controls.items() if each.replies]
    if not kinds:
        return None
    strata = _strata(examples, kinds)

    def by(kind: str) -> dict[str, list[float]]:
        return {name: [each[kind] for each in rows] for name, rows in strata.items()}

    figures = {}
    for kind in kinds:
        answers = [getattr(q.controls, kind) for e in examples for q in e.questions if q.controls is not None]
        usage = [reply.usage for reply in controls[kind].replies.values() if not free]
        prices = [None if each is None else dollars(each) for each in usage]
        known = [float(price) for price in prices if price is not None]
        figures[kind] = ControlFigure(
            score=headline(by(kind)),
            interval=sum_interval(by(kind)),
            undecided=sum(each is not None and each.outcome is Outcome.UNDECIDED for each in answers),
            dollars=sum(known) if len(known) == len(prices) else None,
        )
    triples = {
        name: list(_triples(rows)) for name, rows in strata.items() if {"blind", "evidence"} <= {*kinds}
    }
    return Controls(
        n=sum(map(len, strata.values())),
        out_of=len(strata),
        of=len(scenarios),
        score=headline(by("score")),
        **figures,
        kept=kept([triples]) if triples else None,
        scenarios=[
            _scenario(each, strata[each.name], triples.get(each.name, ()))
            for each in scenarios
            if each.name in strata
        ],
        left_out={
            name.rpartition("/")[0]: why for each in controls.values() for name, why in each.left_out.items()
        },
        missing=sum(max(0, each.questions - _asked(kind, examples)) for kind, each in controls.items()),
    )


def _asked(kind: str, examples: Sequence[ExampleResult]) -> int:
    """Return how many questions have a reply in a control."""
    known = (q.controls for e in examples for q in e.questions if q.controls is not None)
    return sum(getattr(each, kind) is not None for each in known)


def _scenario(
    scenario: ScenarioResult, rows: Sequence[Mapping[str, float]], triples: Sequence[Triple]
) -> ScenarioControls:
    means = {kind: sum(row[kind] for row in rows) / len(rows) for kind in rows[0]}
    blind = means.get("blind")
    return ScenarioControls(
        name=scenario.name,
        n=len(rows),
        **means,
        guessable=blind is not None and wilson(blind, len(rows)).low > scenario.chance,
        kept=kept([{scenario.name: triples}]) if len(triples) >= ENOUGH else None,
    )
