"""Passages: pieces of turns, each small enough to be about one thing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from ltm_bench.adapters.text import sendable
from ltm_bench.adapters.utterances import ROLES, Spoken, utterances_in
from ltm_bench.core.clock import stamp
from ltm_bench.core.messages import Turn

_PASSAGE_CHARACTERS = 240
"""A longer passage is split between sentences."""

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9¡¿])")
_ABBREVIATED = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e)|\b[A-Z])\.$|^[QA]:.*\?$")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a turn, small enough to be about one thing."""

    turn: int
    part: int
    speaker: str
    at: datetime
    text: str

    @property
    def key(self) -> str:
        """Return its name in the store."""
        return f"{self.turn:08}.{self.part:04}"


def sentences(text: str) -> list[str]:
    """Split a line into sentences; `Q: … A: …` stays together."""
    found: list[str] = []
    for piece in _SENTENCE_END.split(text.strip()):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += f" {piece}"
        elif piece:
            found.append(piece)
    return found


def split_turn(turn: Turn) -> list[Passage]:
    """Split a turn into passages, the message's first; what a session of a record says, by its speakers."""
    said = [
        ("agent" if each.speaker == "Assistant" else "user", _head(each, turn.message.at) + text)
        for each in utterances_in((turn,))
        for text in split(each.text)
    ]
    return [
        Passage(turn.message.turn, part, speaker, turn.message.at, text)
        for part, (speaker, text) in enumerate(said)
    ]


def _head(spoken: Spoken, now: datetime) -> str:
    """Return what stands before each passage of a record: its date, if the clock shows another day, and a name."""
    dated = f"[{stamp(spoken.at)}] " if spoken.at.date() != now.date() else ""
    return dated if spoken.speaker in ROLES else f"{dated}{spoken.speaker}: "


def split(text: str) -> Iterator[str]:
    """Split a text into passages: by lines, and long lines by sentences. JSON stays in one piece."""
    text = sendable(text)
    if text.lstrip().startswith(("[", "{")):
        yield text.strip()
        return
    for line in text.splitlines():
        passage = ""
        for sentence in sentences(line):
            if passage and len(passage) + len(sentence) >= _PASSAGE_CHARACTERS:
                yield passage
                passage = sentence
            else:
                passage = f"{passage} {sentence}".strip()
        if passage:
            yield passage
