"""The score of every scenario with its interval, run by run."""

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
    unique,
    with_note,
)
from ltm_bench.score.comparison.entrants import Scored


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw dots with whiskers, a line for each agent in every row; a scenario without any score is left out."""
    rows = [
        {
            "agent": each.label,
            "of": scenario.name,
            "score": scenario.score_so_far,
            "low": scenario.interval and scenario.interval.low,
            "high": scenario.interval and scenario.interval.high,
            "chance": scenario.chance,
        }
        for each in named(runs)
        for scenario in each.run.results.scenarios
        if scenario.score_so_far is not None
    ]
    agents = [str(row["agent"]) for row in rows]
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y(
            "of:N", title=None, sort=unique([str(row["of"]) for row in rows]), axis=alt.Axis(labelLimit=0)
        ),
        yOffset=alt.YOffset("agent:N"),
        color=agent_colour(agents),
    )
    whiskers = base.mark_rule().encode(x=_share("low"), x2="high:Q")
    dots = base.mark_point(filled=True, size=45).encode(x=_share("score"), shape=agent_shape(agents))
    marks = base.mark_tick(thickness=2, bandSize=9).encode(x=_share("chance"), color=alt.value(CHANCE))
    chart: Chart = (marks + whiskers + dots).properties(height=alt.Step(9))
    return with_note(chart, CHANCE_NOTE)


def _share(field: str) -> alt.X:
    return alt.X(f"{field}:Q", title="score", scale=alt.Scale(domain=[0, 1]))
