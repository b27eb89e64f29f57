"""Reads PersonaMem as the Agent Memory Benchmark keeps it: a folder with `documents.json` and `queries.json`.

A document is a session of a person, and a query a message with four replies to choose from. The replies depend on how
far the conversation has come: a history is a person's sessions up to a point, with the questions asked there.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.dialogue import Histories, History, HistoryQuestion, OnBad, Session, Utterance
from ltm_bench.datasets.streaming import read_elements, skipping
from ltm_bench.datasets.values import golds_of, needed, text_of

_TURN = re.compile(r"(?:\A|\n\n)\[(SYSTEM|USER|ASSISTANT)\] (?:(?:User|Assistant): )?")
_OPTION = re.compile(r"(?m)^\([a-d]\) ")
_SPEAKERS = {"SYSTEM": "System", "USER": "User", "ASSISTANT": "Assistant"}


def histories(path: Path, on_bad: OnBad) -> Histories:
    """Yield the histories of a folder. Raises ConfigError if it cannot be read; bad records are named and skipped."""
    told: dict[str, str] = {}
    for record in _records(path, "documents", ("id", "content"), on_bad):
        with skipping(f"{path}: document {record['id']!r:.40}", on_bad):
            told[needed(record, "id")] = text_of(record["content"])
    asked: dict[str, list[HistoryQuestion]] = {}
    for record in _records(path, "queries", ("id", "query", "gold_answers", "gold_ids", "meta"), on_bad):
        with skipping(f"{path}: query {record['id']!r:.40}", on_bad):
            question = _question(record)
            if lost := [each for each in question.evidence if each not in told]:
                raise ValueError(f"there is no document {lost[0].partition(chr(10))[0]}")
            asked.setdefault("\n".join(question.evidence), []).append(question)
    for sessions, questions in asked.items():
        names = sessions.split("\n")
        held = tuple(Session(name, None, tuple(_utterances(told[name]))) for name in names)
        yield History(names[-1], held, tuple(questions))


def _records(path: Path, name: str, keys: tuple[str, ...], on_bad: OnBad) -> Iterator[Mapping[str, Any]]:
    found = [each for each in (path / f"{name}.json", path / f"{name}.json.gz") if each.is_file()]
    if not found:
        raise ConfigError(f"{path}: there is no {name}.json in it; it holds documents.json and queries.json")
    for number, record in read_elements(found[0], on_bad):
        if isinstance(record, dict) and all(key in record for key in keys):
            yield record
        else:
            on_bad(f"{found[0]}: record {number}: skipped: it lacks one of {', '.join(keys)}")


def _utterances(content: str) -> Iterator[Utterance]:
    """Yield the turns of a session, the description of the person at its beginning too."""
    parts = _TURN.split(content)
    for who, text in zip(parts[1::2], parts[2::2], strict=True):
        yield Utterance("assistant" if who == "ASSISTANT" else "user", text.strip(), _SPEAKERS[who])


def _question(record: Mapping[str, Any]) -> HistoryQuestion:
    """Return a question with its four replies, each with its letter, the right one first."""
    text, meta = needed(record, "query"), record["meta"]
    starts = [found.start() for found in _OPTION.finditer(text)]
    options = [text[a:b].strip() for a, b in pairwise([*starts, len(text)])]
    letter = f"({golds_of(record['gold_answers'])[-1].strip('() ')})"
    if sorted(each[:3] for each in options) != ["(a)", "(b)", "(c)", "(d)"]:
        raise ValueError("it does not have four replies, (a) to (d)")
    return HistoryQuestion(
        id=needed(record, "id"),
        type=needed(meta, "question_type"),
        text=text[: starts[0]].strip(),
        gold=(letter,),
        evidence=tuple(map(text_of, record["gold_ids"])),
        options=tuple(sorted(options, key=lambda option: (option[:3] != letter, option))),
    )
