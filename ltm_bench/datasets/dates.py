"""Reads dates as the public sets write them."""

import re
from datetime import UTC, datetime

_FORMS = (
    "%I:%M %p on %d %B, %Y",  # 1:56 pm on 8 May, 2023
    "%Y/%m/%d %H:%M",  # 2023/05/30 21:56
    "%B-%d-%Y",  # March-15-2024
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%B %d, %Y",
)


def read_date(text: object) -> datetime | None:
    """Return a date in UTC, or None for an empty one. Raises ValueError for a form that no set uses."""
    if text is None or not str(text).strip():
        return None
    plain = re.sub(r"\s*\([A-Za-z]{2,9}\)", "", str(text)).strip()  # the day of the week
    for form in _FORMS:
        try:
            return datetime.strptime(plain, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        found = datetime.fromisoformat(plain)
    except ValueError:
        raise ValueError(f"the date {str(text)[:60]!r} is in no known form") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
