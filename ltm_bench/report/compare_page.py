"""The page of a comparison, `compare.html`: complete in itself, without any script, in the style of the run page."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ltm_bench.report.templating import templates
from ltm_bench.report.words import short_tokens
from ltm_bench.score.comparison.cells import Cell
from ltm_bench.score.comparison.pairs import Pair
from ltm_bench.score.comparison.positions import Shift
from ltm_bench.score.comparison.rows import Row
from ltm_bench.score.comparison.runs import Comparison

WIDTH, HEIGHT = 260, 130
"""Size of a chart, in the units of its SVG."""

MOST_ROWS = 40
"""Maximum examples of a span shown with replies side by side."""

LONGEST = 600
"""Maximum characters of a reply shown beside others."""


class CurvePoint(NamedTuple):
    """The score of an entrant at one span, on the chart."""

    x: float
    y: float
    words: str


class Curve(NamedTuple):
    """An entrant's score by span, as parts of an SVG."""

    entrant: str
    line: str
    band: str
    points: Sequence[CurvePoint]
    words: str
    """A description for readers who cannot see the chart."""


def place_of(comparison: Comparison, span: int) -> float:
    """Place a span on a logarithmic axis."""
    low, high = math.log(comparison.spans[0]), math.log(comparison.spans[-1])
    return round(WIDTH * (0.5 if high == low else 0.04 + 0.92 * (math.log(span) - low) / (high - low)), 1)


def _y(share: float) -> float:
    return round(HEIGHT * (1 - share), 1)


def curve(comparison: Comparison, entrant: str) -> Curve:
    """Draw an entrant's scores, as shares of the highest possible score, with their intervals as a band."""
    cells = [c for c in comparison.cells if c.entrant == entrant and c.complete]
    points = [CurvePoint(place_of(comparison, c.span), _y(c.score / c.out_of), _described(c)) for c in cells]
    low, high = [], []
    for point, cell in zip(points, cells, strict=True):
        if cell.interval:
            low.append((point.x, _y(cell.interval.low / cell.out_of)))
            high.append((point.x, _y(cell.interval.high / cell.out_of)))
    band = [*high, *reversed(low)]
    if len(high) == 1:  # a single span: a bar instead of a band
        (x, top), (_, bottom) = high[0], low[0]
        band = [(x - 5, top), (x + 5, top), (x + 5, bottom), (x - 5, bottom)]
    return Curve(
        entrant=entrant,
        line=_path([(point.x, point.y) for point in points]),
        band=_path(band, closed=True),
        points=points,
        words="; ".join(point.words for point in points) or "no complete run",
    )


def _path(points: Sequence[tuple[float, float]], *, closed: bool = False) -> str:
    moves = "L".join(f"{x:g} {y:g}" for x, y in points)
    return f"M{moves}{'Z' if closed else ''}" if points else ""


def _described(cell: Cell) -> str:
    text = f"{short_tokens(cell.span)}: {cell.score:.2f} of {cell.out_of}"
    return f"{text}, {cell.interval.low:.2f} to {cell.interval.high:.2f}" if cell.interval else text


class Dot(NamedTuple):
    """An entrant on the chart of costs; places in per cent of the chart."""

    number: int
    """Its row in the table of its span, from 1."""
    cell: Cell
    x: float
    y: float


def costs(comparison: Comparison, span: int) -> list[Dot]:
    """Place the entrants of a span by cost (logarithmic, free ones at the left edge) and score.

    Returns nothing if all runs are free or their costs are unknown.
    """
    cells = [(n, c) for n, c in enumerate(comparison.at(span), 1) if c.complete and c.dollars is not None]
    paid = [math.log(cell.dollars) for _, cell in cells if cell.dollars]
    if not paid:
        return []
    low, high = min(paid), max(paid)

    def place(dollars: float) -> float:
        if not dollars:
            return 5.0
        return 55.0 if high == low else 15 + 80 * (math.log(dollars) - low) / (high - low)

    return [
        Dot(n, c, round(place(c.dollars or 0.0), 1), round(100 - 100 * c.score / c.out_of, 1))
        for n, c in cells
    ]


class Span(NamedTuple):
    """The page's content for one span."""

    span: int
    cells: Sequence[Cell]
    dots: Sequence[Dot]
    pairs: Mapping[tuple[str, str], Pair]
    """By the names of both entrants, in either order."""
    limits: Sequence[Pair]
    """Pairs with a known smallest difference, or a known number of runs that would tell them apart."""
    rows: Sequence[Row]
    shifts: Sequence[Shift]
    modes: Sequence[str]
    """Modes of the runs with shifted questions."""
    scenarios: Sequence[str]


def _span(comparison: Comparison, span: int) -> Span:
    pairs = [pair for pair in comparison.pairs if pair.span == span]
    shifts = [shift for shift in comparison.shifts if shift.span == span]
    return Span(
        span,
        comparison.at(span),
        costs(comparison, span),
        {names: p for p in pairs for names in ((p.first, p.second), (p.second, p.first))},
        [pair for pair in pairs if pair.detectable is not None or pair.needed],
        [row for row in comparison.rows if row.span == span],
        shifts,
        list(dict.fromkeys(mode for shift in shifts for mode in shift.placed)),
        list(dict.fromkeys(name for cell in comparison.at(span) for name in cell.by_scenario)),
    )


def render_comparison(comparison: Comparison, reports: Mapping[str, str], home: str = "") -> str:
    """Return `compare.html`.

    Args:
        comparison: The comparison to show.
        reports: Paths of the run pages, relative to this page, by run. Runs without one are not linked.
        home: The page of all runs, if there is one to go back to.
    """
    return (
        templates()
        .get_template("compare.html.jinja")
        .render(
            comparison=comparison,
            curves=[curve(comparison, entrant) for entrant in comparison.entrants],
            places=[(place_of(comparison, span), span) for span in comparison.spans],
            spans=[_span(comparison, span) for span in comparison.spans],
            reports=reports,
            home=home,
            WIDTH=WIDTH,
            HEIGHT=HEIGHT,
            MOST_ROWS=MOST_ROWS,
            LONGEST=LONGEST,
        )
    )
