"""Pictures for papers: results in, SVG, PNG or PDF out, drawn with Altair (imported when one is asked for).

Colours are Okabe and Ito's, which the colour-blind tell apart; where there are more agents than colours, shapes and
direct labels do. No picture loads anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.core.extras import extra
from ltm_bench.report.page import short_tokens, visible
from ltm_bench.schedule import USABLE
from ltm_bench.score.comparison import Comparison, Run, compare, entrants
from ltm_bench.score.figures import bins, heats, matched_parts, points, skills
from ltm_bench.score.results import Needle

if TYPE_CHECKING:
    import altair

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#8c6d31")

OUTCOME_COLOURS = {
    "correct": "#009e73",
    "partial": "#0072b2",
    "stale": "#e69f00",
    "wrong": "#d55e00",
    "abstained": "#8a8a8a",
    "malformed": "#cc79a7",
    "undecided": "#8c6d31",
    "overflow": "#56479e",
    "agent_error": "#000000",
    "judge_error": "#4d4d4d",
    "not_reached": "#d9d9d9",
}

Rows = list[dict[str, Any]]


def _data(rows: Rows) -> Any:
    """Put rows into the picture itself. What agents and scenarios are called is text, controls spelled out."""
    import altair as alt

    return alt.InlineData(
        values=[{k: visible(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows]
    )


def _agents(names: Sequence[str]) -> Any:
    import altair as alt

    shown = list(dict.fromkeys(visible(name) for name in names))
    return alt.Color(
        "agent:N",
        title=None,
        sort=shown,
        legend=alt.Legend(symbolOpacity=1),
        scale=alt.Scale(domain=shown, range=list(PALETTE)),
    )


def _share(field: str, title: str) -> dict[str, Any]:
    import altair as alt

    return {"shorthand": f"{field}:Q", "title": title, "scale": alt.Scale(domain=[0, 1])}


def spans(runs: Sequence[Run]) -> Any:
    """Draw the share of all points over the span, with 95 % bands."""
    import altair as alt

    comparison = compare(runs)
    rows: Rows = []
    for cell in comparison.cells:
        if cell.complete:
            ends = cell.interval and (cell.interval.low / cell.out_of, cell.interval.high / cell.out_of)
            low, high = ends or (None, None)
            share = cell.score / cell.out_of
            rows.append({"agent": cell.entrant, "span": cell.span, "share": share, "low": low, "high": high})
    where = alt.Scale(type="log", nice=False, padding=14)
    base = alt.Chart(_data(rows)).encode(
        x=alt.X("span:Q", title="span in tokens", scale=where, axis=_span_axis(comparison)),
        color=_agents(comparison.entrants),
    )
    shown = list(dict.fromkeys(visible(name) for name in comparison.entrants))
    shape = alt.Shape("agent:N", title=None, sort=shown, scale=alt.Scale(domain=shown))
    lower, middle = (alt.Y(**_share(field, "score, as a share")) for field in ("low", "share"))
    return (
        base.mark_area(opacity=0.12).encode(y=lower, y2="high:Q")
        + base.mark_rule(opacity=0.5).encode(y=lower, y2="high:Q")
        + base.mark_line().encode(y=middle)
        + base.mark_point(filled=True, size=50, opacity=1).encode(y=middle, shape=shape)
    )


def _span_axis(comparison: Comparison) -> Any:
    import altair as alt

    labels = "; ".join(f"{span}: {short_tokens(span)}" for span in comparison.spans)
    names = ", ".join(f"'{span}': '{short_tokens(span)}'" for span in comparison.spans)
    return alt.Axis(values=comparison.spans, labelExpr=f"({{{names}}})[datum.value]", description=labels)


def scenarios(runs: Sequence[Run]) -> Any:
    """Draw the scores of the scenarios with their intervals, run by run."""
    rows: Rows = [
        {
            "agent": _label(run, name, runs),
            "of": scenario.name,
            "score": scenario.score_so_far,
            "low": scenario.interval and scenario.interval.low,
            "high": scenario.interval and scenario.interval.high,
        }
        for run, name in zip(runs, entrants(runs), strict=True)
        for scenario in run.results.scenarios
        if scenario.score_so_far is not None
    ]
    return _forest(rows)


def by_skill(runs: Sequence[Run]) -> Any:
    """Draw the scores of the skills with their intervals, run by run."""
    rows: Rows = [
        {
            "agent": _label(run, name, runs),
            "of": skill.name,
            "score": skill.score,
            "low": skill.interval and skill.interval.low,
            "high": skill.interval and skill.interval.high,
        }
        for run, name in zip(runs, entrants(runs), strict=True)
        for skill in skills(run.results)
    ]
    return _forest(rows)


def _forest(rows: Rows) -> Any:
    """Draw scores as dots with whiskers, one line for each agent under each name."""
    import altair as alt

    order = list(dict.fromkeys(visible(row["of"]) for row in rows))
    base = alt.Chart(_data(rows)).encode(
        y=alt.Y("of:N", title=None, sort=order),
        yOffset=alt.YOffset("agent:N"),
        color=_agents([row["agent"] for row in rows]),
    )
    return base.mark_rule().encode(x=alt.X(**_share("low", "score")), x2="high:Q") + base.mark_point(
        filled=True, size=45
    ).encode(x=alt.X(**_share("score", "score")))


def distance(runs: Sequence[Run]) -> Any:
    """Draw the score against the distance between needle and question, grouped, with 95 % intervals."""
    import altair as alt

    rows: Rows = [
        {
            "agent": _label(run, name, runs),
            "distance": (each.low + each.high) / 2,
            "score": each.mean,
            "low": each.interval.low,
            "high": each.interval.high,
        }
        for run, name in zip(runs, entrants(runs), strict=True)
        for each in bins(list(points(run.results)))
    ]
    base = alt.Chart(_data(rows)).encode(
        x=alt.X("distance:Q", title="tokens between needle and question", scale=alt.Scale(zero=False)),
        color=_agents([row["agent"] for row in rows]),
    )
    return (
        base.mark_rule().encode(y=alt.Y(**_share("low", "score")), y2="high:Q")
        + base.mark_line(strokeDash=[3, 2]).encode(y=alt.Y(**_share("score", "score")))
        + base.mark_point(filled=True, size=50).encode(y="score:Q")
    )


def outcomes(runs: Sequence[Run]) -> Any:
    """Draw what became of the questions of every run, stacked."""
    import altair as alt

    rows: Rows = [
        {
            "agent": _label(run, name, runs),
            "outcome": outcome.value,
            "questions": count,
            "order": list(OUTCOME_COLOURS).index(outcome.value),
        }
        for run, name in zip(runs, entrants(runs), strict=True)
        for outcome, count in run.results.outcomes.items()
    ]
    there = [name for name in OUTCOME_COLOURS if any(row["outcome"] == name for row in rows)]
    colours = alt.Scale(domain=there, range=[OUTCOME_COLOURS[name] for name in there])
    return (
        alt.Chart(_data(rows))
        .mark_bar(stroke="white")
        .encode(
            x=alt.X(
                "questions:Q", stack="normalize", title="share of the questions", axis=alt.Axis(format="%")
            ),
            y=alt.Y("agent:N", title=None, sort=list(dict.fromkeys(visible(row["agent"]) for row in rows))),
            color=alt.Color("outcome:N", title=None, scale=colours, sort=there),
            order=alt.Order("order:Q"),
        )
    )


def cost(runs: Sequence[Run]) -> Any:
    """Draw the score against the cost of a run. Runs of unknown cost are left out, free ones stand at the left."""
    import altair as alt

    comparison = compare(runs)
    rows: Rows = [
        {
            "agent": cell.entrant,
            "dollars": cell.dollars,
            "share": cell.score / cell.out_of,
            "span": short_tokens(cell.span),
        }
        for cell in comparison.cells
        if cell.complete and cell.dollars is not None
    ]
    base = alt.Chart(_data(rows)).encode(
        x=alt.X("dollars:Q", title="US dollars a run", scale=alt.Scale(type="symlog", constant=0.01)),
        y=alt.Y(**_share("share", "score, as a share")),
        color=_agents(comparison.entrants),
    )
    return base.mark_point(filled=True, size=60) + base.mark_text(dx=7, align="left", fontSize=9).encode(
        text="span:N"
    )


def needles(runs: Sequence[Run]) -> Any:
    """Draw which needle was found again: a row for every example, a column for every needle."""
    import altair as alt

    rows: Rows = [
        {"example": f"{_label(run, name, runs)} · {example.id}", "needle": i + 1, "found": part}
        for run, name in zip(runs, entrants(runs), strict=True)
        for heat in heats(run.results)
        for example in heat.rows
        for i, part in enumerate(matched_parts(example))
    ]
    return (
        alt.Chart(_data(rows))
        .mark_rect(stroke="white")
        .encode(
            x=alt.X("needle:O", title="needle, from the first one told"),
            y=alt.Y(
                "example:N", title=None, sort=list(dict.fromkeys(visible(row["example"]) for row in rows))
            ),
            color=alt.Color("found:Q", title="found", scale=alt.Scale(scheme="blues", domain=[0, 1])),
        )
    )


def _grid(rows: Rows, x: str, y: str, title: str) -> Any:
    """Draw a heat map of mean scores, one for each agent, with the mean over all of it in its heading."""
    import altair as alt

    for agent in {str(row["agent"]) for row in rows}:
        mine = [row for row in rows if row["agent"] == agent]
        mean = sum(row["score"] for row in mine) / len(mine)
        for row in mine:
            row["agent"] = f"{agent}: {mean:.3f}"
    cells: dict[tuple[str, float, float], list[float]] = {}
    for row in rows:
        cells.setdefault((row["agent"], row[x], row[y]), []).append(row["score"])
    means: Rows = [
        {"agent": a, x: first, y: second, "score": sum(each) / len(each), "answers": len(each)}
        for (a, first, second), each in cells.items()
    ]
    return (
        alt.Chart(_data(means))
        .mark_rect(stroke="white", strokeWidth=0.3)
        .encode(
            x=alt.X(f"{x}:O", title="length in thousands of tokens", axis=alt.Axis(labelOverlap=True)),
            y=alt.Y(f"{y}:O", title=title, axis=alt.Axis(labelOverlap=True)),
            color=alt.Color("score:Q", title="score", scale=alt.Scale(scheme="viridis", domain=[0, 1])),
            row=alt.Row("agent:N", title=None, header=alt.Header(labelFontWeight="bold")),
        )
    )


def _thousands(tokens: int) -> float:
    return float(f"{tokens / 1000:.2g}")


def stars(runs: Sequence[Run]) -> Any:
    """Draw star by length, as Counting-Stars does: which of the needles of an example was found, in how long a text."""
    rows: Rows = [
        {
            "agent": f"{name} · {example.scenario}",
            "length": _thousands(example.span),
            "star": i + 1,
            "score": part,
        }
        for run, name in zip(runs, entrants(runs), strict=True)
        for example in run.results.examples
        for i, part in enumerate(matched_parts(example))
    ]
    return _grid(rows, "length", "star", "star, from the first one told")


def _depth(needle: Needle, span: int) -> int:
    """Return where a needle stood in the usable part of its span, in per cent, to the nearest five."""
    return round(20 * min(1.0, max(0.0, 1 - needle.depth / (USABLE * span)))) * 5


def depth(runs: Sequence[Run]) -> Any:
    """Draw depth by length, as needle tests do: where in its example the needle stood, for one needle at a time."""
    rows: Rows = [
        {
            "agent": f"{name} · {example.scenario}",
            "length": _thousands(run.results.span),
            "depth": _depth(example.needles[0], run.results.span),
            "score": example.score,
        }
        for run, name in zip(runs, entrants(runs), strict=True)
        for example in run.results.examples
        if len(example.needles) == 1 and example.score is not None
    ]
    return _grid(rows, "length", "depth", "depth of the needle, in per cent")


def _label(run: Run, entrant: str, runs: Sequence[Run]) -> str:
    """Name a run by its agent, and by span and seed where those differ."""
    parts = [entrant]
    if len({each.results.span for each in runs}) > 1:
        parts.append(short_tokens(run.results.span))
    if len({each.results.seed for each in runs}) > 1:
        parts.append(f"seed {run.results.seed}")
    return ", ".join(parts)


KINDS: Mapping[str, Callable[[Sequence[Run]], Any]] = {
    "spans": spans,
    "scenarios": scenarios,
    "skills": by_skill,
    "distance": distance,
    "outcomes": outcomes,
    "cost": cost,
    "needles": needles,
    "stars": stars,
    "depth": depth,
}
"""What can be drawn."""

FORMS = ("svg", "png", "pdf")


def draw(kind: str, runs: Sequence[Run], form: str) -> bytes:
    """Return a picture. Raises ConfigError for an unknown kind or form, where Altair is missing, or without data."""
    if kind not in KINDS:
        raise ConfigError(f"--kind {kind}: there is none{nearest(kind, KINDS)} (known: {', '.join(KINDS)})")
    if form not in FORMS:
        raise ConfigError(f"-o: a picture ends in {', '.join(f'.{each}' for each in FORMS)}, not in {form!r}")
    with extra("plot", wanted_by="plot"):
        import altair as alt
        import vl_convert
    picture: altair.LayerChart = KINDS[kind](runs).properties(
        width=460, height=alt.Step(_ROWS[kind]) if kind in _ROWS else 300
    )
    specification = picture.configure(font="sans-serif", background="white").to_dict()
    if not _rows_of(specification):
        raise ConfigError(
            f"--kind {kind}: these runs have nothing to be drawn (none is complete, or no scenario has it)"
        )
    if form == "svg":
        return vl_convert.vegalite_to_svg(specification).encode()
    if form == "png":
        return vl_convert.vegalite_to_png(specification, scale=2)
    return vl_convert.vegalite_to_pdf(specification)


_ROWS = {"scenarios": 9, "skills": 9, "outcomes": 26, "needles": 18}
"""Kinds whose height grows with the number of their rows, and by how many pixels."""


def _rows_of(specification: Mapping[str, Any]) -> int:
    return sum(len(values) for values in specification.get("datasets", {}).values()) or len(
        specification.get("data", {}).get("values", [])
    )
