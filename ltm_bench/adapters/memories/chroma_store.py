"""Passages and vectors in Chroma, where Chroma's own client finds them, its full text search included.

Chroma keeps them and `vector_store` ranks them, because Chroma's index is approximate and different each time that it
is built. Chroma has no collection without an index, so this one has the cheapest, which nothing here asks.

`chromadb_rust_bindings` is the part of the package `chromadb` that works on a folder, and that its client calls. It is
used without the client, whose import takes 1.6 CPU seconds (OpenTelemetry, gRPC, HTTP): a third of a run of 32k. So
there is no telemetry either.

`ChromaIndex` holds passages in Chroma, found by its own index: a neighbour graph (HNSW), by cosine.

The index is approximate, and Chroma builds it in no fixed order: the same passages give a different graph each time.
With Chroma's defaults it misses one in 30 of the 50 nearest among 6,000 passages. With those below, two graphs of 6,400
passages disagreed on one query of 241.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ltm_bench.adapters.memories.vector_store import NearPassage, Stored, StoreSnapshot, VectorStore
from ltm_bench.adapters.passages import Passage

if TYPE_CHECKING:
    from ltm_bench.adapters.hashing import Vectors


_NAME = "passages"

_MOST_OPEN = 20
"""Folders open at once, one per user: each takes ten files and six threads. The others open when they are needed."""

_open: list[ChromaStore] = []


class ChromaStore(VectorStore):
    """Passages in a Chroma collection, ranked exactly."""

    place = "chroma"
    unreadable = (Exception,)  # Chroma has no base class for what its core raises
    # More take longer each: Chroma's indexes grow once per batch, and are saved every 1,000 passages.
    batch = 500
    index: ClassVar[dict[str, str | int]] = {
        "space": "ip",
        "max_neighbors": 4,
        "ef_construction": 4,
        "num_threads": 1,  # a run may be one of many
    }

    _opened: tuple[Any, str] | None = None

    def open(self, home: Path) -> None:
        """Set the folder; it is opened or created on first use."""
        super().open(home)
        import chromadb_rust_bindings  # noqa: F401  # if it is missing, say so now

    def connect(self) -> tuple[Any, str]:
        """Return Chroma's core with the folder open, and the id of the collection."""
        if self._opened is None:
            import chromadb_rust_bindings as chroma

            while len(_open) >= _MOST_OPEN:
                _open[0]._disconnect()
            self.path.mkdir(exist_ok=True)
            file = chroma.SqliteDBConfig(
                url=str(self.path / "chroma.sqlite3"),
                hash_type=chroma.MigrationHash.MD5,
                migration_mode=chroma.MigrationMode.Apply,
            )
            core = chroma.Bindings(
                allow_reset=False, sqlite_db_config=file, persist_path=str(self.path), hnsw_cache_size=1
            )
            about = {"embedder": self.embedder, "space": self.index["space"]}
            for known in core.list_collections():
                if known.name == _NAME and known.metadata != about:
                    core.delete_collection(_NAME)
            settings = json.dumps({"hnsw": self.index, "spann": None, "embedding_function": None})
            collection = core.create_collection(_NAME, settings, None, about, True)
            self._opened = core, str(collection.id)
            _open.append(self)
        return self._opened

    def _read(self) -> dict[str, Stored]:
        import numpy as np

        stored: dict[str, Stored] = {}
        core, collection = self.connect()
        fields = ["documents", "metadatas", "embeddings"]
        for offset in range(0, core.count(collection), self.batch):
            page = core.get(collection, limit=self.batch, offset=offset, include=fields)
            vectors = np.array(page.embeddings, dtype=np.float32)
            rows = zip(page.ids, page.documents, page.metadatas, vectors, strict=True)
            stored.update(
                (key, Stored(text, f"{about.get('at')} {about.get('speaker')}", vector))
                for key, text, about, vector in rows
            )
        return stored

    def _delete(self, keys: Sequence[str]) -> None:
        core, collection = self.connect()
        for start in range(0, len(keys), self.batch):
            core.delete(collection, list(keys[start : start + self.batch]))

    def _write(self, rows: Sequence[tuple[Passage, Any]]) -> None:
        core, collection = self.connect()
        for start in range(0, len(rows), self.batch):
            passages, vectors = zip(*rows[start : start + self.batch], strict=True)
            core.upsert(
                collection,
                [each.key for each in passages],
                [vector.tolist() for vector in vectors],
                [{"speaker": p.speaker, "turn": p.turn, "at": p.at.isoformat()} for p in passages],
                [each.text for each in passages],
            )

    def _disconnect(self) -> None:
        if self._opened is not None:
            self._opened = None
            _open.remove(self)


_DIGITS = 6
"""Significant decimals of a score: beyond them the index only rounds, so scores count as equal."""


@dataclass(frozen=True)
class Indexed(StoreSnapshot):
    """Passages that are ranked by Chroma's index."""

    store: ChromaIndex

    def nearest(self, query: Any, limit: int) -> list[NearPassage]:
        """Return the passages nearest to a vector, nearest first, ties in conversation order."""
        if not self.size:
            return []
        grown = self.size < len(self.store.passages)
        # Twice as many, since the index fills the last places with any of the equally near ones.
        found = self.store.ask(query, 2 * limit, until=self.passages[self.size - 1].turn if grown else None)
        ranked = sorted((-round(1 - distance, _DIGITS), key) for key, distance in found)[:limit]
        return [NearPassage(self._at(key), -score) for score, key in ranked]

    def _at(self, key: str) -> Passage:
        return self.passages[bisect_left(self.passages, key, hi=self.size, key=lambda passage: passage.key)]


class ChromaIndex(ChromaStore):
    """Passages in a Chroma collection, ranked by its index."""

    index = {  # noqa: RUF012  # as in the class above
        "space": "cosine",
        # Larger than the defaults, so that little is missed.
        "max_neighbors": 128,
        "ef_construction": 400,
        "ef_search": 800,
        "num_threads": 1,
    }

    def now(self) -> Indexed:
        """Return a snapshot. The store only grows behind it."""
        return Indexed(self.passages, len(self.passages), self)

    def ask(self, query: Any, limit: int, *, until: int | None = None) -> list[tuple[str, float]]:
        """Return keys and distances of the passages nearest to a vector, from turns up to `until` if given."""
        self.write()  # the index knows only what is written
        where = None if until is None else json.dumps({"turn": {"$lte": until}})
        core, collection = self.connect()
        answer = core.query(collection, None, [query.tolist()], limit, where, None, ["distances"])
        return list(zip(answer.ids[0], answer.distances[0], strict=True))

    def _append(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        self.passages += passages  # the index holds the vectors
