"""Dates and times of day, in the many ways to write them; each becomes the same few words."""

import re

from ltm_bench.core.words import listed
from ltm_bench.matchers.reading.text import flat

_MONTHS, _ORDINALS = listed("months"), listed("ordinals")
_OF = rf"(?P<month>{'|'.join(f'{each[:3]}(?:{each[3:]})?' for each in _MONTHS)}|sept)\b\.?"
_DAY = rf"(?:the )?(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?|(?P<word>{'|'.join(reversed(_ORDINALS))}))"
_NAMED = (
    re.compile(rf"\b{_DAY}(?: day)?(?: of)?[ -]{_OF}(?!\w)"),
    re.compile(rf"\b{_OF}[ -]{_DAY}(?![\w:])"),
)
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
        text = each.sub(_named, text)
    return text


def _named(found: re.Match[str]) -> str:
    day = int(found["day"]) if found["day"] else _ORDINALS.index(found["word"]) + 1
    return f"{day} {next(month for month in _MONTHS if month.startswith(found['month'][:3]))}"


def _date(one: int, other: int) -> str:
    """Return what two figures can mean: the day first, as in most of the world, or the month."""
    ways = {(one, other): None, (other, one): None}
    return " or ".join(f"{d} {_MONTHS[m - 1]}" for d, m in ways if 1 <= m <= len(_MONTHS) and 1 <= d <= 31)
