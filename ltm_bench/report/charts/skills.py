"""The score of every skill with its interval, run by run."""

from collections.abc import Sequence

from ltm_bench.report.plotting import Chart, ForestRow, forest, named
from ltm_bench.score.comparison.entrants import Scored


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw dots with whiskers, in the order in which the run page lists skills."""
    return forest(
        [
            ForestRow(each.label, skill.name, skill.score, skill.interval, skill.chance)
            for each in named(runs)
            for skill in each.run.results.skills
        ]
    )
