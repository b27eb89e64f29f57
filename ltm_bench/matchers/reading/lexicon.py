"""The vocabulary of what could be named, brought by a matcher, and how it is found in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ltm_bench.matchers.listening import Listener
from ltm_bench.matchers.reading.text import known_words
from ltm_bench.matchers.sameness import singular


class Named(NamedTuple):
    """A thing, and whether its whole name was said."""

    value: str
    exact: bool
    attached: str = ""
    """`before` or `after`, if only a part of the name was said and another word is attached to it there."""


class _Way(NamedTuple):
    rank: int
    parts: tuple[str, ...]
    named: Named
    last: bool
    """Whether it is the last word of the name, if it is only one of its words."""


_SHORT_FORMS = {
    **{day: day[:3] for day in "monday tuesday wednesday thursday friday saturday sunday".split()},
    **{month: month[:3] for month in "january february august september october november december".split()},
}
_LITTLE = frozenset("the a an of to in on at with and my your our some".split())


class Lexicon:
    """Values with their names. A longer name hides a shorter one within it.

    A name of several words may be shortened to its last one, or to its first, where no other value has that word and
    nothing else is attached to it: `the hatch` for the wooden hatch, but not `the escape hatch`.
    """

    def __init__(self, ways: Mapping[str, Iterable[str]], *, shortened: bool = True) -> None:
        full = [(known_words(way), value) for value, names in ways.items() for way in names]
        short = _shortened(full) if shortened else {}
        every = [(parts, Named(value, True)) for parts, value in full if parts]
        for parts, value in full:
            others: list[tuple[str, ...]] = []
            if len(parts) > 1:
                others = [("".join(parts),), ("-".join(parts),)]
            others.append(tuple(" ".join(parts).replace("-", " ").split()))
            others += [(_SHORT_FORMS[part],) for part in parts if len(parts) == 1 and part in _SHORT_FORMS]
            every += [(other, Named(value, True)) for other in others if other and other != parts]
        every += [((word,), Named(value, False)) for word, value in short]
        every.sort(key=lambda each: (-len(each[0]), not each[1].exact))
        self._exact = frozenset(word for parts, _ in full for word in parts)
        self.words = frozenset(map(singular, self._exact))
        """The words of all names, in the singular."""
        self._listener = Listener(
            (parts, _Way(rank, parts, named, short.get((parts[0], named.value), True)))
            for rank, (parts, named) in enumerate(every)
        )

    @classmethod
    def of(cls, values: Iterable[str], *, shortened: bool = True) -> Lexicon:
        """Return a lexicon of values that are named by what they are."""
        return cls({value: (value,) for value in values}, shortened=shortened)

    def hear(self, said: Sequence[str]) -> Iterator[tuple[int, int, Named]]:
        """Yield the begin, the end and the value of everything that is named in these words, in no order.

        An empty word represents a sign, which no name spans.
        """
        free = [True] * len(said)
        for begin, end, way in sorted(self._listener.hear(said), key=lambda each: (each[2].rank, each[0])):
            if not all(free[begin:end]):
                continue
            free[begin:end] = [False] * (end - begin)
            attached = "" if way.named.exact else _attached(said, begin, end, way)
            yield begin, end, way.named._replace(attached=attached)


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


_LOOSE = _LITTLE | frozenset(
    "is are was were be it it's that's i you he she they we would like take have please for by as not no so then or "
    "but from try order get one ordered said named called wanted go choose pick think thanks thank this that was "
    "had".split()
)


def _attached(said: Sequence[str], begin: int, end: int, way: _Way) -> str:
    """Return the side on which another word turns a part of a name into a different name: `police station`."""
    before = said[begin - 1] if begin else ""
    after = said[end] if end < len(said) else ""
    if way.last and before and before not in _LOOSE:
        return "before"
    joined = (
        after not in _LOOSE if not way.last else not before and end == len(said) - 1
    )  # `bass guitar` alone
    return "after" if after and joined else ""


@lru_cache(maxsize=64)
def lexicon(
    values: tuple[str, ...], also: tuple[tuple[str, ...], ...] = (), *, shortened: bool = True
) -> Lexicon:
    """Return the lexicon of a matcher's values, made once; `also` are values, each with its other names after it."""
    others = {value: names for value, *names in also}
    return Lexicon({value: (value, *others.get(value, ())) for value in values}, shortened=shortened)
