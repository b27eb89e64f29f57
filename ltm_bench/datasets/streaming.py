"""Reads the elements of a long JSON list, or of JSON Lines, one by one: memory holds one element at a time."""

import gzip
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.predictions import Entry, OnBad, read_lines

_BLOCK = 1 << 20
"""Characters read at a time."""

_SLACK = 32
"""Maximum distance of an error from the end of the buffer for which more input may resolve it."""


@contextmanager
def opened(path: Path) -> Iterator[IO[str]]:
    """Open a text file, gzipped or not. Raises ConfigError if it cannot be read, then or later."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            plain = gzip.GzipFile(fileobj=raw) if packed else raw
            with io.TextIOWrapper(plain, encoding="utf-8-sig") as text:
                yield text
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


def read_value(path: Path) -> Any:
    """Return all of a JSON file. Raises ConfigError."""
    with opened(path) as file:
        try:
            return json.load(file)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: not JSON: {error}") from error


def read_elements(path: Path, on_bad: OnBad) -> Iterator[Entry]:
    """Yield the elements of a JSON list, or the values of JSON Lines.

    A bad line is reported and skipped. A list with a broken element ends there.

    Raises:
        ConfigError: The file cannot be read, or a list is broken.
    """
    with opened(path) as file:
        start = file.read(_BLOCK)
        if start.lstrip().startswith("["):
            yield from _of_list(path, start, file)
        else:
            yield from _of_lines(path, start, file, on_bad)


def _of_lines(path: Path, start: str, file: IO[str], on_bad: OnBad) -> Iterator[Entry]:
    head, newline, _ = start.rpartition("\n")
    rest = start[len(head) + len(newline) :] if newline else start
    lines = (line for part in (head.split("\n") if newline else [], _lines(rest, file)) for line in part)
    yield from read_lines(path, lines, on_bad)


def _lines(rest: str, file: IO[str]) -> Iterator[str]:
    yield rest + file.readline()
    yield from file


def _of_list(path: Path, buffer: str, file: IO[str]) -> Iterator[Entry]:
    decoder = json.JSONDecoder()
    at = buffer.index("[") + 1
    number = 0
    while True:
        at = _skip(buffer, at)
        while at == len(buffer):
            more = file.read(_BLOCK)
            if not more:
                raise ConfigError(f"{path}: the list ends after {number} records, without a closing bracket")
            buffer, at = more, _skip(more, 0)
        if buffer[at] == "]":
            return
        while True:  # a number at the end of the buffer may continue
            try:
                value, end = decoder.raw_decode(buffer, at)
                if end < len(buffer):
                    break
                why, place = "it does not end", end
            except RecursionError:
                raise ConfigError(f"{path}: record {number + 1} is nested too deeply") from None
            except json.JSONDecodeError as error:
                why, place = str(error), error.pos
                if not why.startswith("Unterminated") and place < len(buffer) - _SLACK:
                    raise ConfigError(f"{path}: record {number + 1} is not JSON: {why}") from None
            except ValueError as error:  # a number with more digits than Python reads
                raise ConfigError(f"{path}: record {number + 1} cannot be read: {error}") from None
            # Double the buffer, so that a long record is not decoded from its start too often.
            more = file.read(max(_BLOCK, len(buffer) - at))
            if not more:
                raise ConfigError(f"{path}: record {number + 1} is not JSON: {why}") from None
            buffer, at = buffer[at:] + more, 0
        number += 1
        yield Entry(number, value)
        at = end


def _skip(buffer: str, at: int) -> int:
    while at < len(buffer) and buffer[at] in " \t\r\n,":
        at += 1
    return at
