"""The structure of a reply: which parts of it are prose, headings, list entries, cells, quotations and JSON.

`read` passes once over a reply and knows no vocabulary; all matchers then ask what its parts say.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from ltm_bench.matchers.reading.json_values import embedded
from ltm_bench.matchers.reading.text import answer, flat

Form = StrEnum("Form", "PROSE HEADING BULLET CELL QUOTE JSON")
"""What a block of a reply is."""


class Block(NamedTuple):
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

    def announces(self, start: int) -> bool:
        """Whether a colon or an arrow stands right before an offset: `Now: the lido`."""
        return start > 0 and _ANNOUNCING.search(self.text, max(0, start - _MARGIN), start) is not None


_MARGIN = 8
"""Maximum characters between a sign and what it announces, the sign included."""
_ANNOUNCING = re.compile(r"[:→⇒➡]\W{0,7}$|[-=]>\W{0,6}$")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"(\s{0,40})(?:[-*•+–·▪◦]|\(?\d{1,3}[.):]|[a-h][.)])\s{1,8}(?=\S)")
_QUOTE = re.compile(r"\s{0,3}>\s?")
_RULE = re.compile(
    r"\s{0,8}\|?(?:[ \t]{0,8}:?-{2,200}:?[ \t]{0,8}\|){1,40}[ :-]{0,200}|\s{0,8}[-*_=]{3,200}\s{0,8}|\s{0,8}```.*"
)
_STRUCK = re.compile(r"~~(?=\S)(.{1,400}?)~~|<(?:del|s)>(.{1,400}?)</(?:del|s)>")
_BOLD = re.compile(r"(\*\*|__)(?=\S).{1,400}?\1|<(b|strong)>.{1,400}?</\2>")
_MARKS = re.compile(r"~~|\*+|`+|(?<!\w)_+|_+(?!\w)|</?(?:del|s|b|strong|i|em|u|br|p)\s*/?>|\\(?=[\[\]()*_|])")
_MARK = re.compile(r"[~*`_<\\]")
"""A sign without which a line has no marks."""
_TITLE = 200
"""Maximum characters of a heading, label, column or key that are passed to the blocks below it."""
_LABEL = re.compile(r"[^.!?]{1,60}:\s*$")
_WHOLLY_BOLD = re.compile(r"\s{0,8}(?:\d{1,3}[.)]\s{0,8})?(?:\*\*|__)[^*_]{1,80}(?:\*\*|__)[:.]?\s{0,8}$")


@lru_cache(maxsize=8)  # one reply is read by several functions, and by several matchers in a row
def read(reply: str) -> Reading:
    """Read a reply; linear in its length. Never raises."""
    text = unicodedata.normalize("NFC", answer(reply))
    blocks: list[Block] = []
    end = 0
    for value, start, stop in embedded(text):
        if not value:  # `- [ ] red`
            continue
        blocks.extend(_lines(text, end, start, blocks))
        line = len(blocks)
        leaves = islice(_leaves(value), _MOST_LEAVES)
        blocks.extend(Block(leaf, start, Form.JSON, path, line) for path, leaf in leaves)
        end = stop
    blocks.extend(_lines(text, end, len(text), blocks))
    return Reading(text, tuple(blocks))


def _lines(text: str, start: int, stop: int, before: list[Block]) -> Iterator[Block]:
    """Yield the blocks of a part of the text that is not JSON."""
    layout = _Layout(text, stop, len(before))
    for raw in text[start:stop].splitlines(keepends=True):
        at, start = start, start + len(raw)
        yield from layout.read(raw.rstrip("\r\n"), at, start)


@dataclass
class _Layout:
    """What stands above a line: headings, the columns of a table, a label, and the list entries it is a part of."""

    text: str
    stop: int
    number: int
    headings: tuple[str, ...] = ()
    columns: list[str] = field(default_factory=list)
    label: tuple[str, ...] = ()
    indented: list[tuple[int, str]] = field(default_factory=list)

    def read(self, line: str, at: int, position: int) -> Iterator[Block]:
        """Yield the blocks of a line that begins at `at`; the next one begins at `position`."""
        if not line.strip():
            self.columns = []
            return
        self.number += 1
        if _RULE.fullmatch(line):
            return
        heading, bullet, quote = _HEADING.match(line), _BULLET.match(line), _QUOTE.match(line)
        if heading:
            yield self._heading(_block(heading[1], at + heading.start(1), Form.HEADING, (), self.number))
        elif line.count("|") >= 2 or ("|" in line and (self.columns or self._is_header(position))):
            yield from self._row(line, at, self._is_header(position))
            return
        elif quote:
            yield _block(line[quote.end() :], at + quote.end(), Form.QUOTE, self.headings, self.number)
        elif _WHOLLY_BOLD.fullmatch(line) and not bullet:
            yield self._heading(_block(line, at, Form.HEADING, (), self.number))
        else:
            yield self._entry(line, at, bullet)
        self.columns = []

    def _heading(self, own: Block) -> Block:
        self.headings, self.label, self.indented = (_titled(own).rstrip(" :."),), (), []
        return own

    def _row(self, line: str, at: int, above_rule: bool) -> Iterator[Block]:
        """Yield the cells of a row, each with its row's first cell and its column's title; a header has none."""
        cells = list(_cells(line))
        if not self.columns and above_rule:
            self.columns = [_bare(cell)[:_TITLE] for cell, _ in cells]
            return
        self.columns = self.columns or ["" for _ in cells]
        row = _bare(cells[0][0])[:_TITLE] if len(cells) > 1 else ""
        for i, (cell, offset) in enumerate(cells):
            above = (row if i else "", self.columns[i] if i < len(self.columns) else "")
            yield _block(cell, at + offset, Form.CELL, (*self.headings, *filter(None, above)), self.number)

    def _entry(self, line: str, at: int, bullet: re.Match[str] | None) -> Block:
        """Return an entry of a list, or a line of prose, with the entries that it is a part of."""
        depth = len(line) - len(line.lstrip())
        while self.indented and self.indented[-1][0] >= depth:
            self.indented.pop()
        over = tuple(name for _, name in self.indented)
        if bullet:
            path, start = (*self.headings, *self.label, *over), bullet.end()
            own = _block(line[start:], at + start, Form.BULLET, path, self.number)
            self.indented.append((depth, _titled(own)))
            return own
        own = _block(line, at, Form.PROSE, (*self.headings, *over), self.number)
        if own.text.rstrip().endswith(":") and _LABEL.search(own.text):  # rarely, and the search is slow
            self.label = (_titled(own),)
        elif not over:
            self.label = ()
        return own

    def _is_header(self, position: int) -> bool:
        """Whether the next line is the rule under the header of a table."""
        end = self.text.find("\n", position, self.stop)
        following = self.text[position : end if end >= 0 else self.stop]
        return "|" in following and _RULE.fullmatch(following) is not None


def _block(raw: str, start: int, form: Form, path: tuple[str, ...], line: int) -> Block:
    """Return a block of a line of text, with its marks of emphasis blanked out and remembered."""
    text = flat(raw)
    if _MARK.search(text) is None:
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


_MOST_LEAVES = 5000


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path and the text of everything in a JSON value that is neither an object nor a list, in order."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, flat(str(key)[:_TITLE])))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, path)
    else:
        yield path, "null" if value is None else flat(str(value))
