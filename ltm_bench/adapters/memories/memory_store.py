"""What a vector memory holds about one user: passages, found by vectors, words or both, and the newest turns."""

from __future__ import annotations

import json
import math
import sys
from array import array
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from ltm_bench.adapters.hashing import content_words
from ltm_bench.adapters.memories.forgotten import is_about
from ltm_bench.adapters.memories.scratchpad import Scratchpad
from ltm_bench.adapters.memories.vector_store import NearPassage, Stored, StoreSnapshot, VectorStore
from ltm_bench.adapters.passages import Passage, split_turn
from ltm_bench.core.agent import Memory
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Turn

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


_SATURATION, _LENGTH = 1.2, 0.75
"""The usual k1 and b."""

_GRAIN = 2**20
"""Scores are rounded to multiples of this, so that a logarithm's last bit does not decide a ranking."""

_FUSED = 60
"""The usual constant of reciprocal rank fusion: larger values flatten the ranking."""

Key = TypeVar("Key", bound=Hashable)


class WordIndex:
    """Texts by their words, numbered in order of arrival."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._places: dict[str, array[int]] = {}
        self._times: dict[str, array[int]] = {}
        self._lengths = array("l")
        self._sums = array("l", [0])
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        """Add texts."""
        for text in texts:
            number, counts = len(self._lengths), Counter(content_words(text))
            for word, times in counts.items():
                self._places.setdefault(word, array("l")).append(number)
                self._times.setdefault(word, array("l")).append(times)
            length = sum(counts.values())
            self._lengths.append(length)
            self._sums.append(self._sums[-1] + length)

    def nearest(self, query: str, limit: int, size: int) -> list[tuple[int, float]]:
        """Return number and score of each of the first `size` texts that shares a word with the query, best first."""
        import numpy as np

        if not size or not self._sums[size]:
            return []
        scores = np.zeros(size)
        lengths = np.array(self._lengths[:size], dtype=np.float64)
        norms = _SATURATION * (1 - _LENGTH + _LENGTH * lengths * size / self._sums[size])
        for word in dict.fromkeys(content_words(query)):
            count = bisect_left(self._places.get(word, ()), size)
            if count:
                places = np.array(self._places[word][:count])
                times = np.array(self._times[word][:count], dtype=np.float64)
                rarity = math.log(1 + (size - count + 0.5) / (count + 0.5))
                scores[places] += rarity * times * (_SATURATION + 1) / (times + norms[places])
        return _best(np.rint(scores * _GRAIN) / _GRAIN, limit)


def _best(scores: NDArray[float64], limit: int) -> list[tuple[int, float]]:
    import numpy as np

    hits = np.flatnonzero(scores)
    ranked: Any = hits[np.argsort(-scores[hits], kind="stable")][:limit]
    return [(int(place), float(scores[place])) for place in ranked]


def fused(rankings: Sequence[Sequence[Key]], limit: int) -> list[tuple[Key, float]]:
    """Merge rankings by rank alone (reciprocal rank fusion); ties in the order of their first rank."""
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + 1 / (_FUSED + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])[:limit]


Retrieval = Literal["vectors", "bm25", "hybrid"]
"""How passages are found: near to the query's vector, sharing words with it, or both rankings merged."""


class StoreState(NamedTuple):
    """Everything that an answer depends on besides the message; a snapshot that does not change as the store fills."""

    held: StoreSnapshot
    words: WordIndex | None
    retrieval: Retrieval
    recent: Sequence[Turn]
    pad: str

    def nearest(self, query: str, vector: Any, limit: int) -> list[NearPassage]:
        """Return the passages nearest to a query and its vector, nearest first."""
        if self.words is None:
            return self.held.nearest(vector, limit)
        passages = self.held.passages
        worded = self.words.nearest(query, limit if self.retrieval == "bm25" else 2 * limit, self.held.size)
        if self.retrieval == "bm25":
            return [NearPassage(passages[number], score) for number, score in worded]
        near = [found.passage for found in self.held.nearest(vector, 2 * limit)]
        rankings = (near, [passages[number] for number, _ in worded])
        return [NearPassage(passage, score) for passage, score in fused(rankings, limit)]


class MemoryStore:
    """The passages of one user, and what has not been embedded yet."""

    def __init__(
        self, home: Path, store: VectorStore, *, recent: int, retrieval: Retrieval, pad: Scratchpad | None
    ) -> None:
        """Set up in `home`; existing content counts only after `restore`.

        Args:
            home: The folder of this user's files; it is created.
            store: Keeps the passages and their vectors.
            recent: Number of newest turns to keep verbatim.
            retrieval: How passages are found: `vectors`, `bm25` or `hybrid`.
            pad: The notes of the core model, opened here; None without a scratchpad.
        """
        home.mkdir(parents=True, exist_ok=True)
        store.open(home)
        if pad is not None:
            pad.open(home / "scratchpad.jsonl")
        self.store, self.pad = store, pad
        self._retrieval: Retrieval = retrieval
        self._words: WordIndex | None = None
        self._forgotten = _ForgottenPassages(home / "forgotten.jsonl")
        self._recent: deque[Turn] = deque(maxlen=recent)
        self._late: list[Passage] = []  # not yet embedded
        self._stored: dict[str, Stored] = {}
        self._kept: list[Passage] = []

    def state(self) -> StoreState:
        """Return what is remembered now."""
        pad = "" if self.pad is None else self.pad.text
        return StoreState(self.store.now(), self._words, self._retrieval, tuple(self._recent), pad)

    # A conversation

    def remember(self, turn: Turn) -> list[Passage]:
        """Add a turn and return its passages, which can be found once they are embedded."""
        passages = split_turn(turn)
        self._late += passages
        self._recent.append(turn)
        return passages

    def take_late(self) -> list[Passage]:
        """Return the passages still to be embedded."""
        return self._late

    def add(self, passages: Sequence[Passage], vectors: Any) -> None:
        """Add embedded passages."""
        self._late = []
        self.store.add(passages, vectors)
        if self._words is not None:
            self._words.add(passage.text for passage in passages)

    def replay(self, turn: Turn) -> list[Passage]:
        """Add a turn of a resumed run, except what was forgotten; return its passages."""
        passages = [each for each in split_turn(turn) if not self._forgotten.has(each)]
        self._kept += passages
        self._recent.append(turn)
        return passages

    def missing(self, turns: int) -> list[Passage]:
        """Delete stored passages that were not replayed; return those missing. `turns` is the log's length."""
        if self.pad is not None:
            self.pad.cut(turns)
        self._stored = self.store.load()
        return self.store.keep(self._stored, self._kept)

    def restored(self, missing: Sequence[Passage], vectors: Any) -> None:
        """Hold exactly what was replayed, with vectors for what was missing."""
        self.store.adopt(
            self._kept, self._stored, dict(zip((each.key for each in missing), vectors, strict=True))
        )
        self._index()
        self._stored, self._kept = {}, []

    def reopen(self) -> int:
        """Hold what is on disk; return the newest turn there, or -1."""
        if self.pad is not None:
            self.pad.cut(sys.maxsize)
        self.store.reopen()
        self._index()
        return max((each.turn for each in self.store.passages), default=-1)

    def show(self, turn: Turn) -> None:
        """Have a turn among the newest, whose passages are there."""
        self._recent.append(turn)

    def _index(self) -> None:
        if self._retrieval != "vectors":
            self._words = WordIndex(passage.text for passage in self.store.passages)

    # What it holds

    def memories(self, user: str | None) -> Iterator[Memory]:
        """Iterate over all passages, in conversation order."""
        prefix = "" if user is None else f"{user}/"
        for each in [*self.store.passages, *self._late]:
            yield Memory(each.text, each.at, each.turn, id=prefix + each.key, user=user)

    def forget(self, query: str) -> int:
        """Delete the passages about something for good, and their turns from the newest ones."""
        late = [each for each in self._late if is_about(each.text, query)]
        gone = [each for each in self.store.passages if is_about(each.text, query)]
        if gone:
            left = [each for each in self.store.passages if each not in gone]
            self.store.write()
            stored = self.store.load()
            self.store.keep(stored, left)
            self.store.adopt(left, stored, {})
            self._index()
        if gone or late:
            self._late = [each for each in self._late if each not in late]
            turns = {each.turn for each in (*gone, *late)}
            newest = [turn for turn in self._recent if turn.message.turn not in turns]
            self._recent = deque(newest, maxlen=self._recent.maxlen)
            self._forgotten.put((*gone, *late))
        return len(gone) + len(late)

    def close(self) -> None:
        """Write pending passages, and close the files."""
        self.store.close()


class _ForgottenPassages:
    """Passages deleted on request, which replaying the log must not bring back."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = set[tuple[str, str]]()
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                key, text = json_of(line)
            except ValueError:  # torn by a crash
                break
            self._known.add((key, text))

    def has(self, passage: Passage) -> bool:
        return (passage.key, passage.text) in self._known

    def put(self, passages: Sequence[Passage]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            for each in passages:
                self._known.add((each.key, each.text))
                file.write(json.dumps([each.key, each.text]) + "\n")
