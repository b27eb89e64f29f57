"""Looks after every round: together they err as rarely as one look would."""

import math
from statistics import NormalDist

import pytest

from ltm_bench.core.dice import Dice
from ltm_bench.score.statistics import sequential
from ltm_bench.score.statistics.sequential import FIRST, earliest, levels, look, quantile


@pytest.mark.parametrize("most", [2, 5, 20, 40])
def test_all_looks_at_a_normal_mean_err_no_more_often_than_allowed(most: int) -> None:
    normal, dice, times = NormalDist(), Dice("looks"), 4000
    ends = [normal.inv_cdf(1 - level / 2) for level in levels(most, 0.05)]
    wrong = 0
    for _ in range(times):
        total, excluded = 0.0, False
        for rounds in range(1, most + 1):
            total += normal.inv_cdf(min(max(dice.fraction(), 1e-12), 1 - 1e-12))
            excluded |= rounds >= FIRST and abs(total) / math.sqrt(rounds) > ends[rounds - FIRST]
        wrong += excluded
    assert 0.028 <= wrong / times <= 0.052


def test_levels_are_exact_to_half_a_per_cent(monkeypatch: pytest.MonkeyPatch) -> None:
    found = levels(12, 0.05)
    monkeypatch.setattr(sequential, "_STEP", 0.03)
    assert found == pytest.approx(levels.__wrapped__(12, 0.05), rel=5e-3)


def test_levels_rise_from_look_to_look_and_are_below_the_level_of_a_single_one() -> None:
    found = levels(20, 0.05)
    assert len(found) == 19
    assert list(found) == sorted(found)
    assert found[-1] < 0.05
    assert sum(levels(20, 0.01)) < sum(found)


@pytest.mark.parametrize(
    ("freedom", "level", "value"),
    [(1, 0.05, 12.7062), (2, 0.05, 4.3027), (3, 0.05, 3.1824), (4, 0.001, 8.6103), (5, 0.05, 2.5706),
     (10, 0.01, 3.1693), (30, 0.001, 3.6460)],
)  # fmt: skip
def test_the_quantiles_are_those_of_the_tables(freedom: int, level: float, value: float) -> None:
    assert quantile(freedom, level) == pytest.approx(value, abs=1e-4)


def test_nothing_is_shown_before_the_second_round_or_without_an_example() -> None:
    assert look([{"a": [1.0, 1.0]}], 20) is None
    assert look([{}, {}], 20) is None


def test_a_look_turns_with_its_differences() -> None:
    rounds = [
        {"a": [1.0, 0.0], "b": [0.5, 1.0]},
        {"a": [1.0, 1.0], "b": [0.0, 1.0]},
        {"a": [1.0, 0.5], "b": [1.0, 0.0]},
    ]
    turned = [{name: [-each for each in of] for name, of in each.items()} for each in rounds]
    one, other = look(rounds, 10), look(turned, 10)
    assert one is not None
    assert other is not None
    assert one.difference == pytest.approx(-other.difference)
    assert (one.interval.low, one.interval.high) == pytest.approx((-other.interval.high, -other.interval.low))
    assert one.interval.holds(one.difference)


def test_rounds_that_all_agree_leave_an_interval_with_a_width() -> None:
    found = look([{"a": [0.0, 0.0, 0.0]}] * 6, 20)
    assert found is not None
    assert found.interval.low < 0 < found.interval.high


def test_intervals_narrow_as_rounds_are_added() -> None:
    dice = Dice("narrow")
    rounds = [
        {"a": [float(dice.chance(0.6)) - float(dice.chance(0.5)) for _ in range(10)]} for _ in range(20)
    ]
    widths = []
    for count in (5, 10, 20):
        found = look(rounds[:count], 20)
        assert found is not None
        widths.append(found.interval.high - found.interval.low)
    assert widths == sorted(widths, reverse=True)


def test_a_race_of_two_rounds_can_save_nothing_and_one_of_twenty_can() -> None:
    assert earliest([3] * 11, 2) in (None, 2)
    first = earliest([3] * 11, 20)
    assert first is not None
    assert first < 8
