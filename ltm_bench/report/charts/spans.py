"""The score over the span, as a share of all points, with 95 % bands."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ltm_bench.report.plotting import Chart, agent_colour, agent_shape, inline, share_y
from ltm_bench.report.words import short_tokens
from ltm_bench.score.comparison import Comparison, Scored, compare


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
    chart: Chart = (
        base.mark_area(opacity=0.12).encode(y=lower, y2="high:Q")
        + base.mark_rule(opacity=0.5).encode(y=lower, y2="high:Q")
        + base.mark_line().encode(y=middle)
        + base.mark_point(filled=True, size=50, opacity=1).encode(y=middle, shape=shape)
    )
    return chart


def _axis(comparison: Comparison) -> alt.Axis:
    """Label the spans as they are typed."""
    labels = "; ".join(f"{span}: {short_tokens(span)}" for span in comparison.spans)
    names = ", ".join(f"'{span}': '{short_tokens(span)}'" for span in comparison.spans)
    return alt.Axis(values=comparison.spans, labelExpr=f"({{{names}}})[datum.value]", description=labels)
