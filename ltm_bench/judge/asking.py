"""Asks judges: agent adapters with a rubric. They work from the log, after the conversation, and never during it.

A judge is asked only if a matcher cannot tell, and about replies whose published scorer uses a judge, with that
scorer's questions. Deliberately vague, wrong replies are judged in the same way as these: the share that a judge passes
shows how far to trust the rest.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.clock import stamp
from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.judge import rubric
from ltm_bench.judge.interview import MOST_ASKED, Brief, interviewing
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.rubric import Case, Earlier
from ltm_bench.judge.vague import sampled, vague_reply
from ltm_bench.log.events import Replied, Sent
from ltm_bench.score.audits.forms import FOR_JUDGES, form_of
from ltm_bench.score.audits.judgements import Judgement, Opinion, VagueTrial, append, reply_hash
from ltm_bench.score.results.examples import BLIND, Question
from ltm_bench.score.results.fold import Fold, TurnListener
from ltm_bench.score.results.open_examples import AskedQuestion


class Background(TurnListener):
    """The turns of a run's examples, without filler. It listens while the log is read.

    The agent's replies are kept only for questions and chats: its replies to needles are mere politeness. Of messages
    with buried needles, only the needles are kept.
    """

    def __init__(self) -> None:
        self._turns: dict[str, dict[int, Earlier]] = {}

    def turn(
        self, sent: Sent, replied: Replied | None, question: Question | None, *, forked: bool = False
    ) -> None:
        """Keep a turn of an example, if it was answered; a forked question is no part of the conversation."""
        if replied is not None and sent.example is not None and not forked:
            text = sent.message if sent.buried is None else "\n".join(needle for needle, _ in sent.buried)
            said = "" if sent.kind == "tell" else replied.reply
            self._turns.setdefault(sent.example, {})[sent.turn] = Earlier(stamp(sent.at), text, said)

    def case(self, example: str, question: Question) -> Case:
        """Return a judge's case: the question, the turns before it, and the reply or, of it, what a reader copied."""
        asked = question.turn or 0
        earlier = self._turns.get(example, {})
        read = question.reading
        alone = read.span if read is not None and read.form in FOR_JUDGES else ""
        return Case(
            question=question.text,
            expected=question.in_words or question.expected,
            reply=alone or question.reply or "",
            told=tuple(turn for number, turn in earlier.items() if number < asked),
            at="" if question.at is None else stamp(question.at),
        )


class _Judging(NamedTuple):
    """A reply, and what judges are asked about it."""

    of: AskedQuestion
    reply: str
    asked: Brief
    program: str = ""
    """The set whose published scorer asks; empty for our rubric."""

    def judgement(self, opinions: Sequence[Opinion]) -> Judgement:
        """Return the judges' opinions as they are recorded."""
        turn, reply = self.of.question.turn or 0, reply_hash(self.reply)
        return Judgement(example=self.of.example, turn=turn, reply=reply, opinions=tuple(opinions))


def by_rubric(case: Case) -> Brief:
    """Return what judges are asked about a case, by our rubric."""
    return Brief(rubric.digest(), partial(rubric.inquiry, case))


def doubtful(asked: Sequence[AskedQuestion], *, read: bool) -> list[AskedQuestion]:
    """Return the questions that judges decide, even if judged since.

    Args:
        asked: All questions.
        read: Whether a blind reader was named, now or, as the readings show, earlier: then judges decide quotations
            and free statements alone.
    """
    read = read or any(each.question.reading is not None for each in asked)
    return [
        each
        for each in asked
        if each.question.matched is Outcome.UNDECIDED and each.question.decided_by != BLIND
        if not read or (form := form_of(each.expect)) is None or form.kind in FOR_JUDGES
    ]


async def have_judged(
    fold: Fold,
    background: Background,
    judges: Sequence[Judge],
    *,
    budget: Budget,
    notify: Callable[[str], None],
    read: bool = False,
) -> None:
    """Ask judges about a folded run's replies; the fold takes their answers, and the folder keeps them.

    Args:
        fold: The run; a database beside its folder holds earlier answers.
        background: The run's turns.
        judges: The judges.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        notify: Called with a line for each event.
        read: As in `doubtful`.
    """
    published = list(filter(None, (_as_published(each, each.question.reply) for each in fold.asked)))
    apart = {(each.of.example, each.of.question.turn) for each in published}
    ours = [
        _Judging(each, each.question.reply or "", by_rubric(background.case(each.example, each.question)))
        for each in doubtful(fold.asked, read=read)
        if (each.example, each.question.turn) not in apart
    ]
    drawn = [(each.of, vague_reply(each.of.question.text, n)) for n, each in enumerate(sampled(published))]
    vague = list(filter(None, (_as_published(*each) for each in drawn)))
    if not ours and not published:
        return
    names = ", ".join(judge.name for judge in judges)
    if published:
        notify(
            f"{_replies(published)} to be judged by {names} as the program of "
            f"{' and '.join(dict.fromkeys(each.program for each in published))} does, and beside them "
            f"{len(vague)} that are vague and wrong on purpose …"
        )
    if ours:
        notify(f"{_replies(ours)} to be judged by {names} …")
    run, every = fold.files.folder, [*published, *ours, *vague]
    with interviewing(run, fold.files.calls, "judge", budget) as interview:
        opinions = await interview.opinions(judges, [each.asked for each in every])
    said = [each.judgement(of) for each, of in zip([*published, *ours], opinions, strict=False)]
    trials = [
        VagueTrial(question=each.of.question.text, reply=each.reply, opinion=opinion)
        for each, of in zip(vague, opinions[len(said) :], strict=True)
        for opinion in of
    ]
    append(run, [*trials, *said])
    fold.hear(said, trials)
    if failed := sum(opinion.outcome is Outcome.JUDGE_ERROR for each in said for opinion in each.opinions):
        most = f"for each {MOST_ASKED} times at most"
        notify(f"{failed} answers of judges were missing or unreadable; rescore asks for them again, {most}")


def _replies(of: Sequence[object]) -> str:
    return "1 reply" if len(of) == 1 else f"{len(of)} replies"


def _as_published(each: AskedQuestion, reply: str | None) -> _Judging | None:
    """Return what the published scorer asks a judge about a reply to a question; None if it asks nothing."""
    expect, text = each.expect, each.question.text
    if not isinstance(expect, SetMatcher) or reply is None or expect.inquiry(text, reply) is None:
        return None
    by = hashlib.sha256(f"{type(expect).__name__}@{expect.version}".encode()).hexdigest()[:16]
    return _Judging(each, reply, Brief(by, partial(expect.inquiry, text, reply)), expect.dataset)
