"""A table with a row for every question, for spreadsheets."""

import csv
import io
from collections.abc import Iterable
from typing import Any, BinaryIO

from ltm_bench.export.rows import COLUMNS, rows
from ltm_bench.export.source import Source

FILE = "export.csv"

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet reads as the start of a formula."""


def write_all(sources: Iterable[Source], file: BinaryIO) -> None:
    """Write the table with a header, in UTF-8. A cell that could be a formula begins with an apostrophe."""
    text = io.TextIOWrapper(file, "utf-8", "replace", newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for source in sources:
        for row in rows(source.results):
            writer.writerow([_cell(value) for value in row.values()])
    text.detach()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = " ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
