"""Dates of published files: one instant is one date, whatever the zone in which a file tells it."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.datasets.dates import read_date

SAME = [
    "2023-05-08T21:05",
    "2023-05-08T21:05:00Z",
    "2023-05-08T13:05:00-08:00",
    "2023-05-09T06:05:00+09:00",
    "2023-05-09 06:05 (Tue)+09:00",
    "2023/05/08 (Mon) 21:05",
    "2023/05/08 (Monday) 13:05 -08:00",
    "2023/05/08 21:05 UTC",
    "2023/05/09 06:05+0900",
    "9:05 pm on 8 May, 2023",
    "1:05 pm on 8 May, 2023 -0800",
]


@pytest.mark.parametrize("text", SAME)
def test_one_instant_is_one_date_in_utc(text: str) -> None:
    assert read_date(text) == datetime(2023, 5, 8, 21, 5, tzinfo=UTC)
    assert read_date(text).tzinfo is UTC  # type: ignore[union-attr]  # the line above says that it is a date


@given(
    days=st.integers(0, 18_000),
    time=st.integers(0, 24 * 60 - 1),
    minutes=st.integers(-14 * 60, 14 * 60),
)
def test_sessions_keep_their_order_whatever_their_zones(days: int, time: int, minutes: int) -> None:
    then = datetime(1990, 1, 1, tzinfo=UTC) + timedelta(days=days, minutes=time)
    local = then.astimezone(timezone(timedelta(minutes=minutes)))
    for form in ("%Y-%m-%dT%H:%M:%S%z", "%Y/%m/%d (%a) %H:%M %z", "%I:%M %p on %d %B, %Y %z"):
        found = read_date(local.strftime(form))
        assert found == then
        assert found is not None
        assert (found.hour, found.minute) == (then.hour, then.minute)


@pytest.mark.parametrize(
    "value",
    [
        1683579900,
        1683579900000,
        "1712010212345",
        2023.5,
        True,
        ["2023-05-08"],
        {"at": 1},
        "0001-01-01T00:00+09:00",
        "2023/05/08 21:05 (PST)",
        "2023/05/08 21:05 PST",
        "8 o'clock",
        "2023-13-01",
    ],
)
def test_what_is_no_date_of_a_known_form_is_named(value: Any) -> None:
    with pytest.raises(ValueError, match="is in no known form"):
        read_date(value)


@pytest.mark.parametrize("value", [None, "", " "])
def test_an_empty_date_is_none(value: Any) -> None:
    assert read_date(value) is None
