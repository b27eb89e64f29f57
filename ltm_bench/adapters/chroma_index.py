"""Passages in Chroma, found by its own index: a neighbour graph (HNSW), by cosine.

The index is approximate, and Chroma builds it in no fixed order: the same passages give a different graph each time.
With Chroma's defaults it misses one in 30 of the 50 nearest among 6,000 passages. With those below, two graphs of 6,400
passages disagreed on one query of 241.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ltm_bench.adapters.chroma_store import ChromaStore
from ltm_bench.adapters.passages import Passage
from ltm_bench.adapters.vector_store import NearPassage, StoreSnapshot

if TYPE_CHECKING:
    from ltm_bench.adapters.hashing import Vectors

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
