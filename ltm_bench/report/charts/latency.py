"""The score against the median latency of a reply, with the Pareto frontier."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ltm_bench.report.plotting import Chart, agent_colour, agent_shape, frontier, inline, share_y
from ltm_bench.report.words import short_tokens
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a point for each agent and span, and a line for each span along its Pareto frontier."""
    comparison = compare(runs)
    rows = [
        {
            "agent": cell.entrant,
            "x": cell.latency,
            "share": cell.score / cell.out_of,
            "span": short_tokens(cell.span),
        }
        for cell in comparison.cells
        if cell.complete and cell.latency is not None
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("x:Q", title="median seconds per reply", scale=alt.Scale(type="symlog", constant=0.01)),
        y=share_y("share", "score, as a share"),
        color=agent_colour([str(row["agent"]) for row in rows]),
    )
    points = base.mark_point(filled=True, size=60).encode(
        shape=agent_shape([str(row["agent"]) for row in rows])
    )
    labels = base.mark_text(dx=7, align="left", fontSize=9).encode(text="span:N")
    chart: Chart = frontier(rows) + points + labels
    return chart
