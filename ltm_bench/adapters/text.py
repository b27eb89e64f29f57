"""Text helpers for adapters: make text sendable, split it, parse a time."""

from collections.abc import Iterator
from datetime import datetime

from ltm_bench.core.clock import stamp
from ltm_bench.core.messages import Message


def sendable(text: str) -> str:
    """Return a text with lone surrogates replaced, which neither UTF-8 nor any provider accepts.

    A pair of surrogates becomes the character it encodes, as it does when read from a log.
    """
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class UnlikeItsApi(ValueError, TypeError):
    """An answer is not what its API says; a TypeError as well, since adapters have caught that."""


def spoken(content: object) -> str:
    """Return the text of a reply's content: a string, or a list of parts, of which only text is said.

    Raises UnlikeItsApi if it is neither.
    """
    if not isinstance(content, list):
        if not isinstance(content, str | None):
            raise UnlikeItsApi(f"the text of the reply is not a string: {content!r:.60}")
        return content or ""
    if odd := [part for part in content if not isinstance(part, dict)]:
        raise UnlikeItsApi(f"a part of the reply is not an object: {odd[0]!r:.60}")
    return "".join(
        str(part.get("text") or "") for part in content if part.get("type") in ("text", "output_text")
    )


def stamped(message: Message) -> str:
    """Return a message's text with the date in front; a date elsewhere would defeat the prompt cache."""
    return f"[{stamp(message.at)}]\n{message.text}"


def pieces(text: str, most: int) -> Iterator[str]:
    """Split a text into pieces of at most `most` characters, between lines if possible."""
    text = sendable(text)
    while len(text) > most:
        end = text.rfind("\n", 0, most) + 1 or most
        yield text[:end].rstrip()
        text = text[end:]
    if text.strip():
        yield text


def aware_time(text: str | None) -> datetime | None:
    """Parse a server's ISO 8601 time; None if it is missing or has no time zone."""
    try:
        at = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return at if at.tzinfo is not None else None
