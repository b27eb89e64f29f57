"""The figures of prediction files, in the terminal and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_bench.cli.console import folding_table, out, safe

if TYPE_CHECKING:
    from ltm_bench.datasets.marks import SetReplies
    from ltm_bench.judge.panel import Panel
    from ltm_bench.judge.vague import FalseAccepts
    from ltm_bench.score.statistics.figures import Figure
    from ltm_bench.score.statistics.published import Compared, SetFigures
    from ltm_bench.score.statistics.recounts import Recounts

_NAMED = 5
"""Maximum number of missing questions named."""

_OF_RUNS = {"scenario", "types", "wrong"}
"""What the figures of a run say besides."""


def print_replies(
    replies: Sequence[SetReplies],
    *,
    as_json: bool,
    judged: Collection[str] = (),
    passed: FalseAccepts | None = None,
) -> None:
    """Print the figures of files, and compare them.

    Args:
        replies: The files' replies.
        as_json: As one JSON object instead of tables.
        judged: Columns that only a judge can fill.
        passed: The judge's verdicts on wrong answers, if known.
    """
    from ltm_bench.score.statistics.published import compare_sets, figures_of

    figures, compared = list(map(figures_of, replies)), compare_sets(replies)
    lines = list(dict.fromkeys(_unmatched(figures, compared)))
    if any(column in judged for each in figures for column in each.columns):
        lines.insert(0, _trust(passed))
    if as_json:
        found = {
            "files": [each.model_dump(mode="json", exclude=_OF_RUNS) for each in figures],
            "compared": [each.model_dump(mode="json") for each in compared],
            "false_accepts": passed and passed._asdict(),
            "notes": lines,
        }
        out().print_json(json.dumps(found))
        return
    print_figures(figures)
    print_compared(compared)
    for each in figures:
        for line in _remarks(each):
            out().print(line)
    for line in lines:
        out().print(line)


def _trust(passed: FalseAccepts | None) -> str:
    """Print how often the judge passes wrong answers."""
    if passed is not None:
        return f"judge: of {passed.n} answers {passed.of} it passes {passed.rate:.4f}"
    return (
        "judge: how often it passes a wrong answer is unknown; of vague wrong answers to LoCoMo, the usual judge "
        "passes 0.627 (name such a file with --wrong, or a judge with --judge)"
    )


def print_figures(files: Sequence[SetFigures]) -> None:
    """Print the figures of files or runs as a table, if there are any."""
    if not files:
        return
    columns = list(dict.fromkeys(column for each in files for column in each.columns))
    table = folding_table(("", "n", *columns), ("",), {"": 20})
    for each in files:
        table.add_row(_name(each.file), style="bold")
        for line in each.lines:
            name = f"{line.name} {each.types.get(line.name, '')}".rstrip()
            cells = (_cell(line.figures.get(column)) for column in columns)
            table.add_row(f"  {name}", str(line.n), *cells)
    out().print(table)


def _name(file: str) -> str:
    """Return a file's name without the common suffixes."""
    return re.sub(r"(?:\.jsonl?|\.gz)+$", "", Path(file).name)


def _cell(figure: Figure | None) -> str:
    """Return a mean and its interval's half-width; JSON has the interval's ends."""
    if figure is None:
        return "–"
    if figure.interval is None:
        return f"{figure.mean:.4f}"
    return f"{figure.mean:.4f} ± {(figure.interval.high - figure.interval.low) / 2:.3f}"


def print_compared(compared: Sequence[Compared]) -> None:
    """Print the differences between files or runs, question by question, if there are any."""
    if not compared:
        return
    table = folding_table(("", "column", "n", "difference", "95 %", "p"), ("", "column"), {"": 20})
    for each in compared:
        found = each.difference
        ends = f"{found.interval.low:+.3f} – {found.interval.high:+.3f}" if found.interval else "–"
        table.add_row(
            f"{_name(each.first)}\n  against {_name(each.second)}",
            each.column,
            str(found.n),
            f"{found.difference:+.4f}",
            ends,
            "–" if found.p is None else f"{found.p:.4f}",
        )
    out().print(table)


def _remarks(file: SetFigures) -> Iterable[str]:
    name = _name(file.file)
    if file.missing:
        rest = len(file.missing) - _NAMED
        named = ", ".join(file.missing[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
        yield f"{name}: {len(file.missing)} questions are not answered, and are left out of every figure: {named}"
    if file.wrong_keys:
        yield f"{name}: {file.wrong_keys} of its questions have a key known to be wrong"


def _unmatched(files: Sequence[SetFigures], compared: Sequence[Compared]) -> Iterable[str]:
    """Yield the files that share few questions because their questions have no ids."""
    sizes = {each.file: each.n for each in files}
    for each in compared:
        least = min(sizes[each.first], sizes[each.second])
        if each.difference.n < least / 2:
            yield (
                f"{_name(each.first)} and {_name(each.second)} are compared on {each.difference.n} of {least} "
                "questions: with --data, questions are also found by their text"
            )


_LETTERS = {"utility": "U", "privacy_leak": "A", "deletion_leak": "F", "over_refusal": "refused"}
"""What GateMem calls its figures in a table."""


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print the rows of a set's own table: all figures as JSON, else without the counts."""
    if as_json:
        out().print_json(json.dumps(rows))
        return
    keys = [
        key
        for key in dict.fromkeys(key for row in rows for key in row)
        if not key.startswith(("n_", "action"))
    ]
    names = ("file", "task", "test")
    table = folding_table(
        [_LETTERS.get(key, key) for key in keys], names, {"file": 18, "task": 0, "test": 18}
    )
    for row in rows:
        table.add_row(*(_shown(key, row.get(key)) for key in keys))
    out().print(table)


def _shown(column: str, value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.{4 if column == 'score' else 2}f}"
    return Path(value).name if column == "file" else str(value)


def print_panel(found: Panel, *, as_json: bool) -> None:
    """Print files by rubrics with ranks, which files change places, and how far each rubric agrees with people."""
    if as_json:
        out().print_json(found.model_dump_json())
        return
    heads = ["", *(safe(_name(file)) for file in found.files), *(["passes wrong"] if found.wrong else [])]
    table = folding_table(heads, ("",), dict.fromkeys(heads, 0) | {"": 20})
    for name in found.rubrics:
        cells = [_ranked(found, file, name) for file in found.files]
        table.add_row(name, *cells, *([_cell(found.wrong.get(name))] if found.wrong else []))
    out().print(table)
    for pair in found.turned:
        first, second = safe(_name(pair.first)), safe(_name(pair.second))
        certain = "both differences are shown" if pair.shown else "not shown both ways by these questions"
        out().print(
            f"{first} is above {second} by {', '.join(pair.above)}; below by {', '.join(pair.below)}; {certain}"
        )
    for each in found.people:
        out().print(each.headline)


def _ranked(found: Panel, file: str, rubric: str) -> str:
    """Return a mean, with its rank if it has one, and its replies if other rubrics have a verdict on more."""
    figures, rank = found.files[file], found.ranks.get(file, {}).get(rubric)
    n = figures[rubric].n if rubric in figures else 0
    fewer = f" n={n}" if 0 < n < max(each.n for each in figures.values()) else ""
    return _cell(figures.get(rubric)) + fewer + (f" #{rank}" if rank else "")


def print_recounts(found: Sequence[Recounts], *, as_json: bool) -> None:
    """Print what published files are, their figures as counted from their rows, and those that they state."""
    if as_json:
        out().print_json(json.dumps([each.model_dump() for each in found]))
        return
    for file in found:
        out().print(safe(f"{Path(file.file).name}: {file.what}, {file.rows} rows"), style="bold")
        for each in file.figures:
            if each.name == "all" or each.measure == file.figures[0].measure:
                share = f"{each.total:g}/{each.n}"
                shown = f"{each.n:>14}" if each.measure == "rows" else f"{share:>14}  {each.mean}"
                out().print(safe(f"  {each.measure}, {each.name}".ljust(56) + shown))
        if file.stated:
            wrong = sum(each.published != each.ours for each in file.stated)
            out().print(f"  states {len(file.stated)} figures; {wrong} do not follow from its rows")
        for line in file.odd:
            out().print(safe(f"  {line}"))
