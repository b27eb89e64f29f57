"""Compares runs: scores by agent and span, differences that the data shows, and warnings about unlike runs.

Runs that differ only in seed and span belong to one *entrant*. Two entrants are compared at one span, on their common
examples: same scenario, same index, same seed.
"""

from collections.abc import Sequence
from html import escape
from itertools import combinations

from pydantic import BaseModel, Field

from ltm_bench.core.grouping import grouped
from ltm_bench.score.comparison.breaking_even import break_even
from ltm_bench.score.comparison.cells import Cell, cell_of, mark_frontier, rank
from ltm_bench.score.comparison.circumstances import made_otherwise, scored_otherwise
from ltm_bench.score.comparison.entrants import Scored, entrants
from ltm_bench.score.comparison.pairs import Pair, pair
from ltm_bench.score.comparison.positions import Shift, find_shifts, shift_lines
from ltm_bench.score.comparison.rows import ExampleRow, rows_of
from ltm_bench.score.results.published_runs import compared_sets
from ltm_bench.score.statistics.intervals import TEST
from ltm_bench.score.statistics.published import Compared

SCHEMA = 1
"""Version of the output of `compare --json`."""


class Comparison(BaseModel):
    """Everything that `compare` shows."""

    schema_version: int = SCHEMA
    entrants: list[str]
    spans: list[int]
    warnings: list[str]
    """Differences in how the runs were made that may explain differences in score."""
    cells: list[Cell]
    pairs: list[Pair]
    test: str = TEST
    """The name of the test behind each pair's interval and p-value."""
    rows: list[ExampleRow]
    shifts: list[Shift] = Field(default_factory=list)
    """Questions at different positions in different modes."""
    sets: list[Compared] = Field(default_factory=list)
    """Pairs of runs on the same questions of a public set, in any mode: question by question, by scorer."""

    def cell(self, entrant: str, span: int) -> Cell | None:
        """Return an entrant's cell at a span, if it has one."""
        return next((c for c in self.cells if (c.entrant, c.span) == (entrant, span)), None)

    def at(self, span: int) -> list[Cell]:
        """Return the cells of a span: complete ones first, then by score."""
        here = [cell for cell in self.cells if cell.span == span]
        return sorted(here, key=lambda cell: (not cell.complete, -cell.score / max(1, cell.out_of)))

    def _repr_html_(self) -> str:
        """Show the scores in a notebook; the page that `ltm-bench compare -o` writes has all else."""
        rows: list[tuple[object, ...]] = [("agent", "span", "score", "95 %", "n")]
        for each in self.cells:
            score = f"{each.score:.2f} / {each.out_of}" if each.complete else "incomplete"
            between = f"{each.interval.low:.2f} – {each.interval.high:.2f}" if each.interval else ""
            rows.append((each.entrant, f"{each.span:,}", score, between, each.n))
        cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def compare(runs: Sequence[Scored], *, say_mode: bool = True) -> Comparison:
    """Compare any number of runs with each other.

    Args:
        runs: The runs.
        say_mode: Whether names include the mode unless all runs are in-line; False if a heading gives it.
    """
    names = entrants(runs, say_mode=say_mode)
    by_cell = grouped(((name, run.results.span), run) for run, name in zip(runs, names, strict=True))
    known = list(dict.fromkeys(names))
    spans = sorted({run.results.span for run in runs})
    cells = {key: cell_of(*key, group) for key, group in by_cell.items()}
    pairs: list[Pair] = []
    for span in spans:
        here = [name for name in known if (name, span) in by_cell]
        against = list(combinations(sorted(here, key=lambda name: (name.casefold(), name)), 2))
        found = [pair(span, a, b, by_cell[a, span], by_cell[b, span], len(against)) for a, b in against]
        pairs += found
        for each in found:
            each.break_even = break_even(by_cell, span, each.first, each.second)
        for each in found:
            both = {name: cells[name, span].retest for name in (each.first, each.second)}
            each.moves = {name: again.score for name, again in both.items() if again is not None}
        rank([cells[name, span] for name in here], found)
        mark_frontier([cells[name, span] for name in here])
    moved = find_shifts([run.results for run in runs])
    return Comparison(
        entrants=known,
        spans=spans,
        warnings=[
            *scored_otherwise([run.results for run in runs]),
            *made_otherwise({run.results.run: run.manifest for run in runs}),
            *shift_lines(moved),
        ],
        cells=[cells[key] for key in sorted(cells, key=lambda key: (key[1], known.index(key[0])))],
        pairs=pairs,
        rows=list(rows_of(by_cell)),
        shifts=moved,
        sets=compared_sets([run.results for run in runs]),
    )
