"""The scorer's error, from a sample that an auditor has read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.score.audits.correction import Measured, Seen, scorer_error

SHARP = Measured(right=150, accepted=150, other=150, rejected=150)
GOOD = Measured(right=150, accepted=144, other=150, rejected=141)


def error(seen: Seen, judge: Measured | None) -> tuple[float, float, float]:
    found = scorer_error(seen, judge)
    assert found is not None
    return found.share, found.interval.low, found.interval.high


def test_a_hundred_cases_without_a_fault_still_allow_three_percent() -> None:
    assert error(Seen(0.0, 100, 0.6), None) == pytest.approx((0, 0, 0.030), abs=0.001)
    assert error(Seen(0.0, 300, 0.6), None) == pytest.approx((0, 0, 0.010), abs=0.001)


def test_a_judge_of_unknown_error_allows_more_than_one_without_errors() -> None:
    assert error(Seen(0.0, 300, 0.6), SHARP)[2] > error(Seen(0.0, 300, 0.6), None)[2]


def test_disagreements_caused_by_the_judge_are_subtracted() -> None:
    by_itself = 0.6 * (1 - 144 / 150) + 0.4 * (1 - 141 / 150)
    assert error(Seen(by_itself, 300, 0.6), GOOD)[:2] == pytest.approx((0, 0), abs=1e-9)
    share, low, high = error(Seen(by_itself + 0.1, 300, 0.6), GOOD)
    assert share == pytest.approx(0.1 / GOOD.informative)
    assert 0 < low < share < high < 0.2


def test_a_judge_that_contradicts_less_than_its_errors_explain_shows_no_error() -> None:
    share, low, high = error(Seen(0.01, 300, 0.6), GOOD)
    assert (share, low) == (0, 0)
    assert 0 < high < 0.05


def test_nothing_is_known_where_nothing_was_read() -> None:
    assert scorer_error(Seen(0.0, 0, 0.6), GOOD) is None


def test_a_worthless_judge_is_refused() -> None:
    with pytest.raises(ValueError, match="says nothing"):
        scorer_error(Seen(0.1, 100, 0.6), Measured(right=10, accepted=5, other=10, rejected=5))


@given(
    n=st.integers(1, 400),
    against=st.floats(0, 1),
    accepted=st.floats(0, 1),
    hits=st.tuples(st.integers(60, 100), st.integers(60, 100)) | st.none(),
)
def test_the_interval_lies_in_0_to_1_around_the_estimate(
    n: int, against: float, accepted: float, hits: tuple[int, int] | None
) -> None:
    judge = hits and Measured(right=100, accepted=hits[0], other=100, rejected=hits[1])
    share, low, high = error(Seen(against, n, accepted), judge or None)
    assert 0 <= low <= share <= high <= 1


def test_more_cases_narrow_the_interval() -> None:
    widths = []
    for n in (50, 100, 300, 1000):
        _, low, high = error(Seen(0.02, n, 0.6), None)
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
