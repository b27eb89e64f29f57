"""Turns text into vectors locally: hashed words and letter sequences, no model, no network, no state.

The same text gives the same vector in every process and on every platform, whatever was embedded before. All numbers
in a vector are whole multiples of 1 / `GRAIN`; a product of two such vectors is exact in 32-bit floats, in whatever
order the machine adds, so that a ranking by it never depends on the processor, the BLAS library or the threads.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float32, float64, int16, intp
    from numpy.typing import ArrayLike, NDArray

    Vectors = NDArray[float32]
    """One row per text, of length 1."""
    Whole = NDArray[int16]
    """Vectors times `GRAIN`."""

NAME = "local-1"
"""Version of everything below: raise it when the same text gets a different vector."""

DIMENSIONS = 512

GRAIN = 2048
"""GRAIN² partial sums of products of unit vectors fit into the 24 bits of a float's mantissa, with room to spare."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LETTERS = (3, 4, 5)
_LETTERS_WEIGHT = 0.3

# Function words: they do not distinguish passages.
STOP_WORDS = frozenset(
    """
    a about after again all also am an and any anything are aren't as at be because been before being both but by can
    can't cannot could couldn't did didn't do does doesn't doing don't down each either else ever every few for from
    further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his
    how how's i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just let let's may me might mine
    more most much must my myself neither no nor not now of off oh ok okay on once only onto or other ought our ours
    ourselves out over own per perhaps please quite rather really same shall she she'd she'll she's should shouldn't
    since so some something still such than that that's the their theirs them themselves then there there's these they
    they'd they'll they're they've this those though through to too under until up upon us very was wasn't we we'd
    we'll we're we've well were weren't what what's whatever when when's where where's whether which while who who's
    whom whose why why's will with within without won't would wouldn't yes yet you you'd you'll you're you've your
    yours yourself
    """.split()
)

# Content words that half of all conversations contain. A static stand-in for inverse document frequency: a true one
# would depend on what had been said so far, and the same text would not keep its vector.
_COMMON = frozenset(
    """
    answer ask call come day favourite favorite find first get give go going good got great hear know last like little
    long look lot love made make mean mention name need new nice old one people question remember remind said say see
    seem tell thing think time today told two use used usually want way week went word work year
    """.split()
)

_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ied", "y"), ("ed", ""), ("ly", ""), ("s", ""))


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, in order, unstemmed."""
    return _WORD.findall(text.casefold().replace("’", "'"))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Cut off the most common English endings, so that `painted` matches `paints`. Deliberately crude."""
    word = word.removesuffix("'s").replace("'", "")
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]  # running: runn, run
    return word.removesuffix("e") if len(word) > 3 else word


def content_words(text: str) -> list[str]:
    """Return the stems of a text's content words, in order."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


@lru_cache(maxsize=65536)
def weight(stemmed: str) -> float:
    """Return how well a word tells passages apart: common and very short words do less, figures more."""
    if stemmed in _COMMON_STEMS:
        return 0.4
    if stemmed.isdigit():
        return 1.0
    return min(1.3, 0.55 + 0.125 * len(stemmed))


_COMMON_STEMS = frozenset(map(stem, _COMMON))


def embed(texts: Sequence[str]) -> Vectors:
    """Return one vector per text; a text without words gets the zero vector, which is near nothing."""
    import numpy as np

    exact = np.zeros((len(texts), DIMENSIONS))
    for row, text in enumerate(texts):
        # A text of stop words alone is better described by them than by nothing.
        counts = Counter(content_words(text) or map(stem, words(text)))
        if counts:
            found = [_features(word) for word in counts]
            times = np.repeat(np.sqrt([*counts.values()]), [len(places) for places, _ in found])
            places, amounts = map(np.concatenate, zip(*found, strict=True))
            exact[row] = np.bincount(places, amounts * times, DIMENSIONS)  # which adds in order
    return whole(exact)


def whole(rows: ArrayLike) -> Vectors:
    """Normalise any embedder's vectors to length 1, rounded to multiples of 1 / GRAIN."""
    import numpy as np

    exact = np.asarray(rows, dtype=np.float64)
    lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    return np.asarray(np.rint(exact / np.where(lengths > 0, lengths, 1.0) * GRAIN) / GRAIN, dtype=np.float32)


@lru_cache(maxsize=65536)
def _features(word: str) -> tuple[NDArray[intp], NDArray[float64]]:
    """Return the places and weights of a word in the vector: as a whole, and as letter sequences."""
    import numpy as np

    heavy = weight(word)
    padded = f"<{word}>"
    pieces = [padded[i : i + n] for n in _LETTERS for i in range(len(padded) - n + 1)]
    hashed = [(_hash(f"={word}"), heavy)]
    if pieces:
        light = heavy * _LETTERS_WEIGHT
        hashed += [(_hash(piece), light) for piece in pieces]
    places = np.array([value % DIMENSIONS for value, _ in hashed], dtype=np.intp)
    amounts = np.array([amount if value >> 31 else -amount for value, amount in hashed])
    return places, amounts


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))
