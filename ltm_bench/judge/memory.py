"""Earlier opinions and calibrations of judges, in a small database that runs share."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ltm_bench.core.messages import Outcome
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.rubric import Case
from ltm_bench.score.judgements import Opinion

FILE = "judgements.sqlite"
"""The name of the database in a folder of reports."""

THRESHOLD = 0.95
"""Sensitivity and specificity that a judge must reach to pass calibration."""


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
        import sqlite3

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
