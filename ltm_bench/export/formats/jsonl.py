"""JSON Lines, with an object for every question and its texts unchanged."""

import io
import json
from collections.abc import Iterable
from typing import BinaryIO

from ltm_bench.export.rows import rows
from ltm_bench.export.source import Source

FILE = "export.jsonl"


def write_all(sources: Iterable[Source], file: BinaryIO) -> None:
    """Write the lines in UTF-8."""
    # UTF-8 has no lone surrogates; written with a backslash, each becomes JSON's own escape.
    text = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="\n")
    for source in sources:
        for row in rows(source.results):
            text.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    text.detach()
