"""The words that tell how something is meant: denied, replaced, past, present, next, guessed, concluded, taken back.

They are few and general, since what they miss becomes a doubt. The idea is NegEx's, which scopes a negation by its
direction and its nearest term (Chapman et al. 2001), and ConText's, which adds time and certainty (Harkema et al.
2009). A cue reaches

- what comes *after* it, up to the next thing named: `not`, `instead of`;
- what came *before* it: `… no longer`;
- *all* that its clause names: `at first`, `currently`.

A star stands for any ending: `chang*` is change, changed and changing. `isn't` is read as `is not`.
"""

from collections import defaultdict
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from ltm_bench.core.words import listed

Effect = Enum(
    "Effect", "DENIES REPLACED PAST NOW NEXT CHANGES HEDGES CONDITIONS CONCLUDES CORRECTS CHOICE NONE"
)
"""What a cue says about what it reaches.

- REPLACED: it held once, and was replaced by something else.
- NEXT: it replaced what was named before.
- CHANGES: what is changed is replaced, and by what comes after `to`, `with`, `by`, `for` or `into`.
- CORRECTS: what was named before is taken back.
- CHOICE: one of several, not decided: `either`.
- NONE: a word in it usually denies what follows, but does not here.
"""

Reach = Enum("Reach", "AFTER BEFORE ALL")
"""What a cue reaches within its clause."""


class Cue(NamedTuple):
    """A phrase with its effect; `begin` and `end` count the words of its clause."""

    effect: Effect
    reach: Reach
    begin: int
    end: int
    words: tuple[str, ...]


CUES = {
    (Effect[effect], Reach[reach]): phrases
    for effect, reach, phrases in (line.split(" ", 2) for line in listed("cues", "\n"))
}
"""What each phrase says, and what it reaches. Every alternative counts: `tests/matchers/reading/test_stance.py`."""

_Phrase = tuple[tuple[str, ...], Effect, Reach]


def _compiled() -> dict[str, list[_Phrase]]:
    """Return the phrases by the beginning of their first word, the longest first."""
    table: defaultdict[str, list[_Phrase]] = defaultdict(list)
    for (effect, reach), phrases in CUES.items():
        for phrase in phrases.split("|"):
            table[phrase.split()[0][:_KEY]].append((tuple(phrase.split()), effect, reach))
    return {key: sorted(found, key=lambda each: -len(each[0])) for key, found in table.items()}


_KEY = 3
"""Letters by which phrases are looked up; a star stands after at least as many."""
_CUES = _compiled()


def _says(said: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether words begin with a phrase."""
    pairs = zip(said, phrase, strict=False)
    fits = (word.startswith(part[:-1]) if part[-1] == "*" else word == part for word, part in pairs)
    return len(said) >= len(phrase) and all(fits)


@lru_cache(maxsize=256)  # titles are read for every line below them
def cues(said: tuple[str, ...], besides: frozenset[str] = frozenset()) -> Sequence[Cue]:
    """Return the cues in the words of a clause, the longest at each place.

    `besides` are words that are none here, unless they deny. A phrase that reaches in two ways is returned twice.
    """
    found, i = list[Cue](), 0
    while i < len(said):
        size = 0
        for phrase, effect, reach in _CUES.get(said[i][:_KEY], ()):
            end = i + len(phrase)
            beside = effect is not Effect.DENIES and besides.issuperset(said[i:end])
            if len(phrase) >= size and not beside and _says(said[i:end], phrase):
                found.append(Cue(effect, reach, i, end, phrase))
                if reach is not Reach.BEFORE:  # what may reach nothing must not hide what it is made of
                    size = len(phrase)
        i += max(size, 1)
    return found
