"""Scores files one by one; the figures of Counting-Stars, and tables of benchmarks that are scored in rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from ltm_bench.cli.console import complain, folding_table, out
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import json_of

if TYPE_CHECKING:
    from ltm_bench.datasets.counting_stars.scorer import Figures

G = TypeVar("G")
T = TypeVar("T")


@contextmanager
def usable(given: Sequence[G], function: Callable[[G], T]) -> Iterator[list[T]]:
    """Call a function with each of what is given, for a block that prints what it returned.

    What cannot be used is named and hides nothing else, but the command fails; without the block if nothing is left.
    """
    found: list[T] = []
    for each in given:
        try:
            found.append(function(each))
        except ConfigError as error:
            complain(str(error))
    if found:
        yield found
    if len(found) < len(given):
        raise typer.Exit(1)


def row_of_file(path: Path, on_bad: Callable[[str], None]) -> dict[str, Any]:
    """Return the row of a prediction file. Raises ConfigError."""
    from ltm_bench.datasets.counting_stars.scorer import predicted

    figures = predicted(path, on_bad)
    return _row(path, figures.test, figures)


def rows_of_run(run: Path) -> list[dict[str, Any]]:
    """Return the rows of a run's tests, by the scores of its page, and of their mean. Raises ConfigError if none."""
    from ltm_bench.api import load_run
    from ltm_bench.datasets.counting_stars.scorer import Hits, figures_of, score

    tests: dict[str, list[Hits]] = {}
    for example in load_run(run).examples:
        for question in example.questions:
            if question.scorer.startswith("StarCounts") and question.reply is not None:
                hits = score(question.reply, json_of(question.expected)["counts"], example.span)
                tests.setdefault(example.scenario, []).append(hits._replace(parts=question.parts))
    if not tests:
        raise ConfigError(f"{run}: that run has no counting-stars question")
    rows = [_row(run, name, figures_of(found)) for name, found in tests.items()]
    if len(rows) > 1:  # the published ranking is by the mean over the four official tests
        mean = sum(each["score"] for each in rows) / len(rows)
        rows.append({**dict.fromkeys(rows[0], ""), "file": str(run), "test": "mean", "score": mean})
    return rows


def _row(path: Path, test: str, figures: Figures) -> dict[str, Any]:
    groups = len(figures.by_length)
    lengths = {
        f"{i}/{groups}": "" if score is None else score for i, score in enumerate(figures.by_length, start=1)
    }
    return {
        "file": str(path),
        "test": test,
        "n": figures.n,
        "hits": f"{figures.hits}/{figures.cells}",
        "score": figures.score,
        **lengths,
        "placed": figures.placed,
        "exact": f"{figures.exact}/{figures.n}",
    }


def without(row: Mapping[str, Any], column: str) -> dict[str, Any]:
    """Return a row without a column."""
    return {key: value for key, value in row.items() if key != column}


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print rows of one form as a table, or as JSON."""
    if as_json:
        out().print_json(json.dumps(rows))
        return
    table = folding_table(rows[0], ("file", "task", "test"), {"file": 18, "task": 0, "test": 18})
    for row in rows:
        table.add_row(*(_cell(key, value) for key, value in row.items()))
    out().print(table)


_LETTERS = {"utility": "U", "privacy_leak": "A", "deletion_leak": "F", "over_refusal": "refused"}
"""What GateMem calls its figures in a table."""


def print_set_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print the rows of a set's own table: all figures as JSON, else without the counts."""
    if not as_json:
        keys = dict.fromkeys(key for row in rows for key in row if not key.startswith(("n_", "action")))
        rows = [{_LETTERS.get(key, key): row.get(key) for key in keys} for row in rows]
    print_rows(rows, as_json=as_json)


def _cell(column: str, value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.{4 if column == 'score' else 2}f}"
    return Path(value).name if column == "file" else str(value)
