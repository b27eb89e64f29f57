"""The score of every skill with its interval, run by run."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_bench.report.plotting import Chart, forest, named
from ltm_bench.score.comparison import Run
from ltm_bench.score.figures import skills


def draw(runs: Sequence[Run]) -> Chart:
    """Draw dots with whiskers, in the order in which the run page lists skills."""
    return forest(
        [
            {
                "agent": each.label,
                "of": skill.name,
                "score": skill.score,
                "low": skill.interval and skill.interval.low,
                "high": skill.interval and skill.interval.high,
            }
            for each in named(runs)
            for skill in skills(each.run.results)
        ]
    )
