"""The score by the needle's depth and the length of the text, as in needle-in-a-haystack tests."""

from collections.abc import Iterator, Sequence

from ltm_bench.report.plotting import Chart, Row, grid
from ltm_bench.schedule.fitting import USABLE
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.results.examples import ExampleResult, Needle


def draw(runs: Sequence[Scored]) -> Chart:
    """Draw a heat map of the examples that have exactly one needle."""
    return grid(runs, _cells, y="depth", title="depth, %")


def _cells(run: Scored, example: ExampleResult) -> Iterator[Row]:
    if len(example.needles) == 1 and example.score is not None:
        span = run.results.span
        yield {"length": span, "depth": _depth(example.needles[0], span), "score": example.score}


def _depth(needle: Needle, span: int) -> int:
    """Return a needle's position in the usable part of its span, in per cent, rounded to a multiple of five."""
    return round(20 * min(1.0, max(0.0, 1 - needle.depth / (USABLE * span)))) * 5
