"""Charts for papers, drawn with Altair as SVG, PNG or PDF.

Each file is one chart: its stem is the name, its docstring the help, and `draw` returns the chart of some runs. Adding
a file adds a chart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.extras import extra
from ltm_bench.plugins.members import member, members
from ltm_bench.score.comparison.entrants import Scored

if TYPE_CHECKING:
    from ltm_bench.report.plotting import Chart

FORMS = ("svg", "png", "pdf")
"""File formats of charts."""

WIDTH = 460
"""Default width of a plot in pixels."""

RECIPES = ("cost", "depth", "latency", "needles", "operations", "outcomes", "skills", "stars")
"""What earlier versions drew, and now is a few lines on a page of the documentation."""


def known() -> Mapping[str, str]:
    """Map the name of every chart to one line of help. Works without Altair."""
    return members(__name__)


def draw(kind: str, runs: Sequence[Scored], form: str, width: int = WIDTH) -> bytes:
    """Return a chart as the content of a file.

    Args:
        kind: The name of the chart.
        runs: The runs to show.
        form: One of FORMS.
        width: Width of the plot in pixels, without labels and legend.

    Raises:
        ConfigError: The chart or format is unknown, Altair is not installed, or the runs have nothing to draw.
    """
    if form not in FORMS:
        raise ConfigError(
            f"-o: the file must end in {', '.join(f'.{each}' for each in FORMS)}, not in {form!r}"
        )
    if kind in RECIPES:
        raise ConfigError(f"--kind {kind}: no longer drawn; docs/charts.md has it as a recipe over frame()")
    with extra("plot", wanted_by="plot"):
        chart = member(__name__, kind, "--kind")
        import vl_convert
    make: Callable[[Sequence[Scored]], Chart] = chart.draw
    specification = _specification(kind, make(runs), width)
    if form == "svg":
        return vl_convert.vegalite_to_svg(specification).encode()
    if form == "png":
        return vl_convert.vegalite_to_png(specification, scale=2)
    return vl_convert.vegalite_to_pdf(specification)


def _specification(kind: str, chart: Chart, width: int) -> dict[str, Any]:
    """Return a chart in Vega-Lite. A chart that sets no height gets the usual one."""
    import altair as alt

    if isinstance(chart, alt.FacetChart):  # whose panels are beside each other
        sized: Chart = chart.copy()
        sized.spec = chart.spec.properties(width=width // 2, height=300)
    else:
        height = 300 if chart.height is alt.Undefined else chart.height
        sized = chart.properties(width=width, height=height)
    specification: dict[str, Any] = sized.configure(font="sans-serif", background="white").to_dict()
    data = [*specification.get("datasets", {}).values(), specification.get("data", {}).get("values")]
    if not any(data):
        raise ConfigError(
            f"--kind {kind}: these runs have nothing to draw (none is complete, or no scenario has such data)"
        )
    return specification
