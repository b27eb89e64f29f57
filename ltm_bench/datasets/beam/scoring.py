"""Scores prediction files of BEAM that hold a judge's answers about each rubric item.

The published programs write an object from abilities to lists, in the order of the questions: `llm_response`, and,
once judged, `llm_judge_responses` (one object with `score` for each item) and, for the order of events, `f1` and
`tau_norm`. Other files name question and ability in each row.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.answers import number_of
from ltm_bench.datasets.beam.files import ABILITIES, contradicts, histories
from ltm_bench.datasets.beam.matcher import meets
from ltm_bench.datasets.beam.scorer import MODES, ORDER, TAU_F1, order_scores, rubric_score, score_of
from ltm_bench.datasets.dialogue import HistoryQuestion, OnBad
from ltm_bench.datasets.errata import error_of, question_digest, wrong_keys
from ltm_bench.datasets.marks import AnswerMark, Sheet
from ltm_bench.datasets.matching import Inquiry, Judged
from ltm_bench.datasets.streaming import read_value

_SCORES = ("llm_judge_responses", "nugget_scores", "criterion_scores", "judge_checks", "rubric_scores")


def questions_of(data: Path | None, on_bad: OnBad) -> dict[str, HistoryQuestion]:
    """Return the questions of conversations by id; {} for None. Raises ConfigError."""
    found = histories(data, on_bad) if data else ()
    return {question.id: question for history in found for question in history.questions}


def rows_of(
    path: Path, questions: Mapping[str, HistoryQuestion]
) -> list[tuple[str, str, str, Mapping[str, Any]]]:
    """Return id, ability, conversation and row of each answer. Raises ConfigError if there is none."""
    found: list[tuple[str, str, str, Mapping[str, Any]]] = []
    by_text = {question_digest(question.text): name for name, question in questions.items()}
    for where, ability, place, row in _walk(read_value(path), "", ""):
        name = by_text.get(question_digest(str(row.get("question", ""))))
        conversation = name.rpartition(f"/{ability}/")[0] if name else where or path.resolve().parent.name
        found.append((name or f"{conversation}/{ability}/{place}", ability, conversation, row))
    if not found:
        raise ConfigError(f"{path}: it has no list of answers by ability")
    return found


def _walk(value: Any, where: str, ability: str) -> Iterator[tuple[str, str, int, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            name = str(value.get("conversation_id") or value.get("conv_id") or where)
            inner = name if key in ABILITIES or isinstance(each, list) else name or str(key)
            yield from _walk(each, inner, key if key in ABILITIES else "")
    places = Counter[str]()
    for each in value if isinstance(value, list) else ():
        row = each if isinstance(each, Mapping) else {}
        own = str(row.get("ability") or row.get("category") or row.get("question_type") or ability)
        if not row or own not in ABILITIES:
            yield from _walk(each, where, "")
            continue
        home = str(row.get("conversation_id") or row.get("conv") or row.get("conv_id") or where)
        place = row.get("idx")
        yield home, own, place if isinstance(place, int) else places[own], row
        places[own] += 1


def inquiries(path: Path, questions: Mapping[str, HistoryQuestion]) -> Iterator[tuple[str, Inquiry | None]]:
    """Yield what a judge is asked about the answers without stored scores, by question. Raises ConfigError."""
    for name, _, _, row in rows_of(path, questions):
        asked, said = questions.get(name), row.get("llm_response")
        if asked is not None and said is not None and _stored(row) is None:
            expect = meets(asked.gold[0], asked.rubric, asked.type, id=name)
            yield name, expect.inquiry(asked.text, str(said))


def score_file(
    path: Path,
    questions: Mapping[str, HistoryQuestion],
    on_bad: OnBad,
    *,
    heard: Mapping[str, Judged] | None = None,
    judge: str | None = None,
) -> Sheet:
    """Return the marks of a judged file. Raises ConfigError if nothing in it is judged.

    Args:
        path: The file.
        questions: The questions of the data; {} if it is not at hand.
        on_bad: Called with each answer that is not judged.
        heard: A judge's verdicts on answers without stored scores.
        judge: That judge's name.
    """
    marks: dict[str, AnswerMark] = {}
    rows = rows_of(path, questions)
    if (most := max((each for *_, row in rows for each in _numbers(row)), default=0.0)) > 1:
        raise ConfigError(f"{path}: it holds grades, such as {most:g}; an item's score is 0, 0.5 or 1")
    for name, ability, conversation, row in rows:
        if name in marks:
            on_bad(f"{path}: {name}: answered twice; the first answer counts")
            continue
        if heard is not None and name in heard:
            marks[name] = _mark(name, ability, conversation, heard[name].scores, questions.get(name))
            continue
        scores = _stored(row)
        if scores is None:
            on_bad(f"{path}: {name}: skipped: no judge's scores are stored with it")
            continue
        question = questions.get(name)
        if question and len(question.rubric) != len(scores):
            on_bad(
                f"{path}: {name}: skipped: {len(scores)} scores for a rubric of {len(question.rubric)} items"
            )
            continue
        rated: Mapping[str, float] | None
        rated = _order(row) if ability == ORDER else {m: rubric_score(scores, ability, m) for m in MODES}
        if rated is None:
            on_bad(f"{path}: {name}: skipped: its τ is not a number, as the official one of a single event")
            continue
        marks[name] = _mark(name, ability, conversation, rated, question)
    if not marks:
        raise ConfigError(f"{path}: no judge's scores are stored in it; name a judge with --judge")
    types = {mark.type for mark in marks.values()}
    homes = {mark.history for mark in marks.values()}
    missing = tuple(
        each.id
        for each in questions.values()
        if each.type in types
        and each.id not in marks
        and each.id.rpartition("/")[0].rpartition("/")[0] in homes
    )
    columns = tuple(each for each in (*MODES, TAU_F1) if any(each in mark.scores for mark in marks.values()))
    return Sheet(path, columns, tuple(marks.values()), missing, judge=judge)


def _mark(
    name: str, ability: str, conversation: str, scores: Mapping[str, float], question: HistoryQuestion | None
) -> AnswerMark:
    error = error_of(wrong_keys("beam"), name, None if question is None else question.text)
    wrong = error is not None or (question is not None and contradicts(question))
    return AnswerMark(name, ability, conversation, scores, wrong_key=wrong)


def _numbers(row: Mapping[str, Any]) -> list[float]:
    said = (each.get("score") if isinstance(each, Mapping) else each for each in _items(row) or ())
    return [number for each in said if (number := number_of(each)) is not None]


def _items(row: Mapping[str, Any]) -> list[Any] | None:
    value = next((row[key] for key in _SCORES if row.get(key)), None)
    return value if isinstance(value, list) else None


def _stored(row: Mapping[str, Any]) -> list[float] | None:
    if (value := _items(row)) is None:
        return None
    scores = [score_of(each) for each in value]
    return [score for score in scores if score is not None] if None not in scores else None


def _order(row: Mapping[str, Any]) -> Mapping[str, float] | None:
    """Return the stored scores of an order of events; None without a τ, as for a rubric of one event (NaN)."""
    inner = row.get("event_ordering")
    told = {**row, **inner} if isinstance(inner, Mapping) else row
    try:
        tau, f1 = float(told["tau_norm"]), float(told["f1"])
    except (LookupError, TypeError, ValueError):
        return None
    return order_scores(tau, tau * f1) if 0 <= tau <= 1 else None
