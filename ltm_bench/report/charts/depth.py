"""The score by the needle's depth and the length of the text, as in needle-in-a-haystack tests."""

from collections.abc import Iterator, Sequence

from ltm_bench.report.plotting import Chart, Row, grid
from ltm_bench.schedule.fitting import USABLE
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.results.examples import ExampleResult


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a heat map of the examples that have exactly one needle."""
    return grid(runs, _cells, y="depth", title="depth, %")


def _cells(run: Scored, example: ExampleResult) -> Iterator[Row]:
    if len(example.needles) == 1 and example.score is not None:
        span = run.results.span
        # In per cent of the usable part of the span, rounded to a multiple of five.
        depth = round(20 * min(1.0, max(0.0, 1 - example.needles[0].depth / (USABLE * span)))) * 5
        yield {"length": span, "depth": depth, "score": example.score}
