"""The score of every scenario with its interval, run by run."""

from collections.abc import Sequence

from ltm_bench.report.plotting import Chart, ForestRow, forest, named
from ltm_bench.score.comparison.entrants import Scored


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw dots with whiskers; a scenario without any score is left out."""
    return forest(
        [
            ForestRow(each.label, scenario.name, scenario.score_so_far, scenario.interval, scenario.chance)
            for each in named(runs)
            for scenario in each.run.results.scenarios
            if scenario.score_so_far is not None
        ]
    )
