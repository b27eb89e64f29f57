"""Replies to forked questions, in order of completion: a side file until they are part of the log.

`forks.jsonl` records every fork when it goes out (`asked`) and when it is answered (`answered`), synced one by one, so
that no paid reply is requested again. Lines are in order of completion, so equal runs differ here; at the end of a
conversation the same replies are written to the log in order of id.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from ltm_bench.core.errors import LogError
from ltm_bench.log.events import Answered, Forked, NotAnEvent, decode, encode
from ltm_bench.log.lines import append, mend, to_line

_BLOCK = 1 << 16


class _Asked(BaseModel):
    """A line for a question that goes out."""

    model_config = ConfigDict(extra="forbid")

    event: str
    id: int
    of: str
    """The hash of the question's event, so that no other question gets its reply."""


def forks_of(log: Path) -> Path:
    """Return the file beside a log that holds the replies to its forks."""
    return log.with_name("forks.jsonl") if log.name == "events.jsonl" else log.with_suffix(".forks")


class ForkFile:
    """The side file of one conversation. It exists once a fork was asked."""

    def __init__(self, log: Path) -> None:
        """Read an existing file.

        Raises:
            LogError: The file is damaged, apart from a torn last line.
        """
        self._log, self._path = log, forks_of(log)
        self._file: FileIO | None = None
        self._asked: dict[int, str] = {}
        self._answered: dict[int, Answered] = {}
        mend(self._path)
        for asked, answered in _lines(self._path):
            if asked is not None:
                self._asked[asked.id] = asked.of
                self._answered.pop(asked.id, None)
            elif answered is not None:
                self._answered[answered.id] = answered

    def answer_to(self, forked: Forked) -> Answered | None:
        """Return the stored reply to exactly this question, if any."""
        return self._answered.get(forked.id) if self._asked.get(forked.id) == _hash(forked) else None

    def under_way(self, forked: Forked) -> bool:
        """Whether exactly this question went out and no reply came back."""
        return self._asked.get(forked.id) == _hash(forked) and forked.id not in self._answered

    def asks(self, forked: Forked) -> None:
        """Record that a question goes out."""
        self._put(to_line({"event": "asked", "id": forked.id, "of": _hash(forked)}))

    def answers(self, answered: Answered) -> None:
        """Record a reply."""
        self._put(encode(answered))

    def sync(self) -> None:
        """Sync the replies to disk, after the log: a reply without its question is worthless."""
        for path in (self._log, self._path):
            file = os.open(path, os.O_RDWR)
            try:
                os.fsync(file)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(path)) from error
            finally:
                os.close(file)

    def _put(self, line: bytes) -> None:
        self._file = self._file or self._path.open("ab", buffering=0)
        append(self._file, line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def answers_in(log: Path, file: BufferedReader | None = None) -> Mapping[int, Answered]:
    """Return the replies to a conversation's forks by id: from its log or, before that has them, from the side file.

    Args:
        log: The log's path.
        file: The log, if it is open already; it stays at its place.

    Raises:
        LogError: The side file is damaged.
    """
    found: dict[int, Answered] = {}
    for asked, answered in _lines(forks_of(log)):
        if asked is not None:
            found.pop(asked.id, None)
        elif answered is not None:
            found[answered.id] = answered
    if file is None and log.exists():
        with log.open("rb") as own:
            found |= {each.id: each for each in _at_the_end(own)}
    elif file is not None:
        place = file.tell()
        found |= {each.id: each for each in _at_the_end(file)}
        file.seek(place)
    return found


def _at_the_end(file: BufferedReader) -> Iterator[Answered]:
    """Yield the replies to forks at the end of a log, read backwards."""
    start, tail = file.seek(0, os.SEEK_END), b""
    while start > 0:
        end, start = start, max(0, start - _BLOCK)
        file.seek(start)
        tail = file.read(end - start) + tail
        lines = tail.split(b"\n")[1:]
        if any(line and not line.startswith(_CLOSING) for line in lines):
            break
    for line in tail.split(b"\n"):
        if line.startswith(_CLOSING[0]):
            try:
                event = decode(line)
            except NotAnEvent:  # a torn last line; other damage is for whoever reads the log
                continue
            if isinstance(event, Answered):
                yield event


_CLOSING = (b'{"event":"answered"', b'{"event":"finished"')


def _lines(path: Path) -> Iterator[tuple[_Asked | None, Answered | None]]:
    """Yield the lines of a side file: what was asked, or what was answered."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                if line.startswith(b'{"event":"asked"'):
                    yield _Asked.model_validate_json(line), None
                    continue
                event = decode(line)
                if not isinstance(event, Answered):
                    raise NotAnEvent(f"{event.event}: it belongs in the log")
                yield None, event
            except (ValidationError, NotAnEvent) as error:
                if not line.endswith(b"\n"):
                    return
                problem = str(error) if isinstance(error, NotAnEvent) else "damaged line"
                raise LogError(f"{path}:{number}: {problem}; restore the file from a copy") from error


def _hash(forked: Forked) -> str:
    return hashlib.sha256(encode(forked)).hexdigest()[:16]
