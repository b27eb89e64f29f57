"""Whole numbers in a reply, read like anything else that it names: denied and replaced ones are left out."""

import re
from collections.abc import Iterator
from functools import lru_cache

from ltm_bench.core.words import alternatives
from ltm_bench.matchers.reading.lexicon import Lexicon
from ltm_bench.matchers.reading.mention import Mention, Time
from ltm_bench.matchers.reading.numbers import SPELT, number
from ltm_bench.matchers.reading.resolving import resolve
from ltm_bench.matchers.reading.stance import mentions
from ltm_bench.matchers.reading.structure import Form, Reading, read

_IDEOGRAPHS = "\u3400-\u9fff"
_FIGURE = re.compile(rf"(?<![^\W{_IDEOGRAPHS}])(?<!\.)\d{{1,15}}(?![^\W{_IDEOGRAPHS}]|\.\d)")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}\b)")
_ANNOUNCED = re.compile(
    rf"\s{{0,3}}(?:[\w'-]{{1,30}} ){{0,2}}(?:{alternatives('counted')})\b(?P<colon>[^\d:]{{0,40}}:)?"
)
_LABEL = re.compile(r"\W{0,4}(?:[^\W\d_]{1,20} ){0,2}")
"""What may stand before a number that labels its line: `Night 3: …`."""
_WHOLE = re.compile(r"(?<=\d)\.0+(?![\d.])")
_MINUS = re.compile(r"(?:(?<![\w)])[-−]|\bminus)\s*$")


_NEAR = 20
"""Characters before a number that are searched for its sign or an equals sign."""


def told_numbers(reply: str) -> Iterator[int]:
    """Yield the numbers that a reply tells, in order, in figures or in words.

    A number that announces how many follow (`8 counts: …`) does not count, nor does one that labels its line (`Night 3:
    …`).
    """
    reading = read(in_figures(reply))
    found, indexes = _numbers(reading), _indexes(reading)
    followed = enumerate(reversed(found[:-1]), start=1)
    *_, first = None, *(m for rest, m in followed if _announces(reading, m, rest))
    for m in found:
        if m is not first and m.start not in indexes and not _labels(reading, m):
            yield int(m.value)


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
    return SPELT.sub(lambda spelt: str(number(spelt[0])), _WHOLE.sub("", text))


def _numbers(reading: Reading) -> list[Mention]:
    figures = sorted({each[0] for block in reading.blocks for each in _FIGURE.finditer(block.text)})
    found = mentions(reading, _lexicon(tuple(figures)))
    return [m for m in found if not m.denied and m.time is not Time.REPLACED]


@lru_cache(maxsize=8)  # where other words of a reply are left out, its figures stay
def _lexicon(figures: tuple[str, ...]) -> Lexicon:
    return Lexicon({each: (each,) for each in figures}, shortened=False)


def _indexes(reading: Reading) -> set[int]:
    """Return where the cells of a first column begin that only counts the rows: 1, 2, 3."""
    first = {block.line: block for block in reversed(reading.blocks) if block.form is Form.CELL}
    cells = [*first.values()][::-1]
    numbers = [str(n) for n, _ in enumerate(cells, start=1)]
    counts = len(cells) > 1 and [cell.text.strip(" .") for cell in cells] == numbers
    return {cell.start for cell in cells} if counts else set()


def _announces(reading: Reading, mention: Mention, rest: int | None = None) -> bool:
    """Whether a number says how many others there are: before a colon, or if as many follow (`rest`)."""
    block = reading.blocks[mention.block]
    found = _ANNOUNCED.match(block.text, max(0, mention.end - block.start))
    return found is not None and (rest is None or found["colon"] is not None or rest == int(mention.value))


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
