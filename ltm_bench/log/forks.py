"""Replies to forked questions, in order of completion: a side file until they are part of the log.

`forks.jsonl` records every fork when it goes out (`asked`) and when it is answered (`answered`), synced one by one, so
that no paid reply is requested again. Lines are in order of completion, so equal runs differ here; at the end of a
conversation the same replies are written to the log in order of id.
"""

import hashlib
from collections.abc import Iterator, Mapping
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ValidationError

from ltm_bench.core.errors import LogError
from ltm_bench.core.limits import lines_of
from ltm_bench.log.events import Answered, Forked, NotAnEvent, decode, encode
from ltm_bench.log.lines import LINE, append, backwards, check_ordinary, mend, sync_file, to_line


class _Asked(BaseModel, extra="forbid"):
    """A line for a question that goes out."""

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
        mend(self._path)
        self._asked, self._answered = _read(self._path)

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
        """Sync the replies to disk."""
        # The log first: a reply is worthless without its question.
        sync_file(self._log)
        sync_file(self._path)

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
        file: The log, if it is open already; it is left where it was.

    Raises:
        LogError: The side file is damaged.
    """
    found = _read(forks_of(log))[1]
    if file is not None:
        place = file.tell()
        found |= {each.id: each for each in _at_the_end(file)}
        file.seek(place)
    elif log.exists():
        with log.open("rb") as own:
            found |= {each.id: each for each in _at_the_end(own)}
    return found


def _at_the_end(file: BufferedReader) -> Iterator[Answered]:
    """Yield the replies to forks at the end of a log, read backwards."""
    for line in backwards(file):
        if line and not line.startswith(_CLOSING):
            return
        if line.startswith(_CLOSING[0]):
            try:
                event = decode(line)
            except NotAnEvent:  # a torn last line; other damage is for whoever reads the log
                continue
            if isinstance(event, Answered):
                yield event


_CLOSING = (b'{"event":"answered"', b'{"event":"finished"')


def _read(path: Path) -> tuple[dict[int, str], dict[int, Answered]]:
    """Return what a side file holds, by id: the hashes of the questions that went out, and the replies to them."""
    asked: dict[int, str] = {}
    answered: dict[int, Answered] = {}
    check_ordinary(path)
    if not path.exists():
        return asked, answered
    with path.open("rb") as file:
        for number, line in enumerate(lines_of(file, LINE), start=1):
            try:
                if line.startswith(b'{"event":"asked"'):
                    question = _Asked.model_validate_json(line)
                    asked[question.id] = question.of
                    # A reply before this line was to another question of the same number.
                    answered.pop(question.id, None)
                    continue
                event = decode(line)
                if not isinstance(event, Answered):
                    raise NotAnEvent(f"{event.event}: it belongs in the log")
                answered[event.id] = event
            except (ValidationError, NotAnEvent) as error:
                # Whoever only reads must not cut a torn last line off: the run may be going on.
                if not line.endswith(b"\n"):
                    break
                problem = str(error) if isinstance(error, NotAnEvent) else "damaged line"
                raise LogError(f"{path}:{number}: {problem}; restore the file from a copy") from error
    return asked, answered


def _hash(forked: Forked) -> str:
    return hashlib.sha256(encode(forked)).hexdigest()[:16]
