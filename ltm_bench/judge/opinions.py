"""A small database of judges' opinions and calibrations, shared by all runs."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError, described
from ltm_bench.core.messages import Outcome
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.rubric import Case, prompt
from ltm_bench.judge.saying import JudgeAnswer, say
from ltm_bench.score.audits.correction import Measured
from ltm_bench.score.audits.judgements import FIGURES, Opinion

T = TypeVar("T", bound=BaseModel)

FILE = "judgements.sqlite"
"""The name of the database in a folder of reports."""

THRESHOLD = 0.95
"""Sensitivity and specificity that a judge must reach to pass calibration."""


LEAST = 0.8
"""Share of each kind's cases that a judge must get right to pass; lower, since each kind has fewer."""

FEW = 5
"""Minimum number of cases for a kind to count by itself."""

MOST_FLIPS = 0.05
"""Maximum share of repeated cases with inconsistent answers."""


class KindResult(BaseModel, frozen=True):
    """A judge's results on one kind of case."""

    n: int
    accepted: int
    """Replies called right."""
    unreadable: int
    right: bool
    """Whether these replies are right."""

    @property
    def rate(self) -> float:
        """Share that the judge got right; unreadable answers count against it."""
        return (self.accepted if self.right else self.n - self.accepted - self.unreadable) / max(self.n, 1)


class Calibration(BaseModel, frozen=True):
    """A judge's results on replies whose verdict is known."""

    judge: str
    key: str
    kinds: dict[str, KindResult]
    """By the kind of case."""
    repeated: int = 0
    """Cases asked repeatedly."""
    flipped: int = 0
    """Cases among these with inconsistent answers."""
    dollars: float | None

    @property
    def cases(self) -> int:
        """Number of cases, repeats not counted."""
        return sum(tally.n for tally in self.kinds.values())

    @property
    def unreadable(self) -> int:
        """Cases without a readable answer."""
        return sum(tally.unreadable for tally in self.kinds.values())

    @property
    def sensitivity(self) -> float:
        """Fraction of right replies that it calls right; unreadable answers count against it."""
        return self._rate(right=True)

    @property
    def specificity(self) -> float:
        """Fraction of other replies that it does not call right; unreadable answers count against it."""
        return self._rate(right=False)

    def _rate(self, *, right: bool) -> float:
        of = [tally for tally in self.kinds.values() if tally.right is right]
        return sum(tally.rate * tally.n for tally in of) / max(sum(tally.n for tally in of), 1)

    @property
    def measured(self) -> Measured | None:
        """How often its readable answers are right; None without any about right replies, or about other replies."""
        read = dict.fromkeys((True, False), 0)
        accepted = dict(read)
        for tally in self.kinds.values():
            read[tally.right] += tally.n - tally.unreadable
            accepted[tally.right] += tally.accepted
        if not all(read.values()):
            return None
        rejected = read[False] - accepted[False]
        return Measured(right=read[True], accepted=accepted[True], other=read[False], rejected=rejected)

    @property
    def shortfalls(self) -> list[str]:
        """Why it did not pass: each figure, and the one needed."""
        found = [
            f"{name} {value:.3f}, needs {THRESHOLD}"
            for name, value in (("sensitivity", self.sensitivity), ("specificity", self.specificity))
            if value < THRESHOLD
        ]
        found += [
            f"“{kind}” {tally.rate:.3f}, needs {LEAST}"
            for kind, tally in self.kinds.items()
            if tally.rate < LEAST and tally.n >= FEW
        ]
        if self.flipped > MOST_FLIPS * self.repeated:
            found.append(f"flip rate {self.flipped / self.repeated:.3f}, may be at most {MOST_FLIPS}")
        return found

    @property
    def believed(self) -> bool:
        """Whether it passed."""
        return not self.shortfalls


def opinion_of(
    judge: Judge, digest: str, prompt: str, said: JudgeAnswer, outcome: Outcome, reason: str
) -> Opinion:
    """Return a judge's answer as it is recorded.

    Args:
        judge: The judge.
        digest: The hash of the rubric that it was asked by.
        prompt: What it was asked.
        said: Its answer.
        outcome: What the answer means.
        reason: Why.
    """
    return Opinion(
        judge=judge.name,
        key=judge.key_with(digest),
        rubric=digest,
        model=said.usage.model if said.usage else None,
        prompt=prompt,
        answer=said.text,
        outcome=outcome,
        reason=reason,
        dollars=said.dollars,
        usage={name: getattr(said.usage, name) for name in FIGURES} if said.usage else {},
    )


class _StoredAnswer(BaseModel):
    """A judge's answer, as stored."""

    said: JudgeAnswer


class OpinionStore:
    """The database of opinions, answers and calibrations. Runs share it, so it is in the reports folder."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        import sqlite3

        self._path, self._failures = path, sqlite3.Error
        with self._readable():
            self._database = sqlite3.connect(path, timeout=30)
            for table in ("opinions", "calibrations", "answers"):
                self._database.execute(
                    f"CREATE TABLE IF NOT EXISTS {table} (key TEXT PRIMARY KEY, content TEXT NOT NULL)"
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (self._failures, ValueError) as error:
            raise ConfigError(
                f"{self._path}: the judges' answers cannot be kept there ({described(error)}); if it is not a "
                "read-only or full disk, move the file away"
            ) from error

    def _get(self, table: str, key: str, kind: type[T]) -> T | None:
        with self._readable():
            row = self._database.execute(f"SELECT content FROM {table} WHERE key = ?", (key,)).fetchone()
            return kind.model_validate_json(row[0]) if row else None

    def _put(self, table: str, key: str, content: BaseModel) -> None:
        with self._readable(), self._database as database:
            row = (key, content.model_dump_json())
            database.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", row)

    @staticmethod
    def key_of(judge: Judge, case: Case, time: int = 1) -> str:
        """Return the key of an opinion."""
        content = json.dumps([judge.key, prompt(case), *([time] if time > 1 else [])])
        return hashlib.sha256(content.encode()).hexdigest()

    def opinion(self, judge: Judge, case: Case, time: int = 1) -> Opinion | None:
        """Return a judge's earlier opinion on a case, from the first or the n-th time."""
        return self._get("opinions", self.key_of(judge, case, time), Opinion)

    def keep(self, judge: Judge, case: Case, opinion: Opinion, time: int = 1) -> None:
        """Store an opinion, unless it was unreadable: then the case is asked again next time."""
        if opinion.outcome is not Outcome.JUDGE_ERROR:
            self._put("opinions", self.key_of(judge, case, time), opinion)

    def answer(self, judge: Judge, text: str) -> JudgeAnswer | None:
        """Return a judge's earlier answer to the same text."""
        found = self._get("answers", judge.key_with(text), _StoredAnswer)
        return None if found is None else found.said

    async def ask(
        self, judge: Judge, text: str, budget: Budget, schema: Mapping[str, Any] | None = None
    ) -> JudgeAnswer:
        """Return a judge's earlier answer to a text, or else ask it, and store the answer unless it failed.

        Raises BudgetReached.
        """
        said, key = self.answer(judge, text), judge.key_with(text)
        if said is None:
            said = await say(judge, text, budget, schema)
            if not said.failed:
                self._put("answers", key, _StoredAnswer(said=said))
            budget.keys.add(key)
        budget.count_once(key, said.dollars)
        return said

    def calibration(self, key: str) -> Calibration | None:
        """Return a judge's last calibration, if any."""
        return self._get("calibrations", key, Calibration)

    def keep_calibration(self, calibration: Calibration) -> None:
        """Store a calibration."""
        self._put("calibrations", calibration.key, calibration)
