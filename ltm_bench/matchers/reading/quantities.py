"""Distances, directions and other quantities in a reply, each with its place and the headings above it."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from ltm_bench.matchers.reading.figures import in_figures
from ltm_bench.matchers.reading.structure import Block, Form

DIRECTIONS = ("north", "south", "east", "west")

_AMOUNT = r"\d{1,9}(?:[.,]\d{1,3})?|(?<![\w-])one(?![\w-])"
_SIGN = r"(?<![\w)])[-−–+]\s?"
UNIT = r"(?:km|kms|kilomet(?:er|re)s?|klicks?|m|met(?:er|re)s?)"
_WAY = rf"(?:{'|'.join(DIRECTIONS)})"
_BETWEEN = r"\s*(?:-|/|–|\band\b|\bor\b|,)\s*(?:the\s+|to the\s+)?"
_AXIS = re.compile(
    rf"\b(?:north(?:ward)?{_BETWEEN}south|south(?:ward)?{_BETWEEN}north|n\s*[-/–]\s*s|s\s*[-/–]\s*n)(?:ward)?s?\b|"
    rf"\b(?:east(?:ward)?{_BETWEEN}west|west(?:ward)?{_BETWEEN}east|e\s*[-/–]\s*w|w\s*[-/–]\s*e)(?:ward)?s?\b"
)
_EVENT = re.compile(
    rf"(?P<number>(?:{_SIGN})?(?:{_AMOUNT})|\bno(?=\s+(?:distance|km|kilomet|offset|displacement|shift)))"
    rf"(?:[\s-]{{0,2}}(?P<unit>{UNIT})\b)?"
    rf"|\b(?P<way>{_WAY}(?:[\s-]?{_WAY})?)(?:wards?|erly|ern)?\b"
    r"|(?<![\w.'])(?P<letter>[nsew])(?![\w'])"
)


_TERM = rf"(?:{_SIGN})?\d{{1,9}}(?:\.\d{{1,9}})?(?:\s{{0,2}}{UNIT}\b)?"
_SUM = re.compile(rf"{_TERM}\s{{0,2}}(?:[+−]|\s[-–]\s)\s{{0,2}}{_TERM}")
_RESULT = re.compile(rf"{_TERM}(?:\s{{0,2}}[-+−–]\s{{0,2}}{_TERM}){{1,20}}\s{{0,2}}(?==)")
_WORKING = re.compile(r"\([^()]{0,80}\d\s{0,2}[+−][^()]{0,80}\)")
_LONGEST = 1000
"""Maximum characters read of a sentence, from its end: everything in it is compared with everything nearby."""


class Distance(NamedTuple):
    """A distance on one axis: positive to the north or the east."""

    axis: str
    """`ns` or `ew`."""
    value: Decimal
    """Kilometres."""


def distances(block: Block, begin: int, end: int) -> Iterator[Distance]:
    """Yield the distances on an axis in a part of a block: `3 km north`, `south: 2`, `N–S: −3 km`, `0 km east or west`.

    The name of an axis is not a direction. A sum counts with its result, which comes after its last `=`.
    """
    begin = max(begin, end - _LONGEST)
    text = in_figures(block.text[begin:end])
    if block.form is Form.JSON and block.path:  # `{"south": 8}`
        text = f"{block.path[-1].replace('_', ' ')} : {text}"
    for working in (_WORKING, _RESULT):
        text = working.sub(lambda found: " " * len(found[0]), text)
    if _SUM.search(text):
        return  # the working, without its result
    axes = [(m.start(), m.end(), _axis_of(m[0])) for m in _AXIS.finditer(text)]
    events = [m for m in _EVENT.finditer(text) if not any(a <= m.start() < b for a, b, _ in axes)]
    above = next((_axis_of(title) for title in reversed(block.path) if _axis_of(title)), None)
    left = [m for m in events if m.lastgroup in ("number", "unit")]
    ways = [m for m in events if m.lastgroup in ("way", "letter")]
    yield from _on_ways(text, ways, left)
    if not ways or (axes and left and all(_amount(m) == 0 for m in left)):
        yield from _on_axes(text, axes or ([(0, 0, above)] if above else []), left, titled=not axes)


def _on_ways(text: str, ways: Sequence[re.Match[str]], left: list[re.Match[str]]) -> Iterator[Distance]:
    """Yield the number that is nearest to each direction."""
    for way in ways:
        named = LETTERS.get(way[0], way["way"])
        near = [m for m in left if _near(text, m, way)]
        if near and named in DIRECTIONS and not _PLACE.match(text, way.end()):
            number = min(near, key=lambda m: _apart(text, m, way))
            left.remove(number)
            value = abs(_amount(number)) * (1 if named in ("north", "east") else -1)
            yield Distance("ns" if named in ("north", "south") else "ew", value)


def _on_axes(
    text: str, axes: Sequence[tuple[int, int, str | None]], left: Sequence[re.Match[str]], *, titled: bool
) -> Iterator[Distance]:
    """Yield the number that follows the name of each axis, or precedes it: the last one of a calculation."""
    for start, stop, axis in axes:
        limit = min((a for a, _, _ in axes if a > start), default=len(text))
        following = [m for m in left if stop <= m.start() < limit]
        near = following or [m for m in left if m.end() <= start or m.start() >= stop]
        if near and not (titled and _amount(near[0]) and near[0][0][0] not in "-−–+" and "=" not in text):
            number = near[0] if following and "=" not in text[stop:limit] else near[-1]
            yield Distance(str(axis), _amount(number))


def _amount(found: re.Match[str]) -> Decimal:
    """Return kilometres."""
    bare = re.sub(r"[−–]", "-", found["number"]).replace(" ", "").replace("+", "")
    negative, bare = bare.startswith("-"), bare.lstrip("-")
    value = Decimal({"no": "0", "one": "1"}.get(bare, bare).replace(",", "."))
    value = value / 1000 if (found["unit"] or "").startswith("m") else value
    return -value if negative else value


def _between(text: str, number: re.Match[str], way: re.Match[str]) -> str:
    first, last = sorted((number, way), key=re.Match.start)
    return text[first.end() : last.start()]


def _apart(text: str, number: re.Match[str], way: re.Match[str]) -> int:
    """Return how far apart a number and a direction are; a comma separates them more than words do."""
    between = _between(text, number, way)
    return len(between) + 30 * (between.count(",") + between.count(" and ")) + (number.start() > way.start())


def _axis_of(title: str) -> str | None:
    found = _AXIS.search(title)
    return None if found is None else "ns" if found[0].strip()[0] in "ns" else "ew"


def _near(text: str, number: re.Match[str], way: re.Match[str]) -> bool:
    """Whether a number and a direction belong together: a few words between them at most, and no end of a clause."""
    between = _between(text, number, way)
    if way["letter"]:
        return not between.strip(" -:=(")
    return len(between) <= 45 and not re.search(r"[.;!?\n](?:\s|$)|\bthen\b|\d", between)


LETTERS = {each[0]: each for each in DIRECTIONS}
_PLACE = re.compile(r"\s{1,3}(?:side|end|part|edge|corner)\b")
"""After a direction that is part of where something is: `on the east side of town`."""
