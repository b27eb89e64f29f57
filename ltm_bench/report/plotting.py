"""Shared parts of the charts: colours, scales, labels, and two common shapes.

The colours are Okabe and Ito's (2008, "Color Universal Design"), which colour-blind readers can tell apart. Charts load
nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import altair as alt

from ltm_bench.report.text import visible
from ltm_bench.report.words import short_tokens
from ltm_bench.score.comparison.cells import Cell
from ltm_bench.score.comparison.entrants import Scored, entrants
from ltm_bench.score.results.examples import ExampleResult
from ltm_bench.score.statistics.intervals import Interval

Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart

Row: TypeAlias = dict[str, Any]

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#8c6d31")

SHAPES = ("circle", "square", "triangle-up")
"""Shapes of points; each comes in all colours of the palette."""

OUTCOME_COLOURS = {
    "correct": "#009e73",
    "partial": "#0072b2",
    "stale": "#e69f00",
    "wrong": "#d55e00",
    "abstained": "#8a8a8a",
    "leaked": "#7f0f2f",
    "malformed": "#cc79a7",
    "undecided": "#8c6d31",
    "overflow": "#56479e",
    "agent_error": "#000000",
    "judge_error": "#4d4d4d",
    "not_reached": "#d9d9d9",
}


class NamedRun(NamedTuple):
    """A run and its names in a chart."""

    run: Scored
    entrant: str
    """Its agent, with what sets it apart from others of the same name."""
    label: str
    """The same, with span and seed where those differ between the runs."""


def named(runs: Sequence[Scored]) -> Iterator[NamedRun]:
    """Name every run."""
    several_spans = len({run.results.span for run in runs}) > 1
    several_seeds = len({run.results.seed for run in runs}) > 1
    for run, entrant in zip(runs, entrants(runs), strict=True):
        parts = [entrant]
        if several_spans:
            parts.append(short_tokens(run.results.span))
        if several_seeds:
            parts.append(f"seed {run.results.seed}")
        yield NamedRun(run, entrant, ", ".join(parts))


def inline(rows: Sequence[Row]) -> alt.InlineData:
    """Embed rows in the chart, with their texts made visible: names of agents and scenarios are untrusted."""
    return alt.InlineData(
        values=[{k: visible(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows]
    )


def unique(names: Sequence[str]) -> list[str]:
    """Return unique names as a chart shows them, in the given order."""
    return list(dict.fromkeys(visible(name) for name in names))


def agent_colour(names: Sequence[str]) -> alt.Color:
    """Return the colour of each agent, by the field `agent`."""
    shown = unique(names)
    return alt.Color(
        "agent:N",
        title=None,
        sort=shown,
        legend=alt.Legend(symbolOpacity=1, labelLimit=0),
        scale=alt.Scale(domain=shown, range=list(PALETTE)),
    )


def agent_shape(names: Sequence[str]) -> alt.Shape:
    """Return the shape of each agent's points; with the colour, it tells 24 agents apart."""
    shown = unique(names)
    shapes = [SHAPES[i // len(PALETTE) % len(SHAPES)] for i in range(len(shown))]
    return alt.Shape("agent:N", title=None, sort=shown, scale=alt.Scale(domain=shown, range=shapes))


def against_score(cells: Sequence[Cell], x: Callable[[Cell], float | None], title: str) -> alt.LayerChart:
    """Draw a point for each complete cell with a known `x`, and a line for each span along its Pareto frontier."""
    rows = [
        {
            "agent": each.entrant,
            "x": known,
            "share": each.score / each.out_of,
            "span": short_tokens(each.span),
        }
        for each in cells
        if each.complete and (known := x(each)) is not None
    ]
    drawn = [str(row["agent"]) for row in rows]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("x:Q", title=title, scale=alt.Scale(type="symlog", constant=0.01)),
        y=share_y("share", "score, as a share"),
        color=agent_colour(drawn),
    )
    points = base.mark_point(filled=True, size=60).encode(shape=agent_shape(drawn))
    labels = base.mark_text(dx=7, align="left", fontSize=9).encode(text="span:N")
    chart: alt.LayerChart = _frontier(rows) + points + labels
    return chart


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


def _frontier(rows: Sequence[Row]) -> alt.Chart:
    line: alt.Chart = (
        alt.Chart(inline(pareto(rows)))
        .mark_line(color="#8a8a8a", strokeDash=[3, 3])
        .encode(x="x:Q", y="share:Q", detail="span:N")
    )
    return line


def share_x(field: str, title: str) -> alt.X:
    """Return a horizontal axis from 0 to 1."""
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]))


def share_y(field: str, title: str) -> alt.Y:
    """Return a vertical axis from 0 to 1."""
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]))


class ForestRow(NamedTuple):
    """A score with its interval, as a forest shows it."""

    agent: str
    of: str
    """What was scored: the row's label."""
    score: float
    interval: Interval | None
    chance: float | None
    """The score of guessing."""


CHANCE = "#d55e00"
"""The colour of marks for the score of guessing."""


CHANCE_NOTE = "orange: score of guessing"
"""Explains a chart's marks of chance."""


def with_note(chart: Chart, note: str) -> Chart:
    """Put an explanation above a chart."""
    title = alt.Title(note, fontSize=10, fontWeight="normal", anchor="start")
    noted: Chart = chart.properties(title=title)
    return noted


def forest(scores: Sequence[ForestRow]) -> Chart:
    """Draw scores as dots with whiskers: a line for each agent in every row."""
    rows = [
        {
            "agent": each.agent,
            "of": each.of,
            "score": each.score,
            "low": each.interval and each.interval.low,
            "high": each.interval and each.interval.high,
            "chance": each.chance,
        }
        for each in scores
    ]
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("of:N", title=None, sort=unique([each.of for each in scores]), axis=alt.Axis(labelLimit=0)),
        yOffset=alt.YOffset("agent:N"),
        color=agent_colour([each.agent for each in scores]),
    )
    whiskers = base.mark_rule().encode(x=share_x("low", "score"), x2="high:Q")
    shape = agent_shape([each.agent for each in scores])
    dots = base.mark_point(filled=True, size=45).encode(x=share_x("score", "score"), shape=shape)
    marks = base.mark_tick(thickness=2, bandSize=9).encode(
        x=share_x("chance", "score"), color=alt.value(CHANCE)
    )
    chart: Chart = (marks + whiskers + dots).properties(height=alt.Step(9))
    return with_note(chart, CHANCE_NOTE)


def grid(
    runs: Sequence[Scored], cells: Callable[[Scored, ExampleResult], Iterator[Row]], *, y: str, title: str
) -> Chart:
    """Draw a heat map of mean scores over length, one for each agent and scenario, headed by its overall mean.

    Args:
        runs: The runs to draw.
        cells: Yields the rows of an example: `length` in tokens, `score`, and the field `y`.
        y: The field of the vertical axis.
        title: The title of that axis.
    """
    rows = [
        row
        | {"agent": f"{each.entrant} · {example.scenario}", "length": float(f"{row['length'] / 1000:.2g}")}
        for each in named(runs)
        for example in each.run.results.examples
        for row in cells(each.run, example)
    ]
    by_agent: dict[str, list[float]] = {}
    by_cell: dict[tuple[str, float, Any], list[float]] = {}
    for row in rows:
        by_agent.setdefault(row["agent"], []).append(row["score"])
        by_cell.setdefault((row["agent"], row["length"], row[y]), []).append(row["score"])
    means = [
        {
            "agent": f"{agent}: {_mean(by_agent[agent]):.3f}",
            "length": length,
            y: place,
            "score": _mean(scores),
            "answers": len(scores),
        }
        for (agent, length, place), scores in by_cell.items()
    ]
    chart: Chart = (
        alt.Chart(inline(means))
        .mark_rect(stroke="white", strokeWidth=0.3)
        .encode(
            x=alt.X("length:O", title="length in thousands of tokens", axis=alt.Axis(labelOverlap=True)),
            y=alt.Y(f"{y}:O", title=title, axis=alt.Axis(labelOverlap=True)),
            color=alt.Color("score:Q", title="score", scale=alt.Scale(scheme="viridis", domain=[0, 1])),
            facet=alt.Facet(
                "agent:N",
                title=None,
                columns=2,
                header=alt.Header(labelFontWeight="bold", labelAnchor="start", labelLimit=0),
            ),
        )
        .properties(height=alt.Step(14))
    )
    return chart


def _mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores)
