"""JSON Lines, with an object for every question and its texts unchanged."""

import io

import jsonlines

from ltm_bench.export.rows import rows
from ltm_bench.export.source import Source

FILE = "export.jsonl"


def write(source: Source) -> bytes:
    """Return the lines in UTF-8."""
    text = io.StringIO()
    with jsonlines.Writer(text, compact=True) as writer:
        writer.write_all(rows(source.results))
    # UTF-8 has no lone surrogates; written with a backslash, each becomes JSON's own escape.
    return text.getvalue().encode("utf-8", "backslashreplace")
