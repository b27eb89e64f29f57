"""The vocabulary of what could be named, brought by a matcher, and how it is found in words."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ltm_bench.core.words import listed
from ltm_bench.matchers.reading.numbers import in_words
from ltm_bench.matchers.reading.text import known_words
from ltm_bench.matchers.sameness import ends, same_word, singular


class Named(NamedTuple):
    """A thing, and whether its whole name was said."""

    value: str
    exact: bool
    attached: str = ""
    """`before` or `after`, if only a part of the name was said and another word is attached to it there."""


_SHORTENED = frozenset(listed("days") + listed("months"))
_BESIDE = "with"
"""Follows a name of two words that is complete without the rest."""
_ELSEWHERE = [each.split("|") for each in listed("other names", "\n")]
_OTHERS = {name.lower(): others for name, *others in _ELSEWHERE}
_MOST_WORDS = 4096
"""Number of words whose names a lexicon caches; the same words recur when the parts of a reply are judged."""
_PART = 3
"""Minimum length of the halves of a word that is written in two."""
_LITTLE = frozenset("the a an of to in on at with and my your our some".split())


class Lexicon:
    """Values with their names. A longer name hides a shorter one within it.

    A name of several words may be shortened to its last one, or to its first, where no other value has that word and
    nothing else is attached to it: `the hatch` for the wooden hatch, but not `the escape hatch`. What a thing comes
    with may be left out: `prawn paella with saffron`.
    """

    def __init__(self, ways: Mapping[str, Iterable[str]], *, shortened: bool = True) -> None:
        said = [(known_words(way), value) for value, names in ways.items() for way in names]
        # other names may be verbs: `works with gold`
        own = [(known_words(value), value) for value in ways if shortened]
        bare = [(parts[: parts.index(_BESIDE)], value) for parts, value in own if _BESIDE in parts[2:]]
        alone = Counter(parts for parts, _ in said + bare)
        full = said + [each for each in bare if alone[each[0]] == 1]
        short = _shortened(full) if shortened else {}
        self.words = frozenset(singular(word) for parts, _ in full for word in parts)
        """The words of all names, in the singular, but not of what they are called elsewhere."""
        full += _otherwise(full)
        every = [(way, Named(value, True)) for parts, value in full if parts for way in _ways(parts)]
        every += [((word,), Named(value, False)) for word, value in short]
        every.sort(key=lambda each: (-len(each[0]), not each[1].exact))
        self.values = frozenset(value for _, value in full)
        """What can be named."""
        self._every, self._short = every, short
        self._by_end: defaultdict[str, list[int]] = defaultdict(list)
        for rank, (parts, _) in enumerate(every):
            for end in ends(parts[0]):
                self._by_end[end].append(rank)
        self._beginning = lru_cache(_MOST_WORDS)(self._begun)

    def hear(self, said: Sequence[str]) -> Iterator[tuple[int, int, Named]]:
        """Yield the begin, the end and the value of everything that is named in these words, in no order.

        An empty word represents a sign, which no name spans.
        """
        free = [True] * len(said)
        for rank, begin in sorted(self._heard(said)):
            parts, named = self._every[rank]
            end = begin + len(parts)
            if all(free[begin:end]):
                free[begin:end] = [False] * len(parts)
                last = self._short.get((parts[0], named.value), True)
                yield (
                    begin,
                    end,
                    named if named.exact else named._replace(attached=_attached(said, begin, end, last)),
                )

    def _heard(self, said: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the rank and the begin of each name, all of whose words occur in sequence."""
        for begin, word in enumerate(said):
            for rank in self._beginning(word):
                parts = self._every[rank][0]
                end = begin + len(parts)
                if end <= len(said) and all(map(same_word, said[begin + 1 : end], parts[1:])):
                    yield rank, begin

    def _begun(self, word: str) -> Sequence[int]:
        """Return the ranks of the names that begin with a word: few share an end of it, and only they are compared."""
        near = sorted({rank for end in ends(word) for rank in self._by_end.get(end, ())})
        return [rank for rank in near if same_word(word, self._every[rank][0][0])]


def _otherwise(full: Sequence[tuple[tuple[str, ...], str]]) -> Iterable[tuple[tuple[str, ...], str]]:
    """Return the other names of what has a name, unless they may mean something else: `Oporto`, `nineteen fifty`."""
    others = {(known_words(each), value): None for parts, value in full for each in _other_names(parts)}
    meant = Counter(parts for parts, _ in {(parts, value) for parts, value in full}.union(others))
    return [each for each in others if meant[each[0]] == 1]


def _other_names(parts: tuple[str, ...]) -> Sequence[str]:
    return in_words(parts[0]) if len(parts) == 1 and parts[0].isdigit() else _OTHERS.get(" ".join(parts), ())


def _ways(parts: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Return the ways to write a name: `hot-air balloon`, `hot air balloon`, `hot-airballoon`; `Mon` for Monday.

    A long word may also stand in two: `stone mason` for the stonemason.
    """
    apart, whole = tuple(" ".join(parts).replace("-", " ").split()), "".join(parts)
    short = (whole[:3],) if whole in _SHORTENED else parts
    long = parts == (whole,) and whole.isalpha() and len(whole) > 2 * _PART
    halves = ((whole[:i], whole[i:]) for i in range(_PART, len(whole) + 1 - _PART)) if long else ()
    return dict.fromkeys((parts, apart, short, (whole,), ("-".join(parts),), *halves))


def _shortened(full: Sequence[tuple[tuple[str, ...], str]]) -> dict[tuple[str, str], bool]:
    """Return the single words that name a value, with the value, and whether each is the last of its name."""
    by_value: dict[str, set[str]] = {}
    shortest: dict[str, tuple[str, ...]] = {}
    for parts, value in full:  # the garnish of a dish does not name it
        by_value.setdefault(value, set()).update(map(singular, parts))
        shortest[value] = min(shortest.get(value, parts), parts, key=len)
    counted = Counter(word for each in by_value.values() for word in each)
    content = {value: [word for word in parts if word not in _LITTLE] for value, parts in shortest.items()}
    return {
        (word, value): word == said[-1]
        for value, said in content.items()
        for word in said[:1] + said[-1:]
        if len(said) > 1 and counted[singular(word)] == 1 and len(word) > 2 and not word.isdigit()
    }


_LOOSE = _LITTLE.union(listed("loose"))


def _attached(said: Sequence[str], begin: int, end: int, last: bool) -> str:
    """Return the side on which another word turns a part of a name into a different name: `police station`.

    Args:
        said: The words of the reply.
        begin: Where the part of the name begins in them.
        end: Where it ends.
        last: Whether it is the name's last word.
    """
    before, after = said[begin - 1] if begin else "", said[end] if end < len(said) else ""
    if last and before and before not in _LOOSE:
        return "before"
    joined = not before and end == len(said) - 1 if last else after not in _LOOSE  # `bass guitar` alone
    return "after" if after and joined else ""


@lru_cache(maxsize=64)
def lexicon(
    values: tuple[str, ...], also: tuple[tuple[str, ...], ...] = (), *, shortened: bool = True
) -> Lexicon:
    """Return the lexicon of a matcher's values, made once; `also` are values, each with its other names after it."""
    others = {value: names for value, *names in also}
    return Lexicon({value: (value, *others.get(value, ())) for value in values}, shortened=shortened)
