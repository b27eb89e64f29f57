"""The score against the distance between needle and question, in bins, with 95 % intervals."""

from collections.abc import Sequence

import altair as alt

from ltm_bench.report.plotting import (
    CHANCE,
    CHANCE_NOTE,
    Chart,
    agent_colour,
    agent_shape,
    inline,
    named,
    share_y,
    with_note,
)
from ltm_bench.score.comparison.entrants import Scored


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a dashed line through the middle of each bin, one for each run."""
    rows = [
        {
            "agent": each.label,
            "distance": (group.low + group.high) / 2,
            "score": group.mean,
            "low": group.interval.low,
            "high": group.interval.high,
            "chance": group.chance,
        }
        for each in named(runs)
        for group in each.run.results.distances
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("distance:Q", title="tokens between needle and question", scale=alt.Scale(zero=False)),
        color=agent_colour([str(row["agent"]) for row in rows]),
    )
    guessed = alt.Chart(inline([row for row in rows if row["chance"] is not None])).encode(x="distance:Q")
    chart: Chart = (
        guessed.mark_tick(color=CHANCE, thickness=2, bandSize=16).encode(y=share_y("chance", "score"))
        + base.mark_rule().encode(y=share_y("low", "score"), y2="high:Q")
        + base.mark_line(strokeDash=[3, 2]).encode(y=share_y("score", "score"))
        + base.mark_point(filled=True, size=50).encode(
            y="score:Q", shape=agent_shape([str(row["agent"]) for row in rows])
        )
    )
    return with_note(chart, CHANCE_NOTE)
