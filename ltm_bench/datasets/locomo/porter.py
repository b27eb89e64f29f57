"""The Porter stemmer (Porter 1980) with the extensions of NLTK, which the published scorer of LoCoMo uses.

Only lower-case words are stemmed. `tests/datasets/test_locomo.py` holds NLTK's stems of some hundred words.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

_Rule = tuple[str, str, Callable[[str], bool]]
"""An ending, its replacement, and whether the letters before it allow that."""

_IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
    "cannings": "canning", "canning": "canning", "howe": "howe",
    "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a word in lower case."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_plural, _past, _final_y, _double_suffix, _suffix, _last_suffix, _final_e, _double_l):
        word = step(word)
    return word


def _consonant(word: str, place: int) -> bool:
    if word[place] in "aeiou":
        return False
    if word[place] == "y":  # a consonant at the beginning, and after a vowel
        run = 0
        while place > 0 and word[place - 1] == "y":
            place, run = place - 1, run + 1
        first = place == 0 or not _consonant(word, place - 1)
        return first == (run % 2 == 0)
    return True


def _measure(word: str) -> int:
    """Return how many times a consonant follows a vowel."""
    kinds = [_consonant(word, i) for i in range(len(word))]
    return sum(not a and b for a, b in pairwise(kinds))


def _has_vowel(word: str) -> bool:
    return any(not _consonant(word, i) for i in range(len(word)))


def _ends_double(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and _consonant(word, len(word) - 1)


def _ends_short(word: str) -> bool:
    """Whether a word ends in a short syllable: consonant, vowel, consonant other than w, x, y."""
    last = len(word) - 1
    if last >= 2:
        return (
            _consonant(word, last - 2)
            and not _consonant(word, last - 1)
            and _consonant(word, last)
            and word[-1] not in "wxy"
        )
    return last == 1 and not _consonant(word, 0) and _consonant(word, 1)


def _long(before: str) -> bool:
    return _measure(before) > 0


def _longer(before: str) -> bool:
    return _measure(before) > 1


def _apply(word: str, rules: Sequence[_Rule]) -> str:
    """Apply the first rule whose ending fits, if its condition holds."""
    for ending, replacement, allowed in rules:
        if word.endswith(ending):
            before = word[: len(word) - len(ending)]
            return before + replacement if allowed(before) else word
    return word


def _always(before: str) -> bool:
    return True


def _plural(word: str) -> str:
    if len(word) == 4 and word.endswith("ies"):
        return word[:-1]
    return _apply(
        word, [("sses", "ss", _always), ("ies", "i", _always), ("ss", "ss", _always), ("s", "", _always)]
    )


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _long(word[:-3]) else word
    for ending in ("ed", "ing"):
        before = word[: len(word) - len(ending)]
        if word.endswith(ending) and _has_vowel(before):
            break
    else:
        return word
    for ending in ("at", "bl", "iz"):
        if before.endswith(ending):
            return before + "e"
    if _ends_double(before):
        return before if before[-1] in "lsz" else before[:-1]
    return before + "e" if _measure(before) == 1 and _ends_short(before) else before


def _final_y(word: str) -> str:
    return _apply(word, [("y", "i", lambda before: len(before) > 1 and _consonant(before, len(before) - 1))])


def _double_suffix(word: str) -> str:
    if word.endswith("alli") and _long(word[:-4]):
        return _double_suffix(word[:-2])
    return _apply(word, [*_DOUBLE, ("logi", "log", lambda before: _long(before + "l"))])


def _table(pairs: str, allowed: Callable[[str], bool]) -> tuple[_Rule, ...]:
    parts = (pair.partition(":") for pair in pairs.split())
    return tuple((ending, replacement, allowed) for ending, _, replacement in parts)


_DOUBLE = _table(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize "
    "ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful",
    _long,
)
_SINGLE = _table("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:", _long)
_LAST: tuple[_Rule, ...] = (
    *_table("al ance ence er ic able ible ant ement ment ent", _longer),
    ("ion", "", lambda before: _longer(before) and before[-1] in "st"),
    *_table("ou ism ate iti ous ive ize", _longer),
)


def _suffix(word: str) -> str:
    return _apply(word, _SINGLE)


def _last_suffix(word: str) -> str:
    return _apply(word, _LAST)


def _final_e(word: str) -> str:
    if word.endswith("e"):
        before = word[:-1]
        measure = _measure(before)
        if measure > 1 or (measure == 1 and not _ends_short(before)):
            return before
    return word


def _double_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _longer(word[:-1]) else word
