"""What was forgotten on request, so that telling a product the log again does not bring it back.

Whether a text is about something, its words say: for memories that cannot forget on request, but can be edited.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from ltm_bench.adapters.files import write_whole
from ltm_bench.adapters.hashing import content_words, weight
from ltm_bench.adapters.ledger import fingerprint
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Turn

_TELLING = 0.5
"""Words below this weight occur in half of all conversations."""


def is_about(text: str, query: str) -> bool:
    """Whether a text contains every distinctive word of the query, whatever the endings."""
    words = content_words(query)
    wanted = {word for word in words if weight(word) >= _TELLING} or set(words)
    return bool(wanted) and wanted <= set(content_words(text))


Part = int | str
"""Which part of a turn: 0 for its message and 1 for its reply, or an adapter's own names."""


class Forgotten:
    """The forgotten parts of turns, in a file; a turn is known by its fingerprint."""

    def __init__(self, path: Path) -> None:
        self._path = path
        text = path.read_text("utf-8") if path.exists() else "[]"
        self._parts: set[tuple[str, Part]] = {(said, part) for said, part in json_of(text)}

    def __contains__(self, part: tuple[str, Part]) -> bool:
        return part in self._parts

    def add(self, parts: Iterable[tuple[str, Part]]) -> None:
        """Record more of them."""
        self._parts.update(parts)
        write_whole(self._path, json.dumps(sorted(self._parts)))

    def left(self, turn: Turn, said: Sequence[str]) -> list[str]:
        """Return the halves of a turn, with empty texts in place of those that were forgotten."""
        return ["" if (fingerprint(turn), half) in self else text for half, text in enumerate(said)]


def halves_about(said: Sequence[str], query: str) -> tuple[int, ...]:
    """Return which halves of a turn are about something: both if its message is, the second if only its reply is."""
    message, reply = (bool(text) and is_about(text, query) for text in said)
    return (0, 1) if message else (1,) if reply else ()
