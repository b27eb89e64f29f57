"""JSON Lines in append-only files: writes lines, and repairs a torn last one."""

import json
import os
from collections.abc import Iterator, Mapping
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import to_json

from ltm_bench.core.errors import LogError
from ltm_bench.core.limits import BODY, TooLarge, is_ordinary, json_of, lines_of, opened

LINE = 8 * BODY
"""Bytes of a line: a reply of `BODY` bytes, for each of which JSON can take six."""

LINES = 5_000_000
"""Lines of a side file that are read: some thirty times those of the longest runs. Each takes some microseconds."""

LARGEST = 1 << 53
"""Larger integers count as damage: JSON readers disagree about their values."""


def to_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of UTF-8. Lone surrogates, which UTF-8 cannot hold, are escaped."""
    try:
        return to_json(record, inf_nan_mode="constants") + b"\n"
    except ValueError:
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects in a side file; unreadable lines are skipped."""
    if not path.exists() or not is_ordinary(path):
        return
    try:
        for line in side_lines(path):
            try:
                record = json_of(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record
    # Not skipped like other lines: a sparse file of gigabytes is one line, of which nothing was kept.
    except TooLarge as error:
        raise LogError(f"{path}: {error}") from error


def side_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a side file, with their ends. Raises TooLarge for too long a line and, at once, for too many.

    Raises OSError, or ValueError if it is a pipe or a device.
    """
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size > LINES:  # or it cannot have as many
            blocks = iter(partial(file.read, 1 << 20), b"")
            if (lines := sum(block.count(b"\n") for block in blocks)) > LINES:
                raise TooLarge(f"it has {lines:,} lines; at most {LINES:,} are read")
            file.seek(0)
        yield from lines_of(file, LINE)


def check_ordinary(path: Path) -> None:
    """Raise LogError if something other than a file stands in a file's place: a device may have no end."""
    if path.exists() and not path.is_dir() and not is_ordinary(path):
        raise LogError(f"{path}: it is not an ordinary file; move it away")


def append(file: FileIO, line: bytes) -> None:
    """Append a line. Raises OSError, which names the file."""
    try:
        # A full disk can take part of a line without an error; only the next write raises OSError.
        while line:
            line = line[file.write(line) :]
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file.name)) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: no reader ever finds a part of it."""
    draft = path.with_name(f".{path.name}.new")
    with draft.open("wb") as file:
        file.write(content)
        # Before the renaming, which the disk may otherwise perform first: a power failure would leave an empty file.
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    sync_folder(path.parent)  # the renaming is an entry of the folder, which the file's sync leaves out


def sync_file(path: Path) -> None:
    """Sync a file to the disk. Raises OSError, which names the file."""
    # By a descriptor of its own: whoever writes the file may have closed it by now.
    file = os.open(path, os.O_RDWR)
    try:
        os.fsync(file)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(file)


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to disk, if the platform can."""
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    except OSError:  # some network file systems cannot
        pass
    finally:
        os.close(opened)


def mend(path: Path) -> int:
    """Cut off a torn last line, or complete one that lacks only its line break; return the number of bytes cut.

    Raises LogError if it is not an ordinary file.
    """
    check_ordinary(path)
    if not path.exists() or not path.stat().st_size:
        return 0
    with path.open("rb+") as file:
        if not (last := next(backwards(file))):
            return 0
        try:
            whole = isinstance(json_of(last), dict)
        except ValueError:
            whole = False
        # Only a line break is missing: this may be the reply to a paid call, so it is kept.
        if whole:
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
            return 0
        file.truncate(path.stat().st_size - len(last))
        return len(last)


def backwards(file: BinaryIO, size: int = 1 << 16) -> Iterator[bytes]:
    """Yield a file's lines without their ends, the last one first: it is empty if the file ends with a line break.

    The file is read in blocks of `size` bytes, each once, however long a line is.
    """
    start = file.seek(0, os.SEEK_END)
    pieces: list[bytes] = []  # of a line whose beginning has not been read, the last one first
    while start > 0:
        end, start = start, max(0, start - size)
        file.seek(start)
        first, *lines = file.read(end - start).split(b"\n")
        if lines:
            pieces.append(lines.pop())
            yield b"".join(reversed(pieces))
            yield from reversed(lines)
            pieces.clear()
        pieces.append(first)
    yield b"".join(reversed(pieces))
