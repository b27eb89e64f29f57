"""What the controls of several runs show together."""

import pytest

from ltm_bench.score.results.controls import Controls, InControl, pooled_controls


def one(dollars: float | None) -> Controls:
    figure = InControl(mean=0.0, dollars=dollars)
    return Controls(n=0, out_of=0, of=0, score=0.0, blind=figure, scenarios=[])


@pytest.mark.parametrize(("dollars", "total"), [((0.5, 1.25), 1.75), ((0.5, None), None), ((0.0, 0.0), 0.0)])
def test_what_runs_cost_together_is_a_sum_or_unknown(
    dollars: tuple[float | None, ...], total: float | None
) -> None:
    found = pooled_controls([*((one(each), []) for each in dollars), (None, [])], [])
    assert found is not None
    assert found.blind is not None
    assert found.blind.dollars == total
    assert (found.evidence, found.near) == (None, None)
