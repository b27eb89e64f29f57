"""`compare` and `plot`: runs side by side, as tables, as JSON, as a page, as pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ltm_bench.cli.console import err, out, safe
from ltm_bench.cli.showing import check_output, replace
from ltm_bench.core.errors import ConfigError
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.folders import all_runs, find_run
from ltm_bench.plan.scenarios import abouts
from ltm_bench.plan.values import spell_span
from ltm_bench.score.comparison import Comparison, Pair, Run, compare
from ltm_bench.score.fold import score_run

MOST_PAIRS = 12
"""Pairs of a span that the terminal shows one by one."""


def read_run(folder: Path) -> Run:
    """Score a run from its log."""
    manifest = read_manifest(folder)
    return Run(manifest, score_run(folder, manifest, about=abouts(manifest)))


def _folders(names: Sequence[str]) -> list[Path]:
    """Return the folders of runs, by default of all. Raises ConfigError for none, or one name twice."""
    folders = [find_run(name) for name in names] or all_runs()
    if not folders:
        raise ConfigError("there is no run in reports/ to compare; start some with `ltm-bench run`")
    doubled = {f.name for f in folders if sum(f.name == other.name for other in folders) > 1}
    if doubled:
        raise ConfigError(f"two runs are called {min(doubled)}: rename one of the folders, or name it once")
    return folders


def plot_runs(names: Sequence[str], kind: str, output: Path) -> None:
    """Draw a picture of runs, by default of all."""
    from ltm_bench.report.charts import draw

    check_output(output)
    picture = draw(kind, [read_run(folder) for folder in _folders(names)], output.suffix.removeprefix("."))
    replace(output, picture)
    out().print(f"{kind}: {output}", markup=False)


def compare_runs(names: Sequence[str], output: Path | None, *, as_json: bool) -> None:
    """Compare runs, by default all; print what came of it, and write a page if one is wanted."""
    if output is not None:
        check_output(output)
    folders = _folders(names)
    comparison = compare([read_run(folder) for folder in folders])
    if output is not None:
        write_comparison(comparison, folders, output)
    if as_json:
        out().print(comparison.model_dump_json(indent=1), markup=False)
        return
    for warning in comparison.warnings:
        err().print(f"warning: {safe(warning)}", markup=False)
    for span in comparison.spans:
        _print_cells(comparison, span)
        _print_pairs([pair for pair in comparison.pairs if pair.span == span])
    if output is not None:
        out().print(f"page: {output}", markup=False)


def write_comparison(comparison: Comparison, folders: Sequence[Path], page: Path) -> None:
    """Write the page of a comparison, with links to the pages of its runs."""
    from ltm_bench.report.compare_page import render_comparison

    reports = {
        folder.name: os.path.relpath(folder / "report.html", page.parent)
        for folder in folders
        if (folder / "report.html").exists()
    }
    replace(page, render_comparison(comparison, reports).encode("utf-8", "replace"))


def _print_cells(comparison: Comparison, span: int) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from ltm_bench.report.words import cost, seconds

    table = Table(box=box.SIMPLE_HEAD, title=f"span {spell_span(span)}", title_justify="left")
    table.add_column("rank", no_wrap=True)
    table.add_column("agent", overflow="fold")
    for name in ("score", "95 %", "n", "cost", "per reply"):
        table.add_column(name, justify="right", no_wrap=True)
    for cell in comparison.at(span):
        interval = cell.interval
        table.add_row(
            "–" if cell.rank is None else "–".join(map(str, dict.fromkeys(cell.rank))),
            Text(safe(cell.entrant)),
            f"{cell.score:.2f} / {cell.out_of}" if cell.complete else "incomplete",
            f"{interval.low:.2f} – {interval.high:.2f}" if interval else "",
            str(cell.n),
            "unknown" if cell.dollars is None else cost(cell.dollars, free=True),
            "" if cell.latency is None else seconds(cell.latency),
        )
    out().print(table)


def _print_pairs(pairs: Sequence[Pair]) -> None:
    for pair in pairs[:MOST_PAIRS]:
        found = pair.paired
        line = f"{safe(pair.first)} against {safe(pair.second)}: {pair.says}"
        if found.n:
            line += f", {found.difference:+.2f}"
        if found.interval is not None:
            line += f" ({found.interval.low:+.2f} to {found.interval.high:+.2f}, p = {found.p:.3f})"
        if found.n:
            line += f"; {found.n} examples, alone right: {len(pair.only_first)} and {len(pair.only_second)}"
        out().print(line, markup=False)
    if len(pairs) > MOST_PAIRS:
        out().print(f"… and {len(pairs) - MOST_PAIRS} pairs more: see --json, or the page of -o")
