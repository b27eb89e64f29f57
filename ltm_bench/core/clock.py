"""The benchmark's own time, and how people speak of it. It advances with the tokens said, and it can jump.

It never reads the wall clock.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ltm_bench.core.errors import CannotCombine

PER_TOKEN = timedelta(milliseconds=200)
"""Benchmark time per token: about the pace at which people read and type."""


def later(moment: datetime, by: timedelta) -> datetime:
    """Return a later moment. Raises CannotCombine if it is beyond the year 9999, where the calendar ends."""
    try:
        return moment + by
    except OverflowError:
        raise CannotCombine(
            f"{by.days:,} days after {moment:%Y-%m-%d} the calendar ends (in the year 9999): shorten the pauses of the "
            "scenarios (`after`), or begin earlier (`start` of the suite)"
        ) from None


def wall() -> datetime:
    """Return the time by the wall clock, for side files alone: of a call, whose price depends on it."""
    return datetime.now(UTC)  # noqa: TID251  # the only place that asks for it on behalf of adapters


def moment(text: object) -> datetime | None:
    """Return the time that a side file gives; None if it is none, or lacks its zone."""
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


class Clock:
    """A clock that starts at `start` (timezone-aware) and only moves forward. Raises ValueError without a timezone."""

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError(f"the clock's start {start.isoformat()} has no timezone")
        self._now = start

    @property
    def now(self) -> datetime:
        """The current benchmark time."""
        return self._now

    def advance(self, tokens: int) -> None:
        """Advance by the time it takes to say this many tokens."""
        self._now = later(self._now, PER_TOKEN * tokens)

    def jump(self, to: datetime) -> None:
        """Move forward to `to`; a time in the past is ignored."""
        self._now = max(self._now, to)


def spoken_duration(elapsed: timedelta) -> str:
    """Return a duration in words, to the minute: `2 days, 3 hours and 5 minutes`, or `less than a minute`.

    Days are kept, which `timedelta.seconds` would lose.
    """
    minutes = int(elapsed.total_seconds() // 60)
    amounts = ((minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute"))
    said = [f"{n} {unit}{'' if n == 1 else 's'}" for n, unit in amounts if n]
    if not said:
        return "less than a minute"
    return said[0] if len(said) == 1 else ", ".join(said[:-1]) + " and " + said[-1]


_GRIDS = (1, 5, 15, 30, 60, 720, 1440)
"""Minutes to which people round a duration."""

_NUMBERS = ("", *"one two three four five six seven eight nine ten eleven twelve".split())

_FAR = 4
"""A duration is rounded by at most this part of the distance to another moment that could be meant."""


def roughly(elapsed: timedelta, apart: timedelta | None = None) -> str:
    """Return a duration of a minute or more as a person would put it: `about three and a half hours`.

    It is rounded to what is a fifth of it at most; and less, if something else happened `apart` from it, so that the
    words mean the one and not the other.
    """
    exact, most = (each / timedelta(minutes=1) for each in (elapsed, (apart or elapsed) / _FAR))
    grids = [grid for grid in _GRIDS if grid * 5 <= exact and abs(exact - round(exact / grid) * grid) <= most]
    grid = max(grids, default=1)
    days, rest = divmod(max(1, round(exact / grid) * grid), 1440)
    hours, minutes = divmod(rest, 60)
    half = " and a half" if (days and rest == 720) or (not days and hours and minutes == 30) else ""
    amounts = ((days, "day"), (0 if days and half else hours, "hour"), (0 if half else minutes, "minute"))
    said = [
        f"{_NUMBERS[n] if n < len(_NUMBERS) else n}{half} {unit}{'s' if half or n > 1 else ''}"
        for n, unit in amounts
        if n
    ]
    return "about " + " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))


_PAST = (
    "{} o'clock",
    *(f"{each} past {{}}" for each in ("five", "ten", "a quarter", "twenty", "twenty-five")),
)
_TO = ("half past {}", *(f"{each} to {{}}" for each in ("twenty-five", "twenty", "a quarter", "ten", "five")))


def spoken_time(at: datetime) -> str:
    """Return a time in words, to five minutes: `Monday, 5 January, ten past nine in the morning`."""
    at = later(at, timedelta(minutes=2, seconds=30))
    five = at.minute // 5
    hour = at.hour + (five > len(_PAST))  # after half past, the next one is named
    clock = (*_PAST, *_TO)[five].format(_NUMBERS[(hour - 1) % 12 + 1])
    part = ("in the small hours", "in the morning", "in the afternoon", "in the evening")[at.hour // 6]
    return f"{_WEEKDAYS[at.weekday()]}, {at.day} {_MONTHS[at.month - 1]}, {clock} {part}"


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)  # fmt: skip


def stamp(at: datetime) -> str:
    """Return a time as people write it, in the same form in every locale: `Monday, 5 January 2026, 09:00`."""
    return f"{_WEEKDAYS[at.weekday()]}, {at.day} {_MONTHS[at.month - 1]} {at.year}, {at:%H:%M}"


@dataclass(frozen=True, slots=True)
class Worded:
    """A text worded when it is sent: `{now}` is the time by then, `{ago}` how long ago something was.

    Ask(Worded("Which joke did I tell you {ago} ago?", since=reply.at, others=moments), …)
    """

    text: str
    since: datetime | None = None
    """When what `{ago}` speaks of was said: `at` of the reply to it."""
    others: tuple[datetime, ...] = ()
    """Moments that it must not be mistaken for: `{ago}` is rounded as a person would, but never nearer to these."""

    def __call__(self, now: datetime) -> str:
        """Return the text at a time of the benchmark, which the log keeps: replays find the same text."""
        since = self.since or now
        ago = roughly(now - since, min((abs(since - other) for other in self.others), default=None))
        return self.text.replace("{now}", spoken_time(now)).replace("{ago}", ago)

    @property
    def longest(self) -> str:
        """The text at its longest, so that a message is due early enough whenever it is sent."""
        return self.text.replace("{now}", _LONGEST_TIME).replace("{ago}", _LONGEST_DURATION)


_LONGEST_TIME = "Wednesday, 23 September, twenty-five past twelve in the small hours"
_LONGEST_DURATION = "about 123 days, 23 hours and 23 minutes"
