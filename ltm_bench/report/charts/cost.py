"""The score against the cost of a run in US dollars."""

from collections.abc import Sequence

from ltm_bench.report.plotting import Chart, against_score, unique, with_note
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a point for each agent and span, and the Pareto frontier of each span.

    Agents of unknown cost are named above instead of drawn; free ones are at the left edge.
    """
    cells = compare(runs).cells
    chart = against_score(cells, lambda cell: cell.dollars, "US dollars per run")
    unknown = unique([cell.entrant for cell in cells if cell.complete and cell.dollars is None])
    return with_note(chart, f"cost unknown: {', '.join(unknown)}") if unknown else chart
