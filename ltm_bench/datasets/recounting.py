"""Reads a published file by its shape.

Reading is strict, since a figure of half a file is none: a file that is cut, mixed or has a value of a wrong type gives
one line, and no figures.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError, wrong_with
from ltm_bench.datasets.answers import has_answer
from ltm_bench.datasets.longmemeval.files import TYPES
from ltm_bench.datasets.shapes import SHAPES, Known, Record, RowCount, Shape, retrieved, shape_of
from ltm_bench.datasets.streaming import AGAIN, text_in, values_in

AVERAGED = TYPES
"""The groups of rows over whose means a published figure is a mean: types of LongMemEval's questions."""


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
            raise ConfigError(f"{file.path}: row {number}: {wrong_with(error)}") from error
