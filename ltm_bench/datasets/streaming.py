"""Reads files from elsewhere: a JSON list, JSON Lines, or one object, gzipped or not.

The elements of a long file are read one by one: memory holds one element at a time.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from ltm_bench.core.errors import ConfigError, wrong_with
from ltm_bench.core.limits import FILE, RECORD, TooLarge, content_of, json_of, lines_of, opened, unpacking

OnBad = Callable[[str], None]
"""Called with each line that is skipped: the file, the line's number, and what is wrong."""

AGAIN = "it may be cut: get it again"
"""The advice about a file that is not whole."""

CUT = object()
"""Represents a text that is not JSON, such as a prediction cut short while being written."""


class Entry(NamedTuple):
    """An object of a file, and its number from 1: its line, or its place in the list."""

    number: int
    value: Any


@contextmanager
def skipping(where: str, on_bad: OnBad) -> Iterator[None]:
    """Report an object of the wrong shape that is met inside the block, and go on after it.

    Args:
        where: Its place in the file.
        on_bad: Called with the place, and what is wrong.
    """
    try:
        yield
    except (TypeError, AttributeError, LookupError, ValueError, OverflowError, ConfigError) as error:
        on_bad(f"{where}: skipped: {wrong_with(error)}")


def text_in(path: Path) -> str:
    """Return the text of a file, gzipped or not. Raises ConfigError."""
    try:
        return content_of(path, unpack=True).decode("utf-8-sig")
    except (OSError, TooLarge) as error:
        raise ConfigError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: cannot be read: {error}; {AGAIN}") from error


def values_in(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    """Yield the value of a JSON text, or those of JSON Lines, with their places. Raises ConfigError for a bad line."""

    def refuse(line: str) -> None:
        raise ConfigError(f"{line}; {AGAIN}")

    if (whole := _value(text)) is not CUT:
        yield "", whole
        return
    for number, value in read_lines(path, io.StringIO(text), refuse, bad="not JSON"):
        yield f"line {number}", value


def read_predictions(path: Path, on_bad: OnBad, *, keep_cut: bool = False) -> Iterator[Entry]:
    """Yield the objects of a file; a bad line is skipped.

    Args:
        path: The file.
        on_bad: Called with each bad line.
        keep_cut: Yield `CUT` for a bad last line, which published figures count as a wrong prediction.

    Raises:
        ConfigError: The file cannot be read.
    """
    text = text_in(path)
    try:
        whole = json_of(text)
    except ValueError as error:
        if text.lstrip().startswith("["):
            raise ConfigError(f"{path}: not JSON: {error}") from error
        last = text.rstrip().count("\n") + 1
        yield from read_lines(path, io.StringIO(text), on_bad, cut_at=last if keep_cut else None)
    else:
        yield from map(Entry._make, enumerate(whole if isinstance(whole, list) else [whole], start=1))


def read_lines(
    path: Path, lines: Iterable[str], on_bad: OnBad, cut_at: int | None = None, bad: str = "skipped, not JSON"
) -> Iterator[Entry]:
    """Yield the values of JSON Lines; a bad line is skipped.

    Args:
        path: Their file.
        lines: The lines.
        on_bad: Called with each bad line.
        cut_at: The number of a line for which `CUT` is yielded if it is bad.
        bad: What is said of a bad line.
    """
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                yield Entry(number, json_of(line))
        except ValueError as error:
            said = "counts as a wrong prediction, not JSON" if number == cut_at else bad
            on_bad(f"{path}:{number}: {said}: {error}")
            if number == cut_at:
                yield Entry(number, CUT)


_BLOCK = 1 << 20
"""Characters read at a time."""

_SLACK = 32
"""Maximum distance of an error from the end of the buffer for which more input may resolve it."""


def read_value(path: Path) -> Any:
    """Return all of a JSON file. Raises ConfigError."""
    try:
        return json_of(text_in(path))
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON: {error}") from error


def read_elements(path: Path, on_bad: OnBad) -> Iterator[Entry]:
    """Yield the elements of a JSON list, the values of JSON Lines, or a lone object.

    A bad line is reported and skipped. A list with a broken element ends there.

    Raises:
        ConfigError: The file cannot be read, or a list is broken.
    """
    try:
        with opened(path) as raw, io.TextIOWrapper(unpacking(raw), "utf-8-sig") as file:
            start = file.read(_BLOCK)
            if start.lstrip().startswith("["):
                yield from _of_list(path, start, file)
            else:
                yield from _of_lines(path, start, file, on_bad)
    except (OSError, EOFError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _of_lines(path: Path, start: str, file: IO[str], on_bad: OnBad) -> Iterator[Entry]:
    first, newline, _ = start.lstrip().partition("\n")
    if newline and _value(first) is CUT:  # it may be one object over many lines
        start += file.read(FILE)
        if (whole := _value(start)) is not CUT:
            yield Entry(1, whole)
            return
    file.seek(0)
    yield from read_lines(path, lines_of(file), on_bad)


def _value(text: str) -> Any:
    try:
        return json_of(text)
    except ValueError:
        return CUT


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
            if len(buffer) - at > RECORD:
                raise ConfigError(
                    f"{path}: record {number + 1} has more than {RECORD:,} characters, the most that is read"
                )
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
