"""Intervals of amounts, such as what a run costs."""

import pytest

from ltm_bench.score.statistics.intervals import amount_interval


def test_four_amounts_have_students_interval_and_fewer_none() -> None:
    found = amount_interval([1.0, 2.0, 3.0, 4.0])
    assert found is not None
    assert (found.low, found.high) == pytest.approx((2.5 - 2.054, 2.5 + 2.054), abs=0.02)  # t(3) = 3.182
    assert amount_interval([1.0, 2.0, 3.0]) is None
    assert amount_interval([1.0, 2.0, 3.0, 4.0, None]) is None
    nothing = amount_interval([0.0, 0.0, 0.0, 10.0])
    assert nothing is not None
    assert nothing.low == 0.0, "no cost is negative"
