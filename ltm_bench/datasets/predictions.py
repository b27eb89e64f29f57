"""Reads prediction files from elsewhere: a JSON list, or JSON Lines, gzipped or not."""

import io
from collections.abc import Callable, Iterator
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
        yield from _lines(path, text, on_bad, keep_cut=keep_cut)
        return
    try:
        yield from map(Entry._make, enumerate(json_of(text), start=1))
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON: {error}") from error


def _lines(path: Path, text: str, on_bad: OnBad, *, keep_cut: bool) -> Iterator[Entry]:
    import jsonlines

    number = 0
    last = text.rstrip().count("\n") + 1 if keep_cut else 0

    def numbered() -> Iterator[str]:
        nonlocal number
        for line in io.StringIO(text):
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
                why = f", not JSON: {error.__cause__ or error}"
                if number == last:
                    on_bad(f"{path}:{number}: counts as a wrong prediction{why}")
                    yield Entry(number, CUT)
                else:
                    on_bad(f"{path}:{number}: skipped{why}")
            else:
                yield Entry(number, value)
