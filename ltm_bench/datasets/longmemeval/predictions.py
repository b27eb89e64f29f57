"""Prediction files of LongMemEval: which question a row answers.

A file holds `question_id` and `hypothesis`, and, once judged, `autoeval_label` with the judge's model and its label.
"""

from collections.abc import Iterator
from pathlib import Path

from ltm_bench.datasets.answers import Answer
from ltm_bench.datasets.dialogue import HistoryQuestion, OnBad
from ltm_bench.datasets.longmemeval.files import ABSTENTION, question_of
from ltm_bench.datasets.longmemeval.matcher import Remembered, remembered
from ltm_bench.datasets.predictions import Data, Prediction, PredictionFiles, from_answers
from ltm_bench.datasets.streaming import read_elements, skipping


def _questions(data: Path, on_bad: OnBad) -> Iterator[tuple[str, HistoryQuestion]]:
    """Yield the questions of a data file, also of one without their histories. Raises ConfigError."""
    for number, record in read_elements(data, on_bad):
        with skipping(f"{data}: record {number}", on_bad):
            question = question_of(record)
            yield question.id, question


def _read(path: Path, data: Data, on_bad: OnBad) -> Iterator[Prediction]:
    questions = dict(data)

    def find(answer: Answer) -> tuple[str, str, Remembered]:
        name = answer.id
        if name is None:
            raise ValueError(f"an answer without question_id is skipped: {answer.said[:60]!r}")
        question = questions.get(name)
        if questions and question is None:
            raise ValueError(f"{name}: skipped: the data has no such question")
        kind = question.type if question else answer.type or "unknown type"
        golds = question.gold if question else answer.golds
        text = question.text if question else answer.question or ""
        expect = remembered(golds or "", kind, id=name, unanswerable=ABSTENTION in name)
        return name, text, expect

    return from_answers(path, find, on_bad)


FILES = PredictionFiles(
    Remembered,
    _read,
    _questions,
    "nothing in it can be scored: it has no labels of a judge, and no gold answers; name the data with --data, and a "
    "judge with --judge",
    asks=True,
    part=lambda each: (),
)
