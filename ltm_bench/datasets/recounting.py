"""Reads a published file by its shape, and counts its figures again from its rows.

Reading is strict, since a figure of half a file is none: a file that is cut, mixed or has a value of a wrong type gives
one line, and no figures.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.answers import has_answer
from ltm_bench.datasets.longmemeval.files import TYPES
from ltm_bench.datasets.shapes import SHAPES, Known, Record, RowCount, Shape, retrieved, shape_of
from ltm_bench.datasets.streaming import AGAIN, text_in, values_in


class PublishedFile(NamedTuple):
    """A file that was read."""

    path: Path
    shape: Shape
    rows: Sequence[Record]
    head: Record
    """What a file says besides its rows: its published figures."""

    @property
    def holds_retrieved(self) -> bool:
        """Whether its rows hold what a memory returned for the questions of LoCoMo."""
        return self.shape.count is retrieved

    @property
    def holds_replies(self) -> bool:
        """Whether its rows hold what a system answered, so that its set can score them."""
        return self.shape.is_of_replies or has_answer(self.rows[0])


class Tallied(BaseModel, frozen=True):
    """A figure, counted from rows."""

    measure: str
    group: str
    """`all`, or a subset."""
    total: float
    n: int
    mean: float


class Agreed(BaseModel, frozen=True):
    """A figure that a file states about itself, and ours."""

    name: str
    published: float | None
    ours: float | None


class Recounts(BaseModel, frozen=True):
    """All figures of a file."""

    file: str
    what: str
    """The kind of file."""
    rows: int
    figures: tuple[Tallied, ...]
    stated: tuple[Agreed, ...]
    notes: tuple[str, ...]
    """What does not follow from the rows, or is often mistaken."""

    @property
    def odd(self) -> Iterator[str]:
        """What to say about it: stated figures that are not ours, and the notes."""
        for each in self.stated:
            if each.published != each.ours:
                yield f"  {each.name}: published {each.published}, counted {each.ours}"
        yield from self.notes


def read_published(path: Path) -> PublishedFile:
    """Read a file. Raises ConfigError if it is damaged, of no known kind, or of several."""
    file = known_file(path)
    if isinstance(file, str):
        raise ConfigError(f"{path}: a file of no known kind ({file}); docs/datasets.md lists what is read")
    return file


def known_file(path: Path) -> PublishedFile | str:
    """Return a file, or the keys of one of no known kind. Raises ConfigError if it is damaged, or of several kinds."""
    text = text_in(path)
    head: dict[str, Any] = {}
    rows = list(_rows(path, text, head))
    shape = shape_of(rows[0]) if rows and isinstance(rows[0], dict) else None
    if shape is None:
        return ", ".join(rows[0])[:100] if rows and isinstance(rows[0], dict) else "no rows"
    names: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not shape.fits(row):
            other = shape_of(row) if isinstance(row, dict) else None
            what = (
                f"is of another kind, {other.about}" if other else f"is {str(row)[:60]!r}; keys are missing"
            )
            raise ConfigError(f"{path}: row {number} {what}; the first is of {shape.about}")
        if (name := shape.name_of(row)) and names.setdefault(name, number) != number:
            raise ConfigError(f"{path}: row {number} is {name}, as row {names[name]}: two files in one?")
    return PublishedFile(path, shape, rows, head)


def _rows(path: Path, text: str, head: dict[str, Any]) -> Iterator[Any]:
    """Yield the rows of a table, of JSON Lines, or of JSON: of lists under keys, or a lone object."""
    if text.lstrip()[:1] not in ("[", "{"):
        table = csv.DictReader(io.StringIO(text, newline=""))
        before = csv.field_size_limit(len(text))  # Python's own limit is less than a published reply can have
        try:
            for row in table:
                yield {key: value for key, value in row.items() if key is not None and value is not None}
        except csv.Error as error:
            raise ConfigError(
                f"{path}:{table.reader.line_num}: not a row of a table: {error}; {AGAIN}"
            ) from error
        finally:
            csv.field_size_limit(before)
        return
    values = list(values_in(path, text))
    if len(values) != 1 or values[0][0]:
        yield from (value for _, value in values)
        return
    whole = values[0][1]
    inside = whole.items() if isinstance(whole, dict) and not shape_of(whole) else ()
    lists = {key: value for key, value in inside if isinstance(value, list) and value}
    if not lists:
        yield from whole if isinstance(whole, list) else [whole]
        return
    head.update((key, value) for key, value in whole.items() if key not in lists)
    for key, rows in lists.items():
        for row in rows:
            yield {"id": row, "question_type": key} if isinstance(row, str) else row


def has_known_kinds(dataset: str) -> bool:
    """Whether files of a set are known by their rows."""
    return any(each.dataset == dataset for each in SHAPES)


def explaining(path: Path) -> Iterator[PublishedFile]:
    """Yield a file, or those of a folder that are of a known kind. Raises ConfigError for a single one."""
    for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
        with suppress(*([ConfigError] if path.is_dir() else [])):
            yield read_published(each)


def learn(files: Sequence[PublishedFile]) -> Known:
    """Return the rows of files that explain others: questions, rules, replies."""
    known: Known = {}
    for file in files:
        rows = known.setdefault(file.shape.role, {})
        for row in file.rows:
            name = file.shape.name_of(row)
            rows[name] = {**rows.get(name, {}), **row}
    return known


def counts_of(file: PublishedFile, known: Known) -> Iterator[RowCount]:
    """Yield what each row adds to a file's figures. Raises ConfigError for a bad value."""
    for number, row in enumerate(file.rows, start=1):
        try:
            file.shape.check(row)
            yield file.shape.count(row, known)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            # Python's words name no key.
            said = "one of its values has another type than in files of this kind"
            if isinstance(error, ValueError | KeyError):
                said = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise ConfigError(f"{file.path}: row {number}: {said}") from error


def recount(file: PublishedFile, known: Known) -> Recounts:
    """Return a file's figures, those that it states, and what is odd about it. Raises ConfigError for a bad value."""
    counted = list(counts_of(file, known))
    figures = {(each.measure, each.group): each for each in _figures(counted)}
    means = [figures["right", each].mean for each in TYPES if ("right", each) in figures]
    if means:
        name, total = f"mean of {len(means)} types", reduce(add, means)
        mean = Tallied(measure="right", group=name, total=total, n=len(means), mean=total / len(means))
        figures["right", name] = mean
    return Recounts(
        file=str(file.path),
        what=file.shape.about,
        rows=len(file.rows),
        figures=tuple(figures.values()),
        stated=tuple(_stated(file.head, figures, "all")),
        notes=tuple(_notes(file, known, counted, figures)),
    )


def _figures(counted: Sequence[RowCount]) -> Iterator[Tallied]:
    """Yield sums by group and measure; added from left to right, as the published programs do."""
    groups: dict[str, dict[str, tuple[float, int]]] = {}
    for each in counted:
        for group in dict.fromkeys(("all", *each.groups)):
            sums = groups.setdefault(group, {})
            for measure, (amount, of) in each.amounts.items():
                total, n = sums.get(measure, (0, 0))
                sums[measure] = total + amount * bool(of), n + of
    for group in sorted(groups, key=lambda name: (name != "all", name)):
        for measure, (total, n) in groups[group].items():
            if n:
                yield Tallied(measure=measure, group=group, total=total, n=n, mean=total / n)


_STATED = {
    "meanPrecision": "precision",
    "meanRecall": "recall",
    "totalPassed": "passed",
    "passed": "passed",
    "activeRetrieval": "active retrieval",
    "structural": "structural",
    "triviallyEmpty": "trivially empty",
    "accuracy": "right",
}
"""Names under which files state figures, and our measures: sums, or means to the digits given, four at least."""


def _stated(head: Record, figures: Mapping[tuple[str, str], Tallied], group: str) -> Iterator[Agreed]:
    for key, value in head.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Mapping):
                yield from _stated(each, figures, str(each.get("category", group)))
        if key in _STATED and (value is None or isinstance(value, int | float)):
            ours, mean = figures.get((_STATED[key], group)), key.startswith(("mean", "acc"))
            scale = 10 ** max(4, len(str(value).partition(".")[2]))
            shown = None if ours is None else int(ours.mean * scale + 0.5) / scale if mean else ours.total
            yield Agreed(name=f"{key}, {group}", published=value, ours=shown)


def _notes(
    file: PublishedFile, known: Known, counted: Sequence[RowCount], figures: Mapping[tuple[str, str], Tallied]
) -> Iterator[str]:
    odd: dict[str, list[int]] = {}
    for number, each in enumerate(counted, start=1):
        for measure in each.differs:
            odd.setdefault(measure, []).append(number)
    for measure, numbers in odd.items():
        what = "the verdict belongs to another reply than that of the file without verdicts"
        what = what if measure == "reply" else f"the stored {measure} does not follow"
        yield f"in {len(numbers)} of {len(counted)} rows {what} (rows {', '.join(map(str, numbers[:20]))})"
    if nothing := sum(not each.amounts for each in counted):
        lacks = "give questions, official prompts and judged replies with --data"
        yield f"{nothing} of {len(counted)} hashes are compared with nothing: {lacks}"
    majority, votes = figures.get(("majority", "all")), figures.get(("judgments", "all"))
    if majority and votes and votes.mean != majority.mean:
        yield (
            f"a majority of its judgments gives {majority.total:g} right rows, their mean "
            f"{votes.mean * majority.n:.2f}: both are quoted as its accuracy"
        )
    labels = [row["autoeval_label"] for row in file.rows if isinstance(row.get("autoeval_label"), dict)]
    judges = {str(each.get("model")) for each in labels}
    if len(judges) > 1:
        yield f"several judges: {', '.join(sorted(judges))}; no official figure mixes them"
    questions, named = known.get("question", {}), {str(row.get("question_id")) for row in file.rows}
    kinds = {tuple(questions[name]) for name in named if name in questions}
    asked = {name for name, row in questions.items() if tuple(row) in kinds}  # those of the same set
    if file.shape.role != "question" and asked - named:
        yield f"{len(asked - named)} of {len(asked)} questions of the data have no row: a part, or a cut file"
