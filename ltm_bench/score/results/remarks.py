"""What a reader must know before believing a run's figures, and who judged it."""

from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Any

from pydantic import BaseModel

from ltm_bench.core.messages import Outcome
from ltm_bench.core.seeds import is_training
from ltm_bench.log.environment import ended_by
from ltm_bench.log.manifest import Manifest
from ltm_bench.score.audits.auditing import Confident
from ltm_bench.score.audits.judgements import VagueTrial
from ltm_bench.score.results.examples import BLIND, JUDGE, ExampleResult, Question


class JudgeNote(BaseModel, frozen=True):
    """A judge of a run, and how far to trust it."""

    name: str
    model: str | None
    key: str
    replies: int
    """How many replies it judged."""
    unreadable: int
    sensitivity: float | None = None
    """None if it was never checked."""
    specificity: float | None = None
    believed: bool = False
    """Whether it passed calibration."""
    vague: int = 0
    """Number of deliberately vague and wrong replies that it was shown."""
    false_accepts: float | None = None
    """Its mean score for those, from 0 to 1; None without any."""
    published: bool = False
    """Whether it used the prompts of a set's published program instead of the rubric that `judge check` calibrates."""


_FLAWS = {
    "silent": "empty or only thought; a chat adapter asks once more, and then such a reply counts",
    "cut": "cut off at the greatest length; if answers are lost, a chat adapter takes a larger max_output",
}


def remarks(
    manifest: Manifest,
    examples: Sequence[ExampleResult],
    *,
    missed: int,
    flaws: Mapping[str, int],
    untold: Sequence[int],
    environment: Mapping[str, Any],
    unasked: Sequence[str] = (),
) -> list[str]:
    """Return remarks on the agent's window, what it never heard, unvalidated tasks, and unanswerable questions.

    Args:
        manifest: The run's manifest.
        examples: All examples.
        missed: Tokens of the conversation that never reached the agent.
        flaws: How many replies of the agent are `silent` or `cut`.
        untold: The turns from which the run continued with an agent that could not be restored.
        environment: Where it ran: what was said of the agent's window and its model, and by which version it was ended.
        unasked: The controls and the ladder that were asked for, and have not begun.
    """
    outlook, ended = environment.get("outlook"), ended_by(environment)
    found = [outlook] if outlook and isinstance(outlook, str) else []
    if ended not in (None, manifest.version):
        found.append(
            f"ltm-bench {manifest.version} began the run, and {ended} ended it: what was told and asked is as in "
            f"{manifest.version}, the last replies are those of the newer adapter"
        )
    if unasked:
        found.append(f"asked for and not done yet: {', '.join(unasked)}; `ltm-bench resume` does it")
    if is_training(manifest.seed):
        found.append(
            f"{manifest.seed} is a training seed: an agent may have been trained on this very conversation, so the "
            "score says nothing about others, and no leaderboard takes it"
        )
    found += _not_said(manifest, examples)
    if missed:
        found.append("filler never reached the agent, which made remembering easier for it than for others")
    found += [
        f"{flaws[each]} of the agent's replies {'was' if flaws[each] == 1 else 'were'} {how}"
        for each, how in _FLAWS.items()
        if flaws[each]
    ]
    if untold:
        turns = f"turn{'s' * (len(untold) > 1)} {', '.join(map(str, untold[:4]))}{', …' * (len(untold) > 4)}"
        found.append(
            f"the run was resumed at {turns}, where the agent could not be told what had been said before: from "
            "then on, it had only what it had kept itself"
        )
    if manifest.agent.settings.get("prompt") == "maker":
        found.append(
            "the model was told how to answer as the memory's maker tells it (prompt=maker); by default, all memories "
            "have the same instructions"
        )
    if manifest.acknowledge == "live" and any(
        {"set", "data"} <= e.parameters.keys() for e in manifest.suite.scenarios
    ):
        found.append(
            "the agent was asked, and answered, every part of the record, because it would not remember what it only "
            "observes; other agents observe the parts"
        )
    unseen = max((_whole(e.parameters.get("unvalidated")) for e in manifest.suite.scenarios), default=0)
    if unseen:
        found.append(
            f"{unseen} of the tasks have not been validated by a person (ltm-bench datasets swim validate): "
            "their questions or answers may be wrong"
        )
    cut = sum(bool(e.needles) and all(needle.cut for needle in e.needles) for e in examples)
    if cut:
        found.append(
            f"in {cut} of {len(examples)} examples the message was cut, and the answer was lost with it"
        )
    late = [e.overrun for e in examples if e.overrun > 0]
    if len(late) > len(examples) / 2:
        found.append(
            f"{len(late)} of {len(examples)} examples overran, half of them by {median(late):,.0f} tokens or more: "
            f"the needles were further back than the span of {manifest.span:,} tokens; choose a larger span, or "
            "fewer scenarios or examples"
        )
    return found


def _not_said(manifest: Manifest, examples: Sequence[ExampleResult]) -> list[str]:
    """Return remarks on what the suite would have and this run has not: rows, and the length of the span."""
    left_out = [f"{row} was left out: {why}" for row, why in (manifest.suite.left_out or {}).items()]
    spans = [each.span for each in examples if each.reached]
    return left_out + (manifest.unfilled(max(spans)) if spans else [])


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def judges(examples: Sequence[ExampleResult], vague: Sequence[VagueTrial]) -> list[JudgeNote]:
    """Return who judged how many replies; the caller adds whether they passed calibration.

    Args:
        examples: All examples.
        vague: The judges' opinions on deliberately vague, wrong replies.
    """
    passed: dict[str, list[float]] = {}
    for trial in vague:
        if trial.opinion.outcome is not Outcome.JUDGE_ERROR:
            passed.setdefault(trial.opinion.key, []).append(trial.passed)
    said = [opinion for e in examples for q in e.questions for opinion in q.opinions]
    return [
        JudgeNote(
            name=name,
            key=key,
            model=next((o.model for o in said if (o.judge, o.key) == (name, key) and o.model), None),
            replies=sum((o.judge, o.key) == (name, key) for o in said),
            unreadable=sum(
                (o.judge, o.key) == (name, key) and o.outcome is Outcome.JUDGE_ERROR for o in said
            ),
            vague=len(passed.get(key, ())),
            false_accepts=mean(passed[key]) if key in passed else None,
            published=key in passed or any(o.scores for o in said if o.key == key),
        )
        for name, key in dict.fromkeys((o.judge, o.key) for o in said)
    ]


_UNREAD = (Outcome.UNDECIDED, Outcome.OVERFLOW)
"""Outcomes, besides those of the infrastructure, that no matcher decides."""


def confident(examples: Sequence[ExampleResult]) -> list[Confident]:
    """Return the verdicts that somebody was sure of, but for those by hand, for audits."""
    found = [
        Confident(
            example=example.id,
            turn=question.turn or 0,
            question=question.text,
            expected=question.expected,
            reply=question.reply,
            outcome=_outcome(question),
            reason=question.reason if question.override is None else "",
            by=question.overruled or question.decided_by,
            judges=tuple(opinion.judge for opinion in question.opinions),
        )
        for example in examples
        for question in example.questions
        if question.reply is not None
    ]
    return [each for each in found if not each.outcome.infrastructure and each.outcome not in _UNREAD]


def _outcome(question: Question) -> Outcome:
    """Return the outcome before a person overruled it."""
    if (question.overruled or question.decided_by) in (BLIND, JUDGE):
        return question.outcome if question.override is None else question.override.was
    return question.matched or question.outcome
