"""Finds passages by their words, with BM25 over stems in memory, and merges rankings.

Nothing is ever removed: a search of the first `size` passages sees the index as it once was.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ltm_bench.adapters.hashing import content_words

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
