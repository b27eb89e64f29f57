"""Whole numbers in a reply, read like anything else that it names: denied and replaced ones are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ltm_bench.matchers.reading.lexicon import Lexicon
from ltm_bench.matchers.reading.mention import Mention, Time
from ltm_bench.matchers.reading.numbers import number
from ltm_bench.matchers.reading.resolving import resolve
from ltm_bench.matchers.reading.stance import mentions
from ltm_bench.matchers.reading.structure import Form, Reading, read

_IDEOGRAPHS = "\u3400-\u9fff"
_FIGURE = re.compile(rf"(?<![^\W{_IDEOGRAPHS}])(?<!\.)\d{{1,15}}(?![^\W{_IDEOGRAPHS}]|\.\d)")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}\b)")
_ANNOUNCED = re.compile(
    r"\s{0,3}(?:[\w'-]{1,30} ){0,2}(?:counts?|times|numbers?|entries|values|stars?|nights?|occasions|items?)\b"
)
_LABEL = re.compile(r"\W{0,4}(?:[^\W\d_]{1,20} ){0,2}")
"""What may stand before a number that labels its line: `Night 3: …`."""
_ONES = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
    "nineteen"
)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_BELOW = rf"(?:(?:{_TENS})(?:[ -](?:one|{_ONES}))?|{_ONES}|one)"
_WHOLE = re.compile(r"(?<=\d)\.0+(?![\d.])")
_SPELT = re.compile(
    rf"(?<![\w-])(?:(?:one|{_ONES}) hundred(?:(?: and)? {_BELOW})?|(?:{_TENS})(?:[ -](?:one|{_ONES}))?|zero|"
    rf"{_ONES})(?![\w-])",
    re.IGNORECASE,
)
"""A number below 1,000 in words. `one` alone is a pronoun."""


_MINUS = re.compile(r"(?:(?<![\w)])[-−]|\bminus)\s*$")


_NEAR = 20
"""Characters before a number that are searched for its sign or an equals sign."""


def told_numbers(reply: str) -> Iterator[int]:
    """Yield the numbers that a reply tells, in order, in figures or in words.

    A number that announces how many follow (`8 counts: …`) does not count, nor does one that labels its line (`Night 3:
    …`).
    """
    reading = read(in_figures(reply))
    found = _numbers(reading)
    for i, mention in enumerate(found):
        if (i + 1 < len(found) and _announces(reading, mention)) or _labels(reading, mention):
            continue
        value = number(mention.value)
        if value is not None:
            yield value


def given_number(reply: str, *, signed: bool = False) -> int | None:
    """Return the one number that a reply gives: a result after `=`, what it says alone or concludes with, or its last.

    What it concludes with after the last `=`, or what the results come to, precedes that: `1 + 3 = 4; 2 + 5 = 7; 11`.

    With `signed`, a minus before it belongs to it.
    """
    reading = read(_GROUPED.sub("", in_figures(reply)))
    found = _numbers(reading)
    if not found:
        return None

    def value(m: Mention) -> int:
        negative = signed and _MINUS.search(_before(reading, m)) is not None
        return -int(m.value) if negative else int(m.value)

    results = [i for i, m in enumerate(found) if _before(reading, m).endswith("=")]
    if results:
        total = sum(value(found[i]) for i in results)
        concluded = [m for m in found[results[-1] + 1 :] if m.final or m.lead or value(m) == total]
        return value(concluded[-1] if concluded else found[results[-1]])
    found = [m for m in found if not _announces(reading, m)] or found
    decision = resolve(found)
    return value(decision.evidence[-1] if decision.sure and len(decision.values) == 1 else found[-1])


def in_figures(text: str) -> str:
    """Return a text with the numbers that it spells out in figures: `thirty-eight` is `38`, and `81.0` is `81`."""
    return _SPELT.sub(_figure, _WHOLE.sub("", text))


def _figure(spelt: re.Match[str]) -> str:
    value = number(spelt[0])
    return spelt[0] if value is None else str(value)


def _numbers(reading: Reading) -> list[Mention]:
    figures = {each[0] for block in reading.blocks for each in _FIGURE.finditer(block.text)}
    named = sorted(figures)
    found = mentions(reading, Lexicon({each: (each,) for each in named}, shortened=False))
    return [m for m in found if not m.denied and m.time is not Time.REPLACED and not _is_struck(reading, m)]


def _is_struck(reading: Reading, mention: Mention) -> bool:
    block = reading.blocks[mention.block]
    return block.form is not Form.JSON and any(s <= mention.start - block.start < e for s, e in block.struck)


def _announces(reading: Reading, mention: Mention) -> bool:
    block = reading.blocks[mention.block]
    return mention.start >= 0 and _ANNOUNCED.match(block.text, mention.end - block.start) is not None


def _labels(reading: Reading, mention: Mention) -> bool:
    """Whether a number begins its line, before a colon and the rest."""
    block = reading.blocks[mention.block]
    begin, end = mention.start - block.start, mention.end - block.start
    if block.form is Form.JSON or not 0 <= begin <= _NEAR or not _LABEL.fullmatch(block.text[:begin]):
        return False
    return re.match(r"\s?:\s*\w", block.text[end : end + _NEAR]) is not None


def _before(reading: Reading, mention: Mention) -> str:
    block = reading.blocks[mention.block]
    end = max(0, mention.start - block.start)
    return block.text[max(0, end - _NEAR) : end].rstrip()
