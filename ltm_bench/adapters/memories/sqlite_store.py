"""Passages and vectors in one SQLite file, without an index: the least that a memory can cost."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from ltm_bench.adapters.memories.vector_store import Stored, VectorStore, said
from ltm_bench.adapters.passages import Passage

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (embedder BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS passages (key TEXT PRIMARY KEY, text BLOB, said TEXT, vector BLOB) WITHOUT ROWID;
"""


class SqliteStore(VectorStore):
    """Passages in an SQLite file, ranked exactly."""

    place = "memory.sqlite"
    unreadable = (sqlite3.Error, ValueError, AttributeError)
    batch = 256

    def __init__(self, embedder: str) -> None:
        """Set up for an embedder's vectors; stored vectors of another embedder are deleted."""
        super().__init__(embedder)
        self._connection: sqlite3.Connection | None = None

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

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # SQLite's text type rejects lone surrogates
