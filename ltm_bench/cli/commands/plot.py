"""Draw a picture of runs, for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.comparison import load_runs
from ltm_bench.cli.console import out
from ltm_bench.cli.options import Runs, examples_of, kinds, output_option
from ltm_bench.cli.outputs import check_output
from ltm_bench.report import charts
from ltm_bench.report.publishing import replace_file
from ltm_bench.score.comparison import Scored


def plot(
    runs: Runs = None,
    kind: Annotated[
        str, typer.Option(metavar="NAME", envvar="LTM_BENCH_KIND", help=kinds(charts.known()))
    ] = "scenarios",
    output: Annotated[
        Path, output_option("plot", "The picture; its ending says the form: .svg, .png or .pdf.")
    ] = Path("plot.svg"),
) -> None:
    """Draw a picture of one or more runs. Needs the extra `plot`."""
    check_output(output)
    loaded = [Scored(run.manifest, run.results) for run in load_runs(runs or ())]
    picture = charts.draw(kind, loaded, output.suffix.removeprefix("."))
    replace_file(output, picture)
    out().print(f"{kind}: {output}")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples_of(
            "plot --kind distance -o distance.svg", "plot RUN RUN RUN --kind spans -o spans.pdf"
        )
    )(plot)
