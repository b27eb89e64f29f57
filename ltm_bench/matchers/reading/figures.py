"""Whole numbers that a reply tells, read like anything else that it names: denied, replaced and announced ones left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ltm_bench.matchers.reading.lexicon import Lexicon
from ltm_bench.matchers.reading.numbers import number
from ltm_bench.matchers.reading.resolving import resolve
from ltm_bench.matchers.reading.stance import Mention, Time, mentions
from ltm_bench.matchers.reading.structure import Form, Reading, read
from ltm_bench.matchers.reading.text import words

_IDEOGRAPHS = "\u3400-\u9fff"
_FIGURE = re.compile(rf"(?<![\w.])\d{{1,15}}(?![^\W{_IDEOGRAPHS}]|\.\d)|[a-z]+(?:-[a-z]+)?")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}\b)")
_ANNOUNCED = re.compile(
    r"\s*(?:[\w'-]+ ){0,2}(?:counts?|times|numbers?|entries|values|stars?|nights?|occasions|items?)\b"
)
_AMBIGUOUS = frozenset("one single once twice pair couple dozen no an a".split())


def told_numbers(reply: str) -> Iterator[int]:
    """Yield the numbers that a reply tells, in order, in figures or in words.

    A number that announces how many follow (`8 counts: …`) is none of them.
    """
    reading = read(reply)
    found = _numbers(reading, spelt_out=True)
    for i, mention in enumerate(found):
        if i + 1 < len(found) and _announces(reading, mention):
            continue
        value = number(mention.value)
        if value is not None:
            yield value


def given_number(reply: str) -> int | None:
    """Return the one number that a reply gives: a result after `=`, what it says alone or concludes with, or its last."""
    reading = read(_GROUPED.sub("", reply))
    found = _numbers(reading, spelt_out=False)
    if not found:
        said = words(reply)
        return number(reply) if said and all(map(_is_number, said)) else None
    results = [m for m in found if _before(reading, m).endswith("=")]
    if results:
        return int(results[-1].value)
    found = [m for m in found if not _announces(reading, m)] or found
    decision = resolve(found)
    return int(decision.values[0] if decision.sure and len(decision.values) == 1 else found[-1].value)


def _numbers(reading: Reading, *, spelt_out: bool) -> list[Mention]:
    figures = {each[0] for piece in reading.pieces for each in _FIGURE.finditer(piece.text)}
    named = sorted(each for each in figures if each.isdecimal() or (spelt_out and _is_number(each)))
    found = mentions(reading, Lexicon({each: (each,) for each in named}, shortened=False))
    return [m for m in found if not m.denied and m.time is not Time.REPLACED and not _is_struck(reading, m)]


def _is_number(word: str) -> bool:
    """Whether a word is a number and nothing else; `one` and `a` may be anything."""
    if word in ("hundred", "and"):
        return True
    return word not in _AMBIGUOUS and all(number(part) is not None for part in word.split("-"))


def _is_struck(reading: Reading, mention: Mention) -> bool:
    piece = reading.pieces[mention.piece]
    return piece.form is not Form.JSON and any(s <= mention.start - piece.start < e for s, e in piece.struck)


def _announces(reading: Reading, mention: Mention) -> bool:
    piece = reading.pieces[mention.piece]
    return mention.start >= 0 and _ANNOUNCED.match(piece.text, mention.end - piece.start) is not None


def _before(reading: Reading, mention: Mention) -> str:
    piece = reading.pieces[mention.piece]
    return piece.text[: max(0, mention.start - piece.start)].rstrip()
