"""Passages and vectors in Chroma, searched with its own index: a neighbour graph (HNSW), by cosine.

The index is approximate, and Chroma builds it in no fixed order: the same passages give a different graph each time.
With Chroma's defaults it misses one in 30 of the 50 nearest among 6,000 passages. With those below, two graphs of 6,400
passages disagreed on one query of 241.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ltm_bench.adapters.passages import Passage
from ltm_bench.adapters.vector_store import NearPassage, Stored, StoreSnapshot, VectorStore, said
from ltm_bench.core.extras import extra

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_Row = TypeVar("_Row")

_NAME = "passages"

_INDEX = {"space": "cosine", "max_neighbors": 128, "ef_construction": 400, "ef_search": 800, "num_threads": 1}
"""Larger than the defaults, so that little is missed; one thread, since a run may be one of many."""

_PAGE = 1000
"""Passages read, written or deleted per call."""

_DIGITS = 6
"""Significant decimals of a score: beyond them the index only rounds, so scores count as equal."""


@dataclass(frozen=True)
class Indexed(StoreSnapshot):
    """Passages that are ranked by Chroma's index."""

    store: ChromaStore

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


class ChromaStore(VectorStore):
    """Passages in a Chroma collection, ranked by its index."""

    place = "chroma"
    unreadable = (Exception,)  # Chroma has no base class for what its core raises

    def __init__(self, embedder: str) -> None:
        """Set up for an embedder's vectors; stored vectors of another embedder are deleted."""
        super().__init__(embedder)
        self._client: Any = None  # Chroma's own type hides close()
        self._collection: Collection | None = None

    def open(self, home: Path) -> None:
        """Set the folder. Raises ConfigError if Chroma is not installed."""
        super().open(home)
        with extra("chroma", wanted_by="agent vector_memory, store=chroma"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Chroma's message about its own dependencies helps nobody here
            import chromadb  # noqa: F401  # is it there?

    def connect(self) -> Collection:
        """Return the collection."""
        if self._collection is None:
            import chromadb
            from chromadb.config import Settings

            self._client = chromadb.PersistentClient(
                path=str(self.path), settings=Settings(anonymized_telemetry=False)
            )
            for known in self._client.list_collections():
                if known.name == _NAME and (known.metadata or {}).get("embedder") != self.embedder:
                    self._client.delete_collection(_NAME)
            self._collection = self._client.get_or_create_collection(
                _NAME,
                metadata={"embedder": self.embedder},
                embedding_function=None,  # else Chroma fetches a model
                configuration={"hnsw": _INDEX},
            )
        return self._collection

    def now(self) -> Indexed:
        """Return a snapshot. The store only grows behind it."""
        return Indexed(self.passages, len(self.passages), self)

    def ask(self, query: Any, limit: int, *, until: int | None = None) -> list[tuple[str, float]]:
        """Return keys and distances of the passages nearest to a vector, from turns up to `until` if given."""
        self.write()  # the index knows only what is written
        where: Any = None if until is None else {"turn": {"$lte": until}}
        answer: Any = self.connect().query(
            query_embeddings=[query], n_results=limit, where=where, include=["distances"]
        )
        return list(zip(answer["ids"][0], answer["distances"][0], strict=True))

    def _read(self) -> dict[str, Stored]:
        stored: dict[str, Stored] = {}
        for offset in range(0, self.connect().count(), _PAGE):
            page: Any = self.connect().get(limit=_PAGE, offset=offset, include=["metadatas", "embeddings"])
            rows = zip(page["ids"], page["metadatas"], page["embeddings"], strict=True)
            stored.update({key: Stored(data["text"], data["said"], vector) for key, data, vector in rows})
        return stored

    def _delete(self, keys: Sequence[str]) -> None:
        for page in _pages(keys):
            self.connect().delete(ids=list(page))

    def _write(self, rows: Sequence[tuple[Passage, Any]]) -> None:
        for page in _pages(rows):
            self.connect().upsert(
                ids=[each.key for each, _ in page],
                embeddings=[vector for _, vector in page],
                # Not as documents: Chroma would index their trigrams, which doubles the time.
                metadatas=[{"text": each.text, "said": said(each), "turn": each.turn} for each, _ in page],
            )

    def _disconnect(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = self._collection = None


def _pages(rows: Sequence[_Row]) -> Iterator[Sequence[_Row]]:
    return (rows[start : start + _PAGE] for start in range(0, len(rows), _PAGE))
