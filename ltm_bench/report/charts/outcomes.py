"""The outcomes of all questions, as stacked bars."""

from collections.abc import Sequence

import altair as alt

from ltm_bench.report.plotting import OUTCOME_COLOURS, Chart, inline, named, unique
from ltm_bench.score.comparison.entrants import Scored


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a bar for each run; every outcome has the same colour in all of them."""
    order = {outcome: place for place, outcome in enumerate(OUTCOME_COLOURS)}
    rows = [
        {"agent": each.label, "outcome": outcome.value, "questions": count, "order": order[outcome.value]}
        for each in named(runs)
        for outcome, count in each.run.results.outcomes.items()
    ]
    found = [name for name in OUTCOME_COLOURS if any(row["outcome"] == name for row in rows)]
    colours = alt.Scale(domain=found, range=[OUTCOME_COLOURS[name] for name in found])
    chart: Chart = (
        alt.Chart(inline(rows))
        .mark_bar(stroke="white")
        .encode(
            x=alt.X(
                "questions:Q", stack="normalize", title="share of the questions", axis=alt.Axis(format="%")
            ),
            y=alt.Y("agent:N", title=None, sort=unique([str(row["agent"]) for row in rows])),
            color=alt.Color("outcome:N", title=None, scale=colours, sort=found),
            order=alt.Order("order:Q"),
        )
        .properties(height=alt.Step(26))
    )
    return chart
