"""A table with a row for every question, for spreadsheets."""

import csv
import io
from typing import Any

from ltm_bench.export.rows import COLUMNS, rows
from ltm_bench.export.source import Source

FILE = "export.csv"

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet reads as the start of a formula."""


def write(source: Source) -> bytes:
    """Return the table with a header, in UTF-8. A cell that could be a formula begins with an apostrophe."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for row in rows(source.results):
        writer.writerow([_cell(value) for value in row.values()])
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = " ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
