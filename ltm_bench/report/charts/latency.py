"""The score against the median latency of a reply, with the Pareto frontier."""

from collections.abc import Sequence

from ltm_bench.report.plotting import Chart, against_score
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a point for each agent and span, and a line for each span along its Pareto frontier."""
    return against_score(compare(runs).cells, lambda cell: cell.latency, "median seconds per reply")
