"""What a core model writes for itself: search queries, and notes kept from turn to turn."""

import json
from pathlib import Path

from ltm_bench.adapters.files import write_whole
from ltm_bench.adapters.text import sendable
from ltm_bench.core.limits import json_of

WRITE_QUERIES = (
    "You look things up in a record of an earlier conversation with a user. Write up to three short search queries for "
    "what would help to answer the message below: names, things and facts, not whole questions. Write them as a JSON "
    'list of strings, such as ["a", "b"], and nothing else.'
)
"""Instructions for a model whose answer `read_queries` reads."""

WRITE_NOTES = (
    "You keep notes about a user in one small JSON object. Below are the notes as they are, and the newest turn of the "
    "conversation. Write the notes as they should be now: keep what may be asked for later or has to be done later, "
    "put new values in place of old ones, drop the rest. At most 300 words; the JSON object and nothing else."
)
"""Instructions for a model whose answer `Scratchpad.note` takes."""

_MOST_QUERIES = 3
_QUERY_CHARACTERS = 300
_PAD_CHARACTERS = 6000
"""Maximum length of a scratchpad; a longer one is rejected, and the previous one stays."""


def read_queries(text: str) -> list[str]:
    """Return the queries that a model wrote; empty if unreadable."""
    start, end = text.find("["), text.rfind("]")
    try:
        value = json_of(text[start : end + 1])
    except ValueError:
        return []
    queries = [each.strip()[:_QUERY_CHARACTERS] for each in value if isinstance(each, str) and each.strip()]
    return queries[:_MOST_QUERIES]


class Scratchpad:
    """Notes that a core keeps, one line of a file for each turn after which they changed.

    A line is written before the reply is returned, so its turn may be missing from the log; `cut` then drops it.
    """

    def __init__(self) -> None:
        self.text = ""

    def open(self, path: Path) -> None:
        """Keep the notes in this file."""
        self._path = path

    def cut(self, turns: int) -> None:
        """Return to the notes as they were after this many turns."""
        lines = self._path.read_text("utf-8").splitlines(keepends=True) if self._path.exists() else []
        kept: list[str] = []
        self.text = ""
        for line in lines:
            try:
                turn, text = json_of(line)
            except ValueError:  # torn by a crash; nothing comes after it
                break
            if turn >= turns:
                break
            kept.append(line)
            self.text = text
        write_whole(self._path, "".join(kept))

    def note(self, turn: int, answer: str) -> None:
        """Take the core's new notes, if they are a JSON object of acceptable size."""
        start, end = answer.find("{"), answer.rfind("}")
        try:
            value = json_of(answer[start : end + 1])
        except ValueError:
            return
        text = sendable(json.dumps(value, ensure_ascii=False))
        if isinstance(value, dict) and len(text) <= _PAD_CHARACTERS and text != self.text:
            self.text = text
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([turn, text]) + "\n")
