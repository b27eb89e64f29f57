"""The records into which every public set of dialogues is read: a history of dated sessions, and questions about it.

Loaders stream: they yield one history after the other, and hold one at a time.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from ltm_bench.datasets.streaming import OnBad as OnBad

Role = Literal["user", "assistant"]


def role_of(value: object) -> Role:
    """Return a role as most sets write it. Raises ValueError for any other value."""
    if value == "user":
        return "user"
    if value == "assistant":
        return "assistant"
    raise ValueError(f"role {str(value)[:40]!r} is neither user nor assistant")


@dataclass(frozen=True, slots=True)
class Utterance:
    """What one speaker said at once."""

    role: Role
    """In a set about two people, the one who speaks first is the user."""
    text: str
    speaker: str | None = None
    """The speaker's name, if speakers have names."""
    id: str = ""
    """Its name in the set's evidence; empty if it has none."""
    evidence: bool = False
    """Whether it contains the answer to a question, if the set says so."""


@dataclass(frozen=True, slots=True)
class Session:
    """Utterances of one sitting."""

    id: str
    at: datetime | None
    """When it began, as the set says, in UTC; None for sets without dates."""
    utterances: tuple[Utterance, ...]


@dataclass(frozen=True, slots=True)
class HistoryQuestion:
    """A question about a history."""

    id: str
    """Unique within the set, and the same in prediction files."""
    type: str
    """The set's own kind: category, question type, ability, or subset."""
    text: str
    gold: tuple[str, ...]
    """Accepted answers; the first is the plainest."""
    at: datetime | None = None
    """When it is asked; None if the set does not say."""
    rubric: tuple[str, ...] = ()
    """The requirements that a judge checks, item by item; empty if the set has only gold answers."""
    evidence: tuple[str, ...] = ()
    """Utterances or sessions that hold the answer, by their ids."""
    unanswerable: bool = False
    """Whether the right answer is that the history does not say."""
    options: tuple[str, ...] = ()
    """What may be answered, if the set offers a choice; the right answer first, until the question is put."""
    after: str = ""
    """The session after which it is asked; empty for after the last one."""
    restrains: bool = False
    """Whether the right reply keeps something back, so that silence would earn it."""

    @property
    def reference(self) -> str:
        """The accepted answers in one text, for a judge."""
        return "; or: ".join(self.gold)


@dataclass(frozen=True, slots=True)
class History:
    """Sessions in the order of their dates, and the questions about them."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[HistoryQuestion, ...]


Histories = Iterator[History]


def content_hash(*places: Path) -> str:
    """Return the SHA-256 of files, and of all files in folders, names included, in hex. Raises OSError."""
    digest = hashlib.sha256()
    for place in places:
        whole = place.is_dir()
        for each in sorted(filter(Path.is_file, place.rglob("*"))) if whole else [place]:
            if whole:
                digest.update(f"{each.relative_to(place).as_posix()}\0".encode("utf-8", "replace"))
            with each.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()
