"""Reads prediction files from elsewhere: a JSON list, or JSON Lines, gzipped or not."""

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import content_of, json_of, unpacked

OnBad = Callable[[str], None]
"""Called with each line that is skipped: the file, the line's number, and what is wrong."""

_GZIP = b"\x1f\x8b"


CUT = object()
"""Represents a last line that is not JSON: a prediction cut short while being written."""


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
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        on_bad(f"{where}: skipped: {type(error).__name__}: {error}")


def read_predictions(path: Path, on_bad: OnBad, *, keep_cut: bool = False) -> Iterator[Entry]:
    """Yield the objects of a file; a bad line is skipped.

    Args:
        path: The file.
        on_bad: Called with each bad line.
        keep_cut: Yield `CUT` for a bad last line, which published figures count as a wrong prediction.

    Raises:
        ConfigError: The file cannot be read.
    """
    try:
        content = content_of(path)
        text = (unpacked(content) if content.startswith(_GZIP) else content).decode("utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    if not text.lstrip().startswith("["):
        last = text.rstrip().count("\n") + 1
        yield from read_lines(path, io.StringIO(text), on_bad, cut_at=last if keep_cut else None)
        return
    try:
        yield from map(Entry._make, enumerate(json_of(text), start=1))
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON: {error}") from error


def read_lines(path: Path, lines: Iterable[str], on_bad: OnBad, cut_at: int | None = None) -> Iterator[Entry]:
    """Yield the values of JSON Lines; a bad line is skipped.

    Args:
        path: Their file.
        lines: The lines.
        on_bad: Called with each bad line.
        cut_at: The number of a line for which `CUT` is yielded if it is bad.
    """
    import jsonlines

    number = 0

    def numbered() -> Iterator[str]:
        nonlocal number
        for line in lines:
            number += 1
            yield line

    # By default it uses whichever JSON library is installed; they differ on NaN and on large numbers.
    with jsonlines.Reader(numbered(), loads=json_of) as reader:
        while True:
            try:
                value = reader.read(skip_empty=True, allow_none=True)
            except EOFError:
                return
            except jsonlines.InvalidLineError as error:
                counts = "counts as a wrong prediction" if number == cut_at else "skipped"
                on_bad(f"{path}:{number}: {counts}, not JSON: {error.__cause__ or error}")
                if number == cut_at:
                    yield Entry(number, CUT)
            else:
                yield Entry(number, value)
