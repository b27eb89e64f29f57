"""Small things that every adapter does with text: make it sendable, cut it into pieces, read a time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime


def sendable(text: str) -> str:
    """Return a text with every half of a surrogate pair replaced, which neither UTF-8 nor any provider can hold.

    Two halves that stand together become the character that they are, as they do once they have been in a log.
    """
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def pieces(text: str, most: int) -> Iterator[str]:
    """Cut a text into pieces of at most `most` characters, between lines where there are any."""
    text = sendable(text)
    while len(text) > most:
        end = text.rfind("\n", 0, most) + 1 or most
        yield text[:end].rstrip()
        text = text[end:]
    if text.strip():
        yield text


def aware_time(text: str | None) -> datetime | None:
    """Return the time in ISO 8601 that a server gave; None if it gave none, or one without a time zone."""
    try:
        at = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return at if at.tzinfo is not None else None
