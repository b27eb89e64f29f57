"""The score against cost, context tokens and latency, with 95 % intervals both ways, and the frontiers."""

from collections.abc import Callable, Mapping, Sequence

import altair as alt

from ltm_bench.report.plotting import (
    Chart,
    Row,
    agent_colour,
    agent_shape,
    inline,
    share_y,
    unique,
    with_note,
)
from ltm_bench.report.words import short_tokens
from ltm_bench.score.comparison.cells import Cell
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare
from ltm_bench.score.statistics.intervals import Interval

_PANELS: Mapping[str, Callable[[Cell], tuple[float | None, Interval | None]]] = {
    "US dollars per run": lambda cell: (cell.dollars, cell.dollars_interval),
    "context tokens per question": lambda cell: (cell.context, cell.context_interval),
    "median seconds per reply": lambda cell: (cell.latency, cell.latency_interval),
}


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a point with two whiskers for each agent and span, beside each other for each of these.

    Cost and tokens of fewer than four runs have no interval; an agent has no point where they are unknown.
    """
    return drawn([cell for cell in compare(runs).cells if cell.complete])


def drawn(cells: Sequence[Cell]) -> Chart:
    """Return the chart of complete cells."""
    # Where all are free, an axis of costs would have one 0.
    panels = [panel for panel, found in _PANELS.items() if any(found(cell)[0] for cell in cells)]
    rows = [row for panel in panels for row in _rows(panel, cells)]
    names = unique([cell.entrant for cell in cells])
    scale, axis = alt.Scale(type="symlog", constant=0.01), alt.Axis(format="~g", tickCount=4)
    x = alt.X("x:Q", title=None, scale=scale, axis=axis)
    data = alt.Chart(inline(rows)).encode(x=x, color=agent_colour(names))
    share = share_y("share", "score, as a share")
    layers = alt.layer(
        data.transform_filter("datum.best")
        .mark_line(strokeDash=[3, 3])
        .encode(y=share, detail="span:N", color=alt.value("#8a8a8a")),
        data.mark_rule(opacity=0.6).encode(x="low:Q", x2="high:Q", y=share),
        data.mark_rule(opacity=0.6).encode(y=share_y("worst", "score, as a share"), y2="most:Q"),
        data.mark_point(filled=True, size=60, opacity=1).encode(y=share, shape=agent_shape(names)),
        data.mark_text(dx=7, dy=-6, align="left", fontSize=9).encode(y=share, text="span:N"),
    )
    chart: Chart = layers.facet(alt.Facet("against:N", title=None), columns=2).resolve_scale(x="independent")
    unknown = unique([cell.entrant for cell in cells if cell.dollars is None])
    return with_note(chart, f"cost unknown: {', '.join(unknown)}") if unknown else chart


def pareto(rows: Sequence[Row]) -> list[Row]:
    """Return the Pareto frontier of each `span`: rows that no other beats in both `x` (less) and `share` (more)."""
    return [
        row
        for row in rows
        if not any(
            other["span"] == row["span"]
            and other["x"] <= row["x"]
            and other["share"] >= row["share"]
            and (other["x"], other["share"]) != (row["x"], row["share"])
            for other in rows
        )
    ]


def _rows(panel: str, cells: Sequence[Cell]) -> list[Row]:
    rows = []
    for cell in cells:
        x, interval = _PANELS[panel](cell)
        if x is None:
            continue
        share, ends = cell.score / cell.out_of, cell.interval
        row = {
            "against": panel,
            "agent": cell.entrant,
            "span": short_tokens(cell.span),
            "x": x,
            "share": share,
        }
        row |= {"low": interval.low, "high": interval.high} if interval else {"low": x, "high": x}
        row |= {
            "worst": ends.low / cell.out_of if ends else share,
            "most": ends.high / cell.out_of if ends else share,
        }
        rows.append(row)
    best = pareto(rows)
    return [row | {"best": row in best} for row in rows]
