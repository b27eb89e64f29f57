"""Asks judges: agent adapters with a rubric. They work from the log, after the conversation, and never during it.

A judge is asked only where a matcher cannot tell. Answers are stored in a small database, keyed by everything that went
into the question, so re-scoring a run costs nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.messages import Message, Outcome
from ltm_bench.core.pricing import dollars
from ltm_bench.judge import rubric
from ltm_bench.judge.rubric import Case
from ltm_bench.score.judgements import Judgement, Opinion, majority, reply_hash
from ltm_bench.score.results import FIGURES, Question, Results

CONCURRENT = 8
"""Cases in progress at the same time."""

THRESHOLD = 0.95
"""Sensitivity and specificity that a judge needs to pass calibration."""

_AT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Judge:
    """An agent that gives verdicts: a fresh one for every case, so that no case influences the next."""

    name: str
    description: Mapping[str, Any]
    """Adapter, its content hash and its settings."""
    make: Callable[[], Agent]

    @property
    def key(self) -> str:
        """Hash of everything that its verdicts depend on, the rubric included."""
        content = json.dumps([self.description, rubric.digest()], sort_keys=True, default=str)
        return hashlib.sha256(content.encode()).hexdigest()[:16]


class Calibration(BaseModel):
    """How a judge did on replies whose verdict is known."""

    model_config = ConfigDict(frozen=True)

    judge: str
    key: str
    cases: int
    sensitivity: float
    """Fraction of right replies that it calls right."""
    specificity: float
    """Fraction of other replies that it does not call right."""
    unreadable: int
    """Cases without a readable answer; they count against both."""
    dollars: float | None

    @property
    def believed(self) -> bool:
        """Whether it passed: sensitivity and specificity both reach the threshold."""
        return self.sensitivity >= THRESHOLD and self.specificity >= THRESHOLD


class Memory:
    """The database of opinions and calibrations. Runs share it, so it is in the folder of all runs."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, timeout=30)
        with self._database as database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS opinions (key TEXT PRIMARY KEY, content TEXT NOT NULL)"
            )
            database.execute(
                "CREATE TABLE IF NOT EXISTS calibrations (key TEXT PRIMARY KEY, content TEXT NOT NULL)"
            )

    @staticmethod
    def _key(judge: Judge, case: Case) -> str:
        content = json.dumps([judge.key, case.question, case.expected, case.doubt, case.reply])
        return hashlib.sha256(content.encode()).hexdigest()

    def opinion(self, judge: Judge, case: Case) -> Opinion | None:
        """Return what a judge said about a case earlier, if anything."""
        row = self._database.execute(
            "SELECT content FROM opinions WHERE key = ?", (self._key(judge, case),)
        ).fetchone()
        return Opinion.model_validate_json(row[0]) if row else None

    def keep(self, judge: Judge, case: Case, opinion: Opinion) -> None:
        """Store what a judge said, unless it was unreadable: then the case is asked again next time."""
        if opinion.outcome is not Outcome.JUDGE_ERROR:
            with self._database as database:
                database.execute(
                    "INSERT OR REPLACE INTO opinions VALUES (?, ?)",
                    (self._key(judge, case), opinion.model_dump_json()),
                )

    def calibration(self, key: str) -> Calibration | None:
        """Return how a judge did when it was last calibrated, if ever."""
        row = self._database.execute("SELECT content FROM calibrations WHERE key = ?", (key,)).fetchone()
        return Calibration.model_validate_json(row[0]) if row else None

    def keep_calibration(self, calibration: Calibration) -> None:
        """Store how a judge did."""
        with self._database as database:
            database.execute(
                "INSERT OR REPLACE INTO calibrations VALUES (?, ?)",
                (calibration.key, calibration.model_dump_json()),
            )

    def close(self) -> None:
        """Close the file."""
        self._database.close()


async def ask(judge: Judge, case: Case, budget: Budget) -> Opinion:
    """Ask one judge about one case. Any failure becomes a `judge_error`, except BudgetReached, which is raised."""
    text = rubric.prompt(case)
    common: dict[str, Any] = {
        "judge": judge.name,
        "key": judge.key,
        "rubric": rubric.digest(),
        "prompt": text,
    }
    message = Message(text, _AT, 0)
    with tempfile.TemporaryDirectory() as home:
        agent, held = None, Decimal()
        try:
            agent = judge.make()
            held = budget.hold(agent, message)
            await agent.open(Path(home))
            reply = await agent.reply(message)
        except BudgetReached:
            raise
        except Exception as error:
            budget.release(held)
            said = f"{type(error).__name__}: {error}"
            return Opinion(**common, answer=said, outcome=Outcome.JUDGE_ERROR, reason=f"failed: {said}"[:500])
        finally:
            if agent is not None:
                await agent.close()
    budget.settle(reply.usage, free=agent.free, held=held)
    price = Decimal(0) if agent.free else dollars(reply.usage) if reply.usage else None
    verdict = rubric.read(reply.text)
    return Opinion(
        **common,
        model=reply.usage.model if reply.usage else None,
        answer=reply.text,
        outcome=verdict[0] if verdict else Outcome.JUDGE_ERROR,
        reason=verdict[1] if verdict else f"unreadable answer: {reply.text.strip()[:120]!r}",
        dollars=None if price is None else float(price),
        usage={name: getattr(reply.usage, name) for name in FIGURES} if reply.usage else {},
    )


async def ask_all(
    judges: Sequence[Judge],
    cases: Sequence[Case],
    memory: Memory,
    budget: Budget,
    on_done: Callable[[], None] = lambda: None,
) -> list[list[Opinion]]:
    """Ask every judge about every case, several at a time; return the opinions case by case.

    Args:
        judges: Whom to ask.
        cases: What to ask about.
        memory: Opinions so far; cases in it are not asked again, and new opinions are stored there at once.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        on_done: Called after each opinion.
    """
    places = asyncio.Semaphore(CONCURRENT)

    async def one(judge: Judge, case: Case) -> Opinion:
        async with places:
            known = memory.opinion(judge, case)
            if known is None:
                known = await ask(judge, case, budget)
                memory.keep(judge, case, known)
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
    judges: Sequence[Judge],
    memory: Memory,
    budget: Budget,
    on_done: Callable[[], None] = lambda: None,
) -> list[Judgement]:
    """Return what the judges say about a run's undecided replies.

    Args:
        results: The run.
        judges: Whom to ask.
        memory: Opinions so far, as in `ask_all`.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        on_done: Called after each opinion.
    """
    questions = doubtful(results)
    cases = [Case(q.text, q.expected, q.doubt, q.reply or "") for _, q in questions]
    heard = await ask_all(judges, cases, memory, budget, on_done)
    return [
        Judgement(example=name, turn=q.turn or 0, reply=reply_hash(q.reply or ""), opinions=tuple(opinions))
        for (name, q), opinions in zip(questions, heard, strict=True)
    ]


@dataclass(frozen=True)
class Trial:
    """A case whose right verdict is known."""

    kind: str
    """`right`, `paraphrased`, `wrong`, `stale`, `hedging` or `abstaining`."""
    case: Case

    @property
    def right(self) -> bool:
        """Whether a judge should call it right."""
        return self.kind in ("right", "paraphrased")


async def calibrate(
    judge: Judge,
    trials: Sequence[Trial],
    memory: Memory,
    budget: Budget,
    on_done: Callable[[], None] = lambda: None,
) -> tuple[Calibration, list[Outcome]]:
    """Calibrate a judge; return how it did, and the outcome that it gave each trial.

    Args:
        judge: The judge to calibrate; its result is stored in `memory`.
        trials: Cases whose right verdict is known.
        memory: Opinions so far, as in `ask_all`.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        on_done: Called after each opinion.
    """
    heard = await ask_all([judge], [trial.case for trial in trials], memory, budget, on_done)
    said = [majority(opinions).outcome for opinions in heard]
    right = [outcome is Outcome.CORRECT for trial, outcome in zip(trials, said, strict=True) if trial.right]
    other = [
        outcome not in (Outcome.CORRECT, Outcome.JUDGE_ERROR)
        for trial, outcome in zip(trials, said, strict=True)
        if not trial.right
    ]
    costs = [opinion.dollars for opinions in heard for opinion in opinions]
    calibration = Calibration(
        judge=judge.name,
        key=judge.key,
        cases=len(trials),
        sensitivity=sum(right) / max(len(right), 1),
        specificity=sum(other) / max(len(other), 1),
        unreadable=said.count(Outcome.JUDGE_ERROR),
        dollars=None if None in costs else sum(each or 0.0 for each in costs),
    )
    memory.keep_calibration(calibration)
    return calibration, said
