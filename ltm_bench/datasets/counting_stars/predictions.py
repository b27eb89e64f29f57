"""Prediction files of Counting-Stars, and its published figures: by length, with ours about order beside them.

A file is a JSON list, or JSON lines, of objects with `answer` (what the model said) and `reference_counting_results`
(the M counts); `context_size` or `sky_size` is the length of the text. In the reasoning test each star is first counted
wrongly. The files do not hold those wrong counts: they are in the full prompt (`question`), if it was kept, and in a
table that the published scorer reads.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError, wrong_with
from ltm_bench.datasets.counting_stars.matcher import StarList
from ltm_bench.datasets.counting_stars.scorer import Hits
from ltm_bench.datasets.predictions import Data, Prediction, PredictionFiles, all_in_files
from ltm_bench.datasets.streaming import OnBad, read_predictions
from ltm_bench.datasets.values import text_of

_FIRST_COUNTED = {
    15: 16, 117: 116, 42: 43, 69: 70, 58: 59, 107: 106, 9: 8, 49: 48, 113: 112, 66: 67, 26: 25, 102: 101, 81: 82,
    94: 93, 77: 76, 61: 62, 5: 6, 19: 18, 109: 108, 3: 4, 35: 34, 54: 53, 86: 85, 89: 90, 127: 126, 21: 22, 46: 45,
    122: 121, 38: 39, 97: 96, 74: 75, 29: 30,
}  # fmt: skip
"""The wrong count of each star of the published test with 32 stars."""

_CORRECTED = re.compile(r"(\d{1,9}) ?[颗]?★[^★\d]{1,200}(\d{1,9}) ?[颗]?★")
"""A wrong count and the right one, in one sentence. Linear: at most 200 characters lie between two stars."""

BUCKETS = 4
"""Number of groups of answers, by length."""


def _read(path: Path, data: Data, on_bad: OnBad) -> Iterator[Prediction]:
    """Yield the replies of a file. Raises ConfigError if one of its rows is none, or if it is of two tests."""
    reasoning = "reasoning" in path.name.casefold()
    try:
        found = [
            _prediction(row, number, reasoning=reasoning) for number, row in read_predictions(path, on_bad)
        ]
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise ConfigError(f"{path}: not a prediction file of Counting-Stars: {wrong_with(error)}") from error
    if len({each.history for each in found}) > 1:
        raise ConfigError(f"{path}: some answers belong to the reasoning test, others do not: split the file")
    return iter(found)


def _prediction(row: Mapping[str, Any], number: int, *, reasoning: bool) -> Prediction:
    """Return a row's reply. Raises LookupError, TypeError or ValueError for other rows."""
    counts = [int(count) for count in row["reference_counting_results"]]
    if not counts:
        raise ValueError("reference_counting_results is empty; it must be the right counts")
    mistaken = _mistaken(row, counts) if reasoning or _is_reasoning(row) else ()
    test = "reasoning" if mistaken else "searching"
    size = int(row.get("context_size", row.get("sky_size", 0)))
    expect = StarList(tuple(counts), test, tuple(mistaken), size, f"{test}/{number}")
    return Prediction(test, str(row.get("retrieval_question", "")), expect, text_of(row["answer"]))


def _mistaken(row: Mapping[str, Any], reference: Sequence[int]) -> list[int]:
    """Return the count that each star was first given. Raises ValueError if neither prompt nor table has it."""
    told = {int(right): int(wrong) for wrong, right in _CORRECTED.findall(str(row.get("question", "")))}
    for table in (told, _FIRST_COUNTED):
        if all(count in table for count in reference):
            return [table[count] for count in reference]
    raise ValueError(
        "it is of the reasoning test, and nothing says which wrong counts came before the right ones: "
        "keep the whole prompt in `question`"
    )


def _is_reasoning(row: Mapping[str, Any]) -> bool:
    asked = str(row.get("retrieval_question") or row.get("question", ""))[-2000:]
    return "正确" in asked or re.search(r"\bcorrect(?:ly)?\b", asked) is not None


def _rows(said: Mapping[str, Sequence[Prediction]], data: Data) -> list[dict[str, Any]]:
    """Return a row for each test of a file or a run, and their mean, by which the published ranking is."""
    found: list[dict[str, Any]] = []
    for file, replies in said.items():
        tests: dict[str, list[Hits]] = {}
        for each in replies:
            if isinstance(each.expect, StarList):
                tests.setdefault(each.expect.test, []).append(each.expect.hits(each.reply or ""))
        rows = [_row(file, test, hits) for test, hits in tests.items()]
        mean = sum(row["score"] for row in rows) / len(rows)
        found += rows
        if len(rows) > 1:
            found.append({**dict.fromkeys(rows[0], ""), "file": file, "test": "mean", "score": mean})
    return found


def _row(file: str, test: str, found: Sequence[Hits]) -> dict[str, Any]:
    """Return the figures of the answers to one test; by length from the shortest texts on, where lengths are known."""
    cells = sum(len(row.parts) for row in found)
    ordered = sorted(found, key=lambda row: row.size)
    cuts = [i * len(found) // BUCKETS for i in range(BUCKETS + 1)]
    groups = {f"{i + 1}/{BUCKETS}": ordered[cuts[i] : cuts[i + 1]] for i in range(BUCKETS)}
    return {
        "file": file,
        "test": test,
        "n": len(found),
        "hits": f"{sum(part == 1 for row in found for part in row.parts)}/{cells}",
        "score": _mean(found),
        **{name: _mean(group) if group and found[0].size else "" for name, group in groups.items()},
        "placed": round(sum(row.placed for row in found) / cells, 4),
        "exact": f"{sum(row.exact for row in found)}/{len(found)}",
    }


def _mean(found: Sequence[Hits]) -> float:
    return round(sum(sum(row.parts) for row in found) / sum(len(row.parts) for row in found), 4)


FILES = PredictionFiles(StarList, _read, all_in_files, "it has no answer", rows=_rows)
