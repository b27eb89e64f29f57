"""The score against the cost of a run in US dollars."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ltm_bench.report.plotting import Chart, agent_colour, agent_shape, frontier, inline, share_y, unique
from ltm_bench.report.words import short_tokens
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a point for each agent and span, and the Pareto frontier of each span.

    Agents of unknown cost are named above instead of drawn; free ones are at the left edge.
    """
    comparison = compare(runs)
    rows = [
        {
            "agent": cell.entrant,
            "x": cell.dollars,
            "share": cell.score / cell.out_of,
            "span": short_tokens(cell.span),
        }
        for cell in comparison.cells
        if cell.complete and cell.dollars is not None
    ]
    drawn = [str(row["agent"]) for row in rows]
    unknown = unique([cell.entrant for cell in comparison.cells if cell.complete and cell.dollars is None])
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("x:Q", title="US dollars per run", scale=alt.Scale(type="symlog", constant=0.01)),
        y=share_y("share", "score, as a share"),
        color=agent_colour(drawn),
    )
    points = base.mark_point(filled=True, size=60).encode(shape=agent_shape(drawn))
    labels = base.mark_text(dx=7, align="left", fontSize=9).encode(text="span:N")
    chart: Chart = frontier(rows) + points + labels
    if unknown:
        title = alt.Title(
            f"cost unknown: {', '.join(unknown)}", fontSize=10, fontWeight="normal", anchor="start"
        )
        return chart.properties(title=title)
    return chart
