"""Passages and their vectors: kept on disk, so that a run can be resumed, and searched for what is near to a query.

A store says how it keeps and ranks them: `sqlite_store` scans them all, `chroma_store` asks Chroma's index.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltm_bench.adapters.passages import Passage
from ltm_bench.core.errors import CannotResume

if TYPE_CHECKING:
    from ltm_bench.adapters.hashing import Vectors

_WRITE_AT_ONCE = 256
"""Passages per write. What a crash loses, `restore` is given again."""


class Stored(NamedTuple):
    """A passage on disk."""

    text: str
    said: str
    """When, and by whom."""
    vector: Any


class Found(NamedTuple):
    """A passage that is near to a query."""

    passage: Passage
    score: float
    """The product of the two vectors: higher is nearer."""


@dataclass(frozen=True)
class Held(ABC):
    """What a store holds at one moment."""

    passages: Sequence[Passage]
    """The first `size` of them, in conversation order; the list may grow behind it."""
    size: int

    @abstractmethod
    def nearest(self, query: Any, limit: int) -> list[Found]:
        """Return the passages nearest to a vector, the nearest first, ties in conversation order."""

    def around(self, at: datetime, limit: int) -> list[Passage]:
        """Return the passages that were stored next to a time, in order."""
        middle = bisect_left(self.passages, at, hi=self.size, key=lambda passage: passage.at)
        return list(self.passages[max(0, middle - limit // 2) : min(self.size, middle + (limit + 1) // 2)])


class VectorStore(ABC):
    """Passages, their vectors, and a ranking of them."""

    place: str
    """The name of its file or folder in the agent's folder."""

    unreadable: tuple[type[Exception], ...]
    """What reading a broken one raises."""

    def __init__(self, embedder: str) -> None:
        """Set up for the vectors of an embedder; those of another one are of no use, and are deleted."""
        self.embedder = embedder
        self._unwritten: list[tuple[Passage, Any]] = []
        self.passages: list[Passage] = []
        """In the order in which they were said."""

    def open(self, home: Path) -> None:
        """Say where it is; it is opened, or created, when it is first read or written."""
        self.path = home.resolve() / self.place

    @abstractmethod
    def connect(self) -> Any:
        """Open it, if it is not open yet."""

    @abstractmethod
    def now(self) -> Held:
        """Return what it holds now. It only ever grows behind it."""

    @abstractmethod
    def _read(self) -> dict[str, Stored]:
        """Return what is on disk, by key."""

    @abstractmethod
    def _delete(self, keys: Sequence[str]) -> None:
        """Delete passages from disk."""

    @abstractmethod
    def _write(self, rows: Sequence[tuple[Passage, Any]]) -> None:
        """Write passages and their vectors to disk."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Close what `connect` opened."""

    def load(self) -> dict[str, Stored]:
        """Return what is on disk, by key. Raises CannotResume if it cannot be read."""
        if not self.path.exists():
            return {}
        try:
            return self._read()
        except self.unreadable as error:
            kind = "folder" if self.path.is_dir() else "file"
            raise CannotResume(
                f"the vector store {self.path} cannot be read ({type(error).__name__}: {error}); delete that "
                f"{kind} and resume: it will be rebuilt from the log"
            ) from error

    def keep(self, stored: dict[str, Stored], passages: Sequence[Passage]) -> list[Passage]:
        """Delete what is on disk but is not exactly one of these passages; return those that are missing there."""
        wanted = {p.key: (p.text, said(p)) for p in passages}
        gone = [key for key, each in stored.items() if wanted.get(key) != (each.text, each.said)]
        if gone:
            self._delete(gone)
        for key in gone:
            del stored[key]
        return [passage for passage in passages if passage.key not in stored]

    def adopt(
        self, passages: Sequence[Passage], stored: Mapping[str, Stored], added: Mapping[str, Any]
    ) -> None:
        """Hold exactly these passages from now on; those whose vectors are in `added` are written."""
        import numpy as np

        self._forget()
        vectors = [added[p.key] if p.key in added else stored[p.key].vector for p in passages]
        if vectors:
            self._append(passages, np.array(vectors, dtype=np.float32))
        self._unwritten = [(each, added[each.key]) for each in passages if each.key in added]
        self.write()

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Take up a turn's passages. They are on disk after some more turns, or after `close`."""
        if passages:
            self._append(passages, vectors)
            self._unwritten += zip(passages, vectors, strict=True)
            if len(self._unwritten) >= _WRITE_AT_ONCE:
                self.write()

    def _forget(self) -> None:
        self.passages = []  # a new list: what was held before stays as it was
        self._unwritten = []

    def _append(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Hold some more passages."""
        self.passages += passages

    def write(self) -> None:
        """Write what is not yet on disk."""
        if self._unwritten:
            self._write(self._unwritten)
            self._unwritten = []

    def close(self) -> None:
        """Write the rest and close what is open."""
        try:
            self.write()
        finally:
            self._disconnect()


def said(passage: Passage) -> str:
    """Return when a passage was said, and by whom."""
    return f"{passage.at.isoformat()} {passage.speaker}"
