"""Scores prediction files of FactConsolidation: the published substring match, exact match, and a strict score."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.answers import Answer, read_answers
from ltm_bench.datasets.dialogue import HistoryQuestion, OnBad
from ltm_bench.datasets.factconsolidation.files import SETS, histories, set_of
from ltm_bench.datasets.factconsolidation.scorer import exact, official, strict
from ltm_bench.datasets.marks import AnswerMark, Sheet

_NAMED = re.compile(r"(?i)(?<![a-z])([sm]h)[_-](6k|32k|64k|262k)(?![a-z0-9])")
_NUMBER = re.compile(r"(?:_no|/|^)(\d+)$")


def questions_of(data: Path | None, on_bad: OnBad) -> dict[str, HistoryQuestion]:
    """Return the questions of a data file by id; {} for None. Raises ConfigError."""
    found = histories(data, on_bad) if data else ()
    return {question.id: question for history in found for question in history.questions}


def score_file(
    path: Path,
    questions: Mapping[str, HistoryQuestion],
    on_bad: OnBad,
    *,
    answers: Sequence[Answer] | None = None,
) -> Sheet:
    """Return the marks of a file. Raises ConfigError if nothing in it can be scored.

    The set and the place of a question come from the row (`qa_pair_id`, `subset`, `index`, `query_id`); otherwise the
    set comes from the names of file and folder, and the place from the order of the rows.
    """
    marks: dict[str, AnswerMark] = {}
    seen: set[str] = set()
    for answer in read_answers(path, on_bad) if answers is None else answers:
        subset = _set(answer, path)
        name = f"{subset}/{_place(answer)}"
        question = questions.get(name)
        if question and answer.question and question.text.strip() not in answer.question:
            fitting = [
                q for q in questions.values() if q.type == subset and q.text.strip() in answer.question
            ]
            question = fitting[0] if fitting else question
            name = question.id
        golds = question.gold if question else answer.golds
        if not golds:
            on_bad(f"{path}: {name}: skipped: its answer is unknown; name the data with --data")
            continue
        if name in marks:
            on_bad(f"{path}: {name}: answered twice; the first answer counts")
            continue
        seen.add(subset)
        scores = {
            "official": official(answer.said, golds),
            "exact": exact(answer.said, golds),
            "strict": strict(answer.said, golds),
        }
        marks[name] = AnswerMark(name, subset, subset, scores)
    if not marks:
        raise ConfigError(f"{path}: it has no answer to FactConsolidation that can be scored")
    missing = tuple(each.id for each in questions.values() if each.type in seen and each.id not in marks)
    return Sheet(path, ("official", "exact", "strict"), tuple(marks.values()), missing)


def _set(answer: Answer, path: Path) -> str:
    for text in (answer.id, answer.history, path.name, path.resolve().parent.name):
        if found := _NAMED.search(text or ""):
            return set_of(f"{found[1]}-{found[2]}")
    return SETS[0] if answer.history in (None, "") else str(answer.history)


def _place(answer: Answer) -> int:
    if answer.id and (found := _NUMBER.search(answer.id)) and not answer.id.isdigit():
        return int(found[1])
    for key in ("index", "query_id", "idx", "id"):
        value = answer.row.get(key)
        if isinstance(value, int) or (isinstance(value, str) and value.isdigit()):
            return int(value)
    return answer.place
