"""Reads prediction files about dialogues in any form: it finds rows at any depth, under the usual names.

Published files differ in their keys, nest rows under users or samples, and store a judge's votes in several ways.
Reading is lenient; scoring is not. A row without an answer is reported and skipped.
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import json_of
from ltm_bench.datasets.streaming import OnBad, read_lines, read_text

_SAID = (
    "generated_answer", "hypothesis", "llm_response", "prediction", "predicted_answer", "model_answer",
    "model_response", "response", "output", "predicted", "pred",
)  # fmt: skip
_GOLD = (
    "golden_answer", "gold_answer", "gold_answers", "gold", "golden", "ground_truth", "reference_answer", "reference",
    "expected_answer", "expected", "label_answer", "answers", "adversarial_answer",
)  # fmt: skip
_ID = ("question_id", "qa_pair_id", "id", "qid")
_TYPE = ("category", "question_type", "ability", "type")
_VOTES = (
    "judgments", "llm_judgments", "judgements", "votes", "grade", "autoeval_label", "is_correct", "correct",
    "llm_score", "judge", "judge_label", "evaluation",
)  # fmt: skip
_HISTORY = (
    "user", "user_id", "sample_id", "conversation_id", "conv_id", "subset", "source", "sub_dataset", "dataset",
)  # fmt: skip
_QUESTION = ("question", "query", "probing_question")
_YES = frozenset(("true", "yes", "correct", "right", "1"))
_NO = frozenset(("false", "no", "wrong", "incorrect", "0"))


class Answer(NamedTuple):
    """A row of a prediction file."""

    said: str
    """Empty if the file holds null."""
    id: str | None
    history: str | None
    """The name of the group it is in: a user, a sample, a subset."""
    question: str | None
    type: str | None
    gold: Any
    """As in the file; None if it is missing there."""
    votes: tuple[bool, ...]
    """A judge's answers, one for each time it was asked; empty if it was not."""
    judge: str | None
    """The judge's name, if the file has it."""
    place: int
    """Place among the rows of its history, from 0."""
    row: Mapping[str, Any]


def read_answers(path: Path, on_bad: OnBad) -> list[Answer]:
    """Return the answers in a file, in its order. Raises ConfigError if it cannot be read or holds none."""
    found: list[Answer] = []
    places: dict[str | None, int] = {}
    skipped = 0
    for where, row, above in _rows(path, on_bad):
        said = _said(row)
        if said is None:
            skipped += 1
            on_bad(f"{path}: {where}: skipped: it has no answer ({', '.join(map(str, row))[:120]})")
            continue
        history = _text(_first(row, _HISTORY)) or above
        place = places.get(history, 0)
        places[history] = place + 1
        votes, judge = _votes(row)
        found.append(
            Answer(
                said=_plain(row[said]),
                id=_text(_first(row, _ID)),
                history=history,
                question=_text(_first(row, _QUESTION)),
                type=_text(_first(row, _TYPE)),
                gold=_gold(row, said),
                votes=votes,
                judge=judge,
                place=place,
                row=row,
            )
        )
    if not found:
        raise ConfigError(f"{path}: it has no answer" + (f" ({skipped} rows without)" if skipped else ""))
    return found


def said_in_run(questions: Iterable[tuple[Mapping[str, Any], str]]) -> list[Answer]:
    """Return the answers to questions of public sets in one of our runs.

    Args:
        questions: The matcher of each, as the log holds it, and the reply.
    """
    found: list[Answer] = []
    for expected, reply in questions:
        if not expected.get("id"):
            continue
        gold = expected.get("gold", expected.get("golds"))
        kind = _text(expected.get("category", expected.get("type")))
        found.append(
            Answer(reply, str(expected["id"]), None, None, kind, gold, (), None, len(found), expected)
        )
    return found


def _rows(path: Path, on_bad: OnBad) -> Iterator[tuple[str, Mapping[str, Any], str | None]]:
    text = read_text(path)
    try:
        whole = json_of(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("["):
            raise ConfigError(f"{path}: not JSON: {error}") from error
    else:
        yield from _walk(whole, "", None)
        return
    for number, value in read_lines(path, io.StringIO(text), on_bad):
        yield from _walk(value, f"line {number}", None)


def _walk(value: Any, where: str, above: str | None) -> Iterator[tuple[str, Mapping[str, Any], str | None]]:
    """Yield the objects that look like rows: those with a question or an answer of their own."""
    if isinstance(value, list):
        for number, each in enumerate(value, start=1):
            yield from _walk(each, f"{where} {number}".strip(), above)
    elif isinstance(value, Mapping):
        nested = {key: each for key, each in value.items() if _holds_rows(each)}
        if _said(value) is not None or (not nested and _first(value, _QUESTION) is not None):
            yield where, value, above
            return
        name = _text(_first(value, _HISTORY)) or above
        for key, each in nested.items():
            under = (
                name
                if key in ("qa", "data", "results", "detailed_results", "predictions")
                else name or str(key)
            )
            yield from _walk(each, f"{where} {key}".strip(), under)


def _holds_rows(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and any(isinstance(each, Mapping) for each in value)
    )


def _said(row: Mapping[str, Any]) -> str | None:
    """Return the key of the answer. `answer` qualifies if the gold answer has a different key."""
    for key in _SAID:
        if key in row and not isinstance(row[key], Mapping):
            return key
    for key in row:
        if key.endswith("_prediction"):
            return str(key)
    return "answer" if "answer" in row and _first(row, _GOLD) is not None else None


def _gold(row: Mapping[str, Any], said: str) -> Any:
    if said != "answer" and "answer" in row:
        return row["answer"]
    return _first(row, _GOLD)


def _first(row: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((row[key] for key in keys if row.get(key) is not None), None)


def _text(value: Any) -> str | None:
    return None if value is None or isinstance(value, Mapping | list) else str(value)


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(_plain, value))
    return str(value)


def _votes(row: Mapping[str, Any]) -> tuple[tuple[bool, ...], str | None]:
    stored, judge = _stored_votes(row)
    votes = [_vote(each) for each in stored]
    return tuple(each for each in votes if each is not None), judge


def _stored_votes(row: Mapping[str, Any]) -> tuple[list[Any], str | None]:
    value = _first(row, _VOTES)
    judge = None
    if isinstance(value, Mapping):
        judge = _text(value.get("model"))
        value = [each for key, each in value.items() if key != "model"]
    return value if isinstance(value, list) else [value], judge


def votes_of(row: Mapping[str, Any]) -> tuple[tuple[bool, ...], str | None]:
    """Return all votes of a row, and the judge's name if it has one. Raises ValueError if one cannot be read."""
    stored, judge = _stored_votes(row)
    for each in stored:
        if _vote(each) is None:
            raise ValueError(
                f"its verdict is {str(each)[:40]!r}; it must be true or false, 1 or 0, or in such words"
            )
    if not stored:
        raise ValueError("its list of verdicts is empty")
    return tuple(map(bool, map(_vote, stored))), judge


def type_of(row: Mapping[str, Any]) -> str | None:
    """Return the type of a row's question, also if it stands under `meta`; None if it has none."""
    meta = row.get("meta")
    found = _first(row, _TYPE)
    return _text(_first(meta, _TYPE) if found is None and isinstance(meta, Mapping) else found)


def _vote(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.strip().lower() in _YES | _NO:
        return value.strip().lower() in _YES
    return None


def majority(votes: tuple[bool, ...]) -> float | None:
    """Return 1 if more than half of the votes say yes, 0 if not, None without votes."""
    return float(2 * sum(votes) > len(votes)) if votes else None
