"""Judges a run's replies as the published scorers of public sets do, with their prompts to a judge.

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
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import OpinionStore
from ltm_bench.judge.saying import JudgeAnswer, for_each
from ltm_bench.judge.vague import sampled, vague_reply
from ltm_bench.score.audits.judgements import FIGURES, Judgement, Opinion, VagueTrial, reply_hash
from ltm_bench.score.results.open_examples import AskedQuestion


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
