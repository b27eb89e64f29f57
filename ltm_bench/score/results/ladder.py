"""What a run's ladder shows: where the answers to missed questions were lost. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel, Field, computed_field

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.log.controls import RUNGS, AskedAgain
from ltm_bench.matchers.reading import mentions, read
from ltm_bench.matchers.reading.doubting import DoubtingMatcher
from ltm_bench.score.audits.judgements import Place
from ltm_bench.score.results.accounts import dollars_of
from ltm_bench.score.results.examples import Climbed, ControlAnswer, ExampleResult, Question
from ltm_bench.score.results.retrieval import Retrieval
from ltm_bench.score.statistics.figures import Figure, Row, figure, paired
from ltm_bench.score.statistics.intervals import Interval, wilson

LOSSES: Mapping[str, str] = {
    "again": "right when asked again",
    "cued": "stored and not found without a cue",
    "recognised": "stored and recognised",
    "retold": "not stored",
    "memory": "not stored or not found",
    "none": "missed even when told again",
    "unknown": "left in doubt",
}
"""Where an answer was lost, by the first rung that succeeds."""

_LOST = ({"retold", "memory"}, {"cued", "recognised", "memory"}, {"none"})
_HOOKS = dict(zip(Retrieval.PLACES, _LOST, strict=True))
"""The losses that the agent's own hooks call by these names."""


class OnRung(Figure, frozen=True):
    """What asking missed questions so brings: the share that is right, corrected for guessing in a choice."""

    WRITTEN = "name asked=n right share=mean interval above choices"
    interval: Interval
    right: int
    above: bool = False
    """Whether it is shown to bring more than asking again, by the paired score test."""
    choices: float | None = None
    """The mean number of answers offered; None without a choice."""


class Losses(BaseModel, frozen=True):
    """Where a scenario's answers were lost."""

    name: str
    missed: int
    lost: dict[str, float]
    """Missed questions by loss, corrected for guessing, so not always whole."""


class HookAgreement(BaseModel, frozen=True):
    """How often ladder and hooks find the same loss."""

    n: int
    """Missed questions that both can place, but for those that were right when asked again."""
    same: int
    interval: Interval


class LadderResult(BaseModel, frozen=True):
    """What a run's ladder shows."""

    missed: int
    """Missed questions that were asked again."""
    to_go: int
    """Replies that it still lacks."""
    after: bool
    """Whether 0.4.0 asked them after the run, of an agent that cannot fork; not comparable with other runs then."""
    rungs: list[OnRung]
    lost: dict[str, float]
    """Missed questions by loss, corrected for guessing, so not always whole."""
    scenarios: list[Losses]
    left_out: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Why missed questions have no such rung, by rung and scenario, and how many, unless it is all of the scenario's.

    Without `again` they have none.
    """
    agreement: HookAgreement | None = None
    """None if the agent has no hooks, or nothing was missed."""
    dollars: float | None
    """What all of it cost; None if a price is unknown."""

    @property
    def unasked(self) -> Iterator[str]:
        """What was not asked again, or not so: a line a rung, each reason once with its scenarios."""
        for rung, why in self.left_out.items():
            names = defaultdict[str, list[str]](list)
            for name, reason in sorted(why.items()):
                names[reason].append(name)
            of = "; ".join(f"{', '.join(each)} ({reason})" for reason, each in names.items())
            yield f"{'left out of the ladder' if rung == 'again' else f'not {rung}'}: {of}"

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def sentence(self) -> str:
        """What it shows, in a sentence."""
        shown = {"again", "none", "unknown", *(each.name for each in self.rungs if each.above)}
        shown |= {"memory"} if "retold" in shown else set()
        # While rungs are still to be asked, a loss without a place may yet find one.
        words = {**LOSSES, "unknown": "not placed yet"} if self.to_go else LOSSES
        parts = [
            f"{number} {words[loss]}{'' if loss in shown else ' (perhaps by chance)'}"
            for loss, share in self.lost.items()
            if (number := round(share))
        ]
        if not parts:
            none = "nothing that could be asked again was missed"
            said = "no missed question has all its replies" if self.to_go else none
        else:
            verb = "was" if parts[0].startswith("1 ") else "were"
            said = f"of {self.missed} missed, {', '.join(parts).replace(' ', f' {verb} ', 1)}"
        said = f"asked after the run, {said}" if self.after else said
        return f"{said} (incomplete: {self.to_go} replies to go)" if self.to_go else said


def climbed(
    asked: Mapping[str, AskedAgain],
    place: Place,
    expect: Matcher,
    turns: Sequence[Turn],
    again: Callable[[Turn], Verdict],
) -> Climbed | None:
    """Return a question's replies on the ladder; None without any.

    Args:
        asked: All replies to questions that were asked again, by kind.
        place: The question.
        expect: Its matcher.
        turns: The example's turns up to and including it.
        again: Returns the matcher's verdict on a turn in place of the question's own.
    """
    ladder = {rung: asked[rung] for rung in RUNGS if rung in asked}
    rungs = {rung: each.turns[place] for rung, each in ladder.items() if place in each.turns}
    if not rungs:
        return None
    found: dict[str, Any] = {rung: ControlAnswer.of(turn.reply, again(turn)) for rung, turn in rungs.items()}
    name = f"{place[0].replace('/', '-')}-{place[1]}"
    choices = ladder["recognised"].scope.choices.get(name) if "recognised" in ladder else None
    return Climbed(choices=choices, needed=tuple(_needed(expect, turns)), **found)


def _needed(expect: Matcher, turns: Sequence[Turn]) -> Iterator[int]:
    """Yield the turns of the needles that name the answer, if the matcher can tell."""
    if isinstance(expect, DoubtingMatcher) and (sought := {*expect.sought()}):
        for turn in turns:
            named = {m.value for m in mentions(read(turn.message.text), expect.candidates())}
            if turn.kind == "tell" and sought & named:
                yield turn.message.turn


def ladder_result(
    again: Mapping[str, AskedAgain], examples: Sequence[ExampleResult], *, free: bool
) -> LadderResult | None:
    """Return what a run's ladder shows; None without one.

    Args:
        again: All replies to questions that were asked again, by kind.
        examples: The run's examples, with their replies on it.
        free: Whether the agent costs nothing.
    """
    ladder = {rung: again[rung] for rung in RUNGS if rung in again}
    if not ladder:
        return None
    asked = {
        name: [q for e in examples if e.scenario == name for q in e.questions if q.ladder is not None]
        for name in dict.fromkeys(example.scenario for example in examples)
    }
    every = [question for of in asked.values() for question in of]
    return LadderResult(
        missed=max(each.scope.questions for each in ladder.values()),
        to_go=sum(each.to_go for each in ladder.values())
        or any(each.scope.unfinished for each in ladder.values()),
        after=any(each.scope.after for each in ladder.values()),
        rungs=list(_figures([q.ladder for q in every if q.ladder is not None])),
        lost=_lost(every),
        scenarios=[Losses(name=name, missed=len(of), lost=_lost(of)) for name, of in asked.items() if of],
        left_out=_left_out(ladder),
        agreement=_agreement(every),
        dollars=dollars_of([call for each in ladder.values() for call in each.calls], free=free),
    )


def _left_out(ladder: Mapping[str, AskedAgain]) -> dict[str, dict[str, str]]:
    """Return why a rung was left out, by rung and scenario; of how many missed questions, unless it is all of them."""
    left = {rung: each.scope.left_out for rung, each in ladder.items() if each.scope.left_out}
    replied = {f"{name}#{turn}" for each in ladder.values() for name, turn in each.turns}
    missed = Counter(place.rpartition("/")[0] for place in {*replied, *left.get("again", ())})
    found: dict[str, dict[str, str]] = {rung: {} for rung in left}
    for rung, of in left.items():
        own = found[rung]
        for (name, why), n in Counter((place.rpartition("/")[0], why) for place, why in of.items()).items():
            said = why if n >= missed[name] else f"{n} of {missed[name]}: {why}"
            own[name] = f"{own[name]}; {said}" if name in own else said
    return found


def _figures(climbs: Sequence[Climbed]) -> Iterator[OnRung]:
    """Yield what each rung brings, from the lowest."""
    rows = [
        Row(_score(each, rung), asked=place, how=rung)
        for place, each in enumerate(climbs)
        for rung in RUNGS
        if getattr(each, rung) is not None
    ]
    again = [row for row in rows if row.how == "again"]
    for rung in RUNGS:
        asked = [row for row in rows if row.how == rung]
        if not asked:
            continue
        offered = [
            each.choices for each in climbs if rung == "recognised" and each.recognised and each.choices
        ]
        luck = 1 / (min(offered) - 1) if offered else 0.0  # scores lie between -luck and 1
        moved = [row._replace(score=(row.score + luck) / (1 + luck)) for row in asked]
        found = figure(moved).interval or wilson(moved[0].score, 1)
        shown = paired(asked, again, lambda row: row.asked).interval
        yield OnRung(
            name=rung,
            n=len(asked),
            right=sum(row.score == 1 for row in asked),
            mean=max(0.0, sum(row.score for row in asked) / len(asked)),
            interval=found.mapped(partial(_share, luck)),
            above=shown is not None and shown.low > 0,
            choices=sum(offered) / len(offered) if offered else None,
        )


def _share(luck: float, moved: float) -> float:
    """Return a share whose scores were moved to 0..1; less than nothing is nothing."""
    return max(0.0, moved * (1 + luck) - luck)


def _score(climb: Climbed, rung: str) -> float:
    """Return 1 for a right reply, 0 for any other; corrected for guessing, less than 0 for a wrong choice."""
    answer = getattr(climb, rung)
    if answer.score == 1:
        return 1.0
    return -_guess(answer, climb.choices) if rung == "recognised" and climb.choices else 0.0


def _guess(answer: ControlAnswer, choices: int) -> float:
    """Return how many right guesses stand beside a wrong one; an answer that gives none has not guessed."""
    missed = (Outcome.WRONG, Outcome.STALE, Outcome.OVERDONE, Outcome.PARTIAL)
    return 1 / (choices - 1) if answer.outcome in missed else 0.0


def _lost(questions: Sequence[Question]) -> dict[str, float]:
    """Count where answers were lost. For each wrong choice, a share of the right ones counts as guessed."""
    found = dict.fromkeys(LOSSES, 0.0)
    for question in questions:
        if question.ladder is None:
            continue
        loss, answer, choices = question.ladder.lost, question.ladder.recognised, question.ladder.choices
        found[loss] += 1
        if loss in ("retold", "none") and answer is not None and choices:
            guessed = min(_guess(answer, choices), found["recognised"])
            found["recognised"] -= guessed
            found[loss] += guessed
    return {loss: number for loss, number in found.items() if number}


def _agreement(questions: Sequence[Question]) -> HookAgreement | None:
    """Return how often the agent's hooks find the same loss as the ladder; None without both."""
    both = [
        question.ladder.lost in _HOOKS[place]
        for question in questions
        if question.ladder is not None and question.ladder.lost not in ("again", "unknown")
        if question.retrieval is not None and (place := _by_hooks(question.retrieval, question.ladder.needed))
    ]
    if not both:
        return None
    same = sum(both)
    return HookAgreement(n=len(both), same=same, interval=wilson(same / len(both), len(both)))


def _by_hooks(found: Retrieval, needed: Sequence[int]) -> str | None:
    """Return where retrieval lost an answer, by the needles that name it; by all of them, if none is known to."""
    traces = [trace for trace in found.traces if trace.turn in needed]
    stored = sum(trace.stored is True for trace in traces)
    retrieved = sum(trace.retrieved for trace in traces)
    if found.stored is None or not traces:
        return found.lost
    return found.model_copy(update={"needles": len(traces), "stored": stored, "retrieved": retrieved}).lost
