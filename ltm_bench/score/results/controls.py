"""What a run's controls show: guessing alone, everything in hand, and how much of what lies between is memory. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field, computed_field

from ltm_bench.core.messages import Outcome, Reply, Verdict
from ltm_bench.log.controls import KINDS, Control
from ltm_bench.matchers.reading import abstains
from ltm_bench.score.audits.judgements import Place
from ltm_bench.score.results.accounts import dollars_of
from ltm_bench.score.results.examples import (
    ControlAnswer,
    Controlled,
    ExampleResult,
    Question,
    ScenarioResult,
)
from ltm_bench.score.results.headline import example_score
from ltm_bench.score.statistics.intervals import Interval, Pool, clustered_sum_interval, wilson
from ltm_bench.score.statistics.memory import MemoryShare, Triple, kept

ENOUGH = 20
"""Minimum number of a scenario's examples for a memory of its own."""

_GUESSED = "guessed"
"""Stands for blind without the replies that say that they do not know."""


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
    """Whether blind is above declared chance: the scenario can be guessed, or the model has read it.

    To say that one does not know is no guess, even where it is right.
    """
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
    left_out: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Why scenarios, or some questions of them, cannot be asked so, by control."""
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
        which = "have been asked so far" if self.missing else "can be asked so"
        where = (
            "" if self.out_of == self.of else f"in the {self.out_of} of {self.of} scenarios that {which}: "
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

    @property
    def remarks(self) -> list[str]:
        """What else a reader must know, each in a sentence."""
        found = []
        if guessable := [each.name for each in self.scenarios if each.guessable]:
            found.append(
                "above chance without any memory, by guessing or because the model has read them: "
                + ", ".join(guessable)
            )
        doubtful = {kind: each.undecided for kind in KINDS if (each := self.figure(kind)) and each.undecided}
        if doubtful:
            counts = ", ".join(f"{kind} {number}" for kind, number in doubtful.items())
            found.append(f"undecided in the controls: {counts}; text alone cannot tell, so they count 0")
        names: dict[tuple[str, str], list[str]] = {}
        for name in sorted({name for of in self.left_out.values() for name in of}):
            kinds = [kind for kind, of in self.left_out.items() if name in of]
            where = ", ".join(kinds) + ", and so of all these figures" * any(map(self.figure, kinds))
            names.setdefault((where, self.left_out[kinds[0]][name]), []).append(name)
        return found + [f"left out of {where}: {', '.join(of)} ({why})" for (where, why), of in names.items()]

    def figure(self, kind: str) -> ControlFigure | None:
        """Return the score in a control; None if it was not asked."""
        found: ControlFigure | None = getattr(self, kind)
        return found


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
    apart = any(f"{place[0]}#{place[1]}" in each.left_out for each in controls.values())
    return Controlled(by_matcher=verdict.score, left_out=apart, **found) if found or apart else None


def scores_of(example: ExampleResult, kinds: Sequence[str]) -> dict[str, float] | None:
    """Return an example's scores in its run (`score`) and in the controls; None if one of these lacks a question."""
    found: dict[str, float] = {}
    questions = [each for each in example.questions if each.controls is None or not each.controls.left_out]
    for kind in ("score", *kinds):
        asked = [_as_in(kind, question) for question in questions]
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
    elif (answer := getattr(controls, "blind" if kind == _GUESSED else kind)) is None:
        return None
    else:
        score = 0.0 if kind == _GUESSED and abstains(answer.reply) else answer.score
        said = Verdict(answer.outcome, score, answer.reason)
    return replace(question, verdict=said)


def _strata(examples: Sequence[ExampleResult], kinds: Sequence[str]) -> dict[str, list[dict[str, float]]]:
    """Return the scores of the examples that were asked in all of these ways, by scenario."""
    found: dict[str, list[dict[str, float]]] = {}
    kinds = [*kinds, _GUESSED] if "blind" in kinds else kinds
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
    spent = {}
    for kind in kinds:
        answers = [getattr(q.controls, kind) for e in examples for q in e.questions if q.controls is not None]
        undecided = sum(each is not None and each.outcome is Outcome.UNDECIDED for each in answers)
        spent[kind] = (undecided, dollars_of(controls[kind].calls, free=free))
    left_out = {kind: _left_out(kind, each.left_out, examples) for kind, each in controls.items()}
    missing = sum(max(0, each.questions - _asked(kind, examples)) for kind, each in controls.items())
    return _put_together([_strata(examples, kinds)], scenarios, spent, left_out, missing)


def _left_out(kind: str, of: Mapping[str, str], examples: Sequence[ExampleResult]) -> dict[str, str]:
    """Return why a control leaves scenarios out, or some questions of those that it asks otherwise."""
    asked = {each.scenario for each in examples if _asked(kind, [each])}
    found = dict[str, str]()
    for name, why in sorted(of.items()):
        example, _, turn = name.partition("#")
        scenario = example.rpartition("/")[0]
        found[f"some questions of {scenario}" if turn or scenario in asked else scenario] = why
    return found


def pooled_controls(
    runs: Sequence[tuple[Controls | None, Sequence[ExampleResult]]], scenarios: Sequence[ScenarioResult]
) -> Controls | None:
    """Return what the controls of several runs of one agent show together; None if none of them has any.

    Args:
        runs: The controls and the examples of every run.
        scenarios: The scenarios of all runs.
    """
    known = [(each, examples) for each, examples in runs if each is not None]
    kinds = [kind for kind in KINDS if all(each.figure(kind) is not None for each, _ in known)]
    if not known or not kinds:
        return None
    spent = {}
    for kind in kinds:
        figures = [figure for each, _ in known if (figure := each.figure(kind)) is not None]
        prices = [each.dollars for each in figures if each.dollars is not None]
        total = sum(prices) if len(prices) == len(figures) else None
        spent[kind] = (sum(each.undecided for each in figures), total)
    return _put_together(
        [_strata(examples, kinds) for _, examples in known],
        scenarios,
        spent,
        {
            kind: {name: why for each, _ in known for name, why in each.left_out.get(kind, {}).items()}
            for kind in KINDS
        },
        sum(each.missing for each, _ in known),
    )


def _put_together(
    clusters: Sequence[Mapping[str, Sequence[Mapping[str, float]]]],
    scenarios: Sequence[ScenarioResult],
    spent: Mapping[str, tuple[int, float | None]],
    left_out: Mapping[str, dict[str, str]],
    missing: int,
) -> Controls:
    """Return the figures of one or more runs.

    Args:
        clusters: For every run, the scores of its examples by scenario.
        scenarios: All scenarios.
        spent: By kind of control, how many replies are undecided, and what all of them cost.
        left_out: Why scenarios cannot be asked so, by kind.
        missing: Number of questions that are still to be asked.
    """

    def by(kind: str) -> list[dict[str, list[float]]]:
        return [{name: [row[kind] for row in rows] for name, rows in each.items()} for each in clusters]

    triples = [
        {
            name: [Triple(row["score"], row["blind"], row["evidence"]) for row in rows]
            for name, rows in each.items()
        }
        for each in clusters
        if {"blind", "evidence"} <= spent.keys()
    ]
    rows: dict[str, list[Mapping[str, float]]] = {}
    for each in clusters:
        for name, of in each.items():
            rows.setdefault(name, []).extend(of)
    return Controls(
        n=sum(map(len, rows.values())),
        out_of=len(rows),
        of=len(scenarios),
        score=Pool(by("score")).total,
        **{
            kind: ControlFigure(
                score=Pool(by(kind)).total,
                interval=clustered_sum_interval(by(kind)),
                undecided=undecided,
                dollars=cost,
            )
            for kind, (undecided, cost) in spent.items()
        },
        kept=kept(triples) if triples else None,
        scenarios=[
            _scenario(
                each, rows[each.name], [{each.name: of[each.name]} for of in triples if each.name in of]
            )
            for each in scenarios
            if each.name in rows
        ],
        left_out=dict(left_out),
        missing=missing,
    )


def _asked(kind: str, examples: Sequence[ExampleResult]) -> int:
    """Return how many questions have a reply in a control."""
    known = (q.controls for e in examples for q in e.questions if q.controls is not None)
    return sum(getattr(each, kind) is not None for each in known)


def _scenario(
    scenario: ScenarioResult,
    rows: Sequence[Mapping[str, float]],
    triples: Sequence[Mapping[str, Sequence[Triple]]],
) -> ScenarioControls:
    means = {kind: sum(row[kind] for row in rows) / len(rows) for kind in rows[0]}
    guessed = means.pop(_GUESSED, 0.0)
    return ScenarioControls(
        name=scenario.name,
        n=len(rows),
        **means,
        guessable=wilson(guessed, len(rows)).low > scenario.chance,
        kept=kept(triples) if triples and len(rows) >= ENOUGH else None,
    )
