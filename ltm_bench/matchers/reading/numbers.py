"""Whole numbers, dates and times of day, in the many ways to write them: the one parser of all matchers."""

import re
from collections.abc import Sequence
from typing import Any

from ltm_bench.core.words import listed
from ltm_bench.matchers.reading.text import flat, plain

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


_MONTHS, _ORDINALS = listed("months"), listed("ordinals")
_OF = rf"(?P<month>{'|'.join(f'{each[:3]}(?:{each[3:]})?' for each in _MONTHS)}|sept)\b\.?"
_DAY = rf"(?:the )?(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?|(?P<word>{'|'.join(reversed(_ORDINALS))}))"
_NAMED = (
    rf"\b{_DAY}(?: day)?(?: of)?[ -]{_OF}(?!\w)",
    rf"\b{_OF}[ -]{_DAY}(?![\w:])",
)
"""Dates with their month in words, compiled by the first matcher that reads dates."""
_FIGURES = re.compile(
    r"(?<![\d.:/-])(?:\d{4}[-./])?(\d{1,2})(?P<sign>[-./])(\d{1,2})(?:(?P=sign)(?:\d{4}|\d\d)?)?(?![\d:%])"
)
_HALF_OF_DAY = re.compile(r"\b([ap])\.\s?m\b\.?")
_SHARP = re.compile(r"\b(\d{1,2})[:.h](?=00\b)")
"""A full hour: `12:00` is read as 1200."""


def in_days(text: str) -> str:
    """Return a flat text with dates as `14 february` and full hours as `1200` or `12pm`.

    Figures that could be read in two ways are given in both: `3/4` is `3 april or 4 march`.
    """
    text = _SHARP.sub(r"\1", _HALF_OF_DAY.sub(r"\1m", flat(text)))
    text = _FIGURES.sub(lambda found: _date(int(found[1]), int(found[3])) or found[0], text)
    for each in _NAMED:
        text = re.sub(each, _named, text)
    return text


def _named(found: re.Match[str]) -> str:
    day = int(found["day"]) if found["day"] else _ORDINALS.index(found["word"]) + 1
    return f"{day} {next(month for month in _MONTHS if month.startswith(found['month'][:3]))}"


def _date(one: int, other: int) -> str:
    """Return what two figures can mean: the day first, as in most of the world, or the month."""
    ways = {(one, other): None, (other, one): None}
    return " or ".join(f"{d} {_MONTHS[m - 1]}" for d, m in ways if 1 <= m <= len(_MONTHS) and 1 <= d <= 31)
