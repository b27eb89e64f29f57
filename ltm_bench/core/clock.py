"""The benchmark's own time: it advances with the tokens said, and it can jump. It never reads the wall clock."""

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


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)  # fmt: skip


def stamp(at: datetime) -> str:
    """Return a time as people write it, in the same form in every locale: `Monday, 5 January 2026, 09:00`."""
    return f"{_WEEKDAYS[at.weekday()]}, {at.day} {_MONTHS[at.month - 1]} {at.year}, {at:%H:%M}"
