"""Dates in the many ways to write them, and numbers that are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.matchers.reading.numbers import in_days

FEBRUARY = (
    "14 Feb|Feb 14|Feb. 14th|February the 14th|14th of February|14th day of February|the fourteenth of February|"
    "14.2.|14.02.|14/2|2/14|02/14/2026|14.02.2026|2026-02-14|14-Feb|14 February"
).split("|")


@pytest.mark.parametrize("said", FEBRUARY)
def test_a_date_is_the_same_however_it_is_written(said: str) -> None:
    assert in_days(f"on {said}").rstrip(".") == "on 14 february"


@pytest.mark.parametrize(
    "said", ["maybe 3", "9:30", "on the 24th", "192.168.1.1", "the first one", "35/40", "march on"]
)
def test_what_is_no_date_stays(said: str) -> None:
    assert in_days(said) == said


def test_a_date_in_figures_that_could_be_two_is_both() -> None:
    assert in_days("3/4") == "3 april or 4 march"


@pytest.mark.parametrize(("said", "read"), [("12:00", "1200"), ("12 p.m.", "12 pm"), ("0:00 h", "000 h")])
def test_a_full_hour_is_one_word(said: str, read: str) -> None:
    assert in_days(said) == read


@given(st.integers(1, 31), st.integers(1, 12))
def test_every_day_reads_the_same_with_the_month_before_it_and_behind(day: int, month: int) -> None:
    name = "January February March April May June July August September October November December".split()[
        month - 1
    ]
    assert (
        in_days(f"{name} {day}")
        == in_days(f"the {day}. {name}".replace(".", "th"))
        == f"{day} {name.lower()}"
    )
