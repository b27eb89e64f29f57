from datetime import UTC, datetime, timedelta

import pytest

from ltm_bench.core.clock import Clock, spoken_duration, stamp

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def test_time_advances_with_the_tokens_and_jumps_only_forward() -> None:
    clock = Clock(START)
    clock.advance(300)
    assert clock.now == START + timedelta(minutes=1)
    clock.jump(START + timedelta(days=2))
    clock.jump(START)
    assert clock.now == START + timedelta(days=2)


def test_a_start_without_a_timezone_is_refused() -> None:
    with pytest.raises(ValueError, match="has no timezone"):
        Clock(START.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("elapsed", "said"),
    [
        (timedelta(seconds=59), "less than a minute"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(hours=25, minutes=30), "1 day, 1 hour and 30 minutes"),
        (timedelta(hours=2), "2 hours"),
        (timedelta(days=3, minutes=1), "3 days and 1 minute"),
    ],
)
def test_durations_never_lose_their_days(elapsed: timedelta, said: str) -> None:
    assert spoken_duration(elapsed) == said


def test_a_stamp_is_the_same_under_every_locale() -> None:
    assert stamp(START) == "Monday, 5 January 2026, 09:00"
