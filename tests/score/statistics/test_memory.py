"""Memory as a share of what could be had: sums, an interval that holds the truth, and when to say nothing."""

import random
from collections.abc import Mapping, Sequence

import pytest

from ltm_bench.score.statistics.intervals import wilson
from ltm_bench.score.statistics.memory import Triple, kept

ALL, NONE = Triple(1, 0, 1), Triple(0, 0, 1)


def test_it_is_a_ratio_of_sums_over_scenarios_that_weigh_the_same() -> None:
    found = kept([{"a": [ALL, NONE] * 10, "b": [Triple(0.5, 0.5, 1)] * 5}])
    assert found.share == pytest.approx(0.5 / 1.5)


def test_it_is_not_clipped() -> None:
    assert kept([{"a": [Triple(1, 0, 0.5)] * 20}]).share == 2
    assert kept([{"a": [Triple(0, 0.2, 1)] * 20}]).share == -0.25


@pytest.mark.parametrize(
    ("strata", "why"),
    [
        ({}, "too few"),
        ({"a": [ALL] * 20, "b": [ALL]}, "too few"),
        ({"a": [Triple(1, 1, 1)] * 20}, "hardly"),
        ({"a": [Triple(0, 0, 0)] * 15 + [ALL] * 4}, "hardly"),
    ],
)
def test_it_says_why_it_is_not_shown(strata: Mapping[str, Sequence[Triple]], why: str) -> None:
    found = kept([strata])
    assert (found.share, found.interval) == (None, None)
    assert why in found.sentence


def test_equal_examples_leave_an_interval_with_width() -> None:
    found = kept([{"a": [ALL] * 20}])
    assert found.interval is not None
    assert 0.78 < found.interval.low < 0.84, "Wilson's is 0.84"
    assert found.interval.high >= 1


@pytest.mark.parametrize("kept_ones", [0, 3, 10, 19, 20])
def test_it_is_nearly_that_of_a_proportion_where_only_memory_varies(kept_ones: int) -> None:
    found = kept([{"a": [ALL] * kept_ones + [NONE] * (20 - kept_ones)}]).interval
    expected = wilson(kept_ones / 20, 20)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.01)


def test_luck_that_shows_lengthens_it_on_both_sides() -> None:
    known = [ALL] * 8 + [NONE] * 8
    steady, lucky = [ALL, NONE] * 2, [Triple(1, 0, 0), Triple(0, 1, 1)] * 2
    near, far = (kept([{"a": [*known, *more]}]) for more in (steady, lucky))
    assert near.interval is not None
    assert far.interval is not None
    assert far.share == pytest.approx(near.share)
    assert far.interval.low < near.interval.low
    assert far.interval.high > near.interval.high


def test_runs_that_differ_more_than_chance_allows_lengthen_it() -> None:
    alike, apart = [[ALL, NONE] * 10] * 2, [[ALL] * 20, [NONE] * 20]
    near, far = (kept([{"a": rows} for rows in of]).interval for of in (alike, apart))
    assert near is not None
    assert far is not None
    assert far.high - far.low > 1.5 * (near.high - near.low)


@pytest.mark.parametrize("near", [0.6, 0.95])
@pytest.mark.parametrize(("scenarios", "examples"), [(12, 3), (4, 10)])
def test_its_interval_holds_the_truth_nineteen_times_in_twenty(
    scenarios: int, examples: int, near: float
) -> None:
    dice = random.Random(1)

    def triple(memory: float) -> Triple:
        blind, evidence = float(dice.random() < 0.1), float(dice.random() < 0.9)
        return Triple(evidence if dice.random() < memory else blind, blind, evidence)

    rates = [near + (1 - near) * (i % 3 - 1) / 2 for i in range(scenarios)]
    truth = sum(rates) / scenarios
    found = [
        kept([{str(i): [triple(rate) for _ in range(examples)] for i, rate in enumerate(rates)}]).interval
        for _ in range(100)
    ]
    assert 90 <= sum(each is not None and each.holds(truth) for each in found) <= 100


def test_it_is_long_enough_for_an_agent_that_guesses_anew_and_loses_hardly_anything() -> None:
    dice = random.Random(1)

    def triple() -> Triple:
        blind, again, told = (float(dice.random() < 0.25) for _ in range(3))
        knows = dice.random() < 0.6
        return Triple(float((knows and dice.random() < 0.98) or again), blind, float(knows or told))

    found = [kept([{"a": [triple() for _ in range(24)]}]).interval for _ in range(600)]
    known = [each.holds(0.98) for each in found if each is not None]
    assert sum(known) > 0.945 * len(known) > 250
