"""Prediction files of BEAM: their rows, and a judge's answers about each rubric item.

The published programs write an object from abilities to lists, in the order of the questions: `llm_response`, and,
once judged, `llm_judge_responses` (one object with `score` for each item) and, for the order of events, `f1` and
`tau_norm`. Other files name question and ability in each row.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.answers import number_of
from ltm_bench.datasets.beam.files import ABILITIES, histories
from ltm_bench.datasets.beam.matcher import Meets, meets
from ltm_bench.datasets.beam.scorer import MODES, ORDER, order_scores, rubric_score, score_of
from ltm_bench.datasets.dialogue import HistoryQuestion, OnBad
from ltm_bench.datasets.errata import question_digest
from ltm_bench.datasets.marks import SetQuestion
from ltm_bench.datasets.predictions import Data, Prediction, PredictionFiles, asked_in
from ltm_bench.datasets.streaming import read_value

_SCORES = ("llm_judge_responses", "nugget_scores", "criterion_scores", "judge_checks", "rubric_scores")


def _read(path: Path, data: Data, on_bad: OnBad) -> Iterator[Prediction]:
    """Yield the replies of a file. Raises ConfigError if it has none, or holds grades."""
    questions = {each.id: each for _, each in data}
    by_text = {question_digest(each.text): each for _, each in data}
    rows = list(_rows(read_value(path), "", ""))
    if not rows:
        raise ConfigError(f"{path}: it has no list of answers by ability")
    if (most := max((each for *_, row in rows for each in _numbers(row)), default=0.0)) > 1:
        raise ConfigError(f"{path}: it holds grades, such as {most:g}; an item's score is 0, 0.5 or 1")
    for where, ability, place, row in rows:
        question = by_text.get(question_digest(str(row.get("question", ""))))
        home = question.id.rpartition(f"/{ability}/")[0] if question else where or path.resolve().parent.name
        name = question.id if question else f"{home}/{ability}/{place}"
        question = question or questions.get(name)
        scores, judged = _stored(row), dict[str, float]()
        if scores is not None:
            if question and len(question.rubric) != len(scores):
                said = f"{len(scores)} scores for a rubric of {len(question.rubric)} items"
                on_bad(f"{path}: {name}: skipped: {said}")
                continue
            judged = _order(row) if ability == ORDER else _rated(scores, ability)
            if not judged:
                on_bad(
                    f"{path}: {name}: skipped: its τ is not a number, as the official one of a single event"
                )
                continue
        text, gold, rubric = (question.text, question.gold, question.rubric) if question else ("", "", ())
        reply = row.get("llm_response")
        expect = meets(gold, rubric, ability, id=name)
        yield Prediction(home, text, expect, None if reply is None else str(reply), judged)


def _rows(value: Any, where: str, ability: str) -> Iterator[tuple[str, str, int, Mapping[str, Any]]]:
    """Yield conversation, ability, place and row of each answer."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            name = str(value.get("conversation_id") or value.get("conv_id") or where)
            inner = name if key in ABILITIES or isinstance(each, list) else name or str(key)
            yield from _rows(each, inner, key if key in ABILITIES else "")
    places = Counter[str]()
    for each in value if isinstance(value, list) else ():
        row = each if isinstance(each, Mapping) else {}
        own = str(row.get("ability") or row.get("category") or row.get("question_type") or ability)
        if not row or own not in ABILITIES:
            yield from _rows(each, where, "")
            continue
        home = str(row.get("conversation_id") or row.get("conv") or row.get("conv_id") or where)
        place = row.get("idx")
        yield home, own, place if isinstance(place, int) else places[own], row
        places[own] += 1


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


def _rated(scores: Sequence[float], ability: str) -> dict[str, float]:
    return {mode: rubric_score(scores, ability, mode) for mode in MODES}


def _order(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the stored scores of an order of events; none without a τ, as for a rubric of one event (NaN)."""
    inner = row.get("event_ordering")
    told = {**row, **inner} if isinstance(inner, Mapping) else row
    try:
        tau, f1 = float(told["tau_norm"]), float(told["f1"])
    except (LookupError, TypeError, ValueError):
        return {}
    return dict(order_scores(tau, tau * f1)) if 0 <= tau <= 1 else {}


def _part(each: SetQuestion | HistoryQuestion) -> tuple[str, str]:
    """Return ability and conversation."""
    return each.type, each.id.rpartition("/")[0].rpartition("/")[0]


FILES = PredictionFiles(
    Meets,
    _read,
    asked_in(histories),
    "no judge's scores are stored in it; name a judge with --judge",
    asks=True,
    part=_part,
)
