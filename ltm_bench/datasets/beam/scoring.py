"""Scores prediction files of BEAM, where they hold what a judge said of each rubric item.

The published programs write an object from abilities to lists, in the order of the questions: `llm_response`, and,
once judged, `llm_judge_responses` (one object with `score` for each item) and, for the order of events, `f1` and
`tau_norm`. Other files name question and ability in each row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.beam.files import ABILITIES, contradicts, histories
from ltm_bench.datasets.beam.scorer import (
    MODES,
    ORDER,
    Mode,
    aligned,
    event_order,
    prompt,
    read_score,
    rubric_score,
    same_prompt,
    score_of,
)
from ltm_bench.datasets.dialogue import OnBad, Question
from ltm_bench.datasets.errata import errata
from ltm_bench.datasets.judging import Ask, together
from ltm_bench.datasets.marks import Mark, Sheet
from ltm_bench.datasets.streaming import read_value

_SCORES = ("llm_judge_responses", "nugget_scores", "criterion_scores", "judge_checks", "rubric_scores")


def questions_of(data: Path | None, on_bad: OnBad) -> dict[str, Question]:
    """Return the questions of conversations by id; {} for None. Raises ConfigError."""
    found = histories(data, on_bad) if data else ()
    return {question.id: question for history in found for question in history.questions}


def rows_of(path: Path, questions: Mapping[str, Question]) -> list[tuple[str, str, str, Mapping[str, Any]]]:
    """Return id, ability, conversation and row of each answer. Raises ConfigError if there is none."""
    found: list[tuple[str, str, str, Mapping[str, Any]]] = []
    by_text = {_squeezed(question.text): name for name, question in questions.items()}
    for where, ability, place, row in _walk(read_value(path), "", ""):
        name = by_text.get(_squeezed(str(row.get("question", ""))))
        conversation = name.rpartition(f"/{ability}/")[0] if name else where or path.resolve().parent.name
        found.append((name or f"{conversation}/{ability}/{place}", ability, conversation, row))
    if not found:
        raise ConfigError(f"{path}: there is no list of answers by ability in it")
    return found


def _walk(value: Any, where: str, ability: str) -> list[tuple[str, str, int, Mapping[str, Any]]]:
    found: list[tuple[str, str, int, Mapping[str, Any]]] = []
    if isinstance(value, list):
        counted: dict[str, int] = {}
        for each in value:
            if not isinstance(each, Mapping):
                continue
            own = str(each.get("ability") or each.get("category") or each.get("question_type") or ability)
            if own in ABILITIES:
                place = counted.get(own, 0)
                counted[own] = place + 1
                home = str(each.get("conversation_id") or each.get("conv") or each.get("conv_id") or where)
                found.append((home, own, int(each.get("idx", place)), each))
            else:
                found += _walk(each, where, "")
    elif isinstance(value, Mapping):
        for key, each in value.items():
            name = str(value.get("conversation_id") or value.get("conv_id") or where)
            inner = name if key in ABILITIES or isinstance(each, list) else name or str(key)
            found += _walk(each, inner, key if key in ABILITIES else "")
    return found


def _squeezed(text: str) -> str:
    return " ".join(text.split()).casefold()


class Judged(NamedTuple):
    """What a judge says of an answer."""

    items: Mapping[Mode, Sequence[float]]
    """Its score of each item of the rubric, in either mode."""
    order: float | None
    """τ × F1 for the order of events; None for other abilities."""


async def judged(
    path: Path, questions: Mapping[str, Question], ask: Ask, *, on_bad: OnBad
) -> dict[str, Judged]:
    """Return what a judge says of the answers without stored scores, by question; those it fails on are left out.

    Args:
        path: A prediction file.
        questions: Those of the data.
        ask: The judge.
        on_bad: Is told of answers that cannot be read.
    """

    async def one(name: str, said: str) -> tuple[str, Judged | None]:
        question = questions[name]
        items = {}
        for mode in MODES:
            heard = [await ask(prompt(question, item, said, mode)) for item in question.rubric]
            scores = [read_score(each) for each in heard if each is not None]
            found = [score for score in scores if score is not None]
            if len(found) < len(question.rubric):
                on_bad(f"{path}: {name}: not judged: the judge failed, or gave no score")
                return name, None
            items[mode] = found
        order = await _told_order(question, said, ask) if question.type == ORDER else None
        return name, Judged(items, order)

    asked = [
        one(name, str(row["llm_response"]))
        for name, _, _, row in rows_of(path, questions)
        if name in questions and row.get("llm_response") is not None and _stored(row) is None
    ]
    return {name: found for name, found in await together(asked) if found is not None}


async def _told_order(question: Question, said: str, ask: Ask) -> float:
    """Return τ × F1 of the lines of an answer, as the published program splits them: at line ends, and nothing else."""
    matching = aligned(question.rubric, said.split("\n"))
    same: bool | None = None
    while True:
        try:
            event, line = next(matching) if same is None else matching.send(same)
        except StopIteration as done:
            return event_order(question.rubric, done.value).score
        same = "yes" in (await ask(same_prompt(event, line)) or "").lower()


def score_file(
    path: Path,
    questions: Mapping[str, Question],
    on_bad: OnBad,
    *,
    heard: Mapping[str, Judged] | None = None,
    judge: str | None = None,
) -> Sheet:
    """Return the marks of a judged file. Raises ConfigError if nothing in it is judged.

    Args:
        path: The file.
        questions: Those of the data; {} if it is not at hand.
        on_bad: Is told of each answer that is not judged.
        heard: What a judge says of answers without stored scores.
        judge: That judge's name.
    """
    marks: dict[str, Mark] = {}
    for name, ability, conversation, row in rows_of(path, questions):
        if heard is not None and name in heard:
            items, order = heard[name]
            marks[name] = mark_of(name, ability, conversation, items, order, questions.get(name))
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
        both = dict.fromkeys(MODES, scores)
        marks[name] = mark_of(name, ability, conversation, both, _order(row), question)
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
    return Sheet(path, MODES, tuple(marks.values()), missing, judge=judge)


def mark_of(
    name: str,
    ability: str,
    conversation: str,
    items: Mapping[Mode, Sequence[float]],
    order: float | None,
    question: Question | None,
) -> Mark:
    """Return the mark of an answer.

    Args:
        name: The question's id.
        ability: The question's ability.
        conversation: What it asks about.
        items: What the judge gave for each rubric item, by mode.
        order: τ × F1 for the order of events, which then is the score; None where it was not worked out.
        question: The question, where the data is at hand: some keys contradict themselves.
    """
    by_mode = {mode: rubric_score(items[mode], ability, mode) for mode in MODES}
    if ability == ORDER and order is not None:
        by_mode = dict.fromkeys(MODES, order)
    return Mark(
        name,
        ability,
        conversation,
        {str(mode): score for mode, score in by_mode.items()},
        wrong_key=name in errata("beam") or (question is not None and contradicts(question)),
    )


def _stored(row: Mapping[str, Any]) -> list[float] | None:
    value = next((row[key] for key in _SCORES if row.get(key)), None)
    if not isinstance(value, list):
        return None
    scores = [score_of(each) for each in value]
    return [score for score in scores if score is not None] if None not in scores else None


def _order(row: Mapping[str, Any]) -> float | None:
    inner = row.get("event_ordering")
    told = {**row, **inner} if isinstance(inner, Mapping) else row
    try:
        if "f1" in told and "tau_norm" in told:
            return float(told["f1"]) * float(told["tau_norm"])
        return float(told["final_score"]) if "final_score" in told else None
    except (TypeError, ValueError):
        return None
