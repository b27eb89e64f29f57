"""Figures are short, and never claim more than is known."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.core.messages import Outcome
from ltm_bench.report.words import (
    cost,
    counted,
    figure,
    flat,
    p_value,
    plural,
    seconds,
    short_tokens,
    signed,
    where,
)

if TYPE_CHECKING:
    from tests.made import Made


@given(value=st.floats(2e-9, 11 - 2e-9) | st.sampled_from([0, 11, 11 - 1e-12]), digits=st.integers(1, 2))
@settings(max_examples=300, deadline=None)
def test_a_score_is_written_as_full_or_zero_only_if_it_is(value: float, digits: int) -> None:
    shown = float(figure(value, 11, digits))
    assert shown == pytest.approx(value, abs=0.5 * 10**-digits + 1e-9)
    assert (shown == 11) == (value > 11 - 1e-9)
    assert (shown == 0) == (value == 0)


@pytest.mark.parametrize(
    ("value", "top", "shown"),
    [(4.96, 5, "4.96"), (5, 5, "5.0"), (0, 5, "0.0"), (0.004, 5, "0.004"), (7.42, 11, "7.4")],
)
def test_scores_are_short_and_honest(value: float, top: float, shown: str) -> None:
    assert figure(value, top) == shown


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        (1.0, "p = 1.000"),
        (0.0341, "p = 0.034"),
        (0.04996, "p = 0.04996"),
        (0.05, "p = 0.050"),
        (0.001, "p = 0.001"),
        (0.0009, "p < 0.001"),
        (0.0, "p < 0.001"),
    ],
)
def test_a_p_value_is_never_zero_and_stays_on_its_side_of_the_level(p: float, shown: str) -> None:
    assert p_value(p) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.2, "+1.20"), (-0.5, "−0.50"), (0.0, "0.00"), (0.004, "+0.004"), (-0.0004, "−0.0004")],
)
def test_a_difference_has_a_sign_and_is_zero_only_if_it_is(value: float, shown: str) -> None:
    assert signed(value) == shown


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [(120_000, "120k"), (10_000_000, "10M"), (1_500_000, "1.5M"), (1234, "1,234"), (999, "999"), (0, "0")],
)
def test_a_span_is_written_as_it_is_typed(tokens: int, shown: str) -> None:
    assert short_tokens(tokens) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0004, "under 1 ms"),
        (0.0013, "1.3 ms"),
        (0.0423, "42 ms"),
        (0.42, "0.42 s"),
        (9.96, "10 s"),
        (59.6, "1 min 0 s"),
        (185, "3 min 5 s"),
        (7440, "2 h 4 min"),
    ],
)
def test_a_duration_has_two_figures_or_two_units(value: float, shown: str) -> None:
    assert seconds(value) == shown


@pytest.mark.parametrize(
    ("dollars", "free", "shown"),
    [
        (None, True, "unknown"),
        (0.0, True, "free"),
        (0.0, False, "$0.00"),
        (0.00001, False, "under $0.0001"),
        (0.0123, True, "$0.0123"),
        (1234.5, False, "$1,234.50"),
    ],
)
def test_neither_an_unknown_cost_nor_a_small_one_is_written_as_zero(
    dollars: float | None, free: bool, shown: str
) -> None:
    assert cost(dollars, free) == shown


def test_nouns_agree_with_their_numbers() -> None:
    assert [plural(n, "reply", "replies") for n in (0, 1, 1200)] == ["0 replies", "1 reply", "1,200 replies"]


def test_outcomes_are_counted_in_their_own_order() -> None:
    assert (
        counted({Outcome.NOT_REACHED: 1, Outcome.CORRECT: 2, Outcome.WRONG: 0}) == "2 correct, 1 not reached"
    )
    assert counted({}) == "no questions"


def test_nested_settings_become_rows() -> None:
    settings = {"suite": {"start": "2026-01-05", "pool": ["a", "b"]}, "free": True, "none": {}}
    assert dict(flat(settings)) == {
        "suite.start": "2026-01-05",
        "suite.pool": '["a", "b"]',
        "free": "true",
        "none": "{}",
    }


def test_a_strip_has_a_description_for_screen_readers(made: "Made") -> None:
    few = where(made.example("jokes/0", Outcome.CORRECT, 0, 9_000))
    assert few == "jokes/0, in tokens: needles at 0, 2,670, 5,340; question at 8,010: correct"
    many = where(made.example("counting_stars/0", Outcome.NOT_REACHED, 0, 9_000))
    assert many == "counting_stars/0, in tokens: needle at 0; question not reached"
