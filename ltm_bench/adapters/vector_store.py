"""Passages and their vectors: in SQLite, so that a run can be resumed, and in memory, where they are ranked exactly.

There is no index: a graph of neighbours took two thirds of a run's processor time to build, and misses a true neighbour
now and then. An exact scan over 60,000 passages takes some milliseconds.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltm_bench.adapters.passages import Passage
from ltm_bench.core.errors import CannotResume

if TYPE_CHECKING:
    from ltm_bench.adapters.hashing import Vectors

_WRITE_AT_ONCE = 256
"""Passages per write. What a crash loses, `restore` is given again."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (embedder BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS passages (key TEXT PRIMARY KEY, text BLOB, said TEXT, vector BLOB) WITHOUT ROWID;
"""


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


class Held(NamedTuple):
    """What a store holds at one moment."""

    passages: Sequence[Passage]
    """The first `size` of them; the list may grow behind it."""
    size: int
    vectors: Vectors

    def nearest(self, query: Any, limit: int) -> list[Found]:
        """Return the passages nearest to a vector, the nearest first, equals in the order in which they were said."""
        import numpy as np

        count = self.size
        if not count:
            return []
        scores = self.vectors @ query
        best = np.arange(count)
        if limit < count:  # whatever scores as much as the last one that fits must be there to be compared
            best = np.flatnonzero(scores >= np.partition(scores, count - limit)[count - limit])
        best = best[np.argsort(-scores[best], kind="stable")][:limit]
        return [Found(self.passages[int(row)], float(scores[row])) for row in best]

    def around(self, at: datetime, limit: int) -> list[Passage]:
        """Return the passages that were stored next to a time, in order."""
        middle = bisect_left(self.passages, at, hi=self.size, key=lambda passage: passage.at)
        return list(self.passages[max(0, middle - limit // 2) : min(self.size, middle + (limit + 1) // 2)])


class VectorStore:
    """Passages, their vectors, and an exact ranking of them."""

    def __init__(self, embedder: str) -> None:
        """Set up for the vectors of an embedder; those of another one are of no use, and are deleted."""
        self._embedder = embedder
        self._connection: sqlite3.Connection | None = None
        self._unwritten: list[int] = []
        self.passages: list[Passage] = []
        """In the order in which they were said."""

    @property
    def vectors(self) -> Vectors:
        """One row per passage."""
        return self._vectors[: len(self.passages)]

    def open(self, home: Path) -> None:
        """Say where the file is; it is opened, or created, when it is first read or written."""
        import numpy as np

        self._where = home.resolve() / "memory.sqlite"
        self._vectors: Vectors = np.zeros((0, 0), dtype=np.float32)

    def connect(self) -> sqlite3.Connection:
        """Return the open file."""
        if self._connection is None:
            connection = sqlite3.connect(self._where)
            connection.execute("PRAGMA synchronous = OFF")  # after a power failure the log has it all
            connection.executescript(_SCHEMA)
            known = [row[0] for row in connection.execute("SELECT embedder FROM about")]
            if known != [_bytes(self._embedder)]:
                connection.execute("DELETE FROM passages")
                connection.execute("DELETE FROM about")
                connection.execute("INSERT INTO about VALUES (?)", [_bytes(self._embedder)])
                connection.commit()
            self._connection = connection
        return self._connection

    def load(self) -> dict[str, Stored]:
        """Return what is on disk, by key. Raises CannotResume where it cannot be read."""
        import numpy as np

        if not self._where.exists():
            return {}
        try:
            rows = self.connect().execute("SELECT key, text, said, vector FROM passages")
            return {
                key: Stored(text.decode("utf-8", "surrogatepass"), said, np.frombuffer(vector, np.float32))
                for key, text, said, vector in rows
            }
        except (sqlite3.Error, ValueError, AttributeError) as error:
            raise CannotResume(
                f"the vector store {self._where} cannot be read ({type(error).__name__}: {error}); delete that "
                "file and resume: it will be rebuilt from the log"
            ) from error

    def keep(self, stored: dict[str, Stored], passages: Sequence[Passage]) -> list[Passage]:
        """Delete what is on disk but is not exactly one of these passages; return those that are missing there."""
        wanted = {p.key: (p.text, _said(p)) for p in passages}
        gone = [key for key, each in stored.items() if wanted.get(key) != (each.text, each.said)]
        if gone:
            self.connect().executemany("DELETE FROM passages WHERE key = ?", [(key,) for key in gone])
            self.connect().commit()
        for key in gone:
            del stored[key]
        return [passage for passage in passages if passage.key not in stored]

    def adopt(
        self, passages: Sequence[Passage], stored: Mapping[str, Stored], added: Mapping[str, Any]
    ) -> None:
        """Hold exactly these passages from now on; those whose vectors are in `added` are written."""
        import numpy as np

        self.passages = []  # a new list: what was held before stays as it was
        self._unwritten = []
        self._vectors = np.zeros((0, 0), dtype=np.float32)
        vectors = [added[p.key] if p.key in added else stored[p.key].vector for p in passages]
        if vectors:
            self._append(passages, np.array(vectors, dtype=np.float32))
        self._unwritten = [i for i, passage in enumerate(passages) if passage.key in added]
        self.write()

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Take up a turn's passages. They are on disk after some more turns, or after `close`."""
        if passages:
            self._append(passages, vectors)
            self._unwritten += range(len(self.passages) - len(passages), len(self.passages))
            if len(self._unwritten) >= _WRITE_AT_ONCE:
                self.write()

    def _append(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        import numpy as np

        before, after = len(self.passages), len(self.passages) + len(passages)
        if after > len(self._vectors):
            grown = np.zeros((max(1024, 2 * after), vectors.shape[1]), dtype=np.float32)
            grown[:before] = self._vectors[:before] if before else 0
            self._vectors = grown
        self._vectors[before:after] = vectors
        self.passages += passages

    def write(self) -> None:
        """Write what is not yet on disk."""
        if not self._unwritten:
            return
        rows = (
            (each.key, _bytes(each.text), _said(each), self._vectors[row].tobytes())
            for row, each in ((row, self.passages[row]) for row in self._unwritten)
        )
        self.connect().executemany("INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?)", rows)
        self.connect().commit()
        self._unwritten = []

    def now(self) -> Held:
        """Return what it holds now. It only ever grows behind it."""
        return Held(self.passages, len(self.passages), self.vectors)

    def close(self) -> None:
        """Write the rest and close the file."""
        try:
            self.write()
        finally:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # SQLite's own text takes no half of a surrogate pair


def _said(passage: Passage) -> str:
    return f"{passage.at.isoformat()} {passage.speaker}"
