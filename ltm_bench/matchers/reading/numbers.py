"""Whole numbers, in figures and in words."""

import re
from collections.abc import Sequence
from typing import Any

from ltm_bench.core.words import listed
from ltm_bench.matchers.reading.text import plain

ONES = listed("ones")
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL = {word: n for n, word in enumerate(ONES)} | {word: 10 * n for n, word in enumerate(_TENS, start=2)}
_TIMES = {"dozen": 12, "hundred": 100, "thousand": 1000}
_HALF = "half a dozen"

_DIGITS = re.compile(r"(?<![\w.,-])[x×]?(-?\d{1,3}(?:,\d{3})+|-?\d{1,12})(?:\.0+)?(?![\d]|[.,]\d)")
_LETTERS = re.compile(r"[a-z]+")

_MANY = rf"(?:{'|'.join(_TIMES)})"
_BELOW = rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(ONES[1:10])}))?|{'|'.join(reversed(ONES[1:]))})"
SPELT = re.compile(
    rf"(?i)(?<![\w-])(?:{_HALF}|(?:a|{_BELOW}) {_MANY}(?: (?:and )?{_BELOW}(?: hundred)?){{0,3}}|"
    rf"zero|(?!one\b){_BELOW})(?![\w-])"
)
"""A number in words. `one` alone is a pronoun."""


def number(value: Any) -> int | None:
    """Read a whole number from JSON or text: `3`, `3.0`, `"3"`, `"x3"`, `"three packs"`, `"two thousand"`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if float(value).is_integer() else None  # inf and nan are no integers
    if not isinstance(value, str):
        return None
    text = plain(value[:200]).strip().replace(_HALF, "six")
    if digits := _DIGITS.search(text):
        return int(digits.group(1).replace(",", ""))
    return _spelt(_LETTERS.findall(text))


def _spelt(said: list[str]) -> int | None:
    """Return the number in words: `three dozen`, `a hundred and four`, `twenty-one`; an article alone is one."""
    total, last = 0, None
    for word in said:
        if word in _SMALL:
            last = (last or 0) + _SMALL[word]
        elif word in _TIMES:
            total, last = total + (last or 1) * _TIMES[word], 0
    if last is None:
        return 1 if {"a", "an"} & set(said) else None
    return total + last


def in_words(figures: str) -> Sequence[str]:
    """Return how a year or a code of three to six figures is read out: `nineteen oh five`, `four seven one one`."""
    if not 3 <= len(figures) <= 6:
        return ()
    pairs = [int(figures[i : i + 2]) for i in range(0, len(figures), 2)]
    said = [_pair(n) if i == 0 or n > 9 else f"oh {ONES[n]}" if n else "hundred" for i, n in enumerate(pairs)]
    each = " ".join(ONES[int(n)] for n in figures)
    return (each, " ".join(said)) if len(figures) % 2 == 0 else (each,)


def _pair(n: int) -> str:
    tens, ones = divmod(n, 10)
    return ONES[n] if n < len(ONES) else _TENS[tens - 2] + f"-{ONES[ones]}" * (ones > 0)
