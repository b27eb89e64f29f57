"""Reads BEAM (Tavakoli et al. 2025): long conversations, each with twenty questions of ten abilities and their rubrics.

The data has no licence, so it is read from a path and never shipped. A conversation is a folder with `chat.json` and
`probing_questions/probing_questions.json`, or a pair of files that end in `chat.json` and `probing_questions.json`,
gzipped or not. A path may be one conversation, or a folder of many, such as `chats/100K`.

Where `chat_trunecated.json` stands beside `chat.json`, it is the conversation, as in the published program: the
questions are about it. The folders `plan-0`, `plan-1`, … hold the parts of a conversation of 10M tokens again.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
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
from ltm_bench.datasets.streaming import read_value, skipping
from ltm_bench.datasets.values import golds_of, needed, text_of

ABILITIES = (
    "abstention",
    "contradiction_resolution",
    "event_ordering",
    "information_extraction",
    "instruction_following",
    "knowledge_update",
    "multi_session_reasoning",
    "preference_following",
    "summarization",
    "temporal_reasoning",
)

_GOLD = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
_MARK = re.compile(r"->->[\d,\s.]{0,30}$")
"""The end of a user's text: the place in the plan from which it was written."""

_CHAT = re.compile(r"(?:^|[-_])chat(_trunecated)?\.json(?:\.gz)?$")
_PLAN = re.compile(r"plan-\d+")


def histories(path: Path, on_bad: OnBad) -> Histories:
    """Yield the conversations under a path. Raises ConfigError if there is none; bad ones are named and skipped."""
    chats = {_home(chat): chat for chat in sorted(_chats(path), key=_order)}
    if not chats:
        raise ConfigError(f"{path}: it has no chat.json")
    for chat in chats.values():
        with skipping(str(chat), on_bad):
            yield _history(name_of(chat), read_value(chat), _questions_beside(chat), chat, on_bad)


def _chats(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (
            each
            for each in path.rglob("*")
            if _CHAT.search(each.name) and not _PLAN.fullmatch(each.parent.name)
        )
    elif path.exists():
        yield path
    else:
        raise ConfigError(f"{path}: there is no such file or folder")


def _order(chat: Path) -> tuple[list[tuple[int, str]], bool]:
    """Sort conversations by their numbers, and a truncated chat behind the whole one, whose place it takes."""
    named = _CHAT.search(chat.name)
    home = [(int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", str(_home(chat)))]
    return home, bool(named and named[1])


def _home(chat: Path) -> Path:
    """Return what the files of one conversation share: a folder, or a folder and a prefix."""
    return chat.with_name(prefix) if (prefix := _CHAT.sub("", chat.name)) else chat.parent


def name_of(chat: Path) -> str:
    """Return `100K/1` for a conversation's file, however its folder is laid out."""
    prefix = _CHAT.sub("", chat.name)
    if not prefix:
        folder = chat.resolve().parent
        return f"{folder.parent.name}/{folder.name}"
    return prefix.strip("-_").replace("-", "/").replace("_", "/")


def _questions_beside(chat: Path) -> Mapping[str, Any]:
    prefix = _CHAT.sub("", chat.name)
    joint = "-" if prefix else ""
    for folder in (chat.parent, chat.parent / "probing_questions"):
        for ending in (".json", ".json.gz"):
            found = folder / f"{prefix}{joint}probing_questions{ending}"
            if found.exists():
                value = read_value(found)
                if not isinstance(value, dict):
                    raise ValueError(f"{found} holds no questions by ability")
                return value
    raise ValueError("no probing_questions.json is beside it")


def _history(name: str, chat: Any, asked: Mapping[str, Any], path: Path, on_bad: OnBad) -> History:
    sessions = tuple(
        Session(f"{name}#{number}", *_dated(batch)) for number, batch in enumerate(_batches(chat), start=1)
    )
    if not sessions:
        raise ValueError("it has no turns")
    return History(name, sessions, tuple(questions(name, asked, lambda why: on_bad(f"{path}: {why}"))))


def _batches(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects with turns, at any depth: the largest conversations are divided into plans."""
    if isinstance(value, Mapping) and "turns" in value:
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _batches(each)
    elif isinstance(value, list):
        for each in value:
            yield from _batches(each)


def _dated(batch: Mapping[str, Any]) -> tuple[Any, tuple[Utterance, ...]]:
    said = [each for turn in batch["turns"] for each in (turn if isinstance(turn, list) else [turn])]
    anchors = [batch.get("time_anchor"), *(each.get("time_anchor") for each in said)]
    return read_date(next((each for each in anchors if each), None)), tuple(_utterance(each) for each in said)


def _utterance(said: Mapping[str, Any]) -> Utterance:
    role = role_of(said["role"])
    text = text_of(said["content"])
    text = _MARK.sub("", text).rstrip() if role == "user" else text
    return Utterance(role, text, id=text_of(said.get("id")))


def questions(name: str, asked: Mapping[str, Any], on_bad: OnBad) -> Iterator[HistoryQuestion]:
    """Yield the questions about a conversation; their ids are `100K/1/temporal_reasoning/0`."""
    for ability, each in asked.items():
        for place, question in enumerate(each):
            with skipping(f"{ability} {place}", on_bad):
                yield _question(f"{name}/{ability}/{place}", ability, question)


def _question(name: str, ability: str, asked: Mapping[str, Any]) -> HistoryQuestion:
    if ability not in ABILITIES:
        raise ValueError(f"there is no such ability: {ability!r:.40}")
    if (key := next((key for key in _GOLD if asked.get(key)), None)) is None:
        raise ValueError(f"expected one of the keys {', '.join(_GOLD)}")
    rubric = asked["rubric"]
    rubric = tuple(filter(None, map(text_of, rubric if isinstance(rubric, list) else [rubric])))
    if not rubric:
        raise ValueError("its rubric is empty")
    return HistoryQuestion(
        id=name,
        type=ability,
        text=needed(asked, "question"),
        gold=golds_of(asked[key]),
        rubric=rubric,
        evidence=tuple(_ids(asked.get("source_chat_ids"))),
        unanswerable=ability == "abstention",
    )


_LENGTH = re.compile(r"(?i)\b(\d{1,6}|[a-z]{3,9})[ -](minute|hour|day|week|month|year)s?\b")
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()


def contradicts(question: HistoryQuestion) -> bool:
    """Whether the gold answer to a question about time lacks a duration that its own rubric demands."""
    if question.type != "temporal_reasoning":
        return False
    wanted = {length for item in question.rubric for length in _lengths(item)}
    return bool(wanted) and not any(wanted & _lengths(each) for each in question.gold)


def _lengths(text: str) -> set[tuple[int, str]]:
    found = set()
    for number, unit in _LENGTH.findall(text.replace(",", "")):
        value = (
            int(number)
            if number.isdigit()
            else _NUMBERS.index(number.lower())
            if number.lower() in _NUMBERS
            else 0
        )
        if value:
            found.add((value, unit.lower()))
    return found


def _ids(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _ids(each)
    elif value is not None:
        yield str(value)
