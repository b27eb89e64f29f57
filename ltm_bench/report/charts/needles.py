"""Which needles were recalled: a row for every example, a column for every needle."""

from collections.abc import Sequence

import altair as alt

from ltm_bench.report.plotting import Chart, inline, named, unique
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.results.figures import matched_parts


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw the scenarios whose questions have a score for each of several needles."""
    rows = [
        {"example": f"{each.label} · {example.id}", "needle": i + 1, "found": part}
        for each in named(runs)
        for example in each.run.results.examples
        if len(matched_parts(example)) > 1
        for i, part in enumerate(matched_parts(example))
    ]
    chart: Chart = (
        alt.Chart(inline(rows))
        .mark_rect(stroke="white")
        .encode(
            x=alt.X("needle:O", title="needle, from the first to the last"),
            y=alt.Y("example:N", title=None, sort=unique([str(row["example"]) for row in rows])),
            color=alt.Color("found:Q", title="recalled", scale=alt.Scale(scheme="blues", domain=[0, 1])),
        )
        .properties(height=alt.Step(18))
    )
    return chart
