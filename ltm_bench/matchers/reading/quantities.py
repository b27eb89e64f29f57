"""Distances, directions and other quantities in a reply, each with its place and the headings above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ltm_bench.matchers.reading.structure import Block, Form

DIRECTIONS = ("north", "south", "east", "west")

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_AMOUNT = rf"\d{{1,9}}(?:[.,]\d{{1,3}})?|(?<![\w-])(?:{'|'.join(_WORDS)})(?![\w-])"
_SIGN = r"(?<![\w)])[-−–+]\s?"
_UNIT = r"(?:km|kms|kilomet(?:er|re)s?|klicks?|m|met(?:er|re)s?)"
_WAY = rf"(?:{'|'.join(DIRECTIONS)})"
_BETWEEN = r"\s*(?:-|/|–|\band\b|\bor\b|,)\s*(?:the\s+|to the\s+)?"
_AXIS = re.compile(
    rf"\b(?:north(?:ward)?{_BETWEEN}south|south(?:ward)?{_BETWEEN}north|n\s*[-/–]\s*s|s\s*[-/–]\s*n)(?:ward)?s?\b|"
    rf"\b(?:east(?:ward)?{_BETWEEN}west|west(?:ward)?{_BETWEEN}east|e\s*[-/–]\s*w|w\s*[-/–]\s*e)(?:ward)?s?\b"
)
_EVENT = re.compile(
    rf"(?P<number>(?:{_SIGN})?(?:{_AMOUNT})|\bno(?=\s+(?:distance|km|kilomet|offset|displacement|shift)))"
    rf"(?:[\s-]{{0,2}}(?P<unit>{_UNIT})\b)?"
    rf"|\b(?P<way>{_WAY}(?:[\s-]?{_WAY})?)(?:wards?|erly|ern)?\b"
    r"|(?<![\w.'])(?P<letter>[nsew])(?![\w'])"
    r"|(?P<equals>=)"
)


_TERM = rf"(?:{_SIGN})?\d{{1,9}}(?:\.\d{{1,9}})?(?:\s{{0,2}}{_UNIT}\b)?"
_SUM = re.compile(rf"{_TERM}\s{{0,2}}(?:[+−]|\s[-–]\s)\s{{0,2}}{_TERM}")
_RESULT = re.compile(rf"{_TERM}(?:\s{{0,2}}[-+−–]\s{{0,2}}{_TERM}){{1,20}}\s{{0,2}}(?==)")
_WORKING = re.compile(r"\([^()]{0,80}\d\s{0,2}[+−][^()]{0,80}\)")
_LONGEST = 1000
"""Maximum characters read of a sentence, from its end: everything in it is compared with everything nearby."""


@dataclass(frozen=True, slots=True)
class Distance:
    """A distance on one axis: positive to the north or the east."""

    axis: str
    """`ns` or `ew`."""
    value: Decimal
    """Kilometres."""
    start: int
    end: int


def amount(text: str, unit: str | None) -> Decimal:
    """Return kilometres."""
    bare = text.strip().replace("−", "-").replace("–", "-").replace(" ", "").replace("+", "")
    negative, bare = bare.startswith("-"), bare.lstrip("-")
    value = (
        Decimal(0)
        if bare == "no"
        else Decimal(_WORDS.index(bare) if bare in _WORDS else bare.replace(",", "."))
    )
    if unit is not None and unit.startswith("m"):
        value /= 1000
    return -value if negative else value


def distances(block: Block, begin: int, end: int) -> Iterator[Distance]:
    """Yield the distances on an axis in a part of a block: `3 km north`, `south: 2`, `N–S: −3 km`, `0 km east or west`.

    The name of an axis is not a direction. A sum counts with its result, which comes after its last `=`.
    """
    begin = max(begin, end - _LONGEST)
    text = block.text[begin:end]
    if block.form is Form.JSON and block.path:  # `{"south": 8}`
        text = f"{block.path[-1].replace('_', ' ')} : {text}"
    text = _RESULT.sub(lambda m: " " * len(m[0]), _WORKING.sub(lambda m: " " * len(m[0]), text))
    if _SUM.search(text):
        return  # the working, without its result
    axes = [(m.start(), m.end(), _axis_of(m[0])) for m in _AXIS.finditer(text)]
    events = [m for m in _EVENT.finditer(text) if not any(a <= m.start() < b for a, b, _ in axes)]
    above = next((_axis_of(title) for title in reversed(block.path) if _axis_of(title)), None)
    numbers = [m for m in events if m.lastgroup in ("number", "unit")]
    ways = [m for m in events if m.lastgroup in ("way", "letter")]
    taken: set[int] = set()
    for way in ways:
        if len(way[0]) > 1 and _is_place(text, way):
            continue
        named = way["way"] or {"n": "north", "s": "south", "e": "east", "w": "west"}[way["letter"]]
        if named not in DIRECTIONS:
            continue
        near = [m for m in numbers if m.start() not in taken and _near(text, m, way, bool(way["letter"]))]
        if not near:
            continue
        found = min(near, key=lambda m: _apart(text, m, way))
        taken.add(found.start())
        value = amount(found["number"], found["unit"])
        sign = 1 if named in ("north", "east") else -1
        yield Distance(
            "ns" if named in ("north", "south") else "ew",
            sign * abs(value),
            begin + min(found.start(), way.start()),
            begin + max(found.end(), way.end()),
        )
    for start, stop, axis in axes or ([(0, 0, above)] if above else []):
        if ways and not (axes and _only_zero(numbers, taken)):
            continue
        after = [m for m in numbers if m.start() not in taken and (m.start() >= stop or m.end() <= start)]
        if not after:
            continue
        following = [m for m in after if m.start() >= stop]
        limit = min((a for a, _, _ in axes if a > start), default=len(text))
        following = [m for m in following if m.start() < limit] or after
        found = (
            following[-1]
            if "=" in text[stop:limit]
            else following[0]
            if following[0].start() >= stop
            else following[-1]
        )
        value = amount(found["number"], found["unit"])
        if not axes or value == 0 or found["number"].strip()[0] in "-−–+" or "=" in text:
            taken.add(found.start())
            yield Distance(str(axis), value, begin + found.start(), begin + found.end())


def _apart(text: str, number: re.Match[str], way: re.Match[str]) -> int:
    """Return how far apart a number and a direction are; a comma separates them more than words do."""
    before = number.end() <= way.start()
    between = text[number.end() : way.start()] if before else text[way.end() : number.start()]
    return len(between) + 30 * (between.count(",") + between.count(" and ")) + (not before)


def _axis_of(title: str) -> str | None:
    found = _AXIS.search(title)
    if found is None:
        return None
    return "ns" if "north" in found[0] or found[0].strip()[0] in "ns" else "ew"


def _only_zero(numbers: list[re.Match[str]], taken: set[int]) -> bool:
    left = [m for m in numbers if m.start() not in taken]
    return bool(left) and all(amount(m["number"], m["unit"]) == 0 for m in left)


def _near(text: str, number: re.Match[str], way: re.Match[str], letter: bool) -> bool:
    """Whether a number and a direction belong together: a few words between them at most, and no end of a clause."""
    between = (
        text[number.end() : way.start()] if number.end() <= way.start() else text[way.end() : number.start()]
    )
    if letter:
        return len(between.strip(" -:=(")) == 0
    return len(between) <= 45 and not re.search(r"[.;!?\n](?:\s|$)|\bthen\b|\d", between)


def _is_place(text: str, way: re.Match[str]) -> bool:
    """Whether a direction is part of where something is: `on the east side of town`."""
    return (
        re.match(
            r"\s+(?:side|bank|end|part|edge|wing|entrance|corner|gate|quarter|shore)\b",
            text[way.end() : way.end() + 12],
        )
        is not None
    )
