"""Which stars were counted at which length, as in the Counting-Stars paper."""

from collections.abc import Iterator, Sequence

from ltm_bench.report.plotting import Chart, Row, grid
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.results.examples import ExampleResult
from ltm_bench.score.results.figures import matched_parts


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a heat map with a row for every needle of an example."""
    return grid(runs, _cells, y="star", title="star")


def _cells(_: Scored, example: ExampleResult) -> Iterator[Row]:
    for i, part in enumerate(matched_parts(example)):
        yield {"length": example.span, "star": i + 1, "score": part}
