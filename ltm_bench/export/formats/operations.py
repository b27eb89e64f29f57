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
        median, price = each.p50_interval, each.dollars_interval
        yield {
            "run": results.run,
            "operation": each.name,
            "calls": each.calls,
            "p50": each.p50,
            "p50_low": median and median.low,
            "p50_high": median and median.high,
            "p95": each.p95,
            "seconds": each.seconds,
            "tokens": each.tokens,
            "dollars": each.dollars,
            "dollars_low": price and price.low,
            "dollars_high": price and price.high,
        }
        for stretch in each.along:
            yield {
                "run": results.run,
                "operation": each.name,
                "position": stretch.position,
                "calls": stretch.calls,
                "p50": stretch.p50,
            }
