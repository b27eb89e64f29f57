"""Whole numbers, in figures and in words."""

import re
from typing import Any

from ltm_bench.matchers.reading.text import plain

_NUMBER_WORDS = {
    word: n
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * n
    for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_OTHER_NUMBERS = {
    "a": 1,
    "an": 1,
    "single": 1,
    "once": 1,
    "twice": 2,
    "pair": 2,
    "couple": 2,
    "dozen": 12,
    "no": 0,
}


_DIGITS = re.compile(r"(?<![\w.,-])[x×]?(-?\d{1,3}(?:,\d{3})+|-?\d{1,12})(?:\.0+)?(?![\d]|[.,]\d)")
_LETTERS = re.compile(r"[a-z]+")


def number(value: Any) -> int | None:
    """Read a whole number from JSON or text: `3`, `3.0`, `"3"`, `"x3"`, `"three packs"`, `"twenty-one"`."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None  # inf and nan are not integers
    if not isinstance(value, str):
        return None
    text = plain(value[:200]).strip()
    if digits := _DIGITS.search(text):
        return int(digits.group(1).replace(",", ""))
    total: int | None = None
    for word in _LETTERS.findall(text):
        if word in _TENS:
            total = (total or 0) + _TENS[word]
        elif word in _NUMBER_WORDS:
            total = (total or 0) + _NUMBER_WORDS[word]
        elif word == "hundred" and total is not None:
            total *= 100
        elif total is None and word in _OTHER_NUMBERS:
            return _OTHER_NUMBERS[word]
    return total
