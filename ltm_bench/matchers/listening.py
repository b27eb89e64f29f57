"""Finds many phrases in a reply in one pass over its words."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Generic, TypeVar

from ltm_bench.matchers.sameness import ends, same_word

T = TypeVar("T")

MOST_WORDS = 4096
"""Number of words whose phrases a listener caches; the same words recur when the parts of a reply are judged."""


class Listener(Generic[T]):
    """Finds phrases of at least one word, each with a meaning, whose words all occur in sequence.

    A word is compared only with phrases whose first word shares its beginning or its end, which are few. A matcher
    therefore makes one listener for all replies, and reads each reply once, however many phrases there are.
    """

    def __init__(self, phrases: Iterable[tuple[Sequence[str], T]]) -> None:
        self._phrases = list(phrases)
        self._by_end: defaultdict[str, list[int]] = defaultdict(list)
        for number, (phrase, _) in enumerate(self._phrases):
            for end in ends(phrase[0]):
                self._by_end[end].append(number)
        self.beginning = lru_cache(MOST_WORDS)(self._beginning)

    def _beginning(self, word: str) -> list[tuple[Sequence[str], T]]:
        """Return the phrases, in their order, whose first word matches this one."""
        near = sorted({i for end in ends(word) for i in self._by_end.get(end, ())})
        return [self._phrases[i] for i in near if same_word(word, self._phrases[i][0][0])]

    def hear(self, said: Sequence[str]) -> Iterator[tuple[int, int, T]]:
        """Yield the begin, end and meaning of each phrase that was said, in order of their beginnings."""
        for begin, word in enumerate(said):
            for phrase, meaning in self.beginning(word):
                end = begin + len(phrase)
                if end <= len(said) and all(map(same_word, said[begin + 1 : end], phrase[1:])):
                    yield begin, end, meaning
