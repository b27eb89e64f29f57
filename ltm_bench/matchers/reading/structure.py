"""The structure of a reply: which parts of it are prose, headings, list entries, cells, quotations and JSON.

`read` passes once over a reply and knows no vocabulary; all matchers then ask what its parts say.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from ltm_bench.matchers.reading.json_values import embedded
from ltm_bench.matchers.reading.text import answer, flat


class Form(StrEnum):
    """What a block of a reply is."""

    PROSE = "prose"
    HEADING = "heading"
    BULLET = "bullet"
    CELL = "cell"
    QUOTE = "quote"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Block:
    """A line of a reply, a cell of a table, or a value within JSON."""

    text: str
    """Its text, as `flat` returns it, without marks of emphasis."""
    start: int
    """Its offset in `Reading.text`; for a JSON value, that of the whole JSON text."""
    form: Form = Form.PROSE
    path: tuple[str, ...] = ()
    """The headings, columns or keys above it, outermost first, as `flat` returns them."""
    line: int = 0
    """The number of its line; all values of one JSON text, and all cells of a row, share theirs."""
    struck: tuple[tuple[int, int], ...] = ()
    """Struck-out parts: offsets into its text."""
    bold: tuple[tuple[int, int], ...] = ()
    """Emphasised parts: offsets into its text."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A reply that was read. It equals only itself, so that findings about it can be cached."""

    text: str
    """The answer that was read, in composed Unicode."""
    blocks: tuple[Block, ...]

    @property
    def lines(self) -> Iterator[str]:
        """The text of each block."""
        return (block.text for block in self.blocks)


_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"(\s{0,40})(?:[-*•+–·▪◦]|\(?\d{1,3}[.):]|[a-h][.)])\s{1,8}(?=\S)")
_QUOTE = re.compile(r"\s{0,3}>\s?")
_RULE = re.compile(
    r"\s{0,8}\|?(?:[ \t]{0,8}:?-{2,200}:?[ \t]{0,8}\|){1,40}[ :-]{0,200}|\s{0,8}[-*_=]{3,200}\s{0,8}|\s{0,8}```.*"
)
_STRUCK = re.compile(r"~~(?=\S)(.{1,400}?)~~|<(?:del|s)>(.{1,400}?)</(?:del|s)>")
_BOLD = re.compile(
    r"\*\*(?=\S)(.{1,400}?)\*\*|__(?=\S)(.{1,400}?)__|<(?:b|strong)>(.{1,400}?)</(?:b|strong)>"
)
_MARKS = re.compile(r"~~|\*+|`+|(?<!\w)_+|_+(?!\w)|</?(?:del|s|b|strong|i|em|u|br|p)\s*/?>|\\(?=[\[\]()*_|])")
_TITLE = 200
"""Maximum characters of a heading, label, column or key that are passed to the blocks below it."""
_LABEL = re.compile(r"[^.!?]{1,60}:\s*$")
_WHOLLY_BOLD = re.compile(r"\s{0,8}(?:\d{1,3}[.)]\s{0,8})?(?:\*\*|__)[^*_]{1,80}(?:\*\*|__)[:.]?\s{0,8}$")


@lru_cache(maxsize=8)  # one reply is read by several functions, and by several matchers in a row
def read(reply: str) -> Reading:
    """Read a reply; linear in its length. Never raises."""
    text = unicodedata.normalize("NFC", answer(reply))
    found = list(embedded(text))
    blocks: list[Block] = []
    end = 0
    for value, start, stop in found:
        blocks.extend(_lines(text, end, start, blocks))
        line = len(blocks)
        blocks.extend(Block(leaf, start, Form.JSON, path, line) for path, leaf in _leaves(value))
        end = stop
    blocks.extend(_lines(text, end, len(text), blocks))
    return Reading(text, tuple(blocks))


def _lines(text: str, start: int, stop: int, before: list[Block]) -> Iterator[Block]:
    """Yield the blocks of a part of the text that is not JSON."""
    headings: list[str] = []
    columns: list[str] = []
    label: str | None = None
    indented: list[tuple[int, str]] = []
    number = len(before)
    position = start
    for raw in text[start:stop].splitlines(keepends=True):
        at, position = position, position + len(raw)
        line = raw.rstrip("\r\n")
        if not line.strip():
            columns = []
            continue
        number += 1
        if _RULE.fullmatch(line):
            continue
        if heading := _HEADING.match(line):
            title = _block(heading[1], at + heading.start(1), Form.HEADING, (), number)
            headings, columns, label, indented = [_titled(title)], [], None, []
            yield title
            continue
        if line.count("|") >= 2 or ("|" in line and (columns or _is_header(text, position, stop))):
            cells = list(_cells(line))
            if not columns:
                columns = [_bare(cell)[:_TITLE] for cell, _ in cells]
                if _is_header(text, position, stop):
                    continue
                columns = ["" for _ in cells]
            row = _bare(cells[0][0])[:_TITLE] if len(cells) > 1 else ""
            for i, (cell, offset) in enumerate(cells):
                column = columns[i] if i < len(columns) else ""
                above = (*headings, *((row,) if i and row else ()), *((column,) if column else ()))
                yield _block(cell, at + offset, Form.CELL, above, number)
            continue
        columns = []
        if quote := _QUOTE.match(line):
            yield _block(line[quote.end() :], at + quote.end(), Form.QUOTE, tuple(headings), number)
            continue
        bullet = _BULLET.match(line)
        depth = len(line) - len(line.lstrip())
        if _WHOLLY_BOLD.fullmatch(line) and not bullet:
            own = _block(line, at, Form.HEADING, (), number)
            headings, label, indented = [_titled(own).rstrip(" :.")], None, []
            yield own
            continue
        if bullet:
            while indented and indented[-1][0] >= depth:
                indented.pop()
            above = (*headings, *((label,) if label else ()), *(name for _, name in indented))
            own = _block(line[bullet.end() :], at + bullet.end(), Form.BULLET, above, number)
            indented.append((depth, _titled(own)))
            yield own
            continue
        while indented and indented[-1][0] >= depth:
            indented.pop()
        if not indented:
            label = None
        own = _block(line, at, Form.PROSE, (*headings, *(name for _, name in indented)), number)
        if own.text.rstrip().endswith(":") and _LABEL.search(own.text):
            label = _titled(own)
        yield own


def _block(raw: str, start: int, form: Form, path: tuple[str, ...], line: int) -> Block:
    """Return a block of a line of text, with its marks of emphasis blanked out and remembered."""
    text = flat(raw)
    if not any(sign in text for sign in "*_`~<\\"):
        return Block(text, start, form, path, line)
    struck = tuple(each.span() for each in _STRUCK.finditer(text))
    bold = tuple(each.span() for each in _BOLD.finditer(text))
    text = _MARKS.sub(lambda mark: " " * len(mark[0]), text)
    return Block(text, start, form, path, line, struck, bold)


def _cells(line: str) -> Iterator[tuple[str, int]]:
    """Yield the cells of a row, and where each begins in its line."""
    row = line.strip()
    inner = row.strip("|")
    start = line.find(row) + row.find(inner)
    for cell in inner.split("|"):
        yield cell.strip(), start + len(cell) - len(cell.lstrip())
        start += len(cell) + 1


def _titled(block: Block) -> str:
    """Return the title that a block gives to those below it."""
    return block.text[:_TITLE].strip(" :")


def _bare(cell: str) -> str:
    return _MARKS.sub(" ", flat(cell)).strip(" :")


def _is_header(text: str, position: int, stop: int) -> bool:
    """Whether the next line is the rule under the header of a table."""
    end = text.find("\n", position, stop)
    return (
        "|" in (following := text[position : end if end >= 0 else stop])
        and _RULE.fullmatch(following) is not None
    )


_MOST_LEAVES = 5000


def _leaves(value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path and the text of everything in a JSON value that is neither an object nor a list, in order."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    given = 0
    while waiting and given < _MOST_LEAVES:
        path, each = waiting.pop()
        if isinstance(each, Mapping):
            waiting.extend(
                ((*path, flat(str(key)[:_TITLE])), inner) for key, inner in reversed(list(each.items()))
            )
        elif isinstance(each, list):
            waiting.extend((path, inner) for inner in reversed(each))
        else:
            given += 1
            yield path, "null" if each is None else flat(str(each))
