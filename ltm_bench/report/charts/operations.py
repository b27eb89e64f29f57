"""How long every operation of a memory takes, by position in the conversation."""

from collections.abc import Sequence

import altair as alt

from ltm_bench.report.plotting import Chart, agent_colour, inline, named
from ltm_bench.score.comparison.entrants import Scored


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a panel for each operation: medians over tenths of the conversation, a line for each run."""
    labelled = list(named(runs))
    rows = [
        {
            "agent": each.label,
            "operation": operation.name,
            "position": stretch.position,
            "seconds": stretch.p50,
        }
        for each in labelled
        for operation in each.run.results.operations
        for stretch in operation.along
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("position:Q", title="tokens of the conversation"),
        y=alt.Y("seconds:Q", title="median, in seconds"),
        color=agent_colour([each.label for each in labelled]),
        strokeDash=alt.StrokeDash("operation:N", legend=None),
        shape=alt.Shape("operation:N", title=None),
    )
    chart: Chart = base.mark_line() + base.mark_point(filled=True, size=30)
    return chart
