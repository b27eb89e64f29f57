"""The figures of prediction files: means with intervals, by type, without wrong keys, and file against file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from pydantic import BaseModel

from ltm_bench.datasets.marks import AnswerMark, Sheet
from ltm_bench.score.statistics.intervals import Interval, Paired, clustered_sum_interval, paired

OVERALL, AVERAGED, ABSTENTION = "overall", "averaged over types", "abstention"
WITHOUT_ERRATA, ERRATA = "without wrong keys", "wrong keys alone"


class Figure(BaseModel, frozen=True):
    """A mean over answers."""

    n: int
    mean: float
    low: float | None
    """The 95 % interval's ends; None for a single answer."""
    high: float | None


class Line(BaseModel, frozen=True):
    """Figures for a subset of a file's answers, by column."""

    name: str
    n: int
    figures: Mapping[str, Figure]


class FileFigures(BaseModel, frozen=True):
    """All figures of a file."""

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


class Compared(BaseModel, frozen=True):
    """Two files on the questions that both answer, in one column."""

    first: str
    second: str
    column: str
    difference: Paired


def file_figures(sheet: Sheet) -> FileFigures:
    """Return the figures of a file."""
    return FileFigures(
        file=str(sheet.path),
        n=len(sheet.marks),
        histories=len({mark.history for mark in sheet.marks}),
        missing=sheet.missing,
        wrong_keys=sum(mark.wrong_key for mark in sheet.marks),
        judge=sheet.judge,
        columns=sheet.columns,
        lines=tuple(_lines(sheet)),
    )


def _lines(sheet: Sheet) -> Iterator[Line]:
    overall = sheet.overall
    yield _line(OVERALL, overall, sheet.columns)
    types = list(dict.fromkeys(mark.type for mark in sheet.marks))
    types.sort(key=lambda name: (not name.isdigit(), name))
    by_type = [_line(name, [m for m in sheet.marks if m.type == name], sheet.columns) for name in types]
    if len(by_type) > 1:
        yield _averaged([line for line in by_type if line.name not in sheet.apart], sheet)
        yield from by_type
    unanswerable = [mark for mark in sheet.marks if mark.unanswerable]
    if unanswerable:
        yield _line(ABSTENTION, unanswerable, sheet.columns)
    wrong = [mark for mark in overall if mark.wrong_key]
    if wrong:
        yield _line(WITHOUT_ERRATA, [mark for mark in overall if not mark.wrong_key], sheet.columns)
        yield _line(ERRATA, wrong, sheet.columns)


def _line(name: str, marks: Sequence[AnswerMark], columns: Iterable[str]) -> Line:
    figures = {column: _figure([m for m in marks if column in m.scores], column) for column in columns}
    return Line(name=name, n=len(marks), figures={key: found for key, found in figures.items() if found})


def _figure(marks: Sequence[AnswerMark], column: str) -> Figure | None:
    if not marks:
        return None
    scores = [mark.scores[column] for mark in marks]
    interval = clustered_sum_interval(list(_by_history([(mark, mark.scores[column]) for mark in marks])))
    return _as_figure(len(scores), sum(scores) / len(scores), interval)


def _averaged(lines: Sequence[Line], sheet: Sheet) -> Line:
    """Return the mean of the types' means, which weighs small types as much as large ones."""
    figures = {}
    for column in sheet.columns:
        types = [line.name for line in lines if column in line.figures]
        marks = [mark for mark in sheet.marks if mark.type in types and column in mark.scores]
        if not types:
            continue
        clusters: dict[str, dict[str, list[float]]] = {}
        for mark in marks:
            clusters.setdefault(mark.history, {}).setdefault(mark.type, []).append(mark.scores[column])
        mean = sum(line.figures[column].mean for line in lines if line.name in types) / len(types)
        whole = clustered_sum_interval(list(clusters.values()))
        part = whole and Interval(low=whole.low / len(types), high=whole.high / len(types))
        figures[column] = _as_figure(len(marks), mean, part)
    return Line(name=AVERAGED, n=sum(line.n for line in lines), figures=figures)


def _as_figure(n: int, mean: float, interval: Interval | None) -> Figure:
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Figure(n=n, mean=mean, low=low, high=high)


def _by_history(pairs: Sequence[tuple[AnswerMark, float]]) -> Iterator[Mapping[str, Sequence[float]]]:
    """Yield the values of each history, as one stratum; all at once if every history has one question."""
    found: dict[str, list[float]] = {}
    for mark, value in pairs:
        found.setdefault(mark.history, []).append(value)
    if len(found) == len(pairs):
        yield {"": [value for values in found.values() for value in values]}
        return
    for values in found.values():
        yield {"": values}


def compare_files(sheets: Sequence[Sheet]) -> list[Compared]:
    """Compare every two files that share a column, on the questions that both answer: of equal id, and equal words."""
    found = []
    for first, second in combinations(sheets, 2):
        others = {mark.id: mark for mark in second.overall}
        for column in first.columns:
            pairs = [
                (mark, mark.scores[column] - others[mark.id].scores[column])
                for mark in first.overall
                if mark.id in others and column in mark.scores and column in others[mark.id].scores
                if mark.asked == others[mark.id].asked or "" in (mark.asked, others[mark.id].asked)
            ]
            if not pairs:
                continue
            clusters = list(_by_history(pairs))
            found.append(
                Compared(
                    first=str(first.path), second=str(second.path), column=column, difference=paired(clusters)
                )
            )
    return found
