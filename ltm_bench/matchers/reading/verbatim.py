"""Whether a reply says a sentence word for word: by its content words and its negations, not by its articles.

A lossy memory changes one content word, or loses a *not*. So those must agree; articles, endings and typos need not.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from ltm_bench.matchers.reading.text import answer, flat, known_words, spelt
from ltm_bench.matchers.sameness import same_word, singular

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+){0,8}")
_FORGIVEN = frozenset("a an the that please just so and then oh well okay ok now".split())
_FUNCTION = frozenset(
    "is are was were be been am i you he she it we they my your his her its our their this these those there here to "
    "of for at in on by with as do does did have has had will would shall should can could may might must".split()
)
_NEGATIONS = frozenset("not no never none nothing nobody nowhere neither nor without hardly cannot".split())
_REFUSES = re.compile(
    r"(?:\b(?:\w+n't|cannot|not|refused? to|without|instead of)\s+(?:going to )?(?:say|repeat|tell|utter|writ|use|"
    r"mention|answer)\w*)\b[^.!?]{0,40}$"
)
_DECLINES = re.compile(r"[\W_]{0,12}(?:but|though)[\W_]+(?:i|that)\b[^.!?]{0,20}(?:not|n't|refuse|decline)\b")
_MOST = 4000
"""Maximum words of a reply that are searched."""


class Match(Enum):
    """How a sentence was said."""

    SAID = auto()
    CHANGED = auto()
    """Nearly, but a content word or a negation differs."""
    REWORDED = auto()
    """All its content words, but other words or the order differ."""
    REFUSED = auto()
    """Only mentioned in a refusal to say it."""
    ABSENT = auto()


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
_ENDINGS = {
    **{f"{word}'s": f"{word} is" for word in "here there it that what where who he she how when".split()},
    "can't": "can not",
    "won't": "will not",
    "cannot": "can not",
    "shan't": "shall not",
    "n't": " not",
    "'re": " are",
    "'ll": " will",
    "'ve": " have",
    "'m": " am",
}


@lru_cache(maxsize=8192)
def _spelt_out(word: str) -> str:
    """Expand a contraction: `here's` is `here is`."""
    ending = next((each for each in _ENDINGS if word.endswith(each)), "")
    return word.removesuffix(ending) + _ENDINGS.get(ending, "")


@lru_cache(maxsize=8)  # a reply is searched for one phrase after the other
def _read(reply: str) -> tuple[str, Sequence[tuple[str, int, int]]]:
    """Return the flat answer, and its words that must agree, with where each begins and ends."""
    text = flat(answer(reply))
    tokens: list[tuple[str, int, int]] = []
    for each in _WORD.finditer(text):
        tokens += [(word, each.start(), each.end()) for word in _kept([spelt(each[0])])]
        if len(tokens) > _MOST:
            break
    return text, tokens


def says(reply: str, phrase: str) -> Occurrence:
    """Return how, and where, a reply says a phrase; linear in the reply for a phrase of bounded length."""
    meant = _content(phrase)
    if not meant:
        return Occurrence(Match.ABSENT)
    text, tokens = _read(reply)
    vocabulary = set(map(singular, meant))
    hits = [
        i for i, (word, *_) in enumerate(tokens) if singular(word) in vocabulary or same_word(word, meant[0])
    ]
    best = Occurrence(Match.ABSENT)
    for begin in sorted({max(0, i - back) for i in hits for back in range(3)}):
        for length in (len(meant), len(meant) + 1, len(meant) - 1, len(meant) + 2):
            window = tokens[begin : begin + length]
            if len(window) < max(1, len(meant) - 1):
                continue
            (_, start, _), (_, _, end) = window[0], window[-1]
            match = _compare([word for word, *_ in window], meant)
            refused = _REFUSES.search(text[max(0, start - 80) : start]) or _DECLINES.match(
                text[end : end + 60]
            )
            if match is Match.SAID and refused:
                match = Match.REFUSED
            if _ORDER.index(match) < _ORDER.index(best.match):
                best = Occurrence(match, start, end)
            if match is Match.SAID:
                return best
    return best


_ORDER = (Match.SAID, Match.REFUSED, Match.REWORDED, Match.CHANGED, Match.ABSENT)


def _compare(said: Sequence[str], meant: Sequence[str]) -> Match:
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
    common = 0
    for word in meant:
        same = next((each for each in left if _same(each, word)), None)
        if same is not None:
            left.remove(same)
            common += 1
    return common


@lru_cache(maxsize=8192)  # the words of a reply are compared again with each window of each phrase
def _same(said: str, meant: str) -> bool:
    """Whether two words are the same, endings aside: `closing` and `close`, `window` and `windows`."""
    if same_word(said, meant):
        return True
    return len(said) > 4 and len(meant) > 4 and _stem(said) == _stem(meant)


def _stem(word: str) -> str:
    return re.sub(r"(?<=\w{4})(?:ing|ed|ly|er)$", "", singular(word)).rstrip("e")
