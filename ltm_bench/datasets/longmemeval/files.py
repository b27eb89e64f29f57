"""Reads LongMemEval (Wu et al. 2024; MIT): 500 questions, each with a history of its own.

The files are `longmemeval_oracle.json` (the sessions with the evidence), `longmemeval_s_cleaned.json` (115k tokens a
history) and `longmemeval_m_cleaned.json` (1.5M). They are lists of `question_id`, `question_type`, `question`,
`answer`, `question_date`, `haystack_session_ids`, `haystack_dates`, `haystack_sessions` and `answer_session_ids`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ltm_bench.datasets.dates import read_date
from ltm_bench.datasets.dialogue import (
    Histories,
    History,
    HistoryQuestion,
    OnBad,
    Session,
    Utterance,
    role_of,
)
from ltm_bench.datasets.streaming import read_elements, skipping
from ltm_bench.datasets.values import golds_of, needed, text_of

TYPES = (
    "single-session-user",
    "single-session-preference",
    "single-session-assistant",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
)

ABSTENTION = "_abs"
"""Part of the id of a question that its history does not answer."""

_UNDATED = datetime.min.replace(tzinfo=UTC)


def histories(path: Path, on_bad: OnBad) -> Histories:
    """Yield the histories of a file. Raises ConfigError if it cannot be read; bad records are named and skipped."""
    for number, record in read_elements(path, on_bad):
        name = record.get("question_id", "") if isinstance(record, dict) else ""
        with skipping(f"{path}: record {number} {name}", on_bad):
            yield _history(record)


def _history(record: Mapping[str, Any]) -> History:
    told, dates = record["haystack_sessions"], record["haystack_dates"]
    names = record.get("haystack_session_ids") or [None] * len(told)
    if not len(told) == len(dates) == len(names):
        raise ValueError(
            f"there are {len(told)} sessions, {len(dates)} dates and {len(names)} ids of sessions"
        )
    sessions = [
        Session(text_of(name) or str(i), read_date(date), tuple(_utterance(each) for each in said))
        for i, (name, date, said) in enumerate(zip(names, dates, told, strict=True))
    ]
    sessions.sort(key=lambda session: session.at or _UNDATED)  # the oracle's are not in order
    question = question_of(record)
    return History(question.id, tuple(sessions), (question,))


def question_of(record: Mapping[str, Any]) -> HistoryQuestion:
    """Return the question of a record. Raises LookupError or ValueError."""
    name, kind = needed(record, "question_id"), needed(record, "question_type")
    if kind not in TYPES:
        raise ValueError(f"question_type {kind!r:.40} is not one of {', '.join(TYPES)}")
    golds = golds_of(record["answer"])
    return HistoryQuestion(
        id=name,
        type=kind,
        text=needed(record, "question"),
        gold=golds,
        at=read_date(record.get("question_date")),
        rubric=golds if kind == "single-session-preference" else (),
        evidence=tuple(map(text_of, record.get("answer_session_ids") or ())),
        unanswerable=ABSTENTION in name,
    )


def _utterance(said: Mapping[str, Any]) -> Utterance:
    return Utterance(role_of(said["role"]), text_of(said["content"]), evidence=bool(said.get("has_answer")))
