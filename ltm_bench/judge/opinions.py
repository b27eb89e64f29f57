"""A small database of judges' opinions and calibrations, shared by all runs."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from pydantic import BaseModel

from ltm_bench.core.errors import ConfigError, described
from ltm_bench.core.limits import RECORD, content_of, json_of
from ltm_bench.core.messages import Usage
from ltm_bench.judge.judges import Judge
from ltm_bench.score.audits.correction import Measured
from ltm_bench.score.audits.judgements import Opinion

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
    unread: dict[str, int] = {}
    """Answers that say nothing, by the reason: the judge was not reached, was cut, refused, or cannot be read."""
    unread_about: dict[str, tuple[int, int]] = {}
    """By the kind of question: answers that say nothing, and all."""

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

    @property
    def unreached(self) -> str:
        """That it gave no answer at all, and why; empty if it did."""
        read = sum(tally.n for tally in self.kinds.values()) - self.unreadable
        if read or not all(why.startswith("failed: ") for why in self.unread):
            return ""
        return f"{self.judge} gave no answer, so nothing was measured: {next(iter(self.unread))}"

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


class JudgeAnswer(NamedTuple):
    """A judge's answer."""

    text: str
    """The answer, or what went wrong if it failed."""
    usage: Usage | None = None
    dollars: float | None = None
    """None if the price is unknown."""
    failed: bool = False


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
            kept = f"SELECT content FROM {table} WHERE key = ? AND length(content) <= ?"
            row = self._database.execute(kept, (key, RECORD)).fetchone()
            return kind.model_validate_json(row[0]) if row else None

    def _put(self, table: str, key: str, content: BaseModel) -> None:
        with self._readable(), self._database as database:
            row = (key, content.model_dump_json())
            database.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", row)

    def get(self, judge: Judge, text: str, time: int) -> JudgeAnswer | None:
        """Return a judge's earlier answer, also from a folder in which opinions by our rubric were kept apart."""
        found = self._get("answers", key_of(judge, text, time), _StoredAnswer)
        if found is not None:
            return found.said
        old = json.dumps([judge.key, text, *([time] if time > 1 else [])])
        said = self._get("opinions", hashlib.sha256(old.encode()).hexdigest(), Opinion)
        return None if said is None else JudgeAnswer(said.answer, said.used, said.dollars)

    def put(self, judge: Judge, text: str, time: int, said: JudgeAnswer) -> None:
        """Keep an answer."""
        self._put("answers", key_of(judge, text, time), _StoredAnswer(said=said))

    def calibration(self, key: str) -> Calibration | None:
        """Return a judge's last calibration, if any."""
        return self._get("calibrations", key, Calibration)

    def keep_calibration(self, calibration: Calibration) -> None:
        """Store a calibration."""
        self._put("calibrations", calibration.key, calibration)


def key_of(judge: Judge, text: str, time: int) -> str:
    """Return the key of an answer: a prompt that is sent for the n-th time has one of its own."""
    return judge.key_with(text if time == 1 else f"{time}\n{text}")


class AnswerFile:
    """The answers of a judge beside a prediction file: JSON Lines, which people read, and pass on with the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, str] = {}
        text = content_of(path).decode("utf-8", "replace") if path.exists() else ""
        for line in text.splitlines():
            try:
                entry = json_of(line)
                self._known[entry["key"]] = entry["answer"]
            except (ValueError, LookupError, TypeError):
                continue  # cut off while being written: asked again
        self._before = "" if text.endswith("\n") or not text else "\n"
        """What ends a line that was cut off, before the next is appended."""

    @staticmethod
    def _key(judge: Judge, text: str) -> str:
        who = hashlib.sha256(json.dumps(judge.description, sort_keys=True, default=str).encode()).hexdigest()
        return hashlib.sha256(f"{who}\n{text}".encode("utf-8", "replace")).hexdigest()[:24]

    def get(self, judge: Judge, text: str, time: int) -> JudgeAnswer | None:
        """Return an earlier answer, without what it cost: a limit holds for what this command spends."""
        said = self._known.get(self._key(judge, text))
        return None if said is None else JudgeAnswer(said)

    def put(self, judge: Judge, text: str, time: int, said: JudgeAnswer) -> None:
        """Keep an answer."""
        key = self._key(judge, text)
        if self._known.get(key) == said.text:  # of two equal prompts
            return
        self._known[key] = said.text
        entry = {"key": key, "judge": judge.name, "asked": text, "answer": said.text, "dollars": said.dollars}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{self._before}{json.dumps(entry)}\n")
        self._before = ""
