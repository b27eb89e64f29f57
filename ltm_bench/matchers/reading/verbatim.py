"""Whether a reply says a sentence word for word: by its content words and its negations, not by its articles.

A lossy memory changes one content word, or loses a *not*. So those must agree; articles, endings and typos need not.
"""

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from ltm_bench.core.words import alternatives, listed
from ltm_bench.matchers.reading.text import answer, flat, known_words, spelt
from ltm_bench.matchers.sameness import same_word, singular

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+){0,8}")
_FORGIVEN = frozenset("a an the that please just so and then oh well okay ok now".split())
_FUNCTION = frozenset(listed("function"))
_NEGATIONS = frozenset("not no never none nothing nobody nowhere neither nor without hardly cannot".split())
_REFUSES = re.compile(
    r"(?:\b(?:\w+n't|cannot|not|refused? to|without|instead of)\s+(?:going to )?"
    rf"(?:{alternatives('refusing')})\w*)\b[^.!?]{{0,40}}$"
)
_DECLINES = re.compile(r"[\W_]{0,12}(?:but|though)[\W_]+(?:i|that)\b[^.!?]{0,20}(?:not|n't|refuse|decline)\b")
_MOST = 4000
"""Maximum words of a reply that are searched."""


Match = IntEnum("Match", "SAID REFUSED REWORDED CHANGED ABSENT")
"""How a sentence was said, the best first.

- REFUSED: only mentioned in a refusal to say it.
- REWORDED: all its content words, but other words or the order differ.
- CHANGED: nearly, but a content word or a negation differs.
"""


class Occurrence(NamedTuple):
    """How a sentence was said, and where in the answer."""

    match: Match
    start: int = -1
    end: int = -1


@lru_cache(maxsize=1024)
def _content(phrase: str) -> tuple[str, ...]:
    return tuple(_kept(known_words(phrase)))


def _kept(said: Sequence[str]) -> list[str]:
    """Return the words that must agree, with contractions spelt out."""
    plain = (each for word in said for each in _spelt_out(word).split())
    return [_PLAINER.get(each, each) for each in plain if each not in _FORGIVEN]


_PLAINER = {"into": "in", "onto": "on", "upon": "on", "till": "until"}
_IS = {f"{word}'s": f"{word} is" for word in "here there it that what where who he she how when".split()}
_SHORT = "can't=can not|won't=will not|cannot=can not|shan't=shall not|n't= not|'re= are|'ll= will|'ve= have|'m= am"
_ENDINGS = _IS | dict(each.split("=") for each in _SHORT.split("|"))


@lru_cache(maxsize=8192)
def _spelt_out(word: str) -> str:
    """Expand a contraction: `here's` is `here is`."""
    ending = next((each for each in _ENDINGS if word.endswith(each)), "")
    return word.removesuffix(ending) + _ENDINGS.get(ending, "")


@lru_cache(maxsize=8)  # a reply is searched for one phrase after the other
def _read(reply: str) -> tuple[str, Sequence[tuple[str, int, int]]]:
    """Return the flat answer, and its words that must agree, with where each begins and ends."""
    text = flat(answer(reply))
    said = islice(_WORD.finditer(text), _MOST)
    return text, [(word, each.start(), each.end()) for each in said for word in _kept([spelt(each[0])])]


@lru_cache(maxsize=32)  # earlier replies are searched again where a word of the last one is left out
def says(reply: str, phrase: str) -> Occurrence:
    """Return how, and where, a reply says a phrase; linear in the reply for a phrase of bounded length."""
    meant = _content(phrase)
    if not meant:
        return Occurrence(Match.ABSENT)
    text, tokens = _read(reply)
    known, many = set(map(singular, meant)), len(meant)
    hits = [i for i, (word, *_) in enumerate(tokens) if singular(word) in known or same_word(word, meant[0])]
    begins = sorted({max(0, i - back) for i in hits for back in range(3)})
    windows = (tokens[begin : begin + many + more] for begin in begins for more in (0, 1, -1, 2))
    found = (_occurrence(text, window, meant) for window in windows if len(window) >= max(1, many - 1))
    return min((Occurrence(Match.ABSENT), *found), key=lambda each: each.match)


def says_exactly(reply: str, phrase: str) -> bool:
    """Whether a reply says a phrase word for word; where its longest word is missing, no more is read."""
    longest = max(_content(phrase), key=len, default="")
    possible = any(_same(word, longest) for word, *_ in _read(reply)[1])
    return possible and says(reply, phrase).match is Match.SAID


def _occurrence(text: str, window: Sequence[tuple[str, int, int]], meant: tuple[str, ...]) -> Occurrence:
    match, start, end = _compare(tuple(word for word, *_ in window), meant), window[0][1], window[-1][2]
    if match is Match.SAID:
        refused = _REFUSES.search(text, max(0, start - 80), start) or _DECLINES.match(text, end, end + 60)
        match = Match.REFUSED if refused else match
    return Occurrence(match, start, end)


@lru_cache(maxsize=4096)  # where a word of a reply is left out, most windows are as before
def _compare(said: tuple[str, ...], meant: tuple[str, ...]) -> Match:
    """Compare two short sequences of words."""
    if len(said) == len(meant) and all(map(_same, said, meant)):
        return Match.SAID
    common = _common(said, meant) / len(meant)
    if sum(w in _NEGATIONS for w in said) != sum(w in _NEGATIONS for w in meant):
        return Match.CHANGED if common >= 0.7 else Match.ABSENT
    content, spoken = ([w for w in each if w not in _FUNCTION] for each in (meant, said))
    kept = _common(spoken, content)
    if kept == len(content) == len(spoken) > 0:
        return Match.REWORDED if kept > 2 or all(map(_same, spoken, content)) else Match.ABSENT
    changed = len(content) >= 2 and len(content) - kept <= max(1, len(content) // 3) and common >= 0.6
    return Match.CHANGED if changed else Match.ABSENT


def _common(said: Sequence[str], meant: Sequence[str]) -> int:
    left = list(said)
    for word in meant:
        if (same := next((each for each in left if _same(each, word)), None)) is not None:
            left.remove(same)
    return len(said) - len(left)


@lru_cache(maxsize=8192)  # the words of a reply are compared again with each window of each phrase
def _same(said: str, meant: str) -> bool:
    """Whether two words are the same, endings aside: `closing` and `close`, `window` and `windows`."""
    return same_word(said, meant) or (min(len(said), len(meant)) > 4 and stem(said) == stem(meant))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word without its ending, roughly."""
    return re.sub(r"(?<=\w{4})(?:ing|ed|ly|er)$", "", singular(word)).rstrip("e")
