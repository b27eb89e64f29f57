"""The figures of public sets in runs and files: means with intervals, by type, without wrong keys, and in pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from pydantic import BaseModel

from ltm_bench.datasets.marks import SetQuestion, SetReplies
from ltm_bench.score.statistics.figures import Figure, Row, figures, paired
from ltm_bench.score.statistics.intervals import Paired

OVERALL, AVERAGED, ABSTENTION = "overall", "averaged over types", "abstention"
WITHOUT_ERRATA, ERRATA = "without wrong keys", "wrong keys alone"


class Line(BaseModel, frozen=True):
    """Figures for a subset of a file's answers, by column."""

    name: str
    n: int
    figures: Mapping[str, Figure]


class SetFigures(BaseModel, frozen=True):
    """The published figures of a public set in a run or a file."""

    file: str
    n: int
    """Answers."""
    histories: int
    missing: tuple[str, ...]
    """Questions of the data without an answer; they are not part of any figure."""
    wrong_keys: int
    """Answers whose published key is known to be wrong."""
    judge: str | None
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    scenario: str
    """Empty for a file."""
    types: dict[str, str]
    """Descriptions of types whose names are not enough."""
    wrong: dict[str, str]
    """Why keys are known to be wrong, by the ids of the questions that were asked."""


class Compared(BaseModel, frozen=True):
    """Two files on the questions that both answer, in one column."""

    first: str
    second: str
    column: str
    difference: Paired


Asked = Sequence[tuple[str, SetQuestion]]
"""Questions with the names of their histories."""


def figures_of(replies: SetReplies, scenario: str = "", asked: Iterable[SetQuestion] = ()) -> SetFigures:
    """Return the figures of a run or a file.

    Args:
        replies: Its replies.
        scenario: The scenario that asked the questions in a run.
        asked: The questions that it asked, if the replies do not tell them all.
    """
    named = [*asked] or [each for _, each in replies.asked]
    return SetFigures(
        file=replies.file,
        n=len(replies.asked),
        histories=len({history for history, _ in replies.asked}),
        missing=tuple(replies.missing),
        wrong_keys=sum(bool(each.wrong_key) for _, each in replies.asked),
        judge=replies.judge,
        columns=tuple(replies.columns),
        lines=tuple(_lines(replies)),
        scenario=scenario,
        types={each.type: each.named for each in named if each.named},
        wrong={each.id: each.wrong_key for each in named if each.wrong_key},
    )


def _lines(replies: SetReplies) -> Iterator[Line]:
    overall, columns = replies.overall, replies.columns
    yield _line(OVERALL, overall, columns)
    order = sorted({of.type for _, of in replies.asked}, key=lambda name: (not name.isdigit(), name))
    by_type = [
        _line(name, [each for each in replies.asked if each[1].type == name], columns) for name in order
    ]
    if len(by_type) > 1:
        yield _line(AVERAGED, [each for each in replies.asked if not each[1].apart], columns, averaged=True)
        yield from by_type
    if unanswerable := [each for each in replies.asked if each[1].unanswerable]:
        yield _line(ABSTENTION, unanswerable, columns)
    if wrong := [each for each in overall if each[1].wrong_key]:
        yield _line(WITHOUT_ERRATA, [each for each in overall if not each[1].wrong_key], columns)
        yield _line(ERRATA, wrong, columns)


def _line(name: str, asked: Asked, columns: Sequence[str], *, averaged: bool = False) -> Line:
    """Return the figures over some answers; averaged, small types weigh as much as large ones."""
    found = figures(_rows(asked, columns, averaged=averaged), lambda row: [row.how], alone=not averaged)
    return Line(
        name=name, n=len(asked), figures={each.name: each.model_copy(update={"name": ""}) for each in found}
    )


def _rows(asked: Asked, columns: Sequence[str], *, averaged: bool = False) -> Iterator[Row]:
    for column in columns:
        for history, of in asked:
            if column in of.scores:
                yield Row(
                    of.scores[column], of.type if averaged else "", run=history, asked=of.id, how=column
                )


def compare_sets(replies: Sequence[SetReplies]) -> list[Compared]:
    """Compare every two that share a column, on the questions that both answer: of equal id, and equal words."""
    found = []
    for first, second in combinations(replies, 2):
        others = {of.id: ("", of) for _, of in second.overall}
        alike = [
            (history, of) for history, of in first.overall if of.id in others and _alike(of, others[of.id][1])
        ]
        for column in first.columns:
            ours, theirs = (_rows(each, [column]) for each in (alike, [*others.values()]))
            difference = paired(ours, theirs, lambda row: row.asked, alone=True)
            if difference.n:
                found.append(
                    Compared(first=first.file, second=second.file, column=column, difference=difference)
                )
    return found


def _alike(one: SetQuestion, other: SetQuestion) -> bool:
    return one.asked == other.asked or "" in (one.asked, other.asked)
