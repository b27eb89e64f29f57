"""The published figures for the public sets in a run."""

from collections.abc import Sequence
from pathlib import Path

from ltm_bench.datasets.marks import AnswerMark, Sheet
from ltm_bench.score.results.examples import ExampleResult, Question
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.sets import SetFigures, SetQuestion
from ltm_bench.score.statistics.published import Compared, compare_files, file_figures

BEGINNING = 3
"""Messages with which a history begins; the first is the same for all."""


def set_figures(run: str, examples: Sequence[ExampleResult]) -> list[SetFigures]:
    """Return the published figures of each public set in a run; [] without any."""
    scenarios = dict.fromkeys(example.scenario for example in examples)
    found = (_of_scenario(run, name, [e for e in examples if e.scenario == name]) for name in scenarios)
    return [each for each in found if each is not None]


def compared_sets(runs: Sequence[Results]) -> list[Compared]:
    """Compare every two runs on their common questions of public sets, by the sets' own scorers.

    The histories are the clusters: questions about one history resemble each other.
    """
    found: list[Compared] = []
    for name in dict.fromkeys(each.scenario for run in runs for each in run.sets):
        sheets = [_sheet(run.run, [e for e in run.examples if e.scenario == name]) for run in runs]
        found += compare_files([sheet for sheet in sheets if sheet is not None])
    return found


def _asked(examples: Sequence[ExampleResult]) -> list[tuple[str, Question, SetQuestion]]:
    return [
        (_history(example), question, question.published)
        for example in examples
        for question in example.questions
        if question.published is not None and question.published.id
    ]


def _history(example: ExampleResult) -> str:
    """Return what tells a history from others, even where it is told again for each question: how it begins."""
    return "\n".join(needle.text for needle in example.needles[:BEGINNING]) or example.id


def _sheet(run: str, examples: Sequence[ExampleResult]) -> Sheet | None:
    """Return the marks of a run's questions of one public set; None if none of them has a score."""
    asked = _asked(examples)
    columns = tuple(dict.fromkeys(column for _, _, of in asked for column in of.scores))
    if not columns:
        return None
    marks = tuple(
        AnswerMark(of.id, of.type, history, of.scores, of.unanswerable, bool(of.wrong_key), of.asked)
        for history, _, of in asked
        if of.scores
    )
    judges = dict.fromkeys(o.judge for _, question, _ in asked for o in question.opinions if o.scores)
    return Sheet(
        Path(run),
        columns,
        marks,
        tuple(of.id for _, _, of in asked if not of.scores),
        frozenset(of.type for _, _, of in asked if of.apart),
        ", ".join(judges) or None,
    )


def _of_scenario(run: str, name: str, examples: Sequence[ExampleResult]) -> SetFigures | None:
    sheet = _sheet(run, examples)
    if sheet is None:
        return None
    asked = [of for _, _, of in _asked(examples)]
    return SetFigures(
        **dict(file_figures(sheet)),
        scenario=name,
        types={of.type: of.named for of in asked if of.named},
        wrong={of.id: of.wrong_key for of in asked if of.wrong_key},
    )
