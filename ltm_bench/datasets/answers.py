"""Reads prediction files about dialogues in any form: it finds rows at any depth, under the usual names.

Published files differ in their keys, nest rows under users or samples, and store a judge's votes in several ways.
Keys are read leniently, rows are not: one without an answer is named and skipped, a verdict that cannot be read is
named and does not count, and a file that is cut is refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.streaming import OnBad, text_in, values_in
from ltm_bench.datasets.values import golds_of, text_of

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
    "llm_score", "judge_label", "evaluation", "judge",
)  # fmt: skip
_HISTORY = (
    "user", "user_id", "sample_id", "conversation_id", "conv_id", "subset", "source", "sub_dataset", "dataset",
)  # fmt: skip
_QUESTION = ("question", "query", "probing_question")
_YES = frozenset(("true", "yes", "correct", "right", "1"))
_UNNAMED = ("qa", "data", "results", "detailed_results", "predictions")
"""Keys of rows that name no history."""
_VERDICT = (
    "label", "verdict", "is_correct", "correct", "judgment", "judgement", "judgments", "votes", "grade", "score",
)  # fmt: skip
"""The names of a verdict within an object, the plainest first."""
_NUMBERED = re.compile(r"(?:judge?ment|judge|vote|verdict|label|grade|score|run|trial)[ _-]?\d+")
_NO = frozenset(("false", "no", "wrong", "incorrect", "0"))

_Row = tuple[str, Any, str | None]
"""Where a row stands, the row, and the history above it."""


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
    votes: tuple[float, ...]
    """A judge's answers, one for each time it was asked; empty if it was not, or if one of them cannot be read."""
    judge: str | None
    """The judge's name, if the file has it."""
    place: int
    """Place among the rows of its history, from 0."""
    row: Mapping[str, Any]

    @property
    def golds(self) -> tuple[str, ...]:
        """The accepted answers in the file; () if it has none."""
        with suppress(ValueError):
            return golds_of(self.gold)
        return ()


def read_answers(path: Path, on_bad: OnBad) -> list[Answer]:
    """Return the answers in a file, in its order. Raises ConfigError if it is cut, cannot be read or holds none."""
    found: list[Answer] = []
    places: dict[str | None, int] = {}
    values = values_in(path, text_in(path))
    rows = [row for where, value in values for row in _walk(value, where, None, listed=bool(where))]
    stored = [_stored(row) for _, row, _ in rows]
    # On a scale from 1 to 5, a 1 is no yes.
    graded = {key for key, said in stored if any(not 0 <= (number_of(each) or 0) <= 1 for each in said)}
    for (where, row, above), (key, heard) in zip(rows, stored, strict=True):
        if (said := _said(row)) is None:
            named = ", ".join(map(str, row)) if isinstance(row, Mapping) else repr(row)
            on_bad(f"{path}: {where}: skipped: it has no answer ({named[:120]})")
            continue
        history = _text(_first(row, _HISTORY)) or above
        place = places.get(history, 0)
        places[history] = place + 1
        votes: tuple[float, ...] = ()
        try:
            votes = _votes(heard, graded=key in graded)
        except ValueError as error:
            on_bad(f"{path}: {where}: {error}; it is left out of the judge's figures")
        found.append(
            Answer(
                said=text_of(row[said]),
                id=_text(_first(row, _ID)),
                history=history,
                question=_text(_first(row, _QUESTION)),
                type=_text(_first(row, _TYPE)),
                gold=_gold(row, said),
                votes=votes,
                judge=_text(row[key].get("model")) if key and isinstance(row[key], Mapping) else None,
                place=place,
                row=row,
            )
        )
    if not found:
        raise ConfigError(f"{path}: it has no answer" + (f" ({len(rows)} rows without)" if rows else ""))
    return found


def _walk(value: Any, where: str, above: str | None, *, listed: bool) -> Iterator[_Row]:
    """Yield the rows in a value: what has an answer, and what has none, but a row's name or a place among rows."""
    if isinstance(value, list):
        listed = listed or any(_said(each) is not None for each in value)
        for number, each in enumerate(value, start=1):
            yield from _walk(each, f"{where} {number}".strip(), above, listed=listed)
        return
    row = value if isinstance(value, Mapping) else {}
    nested = {key: each for key, each in row.items() if _said(row) is None and _holds_rows(each)}
    name = (_text(_first(row, _HISTORY)) or above) if nested else above
    found: list[_Row] = []
    for key, each in nested.items():
        under = name if key in _UNNAMED else name or str(key)
        found += _walk(each, f"{where} {key}".strip(), under, listed=False)
    if not found and (listed or _said(row) is not None or _first(row, _QUESTION + _ID) is not None):
        found.append((where or "row 1", value, above))
    yield from found


def _holds_rows(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and any(isinstance(each, Mapping) for each in value)
    )


def has_answer(row: Mapping[str, Any]) -> bool:
    """Whether a row has a key that is only used for what a system answered."""
    return any(key in row for key in _SAID)


def _said(row: Any) -> str | None:
    """Return the key of the answer. `answer` qualifies if the gold answer has a different key."""
    if not isinstance(row, Mapping):
        return None
    keys = [*(key for key in _SAID if key in row), *(key for key in row if key.endswith("_prediction"))]
    keys += ["answer"] if "answer" in row and _first(row, _GOLD) is not None else []
    return next((key for key in keys if _is_text(row[key])), None)


def _is_text(value: Any) -> bool:
    try:
        text_of(value)
    except ValueError:
        return False
    return True


def _gold(row: Mapping[str, Any], said: str) -> Any:
    if said != "answer" and "answer" in row:
        return row["answer"]
    return _first(row, _GOLD)


def _first(row: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((row[key] for key in keys if row.get(key) is not None), None)


def _text(value: Any) -> str | None:
    return None if value is None or isinstance(value, Mapping | list) else str(value)


def _stored(row: Any) -> tuple[str, list[Any]]:
    """Return the field that holds a judge's answers, and them; nothing if it was not asked."""
    key = next((key for key in _VOTES if isinstance(row, Mapping) and row.get(key) is not None), "")
    return key, list(_leaves(row[key])) if key else []


def _votes(said: Sequence[Any], *, graded: bool = False, shares: bool = True) -> tuple[float, ...]:
    """Return a judge's answers as votes. Raises ValueError if one cannot be read; a number cannot among grades."""
    votes: list[float] = []
    for each in said:
        vote = None if graded and number_of(each) is not None else _vote(each)
        if vote is None or not (shares or vote in (0, 1)):
            told = f"{each!r:.40}" + (", a grade" if graded else "")
            raise ValueError(f"its verdict is {told}; it must be true or false, 1 or 0, or in such words")
        votes.append(vote)
    return tuple(votes)


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the verdicts in a field: of an object those that are numbered, or the one that is named as such.

    What else stands there (a count of attempts, whether it came from a cache) is none. An object that does not say
    which of its fields is the verdict is yielded as it is, and nobody can read that.
    """
    own = value if isinstance(value, list) else [value]
    if isinstance(value, Mapping):
        said = {key: each for key, each in value.items() if key != "model"}
        own = [each for key, each in said.items() if _NUMBERED.fullmatch(key)]
        own = own or [said[key] for key in _VERDICT if key in said][:1] or list(said.values())
        if len(own) > 1 and not any(map(_NUMBERED.fullmatch, said)):
            yield value
            return
    for each in own:
        yield from _leaves(each) if isinstance(each, Mapping | list) else (each,)


def votes_of(row: Mapping[str, Any]) -> tuple[float, ...]:
    """Return all votes of a row, 0 or 1 each. Raises ValueError if one cannot be read, or there is none."""
    if not (votes := _votes(_stored(row)[1], shares=False)):
        raise ValueError("its list of verdicts is empty")
    return votes


def type_of(row: Mapping[str, Any]) -> str | None:
    """Return the type of a row's question, also if it stands under `meta`; None if it has none."""
    meta = row.get("meta")
    found = _first(row, _TYPE)
    return _text(_first(meta, _TYPE) if found is None and isinstance(meta, Mapping) else found)


def number_of(value: Any) -> float | None:
    """Return a value that is a number, or says one; None for any other."""
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _vote(value: Any) -> float | None:
    """Return 1 for a yes, 0 for a no, and a share as it is; None for anything else."""
    said = value.strip(" \t\n.!*\"'`").lower() if isinstance(value, str) else value
    if isinstance(said, str) and said in _YES | _NO:
        return float(said in _YES)
    number = float(said) if isinstance(said, bool) else number_of(said)
    return number if number is not None and 0 <= number <= 1 else None


def majority(votes: Sequence[float]) -> float | None:
    """Return 1 if more than half of the votes say yes, 0 if not; a single one as it is; None without votes."""
    return votes[0] if len(votes) == 1 else float(2 * sum(votes) > len(votes)) if votes else None
