"""The figures of public sets in runs and files: means with intervals, by type, without wrong keys, and in pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from pydantic import BaseModel

from ltm_bench.datasets.marks import SetQuestion, SetReplies
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
    types = {of.type: of.apart for _, of in replies.asked}
    order = sorted(types, key=lambda name: (not name.isdigit(), name))
    by_type = [
        _line(name, [each for each in replies.asked if each[1].type == name], columns) for name in order
    ]
    if len(by_type) > 1:
        yield _averaged([line for line in by_type if not types[line.name]], replies)
        yield from by_type
    if unanswerable := [each for each in replies.asked if each[1].unanswerable]:
        yield _line(ABSTENTION, unanswerable, columns)
    if wrong := [each for each in overall if each[1].wrong_key]:
        yield _line(WITHOUT_ERRATA, [each for each in overall if not each[1].wrong_key], columns)
        yield _line(ERRATA, wrong, columns)


def _line(name: str, asked: Asked, columns: Iterable[str]) -> Line:
    figures = {}
    for column in columns:
        values = [(history, of.scores[column]) for history, of in asked if column in of.scores]
        if values:
            mean = sum(value for _, value in values) / len(values)
            figures[column] = _figure(len(values), mean, clustered_sum_interval(_by_history(values)))
    return Line(name=name, n=len(asked), figures=figures)


def _averaged(lines: Sequence[Line], replies: SetReplies) -> Line:
    """Return the mean of the types' means, which weighs small types as much as large ones."""
    figures = {}
    for column in replies.columns:
        means = {line.name: line.figures[column].mean for line in lines if column in line.figures}
        clusters: dict[str, dict[str, list[float]]] = {}
        n = 0
        for history, of in replies.asked:
            if of.type in means and column in of.scores:
                clusters.setdefault(history, {}).setdefault(of.type, []).append(of.scores[column])
                n += 1
        if means:
            whole = clustered_sum_interval(list(clusters.values()))
            part = whole and Interval(low=whole.low / len(means), high=whole.high / len(means))
            figures[column] = _figure(n, sum(means.values()) / len(means), part)
    return Line(name=AVERAGED, n=sum(line.n for line in lines), figures=figures)


def _figure(n: int, mean: float, interval: Interval | None) -> Figure:
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Figure(n=n, mean=mean, low=low, high=high)


def _by_history(values: Sequence[tuple[str, float]]) -> list[Mapping[str, Sequence[float]]]:
    """Return the values of each history, as one stratum; all at once if every history has one question."""
    found: dict[str, list[float]] = {}
    for history, value in values:
        found.setdefault(history, []).append(value)
    if len(found) == len(values):
        return [{"": [value for _, value in values]}]
    return [{"": each} for each in found.values()]


def compare_sets(replies: Sequence[SetReplies]) -> list[Compared]:
    """Compare every two that share a column, on the questions that both answer: of equal id, and equal words."""
    found = []
    for first, second in combinations(replies, 2):
        others = {of.id: of for _, of in second.overall}
        for column in first.columns:
            pairs = [
                (history, of.scores[column] - others[of.id].scores[column])
                for history, of in first.overall
                if of.id in others and column in of.scores and column in others[of.id].scores
                if of.asked == others[of.id].asked or "" in (of.asked, others[of.id].asked)
            ]
            if pairs:
                difference = paired(_by_history(pairs))
                found.append(
                    Compared(first=first.file, second=second.file, column=column, difference=difference)
                )
    return found
