"""The score over the span, as a share of all points, with 95 % bands."""

from collections.abc import Sequence
from statistics import fmean

import altair as alt

from ltm_bench.report.plotting import (
    CHANCE,
    Chart,
    Row,
    agent_colour,
    agent_shape,
    inline,
    share_y,
    with_note,
)
from ltm_bench.report.words import short_tokens
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import Comparison, compare

FLOOR = "#6b6b6b"


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a line with its band for each agent; colours and shapes tell them apart."""
    comparison = compare(runs)
    rows = []
    for cell in comparison.cells:
        if cell.complete:
            low = cell.interval and cell.interval.low / cell.out_of
            high = cell.interval and cell.interval.high / cell.out_of
            share = cell.score / cell.out_of
            rows.append({"agent": cell.entrant, "span": cell.span, "share": share, "low": low, "high": high})
    scale = alt.Scale(type="log", nice=False, padding=14)
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("span:Q", title="span in tokens", scale=scale, axis=_axis(comparison)),
        color=agent_colour(comparison.entrants),
    )
    shape = agent_shape(comparison.entrants)
    lower, middle = (share_y(field, "score, as a share") for field in ("low", "share"))
    levels = alt.Chart(inline(_levels(runs))).encode(x=alt.X("span:Q", scale=scale))
    chart: Chart = (
        _level(levels, "chance", CHANCE, [4, 3])
        + _level(levels, "floor", FLOOR, [1, 3])
        + base.mark_area(opacity=0.12).encode(y=lower, y2="high:Q")
        + base.mark_rule(opacity=0.5).encode(y=lower, y2="high:Q")
        + base.mark_line().encode(y=middle)
        + base.mark_point(filled=True, size=50, opacity=1).encode(y=middle, shape=shape)
    )
    return with_note(
        chart, "dashed orange: score of guessing; dotted grey: score of goldfish, which remembers nothing"
    )


def _levels(runs: Sequence[Scored]) -> list[Row]:
    """Return chance and baseline at each span, as shares, averaged over the runs with known values."""
    levels: list[Row] = []
    for span in sorted({run.results.span for run in runs}):
        here = [run.results for run in runs if run.results.span == span]
        floors = [each.references["goldfish"] / each.out_of for each in here if "goldfish" in each.references]
        chances = [each.chance / each.out_of for each in here]
        levels.append({"span": span, "chance": fmean(chances), "floor": fmean(floors) if floors else None})
    return levels


def _level(levels: alt.Chart, field: str, colour: str, dash: list[int]) -> alt.LayerChart:
    """Draw a line, with a tick where a span has no neighbour to be joined to."""
    y = share_y(field, "score, as a share")
    line: alt.LayerChart = levels.mark_line(color=colour, strokeDash=dash, strokeWidth=1.5).encode(
        y=y
    ) + levels.mark_tick(color=colour, thickness=1.5, bandSize=24).encode(y=y)
    return line


def _axis(comparison: Comparison) -> alt.Axis:
    """Label the spans as users type them."""
    labels = "; ".join(f"{span}: {short_tokens(span)}" for span in comparison.spans)
    names = ", ".join(f"'{span}': '{short_tokens(span)}'" for span in comparison.spans)
    return alt.Axis(values=comparison.spans, labelExpr=f"({{{names}}})[datum.value]", description=labels)
