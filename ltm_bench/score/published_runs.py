"""The published figures of the public sets that a run asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ltm_bench.datasets.marks import Mark, Sheet
from ltm_bench.score.published import file_figures
from ltm_bench.score.results import ExampleResult
from ltm_bench.score.sets import SetFigures


def set_figures(run: str, examples: Sequence[ExampleResult]) -> list[SetFigures]:
    """Return the published figures of each public set in a run; [] where it asked none."""
    scenarios = dict.fromkeys(example.scenario for example in examples)
    found = (_of_scenario(run, name, [e for e in examples if e.scenario == name]) for name in scenarios)
    return [each for each in found if each is not None]


def _of_scenario(run: str, name: str, examples: Sequence[ExampleResult]) -> SetFigures | None:
    asked = [
        (example.id, question, question.published)
        for example in examples
        for question in example.questions
        if question.published is not None and question.published.id
    ]
    columns = tuple(dict.fromkeys(column for _, _, of in asked for column in of.scores))
    if not columns:
        return None
    marks = tuple(
        Mark(of.id, of.type, history, of.scores, of.unanswerable, bool(of.wrong_key))
        for history, _, of in asked
        if of.scores
    )
    judges = dict.fromkeys(o.judge for _, question, _ in asked for o in question.opinions if o.scores)
    sheet = Sheet(
        Path(run),
        columns,
        marks,
        tuple(of.id for _, _, of in asked if not of.scores),
        frozenset(of.type for _, _, of in asked if of.apart),
        ", ".join(judges) or None,
    )
    return SetFigures(
        **dict(file_figures(sheet)),
        scenario=name,
        types={of.type: of.named for _, _, of in asked if of.named},
        wrong={of.id: of.wrong_key for _, _, of in asked if of.wrong_key},
    )
