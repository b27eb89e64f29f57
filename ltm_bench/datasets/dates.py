"""Reads dates as the public sets write them."""

import re
from contextlib import suppress
from datetime import UTC, datetime

_FORMS = (
    "%I:%M %p on %d %B, %Y",  # 1:56 pm on 8 May, 2023
    "%Y/%m/%d %H:%M",  # 2023/05/30 21:56
    "%B-%d-%Y",  # March-15-2024
    "%Y/%m/%d",
    "%B %d, %Y",
)
_DAY = re.compile(r"\s{0,4}\((?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\)", re.IGNORECASE)
_GREENWICH = re.compile(r"\s{0,4}(?:UTC|GMT)$")
_ZONE = re.compile(r"(:\d\d.{0,40}?)\s{0,4}(Z|[+-]\d\d:?\d\d)$")
"""The end of a time with a zone; a date alone may end in a year."""


def read_date(text: object) -> datetime | None:
    """Return a date in UTC, or None for an empty one. Raises ValueError for a form that no set uses."""
    if text is None or (plain := str(text).strip()) == "":
        return None
    plain, zoned = _ZONE.subn(r"\1\2", _GREENWICH.sub("+00:00", _DAY.sub("", plain)))
    with suppress(ValueError, OverflowError):
        if isinstance(text, str) and plain[4:5] == "-":
            return in_utc(datetime.fromisoformat(plain))
    for form in _FORMS:
        with suppress(ValueError, OverflowError):
            return in_utc(datetime.strptime(f"{plain}{'' if zoned else '+00:00'}", f"{form}%z"))
    raise ValueError(f"the date {str(text)[:60]!r} is in no known form")


def in_utc(date: datetime) -> datetime:
    """Return a date in UTC, as the clock of the benchmark has it; one without a zone is meant so."""
    return date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
