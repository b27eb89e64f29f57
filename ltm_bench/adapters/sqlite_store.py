"""Passages and vectors in SQLite, and the vectors also in memory, where they are ranked exactly.

There is no index: a neighbour graph takes longer to build than the rest of a run, and misses a true neighbour now and
then. An exact scan over 60,000 passages takes some milliseconds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_bench.adapters.passages import Passage
from ltm_bench.adapters.vector_store import NearPassage, Stored, StoreSnapshot, VectorStore, said

if TYPE_CHECKING:
    from ltm_bench.adapters.hashing import Vectors

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (embedder BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS passages (key TEXT PRIMARY KEY, text BLOB, said TEXT, vector BLOB) WITHOUT ROWID;
"""


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


class SqliteStore(VectorStore):
    """Passages in an SQLite file, and an exact ranking of them."""

    place = "memory.sqlite"
    unreadable = (sqlite3.Error, ValueError, AttributeError)

    def __init__(self, embedder: str) -> None:
        """Set up for an embedder's vectors; stored vectors of another embedder are deleted."""
        super().__init__(embedder)
        self._connection: sqlite3.Connection | None = None

    def open(self, home: Path) -> None:
        """Set the file; it is opened or created on first use."""
        super().open(home)
        self._forget()

    def connect(self) -> sqlite3.Connection:
        """Return the open file."""
        if self._connection is None:
            connection = sqlite3.connect(self.path)
            connection.execute("PRAGMA synchronous = OFF")  # after a power failure, the log restores it
            connection.executescript(_SCHEMA)
            known = [row[0] for row in connection.execute("SELECT embedder FROM about")]
            if known != [_bytes(self.embedder)]:
                connection.execute("DELETE FROM passages")
                connection.execute("DELETE FROM about")
                connection.execute("INSERT INTO about VALUES (?)", [_bytes(self.embedder)])
                connection.commit()
            self._connection = connection
        return self._connection

    def now(self) -> Scanned:
        """Return a snapshot. The store only grows behind it."""
        return Scanned(self.passages, len(self.passages), self._vectors[: len(self.passages)])

    def _read(self) -> dict[str, Stored]:
        import numpy as np

        rows = self.connect().execute("SELECT key, text, said, vector FROM passages")
        return {
            key: Stored(text.decode("utf-8", "surrogatepass"), said, np.frombuffer(vector, np.float32))
            for key, text, said, vector in rows
        }

    def _delete(self, keys: Sequence[str]) -> None:
        self.connect().executemany("DELETE FROM passages WHERE key = ?", [(key,) for key in keys])
        self.connect().commit()

    def _write(self, rows: Sequence[tuple[Passage, Any]]) -> None:
        values = ((each.key, _bytes(each.text), said(each), vector.tobytes()) for each, vector in rows)
        self.connect().executemany("INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?)", values)
        self.connect().commit()

    def _forget(self) -> None:
        import numpy as np

        super()._forget()
        self._vectors: Vectors = np.zeros((0, 0), dtype=np.float32)

    def _append(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        import numpy as np

        before, after = len(self.passages), len(self.passages) + len(passages)
        if after > len(self._vectors):
            grown = np.zeros((max(1024, 2 * after), vectors.shape[1]), dtype=np.float32)
            grown[:before] = self._vectors[:before] if before else 0
            self._vectors = grown
        self._vectors[before:after] = vectors
        super()._append(passages, vectors)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # SQLite's text type rejects lone surrogates
