"""What a run's controls show: guessing alone, everything in hand, and how much of what lies between is memory. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel, Field, computed_field

from ltm_bench.core.messages import Outcome, Turn, Verdict
from ltm_bench.log.controls import KINDS, AskedAgain
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
from ltm_bench.score.statistics.figures import Figure, Row, figure, figures
from ltm_bench.score.statistics.intervals import wilson
from ltm_bench.score.statistics.memory import MemoryShare, kept_by

ENOUGH = 20
"""Minimum number of a scenario's examples for a memory of its own."""

_SAID = {"blind": "guessing alone", "near": "without filler", "evidence": "with everything in hand"}
"""How the controls are called in a sentence, in its order."""

_OWN = "score"
"""Stands for the run itself."""

_GUESSED = "guessed"
"""Stands for blind without the replies that say that they do not know."""


class InControl(Figure, frozen=True):
    """The score in a control, in points of the examples that it shares with the others."""

    WRITTEN = "score=mean interval undecided dollars"
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
    blind: InControl | None = None
    evidence: InControl | None = None
    near: InControl | None = None
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
        known = [f"{how} {each.mean:.1f}" for kind, how in _SAID.items() if (each := self.figure(kind))]
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

    def figure(self, kind: str) -> InControl | None:
        """Return the score in a control; None if it was not asked."""
        found: InControl | None = getattr(self, kind)
        return found


def controlled(
    asked: Mapping[str, AskedAgain],
    place: Place,
    verdict: Verdict,
    again: Callable[[Mapping[Place, Turn]], Verdict],
) -> Controlled | None:
    """Return a question's replies in the controls; None without any.

    Args:
        asked: All replies to questions that were asked again, by kind.
        place: The question.
        verdict: What the matcher says of the run's own reply.
        again: Returns the matcher's verdict if a control's replies stand in place of the run's.
    """
    found: dict[str, Any] = {}
    controls = {kind: asked[kind] for kind in KINDS if kind in asked}
    for kind, each in controls.items():
        if (turn := each.turns.get(place)) is not None:
            found[kind] = ControlAnswer.of(turn.reply, again(each.turns))
    apart = any(f"{place[0]}#{place[1]}" in each.scope.left_out for each in controls.values())
    return Controlled(by_matcher=verdict.score, left_out=apart, **found) if found or apart else None


def _rows(run: int, examples: Sequence[ExampleResult], kinds: Sequence[str]) -> Iterator[Row]:
    """Yield the scores of a run's examples, in itself and in its controls, if none of these lacks a question."""
    hows = (_OWN, *kinds, *([_GUESSED] if "blind" in kinds else []))
    for example in examples:
        questions = [
            each for each in example.questions if each.controls is None or not each.controls.left_out
        ]
        scores = {how: example_score(questions, partial(_score_in, how)) for how in hows}
        known = {how: score for how, score in scores.items() if score is not None}
        if len(known) == len(hows):
            yield from (Row(score, example.scenario, run, example.id, how) for how, score in known.items())


def _score_in(kind: str, question: Question) -> float | None:
    """Return the score of a reply in a control; the run's own is by its matcher."""
    if (controls := question.controls) is None:
        return None
    if kind == _OWN:
        return None if question.outcome.infrastructure else controls.by_matcher
    answer: ControlAnswer | None = getattr(controls, "blind" if kind == _GUESSED else kind)
    if answer is None or answer.outcome.infrastructure:
        return None
    return 0.0 if kind == _GUESSED and abstains(answer.reply) else answer.score


def controls_of(
    asked: Mapping[str, AskedAgain],
    scenarios: Sequence[ScenarioResult],
    examples: Sequence[ExampleResult],
    *,
    free: bool,
) -> Controls | None:
    """Return what a run's controls show; None without any.

    Args:
        asked: All replies to questions that were asked again, by kind.
        scenarios: The run's scenarios.
        examples: Its examples, with their replies in the controls.
        free: Whether its agent costs nothing.
    """
    controls = {kind: asked[kind] for kind in KINDS if kind in asked}
    return _put_together(
        [examples],
        scenarios,
        {kind: dollars_of(each.calls, free=free) for kind, each in controls.items() if each.turns},
        {kind: _left_out(kind, each.scope.left_out, examples) for kind, each in controls.items()},
        sum(each.to_go for each in controls.values()),
    )


def _left_out(kind: str, of: Mapping[str, str], examples: Sequence[ExampleResult]) -> dict[str, str]:
    """Return why a control leaves scenarios out, or some questions of those that it asks otherwise."""
    asked = {each.scenario for each in examples if _answers(kind, [each])}
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
    prices = {kind: [figure.dollars for each, _ in known if (figure := each.figure(kind))] for kind in kinds}
    return _put_together(
        [examples for _, examples in known],
        scenarios,
        {kind: None if None in each else sum(filter(None, each)) for kind, each in prices.items()},
        {
            kind: {name: why for each, _ in known for name, why in each.left_out.get(kind, {}).items()}
            for kind in KINDS
        },
        sum(each.missing for each, _ in known),
    )


def _put_together(
    runs: Sequence[Sequence[ExampleResult]],
    scenarios: Sequence[ScenarioResult],
    dollars: Mapping[str, float | None],
    left_out: Mapping[str, dict[str, str]],
    missing: int,
) -> Controls | None:
    """Return the figures of one or more runs; None without any.

    Args:
        runs: The examples of every run.
        scenarios: All scenarios.
        dollars: What all replies in a control cost, by kind.
        left_out: Why scenarios cannot be asked so, by kind.
        missing: Number of questions that are still to be asked.
    """
    if not runs or not dollars:
        return None
    rows = [row for run, examples in enumerate(runs) for row in _rows(run, examples, [*dollars])]
    both = {"blind", "evidence"} <= dollars.keys()

    def points(how: str) -> Figure:
        return figure([row for row in rows if row.how == how], points=True)

    return Controls(
        n=points(_OWN).n,
        out_of=len({row.scenario for row in rows}),
        of=len(scenarios),
        score=points(_OWN).mean,
        **{
            kind: InControl(
                mean=points(kind).mean,
                interval=points(kind).interval,
                undecided=sum(each.outcome is Outcome.UNDECIDED for each in _answers(kind, *runs)),
                dollars=cost,
            )
            for kind, cost in dollars.items()
        },
        kept=kept_by(rows, "blind", "evidence", _OWN) if both else None,
        scenarios=[
            _scenario(each, own, both=both)
            for each in scenarios
            if (own := [row for row in rows if row.scenario == each.name])
        ],
        left_out=dict(left_out),
        missing=missing,
    )


def _answers(kind: str, *runs: Sequence[ExampleResult]) -> list[ControlAnswer]:
    """Return all replies in a control."""
    known = (q.controls for examples in runs for e in examples for q in e.questions if q.controls)
    return [answer for each in known if (answer := getattr(each, kind)) is not None]


def _scenario(scenario: ScenarioResult, rows: Sequence[Row], *, both: bool) -> ScenarioControls:
    means = {each.name: each for each in figures(rows, lambda row: [row.how])}
    guessed, n = means.pop(_GUESSED, None), means[_OWN].n
    return ScenarioControls(
        name=scenario.name,
        n=n,
        **{kind: each.mean for kind, each in means.items()},
        guessable=guessed is not None and wilson(guessed.mean, n).low > scenario.chance,
        kept=kept_by(rows, "blind", "evidence", _OWN) if both and n >= ENOUGH else None,
    )
