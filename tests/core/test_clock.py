import re
from datetime import UTC, datetime, timedelta

import pytest

from ltm_bench.core.clock import Clock, Worded, roughly, spoken_duration, spoken_time, stamp
from ltm_bench.core.tokens import counter

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


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (1, "one minute"),
        (42, "40 minutes"),
        (60, "one hour"),
        (88, "one and a half hours"),
        (200, "three and a half hours"),
        (415, "seven hours"),
        (1800, "one day and six hours"),
        (3700, "two and a half days"),
        (9000, "six days"),
    ],
)
def test_a_duration_is_rounded_as_people_do(minutes: int, said: str) -> None:
    assert roughly(timedelta(minutes=minutes)) == f"about {said}"


@pytest.mark.parametrize("apart", [30, 45, 60, 240, 5000])
def test_a_rounded_duration_means_one_moment_and_not_its_neighbour(apart: int) -> None:
    for minutes in range(1, 40_000, 7):
        exact = timedelta(minutes=minutes, seconds=17)
        assert abs(meant(roughly(exact, timedelta(minutes=apart))) - exact) <= timedelta(minutes=apart / 4)


def meant(said: str) -> timedelta:
    """Return what `about two days, three hours and 5 minutes` says."""
    numbers = [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    ]
    found = timedelta()
    for number, half, unit in re.findall(r"(\w+)( and a half)? (day|hour|minute)s?", said):
        count = int(number) if number.isdigit() else numbers.index(number) + 1
        found += (count + 0.5 * bool(half)) * timedelta(**{f"{unit}s": 1})
    return found


@pytest.mark.parametrize(
    ("hour", "minute", "said"),
    [
        (0, 4, "Monday, 5 January, five past twelve in the small hours"),
        (9, 0, "Monday, 5 January, nine o'clock in the morning"),
        (12, 33, "Monday, 5 January, twenty-five to one in the afternoon"),
        (18, 13, "Monday, 5 January, a quarter past six in the evening"),
        (23, 58, "Tuesday, 6 January, twelve o'clock in the small hours"),
    ],
)
def test_the_time_is_told_in_words_to_five_minutes(hour: int, minute: int, said: str) -> None:
    assert spoken_time(START.replace(hour=hour, minute=minute)) == said


def test_a_timed_text_is_rehearsed_at_its_longest() -> None:
    text = Worded("It is {now}. Which one did I tell you {ago} ago?", START, (START + timedelta(minutes=31),))
    for hours in range(1, 3000):
        now = START + timedelta(hours=hours, minutes=hours % 60)
        assert counter().count(text(now)) <= counter().count(text.longest)
