"""Limits on the size and depth of untrusted files and answers, in one place.

Anything beyond a limit raises ValueError, like anything else unreadable: never RecursionError, MemoryError or
OverflowError, which no reader expects.
"""

from __future__ import annotations

import ast
import codecs
import gzip
import os
import re
import stat
import sys
import tomllib
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from errno import EISDIR
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, AnyStr

from ltm_bench.core.errors import AgentError

if TYPE_CHECKING:
    from zipfile import ZipFile

BODY = 64 << 20
"""Bytes of a server's answer, after decompression, if it is no reply: vectors, say, or the contents of a store."""

FILE = 256 << 20
"""Bytes of a file that is read whole, after decompression."""

RECORD = 64 << 20
"""Characters of a line, or of an element of a list, in a file that is read one by one."""

JSON_DEPTH = 100
"""Nesting depth of arrays and objects."""

DIGITS = 300
"""Digits of a whole number; a few more, and it overflows a float."""

PYTHON = 2 << 20
"""Bytes of a Python file; reading one takes up to 350 times its size."""

TOML = 1 << 20
"""Bytes of a TOML file; reading one takes a hundred times its size."""

TOML_DEPTH = 32
"""Nesting depth of arrays and tables, and parts of a dotted key."""

ZIP = 1 << 30
"""Bytes that a zip may unpack to."""

ZIP_RATIO = 250
"""Maximum ratio of unpacked to packed size. Logs of repetitive conversations reach 60."""

ZIP_ENTRIES = 100_000


class TooLong(BaseException):
    """An answer is longer than a reply may be. Not an `Exception`: libraries would ask, and pay, for it once more."""


_most: ContextVar[int] = ContextVar("most", default=sys.maxsize)


@contextmanager
def answers_of(most: int) -> Iterator[None]:
    """Limit the answers that are read inside the block to this many bytes. Raises AgentError for a longer one."""
    token = _most.set(most)
    try:
        yield
    except TooLong as error:
        raise AgentError(str(error)) from error
    finally:
        _most.reset(token)


def answer_limit() -> int:
    """Return how many bytes an answer may have as far as the agent's `max_bytes` says."""
    return _most.get()


def too_long(most: int) -> str:
    """Say that an answer is longer than a reply may be, and how to allow it."""
    return (
        f"the answer has more than {most:,} bytes, the most that is read; if replies are meant to be that long, raise "
        "it with -A max_bytes=N"
    )


class TooLarge(ValueError):
    """More came from outside than is read."""


class Intake:
    """Takes in bytes from outside, a piece at a time, up to a limit. In the errors, `what` says what they are.

    Args:
        what: What is read.
        most: The most bytes of it.
        stated: How many there are, if whoever sends them says so: too many are refused before the first.
    """

    def __init__(self, what: str, most: int, stated: int = 0) -> None:
        self._what, self._most = what, most
        self._held = bytearray()
        if stated > most:
            raise self._too_large(f": {stated:,}")

    def _too_large(self, how_large: str = "") -> TooLarge:
        return TooLarge(f"{self._what} has more than {self._most:,} bytes, the most that is read{how_large}")

    def take(self, piece: bytes) -> None:
        """Take a piece. Raises TooLarge beyond the limit."""
        if len(self._held) + len(piece) > self._most:
            raise self._too_large()
        self._held += piece

    def whole(self) -> bytes:
        """Return what was taken, and begin anew."""
        whole, self._held = bytes(self._held), bytearray()
        return whole


async def gathered(pieces: AsyncIterable[bytes], into: Intake) -> bytes:
    """Return all pieces as one. Raises TooLarge. What else is to do gets its turn after every large piece."""
    from asyncio import sleep  # here, since most commands need no asyncio, which takes long to import

    async for piece in pieces:
        into.take(piece)
        if len(piece) >= LARGE:  # unpacking yields many in a row, without waiting for anything
            await sleep(0)
    return into.whole()


LARGE = 1 << 16
"""Bytes whose reading may take a while."""


_BETWEEN = re.compile(rb"\r?\n\r?\n")
"""What separates the events of a stream."""


async def events_in(pieces: AsyncIterable[bytes], most: int = BODY) -> AsyncIterator[tuple[bytes, bytes]]:
    """Yield the events of a stream as they end, each with a blank line, then what follows the last, without one.

    Raises TooLarge for one of more than `most` bytes. Only the last three of a piece, with which a separator may begin,
    are looked at twice.
    """
    event, last = Intake("an event of the stream", most), b""
    async for piece in pieces:
        *ended, rest = _BETWEEN.split(last + piece)
        for each in ended:
            event.take(each)
            yield event.whole(), b"\n\n"
        event.take(rest[:-3])
        last = rest[-3:]
    event.take(last)
    yield event.whole(), b""


def lines_of(file: IO[AnyStr], most: int = RECORD) -> Iterator[AnyStr]:
    """Yield the lines of an open file. Raises TooLarge for one that is longer than `most`."""
    for number, line in enumerate(iter(partial(file.readline, most + 1), file.read(0)), start=1):
        if len(line) > most:
            raise TooLarge(f"line {number} has more than {most:,} characters, the most that is read")
        yield line


def json_of(text: bytes | str) -> Any:
    """Parse JSON. Raises ValueError if it is invalid, too deep, or holds too long a number."""
    from pydantic_core import from_json

    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        value = from_json(content)
    except ValueError:
        if not _HALF.search(content):
            raise
        value = _with_surrogates(content)
    if content.count(b"[") + content.count(b"{") > JSON_DEPTH or _has_long_number(content):
        _measure(value)
    return value


_HALF = re.compile(rb"\\u[dD]|\xed[\xa0-\xbf]")
_LONG = re.compile(rb"\d{300}")


def _has_long_number(text: bytes) -> bool:
    """Whether as many digits stand in a row as fit between two places that are looked at."""
    places = (DIGITS * each.start() for each in re.finditer(rb"\d", text[::DIGITS]))
    return any(_LONG.search(text, max(0, at - DIGITS), at + DIGITS) for at in places)


def _with_surrogates(text: bytes) -> Any:
    """Parse JSON with lone surrogates, which UTF-8 cannot hold and logs escape."""
    import json

    try:
        return json.loads(text.decode("utf-8", "surrogatepass"))
    except RecursionError:
        raise ValueError(f"it has more than {JSON_DEPTH} levels") from None


def _measure(value: Any) -> None:
    """Raise ValueError for a value that is too deep, or holds too long a number."""
    level: list[Any] = [[value]]
    depth = -1
    while level:
        below = [each for held in level for each in (held.values() if type(held) is dict else held)]
        if any(type(each) is int and not -LARGEST < each < LARGEST for each in below):
            raise ValueError(f"it has a number of more than {DIGITS} digits")
        # Of containers alone: most of a large file is texts and numbers, which have no depth.
        level, depth = [each for each in below if type(each) in (dict, list)], depth + 1
        if depth > JSON_DEPTH:
            raise ValueError(f"it has more than {JSON_DEPTH} levels")


LARGEST = 10**DIGITS


def toml_in(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises OSError, or ValueError if it is not UTF-8, invalid, too large or too deep."""
    content = content_of(path, TOML)
    try:
        return toml_of(content.decode("utf-8-sig"))  # editors on Windows mark the start of UTF-8
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"byte {content[error.start]:#04x} at line {line} is not UTF-8; save the file as UTF-8"
        ) from error


def toml_of(text: str) -> dict[str, Any]:
    """Parse TOML. Raises ValueError if it is invalid, too large or too deep."""
    if len(text) > TOML:
        raise ValueError(f"it has more than {TOML:,} characters")
    depth = dots = 0
    for match in _TOML_TOKEN.finditer(text):
        token = match[0]
        if token in "[{":
            depth, dots = depth + 1, 0
        elif token in "]}":
            depth, dots = max(0, depth - 1), 0
        elif token == ".":
            dots += 1
        elif token in ",=\n":
            dots = 0
        if depth > TOML_DEPTH or dots >= TOML_DEPTH:
            raise ValueError(f"it has more than {TOML_DEPTH} levels")
    value = tomllib.loads(text)
    _measure(value)
    return value


_TOML_TOKEN = re.compile(
    r'"""(?:\\.|[^"\\]|"(?!""))*+(?:""")?'
    r"|'''(?:[^']|'(?!''))*+(?:''')?"
    r'|"(?:\\.|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
    r"|[\[\]{}.,=\n]",
    re.DOTALL,
)
"""The tokens that determine the depth of a TOML text. An unterminated string runs to the end, so that no part
is read twice."""


def charset_of(content: bytes, otherwise: str = "utf-8") -> str:
    """Return the character set that a text's first bytes name."""
    return next((name for mark, name in MARKS.items() if content.startswith(mark)), otherwise)


MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16's, with which it begins
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""The character sets that a file's first bytes can name."""


def python_in(path: Path) -> ast.Module:
    """Parse a Python file. Raises OSError, SyntaxError, or ValueError if it is too large or too deep."""
    content = content_of(path, PYTHON)
    try:
        return ast.parse(content)
    except (RecursionError, MemoryError):
        raise ValueError("its expressions are too deep") from None


def content_of(path: Path, most: int = FILE, *, unpack: bool = False) -> bytes:
    """Return a file's content. Raises OSError, or ValueError if it is too large, damaged or not a regular file.

    Args:
        path: The file.
        most: The most bytes of it, after decompression.
        unpack: Whether to decompress it, if it is gzip.
    """
    with opened(path) as file:
        plain = unpacking(file) if unpack else file
        Intake("it", most, os.fstat(file.fileno()).st_size if plain is file else 0)
        try:
            # Not all, since some files, such as those of /proc, do not know their size.
            content = plain.read(most + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"it is damaged: {error}") from error
    if len(content) > most:
        how = "has" if plain is file else "unpacks to"
        raise TooLarge(f"it {how} more than {most:,} bytes, the most that is read")
    return content


def unpacking(file: BufferedReader) -> BufferedReader | gzip.GzipFile:
    """Return what reads an open file, through gzip if it is packed. Unpacks no more at a time than it is asked for."""
    return gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == b"\x1f\x8b" else file


def opened(path: Path) -> BufferedReader:
    """Open a file for reading. Raises OSError, or ValueError if it is a pipe or a device."""
    global _reading
    _reading = path
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    if not is_ordinary(path):
        raise ValueError("it is not an ordinary file")
    return path.open("rb")


_reading: Path | None = None


def last_read() -> Path | None:
    """Return the file opened last, for unexpected errors."""
    return _reading


def is_ordinary(path: Path) -> bool:
    """Whether a path is a regular file, and not a pipe or a device on which a reader would block. Raises OSError."""
    return stat.S_ISREG(path.stat().st_mode)


def check_zip(archive: ZipFile, packed: int) -> None:
    """Raise ValueError if a zip of `packed` bytes unpacks to too much, or has too many entries."""
    entries = archive.infolist()
    size = sum(entry.file_size for entry in entries)
    if len(entries) > ZIP_ENTRIES:
        raise ValueError(f"it has {len(entries):,} entries, more than {ZIP_ENTRIES:,}")
    if size > ZIP:
        raise ValueError(f"it would unpack to {size:,} bytes, more than {ZIP:,}")
    if size > ZIP_RATIO * max(packed, 1 << 12):
        raise ValueError(f"it would unpack to {size // max(packed, 1)} times its size, more than {ZIP_RATIO}")
