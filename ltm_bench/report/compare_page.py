"""The page of a comparison, `compare.html`: complete in itself, without any script, in the style of the run page."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ltm_bench.report.findings import contenders, finding
from ltm_bench.report.templating import templates
from ltm_bench.report.words import short_tokens
from ltm_bench.score.comparison.cells import Cell
from ltm_bench.score.comparison.pairs import Pair
from ltm_bench.score.comparison.positions import Shift
from ltm_bench.score.comparison.rows import ExampleRow
from ltm_bench.score.comparison.runs import Comparison
from ltm_bench.score.statistics.intervals import Interval

WIDTH, HEIGHT = 260, 130
"""Size of a chart, in the units of its SVG."""

MOST_ROWS = 40
"""Maximum examples of a span shown with replies side by side."""

MOST_LINES = 6
"""Maximum agents in one picture of scores by span, and of dots in a row of scenarios; more get a picture each."""

LABEL = 9.0
"""Height of a label beside that picture, in per cent of it."""

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


class Spot(NamedTuple):
    """The score of an entrant at one span, with its interval; places in per cent of the picture."""

    x: float
    y: float
    low: float
    high: float


class SpanLine(NamedTuple):
    """An entrant's scores by span, in one picture with others."""

    entrant: str
    spots: Sequence[Spot]
    label: float
    """How far down its name stands, in per cent."""
    words: str


class Picture(NamedTuple):
    """Scores by span, as shares of all points, of a few entrants."""

    top: float
    """The share at its upper edge."""
    lines: Sequence[SpanLine]


def picture(comparison: Comparison, entrants: Sequence[str]) -> Picture:
    """Draw the scores of entrants by span side by side, so that no interval hides another."""
    own = [[c for c in comparison.cells if c.entrant == name and c.complete] for name in entrants]
    highest = max(
        ((c.interval.high if c.interval else c.score) / c.out_of for of in own for c in of), default=1
    )
    top = max(0.1, min(1.0, math.ceil(10 * highest) / 10))

    def place(cell: Cell, index: int) -> Spot:
        x = 100 * place_of(comparison, cell.span) / WIDTH + 0.9 * (index - (len(entrants) - 1) / 2)
        ends = cell.interval or Interval(low=cell.score, high=cell.score)
        y, low, high = (
            round(100 - 100 * each / cell.out_of / top, 1) for each in (cell.score, ends.low, ends.high)
        )
        return Spot(round(x, 1), y, low, high)

    spots = [[place(cell, index) for cell in of] for index, of in enumerate(own)]
    labels = spread_out([of[-1].y if of else 100.0 for of in spots])
    words = ["; ".join(map(_described, of)) or "no complete run" for of in own]
    return Picture(top, [SpanLine(*each) for each in zip(entrants, spots, labels, words, strict=True)])


def spread_out(places: Sequence[float]) -> list[float]:
    """Move labels apart until none hides another, in their order from the top, and none is below 100."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = [0.0] * len(places)
    last = -LABEL
    for i in order:
        moved[i] = last = max(places[i], last + LABEL)
    limit = 100.0
    for i in reversed(order):
        moved[i] = min(moved[i], limit)
        limit = moved[i] - LABEL
    return [round(each, 1) for each in moved]


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
    rows: Sequence[ExampleRow]
    shifts: Sequence[Shift]
    modes: Sequence[str]
    """Modes of the runs with shifted questions."""
    scenarios: Sequence[str]
    """Those on which contenders differ most first."""
    nothing: Sequence[str]
    """Scenarios in which no contender got a point."""
    reach: float
    """Where the longest of their intervals ends."""
    contenders: Sequence[Cell]
    finding: str


def _span(comparison: Comparison, span: int) -> Span:
    pairs = [pair for pair in comparison.pairs if pair.span == span]
    shifts = [shift for shift in comparison.shifts if shift.span == span]
    cells = comparison.at(span)
    asked = contenders(cells)
    names = dict.fromkeys(name for cell in cells for name in cell.by_scenario)
    scores = {name: [cell.by_scenario[name] for cell in asked if name in cell.by_scenario] for name in names}
    nothing = [name for name in names if not any(scores[name])]
    return Span(
        span,
        cells,
        costs(comparison, span),
        {names: p for p in pairs for names in ((p.first, p.second), (p.second, p.first))},
        [pair for pair in pairs if pair.detectable is not None or pair.needed],
        [row for row in comparison.rows if row.span == span],
        shifts,
        list(dict.fromkeys(mode for shift in shifts for mode in shift.placed)),
        sorted(names.keys() - nothing, key=lambda name: (min(scores[name]) - max(scores[name]), name)),
        nothing,
        max(
            (c.scenario_intervals[name].high for c in asked for name in nothing if name in c.by_scenario),
            default=0,
        ),
        asked,
        finding(span, asked, pairs),
    )


def render_comparison(comparison: Comparison, reports: Mapping[str, str], home: str = "") -> str:
    """Return `compare.html`.

    Args:
        comparison: The comparison to show.
        reports: Paths of the run pages, relative to this page, by run. Runs without one are not linked.
        home: The page of all runs, if there is one to go back to.
    """
    spans = [_span(comparison, span) for span in comparison.spans]
    told = [each for each in spans if sum(cell.complete for cell in each.contenders) > 1]
    main = (told or spans)[-1]
    names = [cell.entrant for cell in main.contenders]
    return (
        templates()
        .get_template("compare.html.jinja")
        .render(
            comparison=comparison,
            main=main,
            others=[each for each in spans if each is not main],
            picture=picture(comparison, names) if len(names) <= MOST_LINES else None,
            curves=[curve(comparison, entrant) for entrant in comparison.entrants],
            places=[(place_of(comparison, span), span) for span in comparison.spans],
            reports=reports,
            home=home,
            WIDTH=WIDTH,
            HEIGHT=HEIGHT,
            MOST_ROWS=MOST_ROWS,
            MOST_LINES=MOST_LINES,
            LONGEST=LONGEST,
        )
    )
