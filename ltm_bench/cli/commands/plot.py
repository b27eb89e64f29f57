"""Draw a chart of runs, for a paper."""

from pathlib import Path
from typing import Annotated

from ltm_bench import api
from ltm_bench.cli.comparison import places_of
from ltm_bench.cli.console import out
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import Runs, check_output, kinds, output_option
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.values import parse_pairs
from ltm_bench.report import charts

app = group()


@command(
    app,
    "plot --kind distance -o distance.svg",
    "plot RUN RUN RUN --kind spans -o spans.pdf",
    "plot RUN RUN --scenario colours --label RUN=ours --width 320 -o colours.pdf",
)
def plot(
    runs: Runs = None,
    kind: Annotated[str, Option(kinds(charts.known()), "NAME")] = "scenarios",
    output: Annotated[Path, output_option("plot", "The file to write: .svg, .png or .pdf.")] = Path(
        "plot.svg"
    ),
    scenario: Annotated[
        list[str] | None,
        Option(
            "Only this scenario. Costs and latencies are still of whole runs.",
            "NAME",
            variable="PLOT_SCENARIO",
        ),
    ] = None,
    width: Annotated[
        int | None,
        Option(
            "Width of the plot in pixels, without labels and legend; 460 by default.", "PIXELS", least=100
        ),
    ] = None,
    label: Annotated[list[str] | None, Option("A label to use instead of a run's agent.", "RUN=TEXT")] = None,
) -> None:
    """Draw a chart of one or more runs. Needs the extra `plot`."""
    check_output(output)
    labels = parse_pairs("--label", "RUN=TEXT", label or ())
    api.plot(
        *places_of(runs or ()), kind=kind, path=output, scenarios=scenario or (), labels=labels, width=width
    )
    out().print(f"{kind}: {output}")
