"""Asks judges: agent adapters with a rubric. They work from the log, after the conversation, and never during it.

A judge is asked only if a matcher cannot tell, and about replies whose published scorer uses a judge, with that
scorer's questions. Answers are stored, keyed by everything in the question, so re-scoring a run costs nothing.

Replies are also judged as the published scorers of public sets do, with their prompts to a judge.

Deliberately vague, wrong replies are judged in the same way: the share that a judge passes shows how far to trust the
rest.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.judging import conduct
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.judge import rubric
from ltm_bench.judge.background import Background
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import FILE, OpinionStore, opinion_of
from ltm_bench.judge.rubric import Case
from ltm_bench.judge.saying import JudgeAnswer, for_each, say
from ltm_bench.judge.vague import sampled, vague_reply
from ltm_bench.score.audits.forms import FOR_JUDGES, form_of
from ltm_bench.score.audits.judgements import FIGURES, Judgement, Opinion, VagueTrial, append, reply_hash
from ltm_bench.score.results.examples import BLIND
from ltm_bench.score.results.fold import Fold
from ltm_bench.score.results.open_examples import AskedQuestion


async def ask(judge: Judge, case: Case, budget: Budget) -> Opinion:
    """Ask one judge about one case. Any failure becomes a `judge_error`, except BudgetReached, which is raised."""
    text = rubric.prompt(case)
    said = await say(judge, text, budget)
    failure = (
        f"failed: {said.text}"[:500] if said.failed else f"unreadable answer: {said.text.strip()[:120]!r}"
    )
    outcome, reason = (None if said.failed else rubric.read(said.text)) or (Outcome.JUDGE_ERROR, failure)
    return opinion_of(judge, rubric.digest(), text, said, outcome, reason)


async def ask_all(
    judges: Sequence[Judge],
    cases: Sequence[Case],
    memory: OpinionStore,
    budget: Budget,
    on_done: Callable[[], None] = lambda: None,
    *,
    time: int = 1,
) -> list[list[Opinion]]:
    """Ask every judge about every case, several at a time; return the opinions case by case.

    Args:
        judges: The judges.
        cases: The cases to ask about.
        memory: Opinions so far; cases in it are not asked again, and new opinions are stored there at once.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        on_done: Called after each opinion.
        time: The number of the repetition: a repeated question counts as separate.
    """

    async def one(case: Case, judge: Judge) -> Opinion:
        known, key = memory.opinion(judge, case, time), memory.key_of(judge, case, time)
        if known is None:
            known = await ask(judge, case, budget)
            memory.keep(judge, case, known, time)
            budget.keys.add(key)
        budget.count_once(key, known.dollars)
        on_done()
        return known

    return await for_each(cases, judges, one)


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


async def judge_run(
    questions: Sequence[AskedQuestion],
    background: Background,
    judges: Sequence[Judge],
    memory: OpinionStore,
    budget: Budget,
    on_done: Callable[[], None] = lambda: None,
) -> list[Judgement]:
    """Return the judges' opinions on a run's undecided replies.

    Args:
        questions: The undecided questions.
        background: The run's turns.
        judges: The judges.
        memory: Opinions so far, as in `ask_all`.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        on_done: Called after each opinion.
    """
    cases = [background.case(each.example, each.question) for each in questions]
    heard = await ask_all(judges, cases, memory, budget, on_done)
    return [
        Judgement(
            example=each.example,
            turn=each.question.turn or 0,
            reply=reply_hash(each.question.reply or ""),
            opinions=tuple(opinions),
        )
        for each, opinions in zip(questions, heard, strict=True)
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
    """Ask judges about a folded run's undecided replies; the fold takes their answers, and the folder keeps them.

    Args:
        fold: The run; a database beside its folder holds earlier answers.
        background: The run's turns.
        judges: The judges.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        notify: Called with a line for each event.
        read: As in `doubtful`.
    """
    published = asked_in(fold.asked)
    apart = {(each.example, each.turn) for each in published}
    questions = [
        each for each in doubtful(fold.asked, read=read) if (each.example, each.question.turn) not in apart
    ]
    if not questions and not published:
        return
    run = fold.files.folder
    names = ", ".join(judge.name for judge in judges)
    said: list[Judgement] = []
    vague: list[VagueTrial] = []
    with OpinionStore(run.parent / FILE) as memory:
        if published:
            said, vague = await inquire(published, judges, memory, budget, notify)
            append(run, vague)
        if questions:
            notify(
                f"{len(questions)} {'reply' if len(questions) == 1 else 'replies'} to be judged by {names} …"
            )
            said += await judge_run(questions, background, judges, memory, budget)
    append(run, said)
    fold.hear(said, vague)
    failed = sum(opinion.outcome is Outcome.JUDGE_ERROR for each in said for opinion in each.opinions)
    if failed:
        notify(f"{failed} answers of judges were missing or unreadable; rescore asks for them again")


class Inquired(NamedTuple):
    """A reply to a question whose published scorer asks a judge."""

    example: str
    turn: int
    question: str
    reply: str
    expect: SetMatcher


def asked_in(asked: Sequence[AskedQuestion]) -> list[Inquired]:
    """Return the replies whose published scorers ask a judge."""
    found = []
    for each in asked:
        question, expect = each.question, each.expect
        if not isinstance(expect, SetMatcher) or question.reply is None:
            continue
        inquiry = expect.inquiry(question.text, question.reply)
        if inquiry is not None:
            inquiry.close()
            found.append(Inquired(each.example, question.turn or 0, question.text, question.reply, expect))
    return found


async def inquire(
    asked: Sequence[Inquired],
    judges: Sequence[Judge],
    memory: OpinionStore,
    budget: Budget,
    notify: Callable[[str], None],
) -> tuple[list[Judgement], list[VagueTrial]]:
    """Return judges' opinions on replies, and on vague wrong replies to some of the same questions.

    Args:
        asked: The replies.
        judges: The judges.
        memory: Their answers so far; known ones are not asked again, and new ones are stored at once.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        notify: Called with a line about what will be asked, before anything is asked.
    """
    vague = [
        each._replace(reply=vague_reply(each.question, place)) for place, each in enumerate(sampled(asked))
    ]
    names, scorers = ", ".join(judge.name for judge in judges), dict.fromkeys(e.expect.dataset for e in asked)
    notify(
        f"{len(asked)} {'reply' if len(asked) == 1 else 'replies'} to be judged by {names} as the program of "
        f"{' and '.join(scorers)} does, and beside them {len(vague)} that are vague and wrong on purpose …"
    )

    async def one(each: Inquired, judge: Judge) -> Opinion:
        return await _opinion(judge, each, memory, budget)

    opinions = await for_each([*asked, *vague], judges, one)
    said = [
        Judgement(example=each.example, turn=each.turn, reply=reply_hash(each.reply), opinions=tuple(of))
        for each, of in zip(asked, opinions, strict=False)
    ]
    trials = [
        VagueTrial(question=each.question, reply=each.reply, opinion=opinion)
        for each, of in zip(vague, opinions[len(asked) :], strict=True)
        for opinion in of
    ]
    return said, trials


async def _opinion(judge: Judge, asked: Inquired, memory: OpinionStore, budget: Budget) -> Opinion:
    rubric = hashlib.sha256(f"{type(asked.expect).__name__}@{asked.expect.version}".encode()).hexdigest()[:16]
    answers: list[tuple[str, JudgeAnswer]] = []

    async def ask(text: str) -> str | None:
        said = await memory.ask(judge, text, budget)
        answers.append((text, said))
        return None if said.failed else said.text

    inquiry = asked.expect.inquiry(asked.question, asked.reply)
    judged = None if inquiry is None else await conduct(inquiry, ask)
    prices = [said.dollars for _, said in answers]
    usage = [said.usage for _, said in answers if said.usage is not None]
    last = answers[-1][1].text.strip() if answers else ""
    return Opinion(
        judge=judge.name,
        key=judge.key_with(rubric),
        rubric=rubric,
        model=next((each.model for each in usage if each.model), None),
        prompt=_joined([text for text, _ in answers]),
        answer=_joined([said.text for _, said in answers]),
        outcome=Outcome.JUDGE_ERROR if judged is None else judged.outcome,
        score=None if judged is None else judged.score,
        scores={} if judged is None else dict(judged.scores),
        reason=judged.reason if judged is not None else f"failed or unreadable: {last[:200]!r}",
        dollars=None if None in prices else sum(price or 0.0 for price in prices),
        usage={name: sum(getattr(each, name) for each in usage) for name in FIGURES if usage},
    )


def _joined(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else json.dumps(texts)
