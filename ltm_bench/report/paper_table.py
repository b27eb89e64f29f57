"""The table of a comparison for a paper: in Markdown, or in LaTeX with booktabs."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from ltm_bench.report.text import visible
from ltm_bench.report.words import cost, figure, short_tokens
from ltm_bench.score.comparison.cells import Cell
from ltm_bench.score.comparison.runs import Comparison

_HEADS = ("Agent", "Span", "Score", "95 %", "Chance", "n", "Cost")
_LEFT = 1
"""Columns of texts; the others are figures, aligned right."""


def markdown(comparison: Comparison) -> str:
    """Return the table in Markdown."""
    rows = [[_escaped(cell, _MARKDOWN) for cell in row] for row in _rows(comparison)]
    rule = ["---"] * _LEFT + ["---:"] * (len(_HEADS) - _LEFT)
    return "\n".join(f"| {' | '.join(row)} |" for row in (_HEADS, rule, *rows))


def latex(comparison: Comparison) -> str:
    """Return the table in LaTeX; it needs the package booktabs."""
    rows = [[_escaped(cell, _LATEX) for cell in row] for row in (_HEADS, *_rows(comparison))]
    lines = [f"{' & '.join(row)} \\\\" for row in rows]
    columns = "l" * _LEFT + "r" * (len(_HEADS) - _LEFT)
    return "\n".join(
        [
            f"\\begin{{tabular}}{{{columns}}}",
            "\\toprule",
            lines[0],
            "\\midrule",
            *lines[1:],
            "\\bottomrule",
            "\\end{tabular}",
        ]
    )


FORMS: Mapping[str, Callable[[Comparison], str]] = {"markdown": markdown, "latex": latex}


def _rows(comparison: Comparison) -> Iterator[Sequence[str]]:
    """Yield a row for every agent at every span, best first."""
    for span in comparison.spans:
        for cell in comparison.at(span):
            yield _row(cell)


def _row(cell: Cell) -> Sequence[str]:
    interval = cell.interval
    return (
        cell.entrant,
        short_tokens(cell.span),
        f"{figure(cell.score, cell.out_of, 2)} / {cell.out_of}" if cell.complete else "incomplete",
        f"{figure(interval.low, cell.out_of, 2)}–{figure(interval.high, cell.out_of, 2)}"
        if interval
        else "–",
        "unknown" if cell.chance is None else figure(cell.chance, cell.out_of, 2),
        str(cell.n),
        cost(cell.dollars, free=True),
    )


_MARKDOWN = {char: f"\\{char}" for char in "\\`*_[]<>|"}
_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "–": "--",
}


def _escaped(text: str, special: Mapping[str, str]) -> str:
    """Return a text on one line without any markup: names of agents are untrusted."""
    line = " ".join(visible(text).split())
    return "".join(special.get(char, char) for char in line)
