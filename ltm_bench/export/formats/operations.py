"""A table of a memory's operations over the conversation: calls, seconds, tokens, dollars."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from ltm_bench.export.source import Source
from ltm_bench.score.results.run import Results

FILE = "operations.csv"

_COLUMNS = (
    "run operation position calls p50 p50_low p50_high p95 seconds tokens dollars dollars_low dollars_high"
).split()


def write_all(sources: Iterable[Source], file: BinaryIO) -> None:
    """Write the table with a header, in UTF-8. A row without a position is about the whole run."""
    text = io.TextIOWrapper(file, "utf-8", "replace", newline="")
    writer = csv.DictWriter(text, _COLUMNS)
    writer.writeheader()
    for source in sources:
        writer.writerows(_rows(source.results))
    text.detach()


def _rows(results: Results) -> Iterator[dict[str, Any]]:
    for each in results.operations:
        name = {"run": results.run, "operation": each.name}
        found = {key: getattr(each, key) for key in ("calls", "p50", "p95", "seconds", "tokens", "dollars")}
        for key, interval in (("p50", each.p50_interval), ("dollars", each.dollars_interval)):
            if interval is not None:
                found |= {f"{key}_low": interval.low, f"{key}_high": interval.high}
        yield name | found
        for at in each.along:
            yield name | {"position": at.position, "calls": at.calls, "p50": at.p50}
