"""Prediction files of FactConsolidation: which question a row answers."""

import re
from collections.abc import Iterator
from pathlib import Path

from ltm_bench.datasets.answers import Answer
from ltm_bench.datasets.dialogue import OnBad
from ltm_bench.datasets.factconsolidation.files import SETS, histories, set_of
from ltm_bench.datasets.factconsolidation.matcher import NewestFact, newest_fact
from ltm_bench.datasets.predictions import Data, Prediction, PredictionFiles, asked_in, from_answers

_NAMED = re.compile(r"(?i)(?<![a-z])([sm]h)[_-](6k|32k|64k|262k)(?![a-z0-9])")
_NUMBER = re.compile(r"(?:_no|/|^)(\d+)$")


def _read(path: Path, data: Data, on_bad: OnBad) -> Iterator[Prediction]:
    """Yield the replies of a file.

    The set and the place of a question come from the row (`qa_pair_id`, `subset`, `index`, `query_id`); otherwise the
    set comes from the names of file and folder, and the place from the order of the rows.
    """
    questions = {each.id: each for _, each in data}

    def find(answer: Answer) -> tuple[str, str, NewestFact]:
        subset, said = _set(answer, path), answer.question
        name = f"{subset}/{_place(answer)}"
        question = questions.get(name)
        if question and said and question.text.strip() not in said:
            fitting = (q for q in questions.values() if q.type == subset and q.text.strip() in said)
            question = next(fitting, question)
            name = question.id
        golds = question.gold if question else answer.golds
        if not golds:
            raise ValueError(f"{name}: skipped: its answer is unknown; name the data with --data")
        return subset, question.text if question else "", newest_fact(golds, id=name)

    return from_answers(path, find, on_bad)


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


FILES = PredictionFiles(
    NewestFact, _read, asked_in(histories), "it has no answer to FactConsolidation that can be scored"
)
