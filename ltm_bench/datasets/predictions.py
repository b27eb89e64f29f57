"""Reads prediction files of others: a JSON list, or JSON Lines, gzipped or not."""

import gzip
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError

OnBad = Callable[[str], None]
"""Is told of each line that is skipped: the file, the line's number, and what is wrong."""

_GZIP = b"\x1f\x8b"


class Entry(NamedTuple):
    """An object of a file, and its number from 1: its line, or its place in the list."""

    number: int
    value: Any


def read_predictions(path: Path, on_bad: OnBad) -> Iterator[Entry]:
    """Yield the objects of a file. Raises ConfigError if the file cannot be read; a bad line is skipped."""
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if content.startswith(_GZIP) else content).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    if not text.lstrip().startswith("["):
        yield from _lines(path, text, on_bad)
        return
    try:
        yield from map(Entry._make, enumerate(json.loads(text), start=1))
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON: {error}") from error


def _lines(path: Path, text: str, on_bad: OnBad) -> Iterator[Entry]:
    import jsonlines

    number = 0

    def numbered() -> Iterator[str]:
        nonlocal number
        for line in io.StringIO(text):
            number += 1
            yield line

    # Left to itself, it reads with whichever JSON library is installed; they differ on NaN and on large numbers.
    with jsonlines.Reader(numbered(), loads=json.loads) as reader:
        while True:
            try:
                value = reader.read(skip_empty=True, allow_none=True)
            except EOFError:
                return
            except jsonlines.InvalidLineError as error:
                on_bad(f"{path}:{number}: skipped, not JSON: {error.__cause__ or error}")
            except RecursionError:
                on_bad(f"{path}:{number}: skipped: nested too deeply")
            else:
                yield Entry(number, value)
