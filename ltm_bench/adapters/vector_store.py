"""Passages in Chroma, and their vectors once more in memory, where they can be ranked exactly.

Chroma's own index is approximate: its graph search missed a true neighbour in one query of eight, even with `ef_search`
as large as the store. So Chroma keeps passages and vectors, and the ranking is an exact scan.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltm_bench.adapters.passages import Passage
from ltm_bench.core.errors import CannotResume

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

    from ltm_bench.adapters.hashing import Vectors

_WRITE_AT_ONCE = 256
"""Passages per write: a write costs about 15 ms, however small. What a crash loses, `restore` is given again."""

_PAGE = 1000
"""Passages that are read, written or deleted in one call."""


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
        self._client: Any = None  # Chroma's own type hides close()
        self._collection: Collection | None = None
        self._unwritten: list[int] = []
        self.passages: list[Passage] = []
        """In the order in which they were said."""

    @property
    def vectors(self) -> Vectors:
        """One row per passage."""
        return self._vectors[: len(self.passages)]

    def open(self, home: Path) -> None:
        """Say where the collection is; it is opened, or created, when it is first read or written."""
        import numpy as np

        self._where = home.resolve() / "chroma"
        self._vectors: Vectors = np.zeros((0, 0), dtype=np.float32)

    def connect(self) -> Collection:
        """Return the collection. Chroma alone takes as long to import as everything else until a run's first turn."""
        if self._collection is None:
            import chromadb
            from chromadb.config import Settings

            self._client = chromadb.PersistentClient(
                path=str(self._where), settings=Settings(anonymized_telemetry=False)
            )
            self._collection = self._open_collection(self._client)
        return self._collection

    def _open_collection(self, client: Any) -> Collection:
        for known in client.list_collections():
            if known.name == "passages" and (known.metadata or {}).get("embedder") != self._embedder:
                client.delete_collection("passages")
        # The graph index is never asked, so it is kept as small as it can be: that halves a write. Without
        # embedding_function=None Chroma would fetch a model.
        collection: Collection = client.get_or_create_collection(
            "passages",
            metadata={"embedder": self._embedder},
            embedding_function=None,
            configuration={
                "hnsw": {"space": "ip", "max_neighbors": 4, "ef_construction": 8, "num_threads": 1}
            },
        )
        return collection

    def load(self) -> dict[str, Stored]:
        """Return what is on disk, by key. Raises CannotResume where it cannot be read."""
        stored: dict[str, Stored] = {}
        if not self._where.exists():
            return stored
        try:
            for offset in range(0, self.connect().count(), _PAGE):
                page: Any = self.connect().get(
                    limit=_PAGE, offset=offset, include=["metadatas", "embeddings"]
                )
                rows = zip(page["ids"], page["metadatas"], page["embeddings"], strict=True)
                stored.update({key: Stored(data["text"], data["said"], vector) for key, data, vector in rows})
        except Exception as error:  # Chroma has no base class for what its core raises
            raise CannotResume(
                f"the vector store in {self._where} cannot be read ({type(error).__name__}: {error}); delete that "
                "folder and resume: it will be rebuilt from the log"
            ) from error
        return stored

    def keep(self, stored: dict[str, Stored], passages: Sequence[Passage]) -> list[Passage]:
        """Delete what is on disk but is not exactly one of these passages; return those that are missing there."""
        wanted = {p.key: (p.text, _said(p)) for p in passages}
        gone = [key for key, each in stored.items() if wanted.get(key) != (each.text, each.said)]
        for start in range(0, len(gone), _PAGE):
            self.connect().delete(ids=gone[start : start + _PAGE])
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
        for start in range(0, len(self._unwritten), _PAGE):
            rows = self._unwritten[start : start + _PAGE]
            chosen = [self.passages[row] for row in rows]
            self.connect().upsert(
                ids=[p.key for p in chosen],
                embeddings=self._vectors[rows],
                # Not as documents: Chroma would index every three letters of them, which doubles the time.
                metadatas=[{"text": p.text, "said": _said(p)} for p in chosen],
            )
        self._unwritten = []

    def now(self) -> Held:
        """Return what it holds now. It only ever grows behind it."""
        return Held(self.passages, len(self.passages), self.vectors)

    def close(self) -> None:
        """Write the rest and close the files."""
        try:
            self.write()
        finally:
            if self._client is not None:
                self._client.close()
                self._client = self._collection = None


def _said(passage: Passage) -> str:
    return f"{passage.at.isoformat()} {passage.speaker}"
