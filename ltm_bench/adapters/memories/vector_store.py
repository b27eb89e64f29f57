"""Passages and their vectors, kept on disk so that a run can be resumed, and searched by similarity.

A store says how it keeps them: `chroma_store`, `sqlite_store`. The vectors are also in memory, where a scan ranks them
exactly: over 60,000 passages it takes some milliseconds. `ChromaIndex` has Chroma's own index rank them instead.
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


class Stored(NamedTuple):
    """A passage on disk."""

    text: str
    said: str
    """When, and by whom."""
    vector: Any


class NearPassage(NamedTuple):
    """A passage near a query."""

    passage: Passage
    score: float
    """The product of the two vectors: higher is nearer."""


@dataclass(frozen=True)
class StoreSnapshot(ABC):
    """A snapshot of a store."""

    passages: Sequence[Passage]
    """The first `size` of them, in conversation order; the list may grow behind it."""
    size: int

    @abstractmethod
    def nearest(self, query: Any, limit: int) -> list[NearPassage]:
        """Return the passages nearest to a vector, nearest first, ties in conversation order."""

    def around(self, at: datetime, limit: int) -> list[Passage]:
        """Return the passages that were stored next to a time, in order."""
        middle = bisect_left(self.passages, at, hi=self.size, key=lambda passage: passage.at)
        return list(self.passages[max(0, middle - limit // 2) : min(self.size, middle + (limit + 1) // 2)])


@dataclass(frozen=True)
class Scanned(StoreSnapshot):
    """Passages that are ranked by a scan of all vectors."""

    vectors: Vectors
    """One row per passage."""

    def nearest(self, query: Any, limit: int) -> list[NearPassage]:
        """Return the passages nearest to a vector, nearest first, ties in conversation order."""
        import numpy as np

        count = self.size
        if not count:
            return []
        scores = self.vectors @ query
        best = np.arange(count)
        if limit < count:  # keep everything that ties with the last one that fits
            best = np.flatnonzero(scores >= np.partition(scores, count - limit)[count - limit])
        best = best[np.argsort(-scores[best], kind="stable")][:limit]
        return [NearPassage(self.passages[int(row)], float(scores[row])) for row in best]


class VectorStore(ABC):
    """Passages, their vectors, and a ranking of them."""

    place: str
    """The name of its file or folder in the agent's folder."""

    unreadable: tuple[type[Exception], ...]
    """What reading a broken one raises."""

    batch: int
    """Passages per write. `restore` replaces what a crash loses."""

    def __init__(self, embedder: str) -> None:
        """Set up for an embedder's vectors; stored vectors of another embedder are deleted."""
        self.embedder = embedder
        self.passages: list[Passage] = []
        """In conversation order."""
        self._unwritten: list[tuple[Passage, Any]] = []

    def open(self, home: Path) -> None:
        """Set the location; it is opened or created on first use."""
        self.path = home.resolve() / self.place
        self._forget()

    @abstractmethod
    def connect(self) -> Any:
        """Open it, if it is not open yet."""

    def now(self) -> StoreSnapshot:
        """Return a snapshot. The store only grows behind it."""
        return Scanned(self.passages, len(self.passages), self._vectors[: len(self.passages)])

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

    def reopen(self) -> None:
        """Hold what is on disk."""
        stored = self.load()
        self.adopt([passage_of(key, stored[key]) for key in sorted(stored)], stored, {})

    def keep(self, stored: dict[str, Stored], passages: Sequence[Passage]) -> list[Passage]:
        """Delete everything on disk except exactly these passages; return those missing from disk."""
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
        """Hold exactly these passages; write those whose vectors are in `added`."""
        import numpy as np

        self._forget()
        vectors = [added[p.key] if p.key in added else stored[p.key].vector for p in passages]
        if vectors:
            self._append(passages, np.array(vectors, dtype=np.float32))
        self._unwritten = [(each, added[each.key]) for each in passages if each.key in added]
        self.write()

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Add a turn's passages. They reach the disk some turns later, or at `close`."""
        if passages:
            self._append(passages, vectors)
            self._unwritten += zip(passages, vectors, strict=True)
            if len(self._unwritten) >= self.batch:
                self.write()

    def _forget(self) -> None:
        import numpy as np

        self.passages = []  # a new list: earlier snapshots must not change
        self._unwritten = []
        self._vectors: Vectors = np.zeros((0, 0), dtype=np.float32)

    def _append(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Add passages in memory."""
        import numpy as np

        before, after = len(self.passages), len(self.passages) + len(passages)
        if after > len(self._vectors):
            grown = np.zeros((max(1024, 2 * after), vectors.shape[1]), dtype=np.float32)
            grown[:before] = self._vectors[:before] if before else 0
            self._vectors = grown
        self._vectors[before:after] = vectors
        self.passages += passages

    def write(self) -> None:
        """Write pending passages to disk."""
        if self._unwritten:
            self._write(self._unwritten)
            self._unwritten = []

    def close(self) -> None:
        """Write pending passages, and close."""
        try:
            self.write()
        finally:
            self._disconnect()


def said(passage: Passage) -> str:
    """Return when a passage was said, and by whom."""
    return f"{passage.at.isoformat()} {passage.speaker}"


def passage_of(key: str, stored: Stored) -> Passage:
    """Return the passage that is on disk under a key."""
    turn, _, part = key.partition(".")
    at, _, speaker = stored.said.partition(" ")
    return Passage(int(turn), int(part), speaker, datetime.fromisoformat(at), stored.text)
