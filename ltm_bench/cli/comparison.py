"""Comparisons of runs, at the terminal and as a page."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from ltm_bench.cli.console import out, print_table, safe, table_of
from ltm_bench.core.errors import ConfigError
from ltm_bench.log.remote import is_url
from ltm_bench.plan.folders import all_runs, find_runs
from ltm_bench.plan.values import spell_span
from ltm_bench.report.compare_page import render_comparison
from ltm_bench.report.publishing import replace_file
from ltm_bench.report.words import cost, moves, p_value, plural, retested, seconds, signed, would_show
from ltm_bench.score.comparison.cells import Cell
from ltm_bench.score.comparison.pairs import Pair
from ltm_bench.score.comparison.runs import Comparison
from ltm_bench.score.statistics.intervals import TEST, Paired

MOST_PAIRS = 12
"""Maximum pairs per span listed at the terminal."""


def places_of(names: Sequence[str]) -> list[str | Path]:
    """Return folders and URLs of runs, by default all in reports/. Raises ConfigError for none, or duplicates."""
    named = [[name] if is_url(name) else find_runs(name) for name in names]
    places = [place for some in named for place in some] or [*all_runs()]
    if not places:
        raise ConfigError("reports/ has no run to compare; start some with `ltm-bench run`")
    counted = Counter(Path(place).absolute().name for place in places)  # of a URL too
    if doubled := [name for name, times in counted.items() if times > 1]:
        raise ConfigError(f"two runs are called {min(doubled)}: rename one of the folders, or name it once")
    return places


def write_comparison(comparison: Comparison, places: Sequence[str | Path], page: Path) -> None:
    """Write a comparison's page, with links to those of its runs' pages that lie in folders."""
    reports = {
        place.name: os.path.relpath(place / "report.html", page.parent)
        for place in places
        if isinstance(place, Path) and (place / "report.html").exists()
    }
    replace_file(page, render_comparison(comparison, reports).encode("utf-8", "replace"))


def print_cells(comparison: Comparison, span: int) -> None:
    """Print the scores at one span."""
    cells = comparison.at(span)
    doubt = any(cell.if_right > cell.score for cell in cells)
    known = any(cell.context is not None for cell in cells)
    right = ["if all\nundecided\nare right"] if doubt else []
    heads = ("rank", "agent", "score", *right, "95 %", "n", "cost", *["context"] * known, "per reply")
    table = table_of(*heads, words=heads[:2], title=f"span {spell_span(span)}")
    for cell in cells:
        interval = cell.interval
        table.add_row(
            "–" if cell.rank is None else "–".join(map(str, dict.fromkeys(cell.rank))),
            Text(safe(cell.entrant)),
            f"{cell.score:.2f} / {cell.out_of}" if cell.complete else "incomplete",
            *([f"{cell.if_right:.2f}"] if doubt else []),
            f"{interval.low:.2f} – {interval.high:.2f}" if interval else "",
            str(cell.n),
            "unknown" if cell.dollars is None else cost(cell.dollars, free=True),
            *["unknown" if cell.context is None else f"{cell.context:,.0f}"] * known,
            "" if cell.latency is None else seconds(cell.latency),
        )
    print_table(table)


def print_apart(cells: Sequence[Cell]) -> None:
    """Print what is counted apart, and how long a thing takes to become readable, agent by agent."""
    for place in sorted(
        {(each.scenario, each.name) for cell in cells for each in cell.aspects if each.whole}
    ):
        for cell in cells:
            found = [each for each in cell.aspects if (each.scenario, each.name) == place]
            for each in found:
                out().print(safe(f"{each.scenario}: {each.name}: {cell.entrant}: {each.counted}"))
    for cell in cells:
        for curve in cell.delays:
            out().print(safe(f"{curve.scenario}: {cell.entrant}: {curve.sentence}"))


def print_spread(cell: Cell) -> None:
    """Print how much the scores of an agent's runs vary, and why."""
    if cell.retest is not None:
        out().print(safe(f"test-retest of {cell.entrant}: {retested(cell.retest)}"))
    found = cell.spread
    if found is None or found.total is None:
        return
    line = f"{safe(cell.entrant)}: from run to run, the score has a standard deviation of {found.total:.2f}"
    if found.agent is None:
        line += (
            " (a different seed each time); to learn how much of it is test-retest variation, run the seeds again "
            "with --again 2"
        )
    else:
        line += f"; test-retest, the same seed again: {found.agent:.2f}"
        line += "" if found.seeds is None else f"; seed to seed: {found.seeds:.2f}"
    out().print(line)


def _difference(found: Paired) -> str:
    if found.interval is None or found.p is None:
        return signed(found.difference)
    low, high = signed(found.interval.low), signed(found.interval.high)
    return f"{signed(found.difference)} (95 % {low} to {high}, {p_value(found.p)}, {TEST})"


def print_pairs(pairs: Sequence[Pair]) -> None:
    """Print the verdict on each pair."""
    for pair in pairs[:MOST_PAIRS]:
        found = pair.paired
        names = "" if pair.shown else f"{pair.first} against {pair.second}: "
        line = safe(f"{names}{pair.verdict}")
        if found.n:
            line += f", {_difference(found)}"
        if found != pair.if_right:
            line += f"; if all that is undecided were right, {_difference(pair.if_right)}"
        if found.n:
            line += (
                f"; {plural(found.n, 'example')}, only the first correct: {len(pair.only_first)}, "
                f"only the second: {len(pair.only_second)}"
            )
        if pair.detectable is not None:
            line += f"; {would_show(pair.detectable)}"
        if pair.moves:
            line += safe(f"; {moves(pair.moves)}")
        out().print(f"{line}; {pair.needed}" if pair.needed else line)
        for each in pair.break_even:
            out().print(safe(each.sentence))
    if len(pairs) > MOST_PAIRS:
        out().print(f"… and {len(pairs) - MOST_PAIRS} more pairs: see --json, or the page that -o writes")
