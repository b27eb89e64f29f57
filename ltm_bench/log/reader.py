"""Reads the event log, front to back and once: the manifest, the events, and the hash of what was read."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from ltm_bench.core.errors import LogError, first_problem
from ltm_bench.core.limits import is_ordinary, json_of, lines_of, opened
from ltm_bench.core.messages import AnsweredBy, Turn
from ltm_bench.log.events import (
    Answered,
    Ended,
    Event,
    Forked,
    NotAnEvent,
    PublishedScore,
    Replied,
    Sent,
    decode,
)
from ltm_bench.log.forks import answers_in
from ltm_bench.log.lines import LINE
from ltm_bench.log.manifest import FORMAT, Manifest


@contextmanager
def _reading(path: Path, file: BufferedReader | None = None) -> Iterator[BufferedReader]:
    """Open a log, or read one that is open from its start. Raises LogError, which names it, for any error inside."""
    try:
        if file is None:
            with opened(path) as file:
                yield file
        else:
            file.seek(0)
            yield file
    except OSError as error:
        moved = "; if its folder was moved, move it back" if isinstance(error, FileNotFoundError) else ""
        raise LogError(f"{path}: {error.strerror or error}{moved}") from error
    except ValueError as error:
        raise LogError(f"{path}: {error}") from error


class EventReader:
    """Yields the events of one conversation's log, one by one; its manifest line and a torn last line are skipped.

    Raises LogError for any other damage. Readers can rely on an event's fields, and on everything it refers to having
    come before. As a context manager it opens the log once, for all that it is asked for.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._hash = hashlib.sha256()
        self._file: BufferedReader | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._file = self._open.enter_context(_reading(self.path))
        return self

    def __exit__(self, *_: object) -> None:
        self._file = None
        self._open.close()  # without the caller's error, which has nothing to do with the log

    def manifest(self) -> Manifest:
        """Return the manifest. Raises LogError if it is missing or of another format."""
        with _reading(self.path, self._file) as file:
            return manifest_in(next(lines_of(file, LINE), b""), self.path)

    def answers(self) -> Mapping[int, Answered]:
        """Return the replies to its forks by id. The events being read go on from where they are."""
        return answers_in(self.path, self._file)

    @property
    def digest(self) -> str:
        """SHA-256 of what has been read so far, in hexadecimal."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[Event]:
        """Read the log from its beginning."""
        self._hash = hashlib.sha256()
        precedents = _Precedents()
        with _reading(self.path, self._file) as file:
            for number, line in enumerate(lines_of(file, LINE), start=1):
                self._hash.update(line)
                try:
                    event = decode(line)
                except NotAnEvent as error:
                    # The writer was killed in the middle of this line, or is writing it at this moment.
                    if not line.endswith(b"\n"):
                        return
                    # The logs of isolated examples have no manifest, so the first line, too, is first read as an event.
                    if number == 1 and _manifest_of(line) is not None:
                        continue
                    raise self._damaged(number, str(error)) from error
                if problem := precedents.lacking(event):
                    raise self._damaged(number, f"damaged event, {event.event}: {problem}")
                yield event

    def _damaged(self, number: int, problem: str) -> LogError:
        return LogError(f"{self.path}:{number}: {problem}; restore the file from a copy")


class _Precedents:
    """The events so far, as far as later ones refer to them."""

    def __init__(self) -> None:
        self._asked: int | None = None
        self._forks: set[int] = set()
        self._speaking: set[str | None] = set()

    def lacking(self, event: Event) -> str:
        """Take an event. Return what is wrong if it refers to anything that has not come before; else nothing."""
        match event:
            case Sent():
                self._asked = event.turn
                self._speaking.add(event.example)
            case Forked():
                self._forks.add(event.id)
                self._speaking.add(event.example)
            case Replied() if event.turn == self._asked:
                self._asked = None
            case Replied():
                return f"turn = {event.turn}: no message of that turn is waiting"
            case Answered() if event.id in self._forks:
                self._forks.remove(event.id)
            case Answered():
                return f"id = {event.id}: no such fork is waiting"
            case Ended() | PublishedScore() if event.example not in self._speaking:
                return f"example = {event.example!r:.60}: it is not under way"
            case Ended():
                self._speaking.remove(event.example)
        return ""


def read_events(path: Path) -> Iterator[Event]:
    """Yield the events of a log one by one, as `EventReader` does."""
    return iter(EventReader(path))


def read_manifest(run: Path) -> Manifest:
    """Return the manifest of a run. Raises LogError if it is missing or of another format."""
    return EventReader(run / "events.jsonl").manifest()


def manifest_in(line: bytes, path: Path | str) -> Manifest:
    """Return the manifest in the first line of a log at a path or URL. Raises LogError."""
    first = _manifest_of(line)
    if first is None:
        raise LogError(f"{path}:1: the first line is not a manifest; this is not a run of ltm-bench")
    if first.get("format") != FORMAT:
        raise LogError(f"{path}: log format {first.get('format')!r}; this version reads format {FORMAT}")
    try:
        return Manifest.model_validate(first)
    except ValidationError as error:
        raise LogError(f"{path}: the manifest's {first_problem(error)}") from error


def _manifest_of(line: bytes) -> dict[str, Any] | None:
    """Return the content of a manifest's line; None for any other line."""
    try:
        first = json_of(line)
    except ValueError:
        return None
    if not isinstance(first, dict) or first.pop("event", None) != "manifest":
        return None
    return first


def conversations(run: Path, manifest: Manifest | None = None) -> list[Path]:
    """Return the logs of a run's conversations: one, or one per example of an isolated run."""
    if (manifest or read_manifest(run)).suite.isolated:
        return sorted((run / "isolated").glob("*.jsonl"))
    return [run / "events.jsonl"]


def log_digest(run: Path) -> str:
    """Return the SHA-256 of a run's event log; of an isolated run, that of the hashes of all its logs, by name."""
    return join_digests([_file_digest(path) for path in logs(run)])


def join_digests(digests: list[str]) -> str:
    """Return the digest of a run whose logs have these digests."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def logs(run: Path, manifest: Manifest | None = None) -> list[Path]:
    """Return all logs of a run: the one with the manifest first, then those of its conversations."""
    return list(dict.fromkeys([run / "events.jsonl", *conversations(run, manifest)]))


def _file_digest(path: Path) -> str:
    with _reading(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_finished(path: Path) -> bool:
    """Whether a conversation is finished. Reads the last line only."""
    if not path.exists() or not is_ordinary(path):
        return False
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 400))
        end = file.read()
    last = end.rstrip(b"\n").rpartition(b"\n")[2]
    # Without its line break, the last event is torn.
    return last.startswith(b'{"event":"finished"') and end.endswith(b"}\n")


def read_turns(path: Path, *, forks: bool = False) -> Iterator[Turn]:
    """Yield the answered turns of a log one by one; with `forks`, also the answered forks."""
    sent: Sent | None = None
    filler: AnsweredBy | None = None
    answers = answers_in(path) if forks else {}
    for event in read_events(path):
        if isinstance(event, Sent):
            sent = event
        elif isinstance(event, Forked) and (answered_fork := answers.get(event.id)) is not None:
            yield Turn(event.sent.said, answered_fork.said, "ask", event.example, forked=True)
        elif isinstance(event, Replied) and sent is not None:
            answered: AnsweredBy = event.answered or "agent"
            if sent.kind == "fill":
                # Logs of isolated examples hold none, and have no manifest.
                filler = filler or ("agent" if read_manifest(path.parent).filler.mode == "live" else "script")
                answered = filler
            yield Turn(sent.said, event.said, sent.kind, sent.example, answered, session=sent.session)


def read_questions(run: Path) -> Iterator[tuple[Sent, str]]:
    """Yield every answered question of a run, and the reply. Raises LogError."""
    for path in logs(run):
        open_ones: dict[int, Sent] = {}
        for event in read_events(path):
            if isinstance(event, Sent) and event.kind == "ask":
                open_ones[event.turn] = event
            elif isinstance(event, Forked):
                open_ones[event.id] = event.sent
            elif isinstance(event, Replied | Answered):
                number = event.turn if isinstance(event, Replied) else event.id
                if (sent := open_ones.pop(number, None)) is not None:
                    yield sent, event.reply
