"""Asks judges: agent adapters with a rubric. They work from the log, after the conversation, and never during it.

A judge is asked only where a matcher cannot tell. Answers are stored, keyed by everything that went into the question,
so re-scoring a run costs nothing.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.keys import scrubbed, without_values
from ltm_bench.core.messages import Message, Outcome
from ltm_bench.core.pricing import dollars
from ltm_bench.judge import rubric
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.memory import FILE, Memory
from ltm_bench.judge.rubric import Case
from ltm_bench.judge.told import Told, read_told
from ltm_bench.log.reader import read_manifest
from ltm_bench.score.judgements import Judgement, Opinion, append, reply_hash
from ltm_bench.score.results import FIGURES, Question, Results

CONCURRENT = 8
"""Cases in progress at the same time."""

AT = datetime(2026, 1, 1, tzinfo=UTC)
"""The time of every message to a judge: its answer must not depend on when it is asked."""


async def ask(judge: Judge, case: Case, budget: Budget) -> Opinion:
    """Ask one judge about one case. Any failure becomes a `judge_error`, except BudgetReached, which is raised."""
    text = rubric.prompt(case)
    common: dict[str, Any] = {
        "judge": judge.name,
        "key": judge.key,
        "rubric": rubric.digest(),
        "prompt": text,
    }
    message = Message(text, AT, 0)
    with tempfile.TemporaryDirectory() as home:
        agent = None
        try:
            agent = judge.make()
            with budget.paying(agent, message) as payment:
                await agent.open(Path(home))
                payment.calling()
                reply = await agent.reply(message)
                payment.settle(reply.usage)
        except BudgetReached:
            raise
        except Exception as error:  # a judge is anybody's adapter
            said = scrubbed(f"{type(error).__name__}: {error}")
            return Opinion(**common, answer=said, outcome=Outcome.JUDGE_ERROR, reason=f"failed: {said}"[:500])
        finally:
            if agent is not None:
                await agent.close()
    answer = without_values(reply.text)
    price = Decimal(0) if agent.free else dollars(reply.usage) if reply.usage else None
    verdict = rubric.read(answer)
    return Opinion(
        **common,
        model=reply.usage.model if reply.usage else None,
        answer=answer,
        outcome=verdict[0] if verdict else Outcome.JUDGE_ERROR,
        reason=verdict[1] if verdict else f"unreadable answer: {answer.strip()[:120]!r}",
        dollars=None if price is None else float(price),
        usage={name: getattr(reply.usage, name) for name in FIGURES} if reply.usage else {},
    )


async def ask_all(
    judges: Sequence[Judge],
    cases: Sequence[Case],
    memory: Memory,
    budget: Budget,
    on_done: Callable[[], None] = lambda: None,
    *,
    time: int = 1,
) -> list[list[Opinion]]:
    """Ask every judge about every case, several at a time; return the opinions case by case.

    Args:
        judges: Whom to ask.
        cases: What to ask about.
        memory: Opinions so far; cases in it are not asked again, and new opinions are stored there at once.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        on_done: Called after each opinion.
        time: Which time the cases are asked: the second time is a question of its own.
    """
    places = asyncio.Semaphore(CONCURRENT)

    async def one(judge: Judge, case: Case) -> Opinion:
        async with places:
            known = memory.opinion(judge, case, time)
            if known is None:
                known = await ask(judge, case, budget)
                memory.keep(judge, case, known, time)
            on_done()
            return known

    heard = await asyncio.gather(
        *(asyncio.gather(*(one(judge, case) for judge in judges)) for case in cases), return_exceptions=True
    )
    found: list[list[Opinion]] = []
    for each in heard:
        if isinstance(each, BaseException):
            raise each
        found.append(list(each))
    return found


def doubtful(results: Results) -> list[tuple[str, Question]]:
    """Return a run's questions, with their example, that the matcher could not decide, whether judged since or not."""
    return [
        (example.id, question)
        for example in results.examples
        for question in example.questions
        if question.reply is not None and question.matched is Outcome.UNDECIDED
    ]


async def judge_run(
    results: Results,
    told: Told,
    judges: Sequence[Judge],
    memory: Memory,
    budget: Budget,
    on_done: Callable[[], None] = lambda: None,
) -> list[Judgement]:
    """Return what the judges say about a run's undecided replies.

    Args:
        results: The run.
        told: Its turns.
        judges: Whom to ask.
        memory: Opinions so far, as in `ask_all`.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        on_done: Called after each opinion.
    """
    questions = doubtful(results)
    cases = [told.case(name, question) for name, question in questions]
    heard = await ask_all(judges, cases, memory, budget, on_done)
    return [
        Judgement(example=name, turn=q.turn or 0, reply=reply_hash(q.reply or ""), opinions=tuple(opinions))
        for (name, q), opinions in zip(questions, heard, strict=True)
    ]


async def have_judged(
    run: Path,
    results: Results,
    judges: Sequence[Judge],
    *,
    budget: Budget,
    notify: Callable[[str], None],
) -> bool:
    """Ask judges about a run's undecided replies, and append their answers to its judgements.

    Args:
        run: The run folder; a database beside it holds earlier answers.
        results: The run's results.
        judges: Whom to ask.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        notify: Called with one line for each thing that happens.

    Returns:
        Whether there was anything to judge.
    """
    questions = doubtful(results)
    if not questions or not judges:
        return False
    names = ", ".join(judge.name for judge in judges)
    notify(f"{len(questions)} {'reply' if len(questions) == 1 else 'replies'} to be judged by {names} …")
    memory = Memory(run.parent / FILE)
    try:
        said = await judge_run(results, read_told(run, read_manifest(run)), judges, memory, budget)
    finally:
        memory.close()
    append(run, said)
    failed = sum(opinion.outcome is Outcome.JUDGE_ERROR for each in said for opinion in each.opinions)
    if failed:
        notify(f"{failed} answers of judges were missing or unreadable; rescore asks for them again")
    return True
