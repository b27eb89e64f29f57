"""Shared parts of the charts: colours, scales and labels.

The colours are Okabe and Ito's (2008, "Color Universal Design"), which colour-blind readers can tell apart. Charts load
nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import altair as alt

from ltm_bench.report.text import visible
from ltm_bench.report.words import short_tokens
from ltm_bench.score.comparison.entrants import Scored, entrants

Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart

Row: TypeAlias = dict[str, Any]

CHANCE = "#d55e00"
"""The colour of marks for the score of guessing."""

PALETTE = ("#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#000000", "#8c6d31", "#e69f00", CHANCE)
"""Colours of agents: only an eighth one looks like guessing."""

SHAPES = ("circle", "square", "triangle-up")
"""Shapes of points; each comes in all colours of the palette."""


class NamedRun(NamedTuple):
    """A run and its name in a chart."""

    run: Scored
    label: str
    """Its agent with what sets it apart from others of the same name, with span and seed where those differ."""


def named(runs: Sequence[Scored]) -> Iterator[NamedRun]:
    """Name every run."""
    several_spans = len({run.results.span for run in runs}) > 1
    several_seeds = len({run.results.seed for run in runs}) > 1
    for run, entrant in zip(runs, entrants(runs), strict=True):
        span = f", {short_tokens(run.results.span)}" if several_spans else ""
        yield NamedRun(run, f"{entrant}{span}{f', seed {run.results.seed}' if several_seeds else ''}")


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


def share_y(field: str, title: str) -> alt.Y:
    """Return a vertical axis from 0 to 1."""
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]))


CHANCE_NOTE = "orange: score of guessing"
"""Explains a chart's marks of chance."""


def with_note(chart: Chart, note: str) -> Chart:
    """Put an explanation above a chart."""
    title = alt.Title(note, fontSize=10, fontWeight="normal", anchor="start")
    noted: Chart = chart.properties(title=title)
    return noted
