"""JSON Lines, with an object for every question and its texts unchanged."""

import io
from collections.abc import Iterable
from typing import BinaryIO

import jsonlines

from ltm_bench.export.rows import rows
from ltm_bench.export.source import Source

FILE = "export.jsonl"


def write_all(sources: Iterable[Source], file: BinaryIO) -> None:
    """Write the lines in UTF-8."""
    # UTF-8 has no lone surrogates; written with a backslash, each becomes JSON's own escape.
    text = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="\n")
    with jsonlines.Writer(text, compact=True) as writer:
        for source in sources:
            writer.write_all(rows(source.results))
    text.detach()
