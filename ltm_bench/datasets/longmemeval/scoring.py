"""Scores prediction files of LongMemEval: the stored labels of a judge, and a strict score from text alone.

A file holds `question_id` and `hypothesis`, and, once judged, `autoeval_label` with the judge's model and its label.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.answers import Answer, majority, read_answers
from ltm_bench.datasets.dialogue import HistoryQuestion, OnBad
from ltm_bench.datasets.errata import error_of, question_digest, wrong_keys
from ltm_bench.datasets.longmemeval.files import ABSTENTION, question_of
from ltm_bench.datasets.longmemeval.scorer import inquiry, strict
from ltm_bench.datasets.marks import AnswerMark, Sheet
from ltm_bench.datasets.streaming import read_elements, skipping


def questions_of(data: Path | None, on_bad: OnBad) -> dict[str, HistoryQuestion]:
    """Return the questions of a data file by id, without their histories; {} for None. Raises ConfigError."""
    found: dict[str, HistoryQuestion] = {}
    for number, record in read_elements(data, on_bad) if data else ():
        with skipping(f"{data}: record {number}", on_bad):
            question = question_of(record)
            found[question.id] = question
    return found


def inquiries(
    answers: Sequence[Answer], questions: Mapping[str, HistoryQuestion]
) -> Iterator[tuple[str, Generator[str, str, bool]]]:
    """Yield what a judge is asked about the answers that have no label yet, by question."""
    for answer in answers:
        if not answer.votes and (question := questions.get(answer.id or "")) is not None:
            yield question.id, inquiry(question, answer.said)


def score_file(
    path: Path,
    questions: Mapping[str, HistoryQuestion],
    on_bad: OnBad,
    *,
    answers: Sequence[Answer] | None = None,
    labels: Mapping[str, bool] | None = None,
    judge: str | None = None,
) -> Sheet:
    """Return the marks of a file. Raises ConfigError if nothing in it can be scored.

    Args:
        path: The file.
        questions: The questions of the data; {} to take types and gold answers from the file, if it has them.
        on_bad: Called with each answer that cannot be scored.
        answers: The file's answers, if they have been read.
        labels: A judge's verdicts on answers without a label in the file.
        judge: That judge's name.
    """
    marks: dict[str, AnswerMark] = {}
    labels = labels or {}
    for answer in read_answers(path, on_bad) if answers is None else answers:
        if answer.id is None:
            on_bad(f"{path}: an answer without question_id is skipped: {answer.said[:60]!r}")
            continue
        if answer.id in marks:
            on_bad(f"{path}: {answer.id}: answered twice; the first answer counts")
            continue
        question = questions.get(answer.id)
        if questions and question is None:
            on_bad(f"{path}: {answer.id}: skipped: the data has no such question")
            continue
        kind = question.type if question else answer.type or "unknown type"
        gold = question.gold if question else answer.golds
        unanswerable = ABSTENTION in answer.id
        scores: dict[str, float] = {}
        votes = answer.votes or ((labels[answer.id],) if answer.id in labels else ())
        if (vote := majority(votes)) is not None:
            scores["judge"] = vote
        if (own := strict(answer.said, gold, kind, unanswerable=unanswerable)) is not None:
            scores["strict"] = own
        judge = judge or answer.judge
        text = question.text if question else answer.question
        wrong = error_of(wrong_keys("longmemeval"), answer.id, text) is not None
        marks[answer.id] = AnswerMark(
            answer.id, kind, answer.id, scores, unanswerable, wrong, question_digest(text)
        )
    columns = tuple(
        each for each in ("judge", "strict") if any(each in mark.scores for mark in marks.values())
    )
    if not columns:
        raise ConfigError(
            f"{path}: nothing in it can be scored: it has no labels of a judge, and no gold answers; "
            "name the data with --data, and a judge with --judge"
        )
    missing = tuple(name for name in questions if name not in marks)
    return Sheet(path, columns, tuple(marks.values()), missing, judge=judge)
