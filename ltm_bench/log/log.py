"""The event log: append-only JSON lines, the only truth about a run; all else can be derived from it.

`events.jsonl` starts with the manifest. Of every turn `sent` is written before the agent is called and `replied`
after, so a killed run says exactly what it was doing. In an isolated run every example is a conversation with a log
of its own, `isolated/<scenario>-<index>.jsonl`, beside an `events.jsonl` that holds the manifest alone.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_args

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json, to_json

from ltm_bench.core.errors import LogError, ManifestDiffers, ReplayDiverged, RunLocked
from ltm_bench.core.messages import Finish, Kind, Message, Reply, Turn, Usage

FORMAT = 1
"""Version of the form of events.jsonl."""

SYNC_SECONDS = 1.0
"""Of replies that were paid for, a loss of power takes those of about so many seconds at most."""

MOST_EXAMPLES = 1_000_000
"""Of a scenario in a run."""

_LARGEST = 1 << 53
"""Above it a number of tokens is damage, and JSON's readers disagree."""

Event = dict[str, Any]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScenarioEntry(_Frozen):
    """A scenario as it was run."""

    name: str
    """Of the suite's row."""
    scenario: str | None = None
    """The scenario that is played, where the row has a name of its own."""
    version: int
    hash: str
    """Of the content of its file."""
    examples: int = Field(ge=1, le=MOST_EXAMPLES)
    parameters: dict[str, Any]


class SuiteEntry(_Frozen):
    """The suite as it was resolved from its file and the flags."""

    name: str
    start: datetime
    """The benchmark's time of the first message."""
    stagger: float = Field(ge=0, le=1)
    isolated: bool
    scenarios: list[ScenarioEntry]


class AgentEntry(_Frozen):
    """The agent as it was configured. Keys are never among the settings."""

    name: str
    adapter: str
    hash: str
    settings: dict[str, Any]
    free: bool
    """Whether it costs nothing; otherwise a missing usage is an unknown cost."""


class FillerEntry(_Frozen):
    """Where filler came from, and who answered it."""

    source: str
    digest: str
    mode: str
    max_tokens: int = Field(ge=0, le=_LARGEST)


class Manifest(_Frozen):
    """What a run is: equal manifests and equal replies give equal logs."""

    format: int
    version: str
    """Of ltm-bench."""
    seed: int
    span: int = Field(ge=0, le=_LARGEST)
    tokenizer: str
    suite: SuiteEntry
    agent: AgentEntry
    filler: FillerEntry
    scorers: dict[str, int]
    """The version of every matcher at the time of the run."""

    def event(self) -> Event:
        """Return the first event of a log."""
        return {"event": "manifest", **self.model_dump(mode="json", exclude_none=True)}


def differences(old: Mapping[str, Any], new: Mapping[str, Any], where: str = "") -> list[str]:
    """Return a line for each place in which two manifests differ."""
    found = []
    for key in dict.fromkeys((*old, *new)):
        a, b, path = old.get(key), new.get(key), f"{where}{key}"
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += differences(a, b, f"{path}.")
        elif (
            isinstance(a, Sequence)
            and isinstance(b, Sequence)
            and not isinstance(a, str)
            and len(a) == len(b)
        ):
            found += differences(dict(enumerate(a)), dict(enumerate(b)), f"{path}.")  # type: ignore[arg-type]
        elif a != b:
            found.append(f"{path}: {json.dumps(a)} there, {json.dumps(b)} now")
    return found


def encode(event: Event) -> bytes:
    """Return an event as one line of UTF-8; lone surrogates, which UTF-8 cannot hold, are escaped."""
    try:
        return to_json(event, inf_nan_mode="constants") + b"\n"
    except ValueError:
        return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def _decode(line: bytes) -> Any:
    """Read one line; in the few that the faster reader refuses, `json` reads lone surrogates or says what is wrong."""
    try:
        return from_json(line)
    except ValueError:
        return json.loads(line)


def read_events(path: Path) -> Iterator[Event]:
    """Give the events of a log one by one; a torn last line is passed over. Raises LogError for other damage.

    Whoever reads on can rely on an event's fields, and on what it refers to having been said before.
    """
    asked: int | None = None
    spoke: set[str] = set()
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    event = _decode(line)
                except (ValueError, RecursionError) as error:
                    if not line.endswith(b"\n"):
                        return
                    raise LogError(
                        f"{path}:{number}: damaged line ({error}); restore the file from a copy"
                    ) from error
                if not isinstance(event, dict) or "event" not in event:
                    raise LogError(f"{path}:{number}: not an event: {line[:60].decode(errors='replace')!r}")
                kind = event["event"]
                problem = _problem(event) if number > 1 or kind != "manifest" else ""
                if kind == "sent" and not problem:
                    asked = event["turn"]
                    if "example" in event:
                        spoke.add(event["example"])
                elif kind == "replied" and not problem:
                    if asked != event["turn"]:
                        problem = f"turn = {event['turn']}: no message of that turn is waiting for a reply"
                    asked = None
                elif kind in ("ended", "published") and not problem and event["example"] not in spoke:
                    problem = f"example = {event['example']!r:.60}: it is not under way"
                if problem:
                    raise LogError(f"{path}:{number}: damaged event, {problem}; restore the file from a copy")
                if kind == "ended":
                    spoke.remove(event["example"])
                yield event
    except OSError as error:
        raise LogError(f"{path}: {error.strerror or error}") from error


_COUNT = "a whole number from 0"
_TEXT = "a text"
_TIME = "a time with a timezone"


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def is_usage(value: object) -> bool:
    """Whether this is a usage as a `replied` event has it: names of figures, and figures."""
    return isinstance(value, dict) and all(
        isinstance(each, str)
        if key in ("model", "provider")
        else isinstance(each, list) and all(map(is_usage, each))
        if key == "besides"
        else key in _USED and _IS[_COUNT](each)
        for key, each in value.items()
    )


def _is_buried(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, list)
        and len(each) == 2
        and isinstance(each[0], str)
        and (each[1] is None or _IS[_COUNT](each[1]))
        for each in value
    )


_USED = frozenset(field.name for field in fields(Usage))
_KNOWN_KINDS: tuple[str, ...] = get_args(Kind)
_KNOWN_FINISHES = tuple(finish.value for finish in Finish)
_KINDS = f"one of {', '.join(_KNOWN_KINDS)}"
_FINISHES = f"one of {', '.join(_KNOWN_FINISHES)}"
_SCORE = "a number from 0 to 1"
_IS: Mapping[str, Callable[[Any], bool]] = {
    _COUNT: lambda value: type(value) is int and 0 <= value < _LARGEST,
    _TEXT: lambda value: isinstance(value, str),
    _TIME: _is_time,
    _KINDS: lambda value: isinstance(value, str) and value in _KNOWN_KINDS,
    _FINISHES: lambda value: isinstance(value, str) and value in _KNOWN_FINISHES,
    _SCORE: lambda value: type(value) in (int, float) and 0 <= value <= 1,
    "an object": lambda value: isinstance(value, dict),
    "token figures by name": is_usage,
    "a list of texts with their tokens": _is_buried,
}
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "sent": {
        "turn": _COUNT,
        "kind": _KINDS,
        "message": _TEXT,
        "tokens": _COUNT,
        "position": _COUNT,
        "at": _TIME,
    },
    "replied": {"turn": _COUNT, "reply": _TEXT, "tokens": _COUNT, "finish": _FINISHES},
    "jumped": {"to": _TIME, "position": _COUNT},
    "ended": {"example": _TEXT, "span": _COUNT, "overrun": _COUNT},
    "published": {"example": _TEXT, "score": _SCORE},
    "finished": {"turns": _COUNT, "tokens": _COUNT, "at": _TIME},
}
_OPTIONAL: Mapping[str, Mapping[str, str]] = {
    "sent": {
        "example": _TEXT,
        "due": _COUNT,
        "expect": "an object",
        "ideal": _TEXT,
        "buried": "a list of texts with their tokens",
    },
    "replied": {"usage": "token figures by name"},
}
_REFERS: Mapping[str, tuple[str, ...]] = {"ask": ("example", "expect"), "fill": ()}


def _problem(event: Event) -> str:
    """Return what is wrong with an event's form, or nothing."""
    kind = event["event"]
    needed = _FIELDS.get(kind) if isinstance(kind, str) else None
    if needed is None:
        return f"event = {kind!r:.60}: there is no such event here (known: {', '.join(_FIELDS)})"
    for name, form in needed.items():
        if name not in event:
            return f"{kind}: {name} is missing: it is {form}"
        if not _IS[form](event[name]):
            return f"{kind}: {name} = {event[name]!r:.60}: it is {form}"
    for name, form in _OPTIONAL.get(kind, {}).items():
        if name in event and not _IS[form](event[name]):
            return f"{kind}: {name} = {event[name]!r:.60}: it is {form}"
    if kind == "sent":
        for name in _REFERS.get(event["kind"], ("example",)):
            if name not in event:
                return f"{kind}: {name} is missing: kind = {event['kind']!r} has one"
    return ""


def read_manifest(run: Path) -> Manifest:
    """Return the manifest of a run. Raises LogError if it has none, or one of another format."""
    path = run / "events.jsonl"
    first = next(read_events(path), None)
    if first is None or first.pop("event") != "manifest":
        raise LogError(f"{path}: the first line is no manifest; this is not a run of ltm-bench")
    if first.get("format") != FORMAT:
        raise LogError(f"{path}: log format {first.get('format')!r}; this version reads format {FORMAT}")
    try:
        return Manifest.model_validate(first)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise LogError(f"{path}: the manifest's {where}: {problem['msg']}") from error


def conversations(run: Path) -> list[Path]:
    """Return the logs of a run's conversations: one, or one per example in an isolated run."""
    if read_manifest(run).suite.isolated:
        return sorted((run / "isolated").glob("*.jsonl"))
    return [run / "events.jsonl"]


def recalls_of(log: Path) -> Path:
    """Return where it stands, beside a conversation's log, what an agent's retrieval had for questions that failed."""
    return log.with_suffix(".recalls")


def log_digest(run: Path) -> str:
    """Return the SHA-256 of a run's event log; in an isolated run, of the hashes of all its logs, by name."""
    paths = dict.fromkeys([run / "events.jsonl", *conversations(run)])
    hashes = []
    for path in paths:
        with path.open("rb") as file:
            hashes.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def is_finished(path: Path) -> bool:
    """Whether a conversation has come to its end. Reads the last line only."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 400))
        last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
        return last.startswith(b'{"event":"finished"') and last.endswith(b"}")


def reply_of(event: Event, at: datetime | None = None) -> Reply:
    """Return the reply that a `replied` event records."""
    usage = event.get("usage")
    return Reply(event["reply"], _usage(usage) if usage else None, Finish(event["finish"]), at)


def _usage(data: Mapping[str, Any]) -> Usage:
    return Usage(**{**data, "besides": tuple(map(_usage, data.get("besides", ())))})


def usage_data(usage: Usage) -> dict[str, Any]:
    """Return the JSON form of a usage: what is none is left out."""
    data = {f.name: getattr(usage, f.name) for f in fields(usage) if f.name != "besides"}
    if usage.besides:
        data["besides"] = [usage_data(each) for each in usage.besides]
    return {name: value for name, value in data.items() if value}


def message_of(event: Event) -> Message:
    """Return the message that a `sent` event records."""
    return Message(event["message"], datetime.fromisoformat(event["at"]), event["turn"])


def read_turns(path: Path) -> Iterator[Turn]:
    """Give the answered turns of a log one by one."""
    sent: Event = {}
    for event in read_events(path):
        if event["event"] == "sent":
            sent = event
        elif event["event"] == "replied":
            yield Turn(message_of(sent), reply_of(event), sent["kind"], sent.get("example"))


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Hold a run for this process. A dead process holds nothing. Raises RunLocked."""
    lock = FileLock(run / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise RunLocked(
            f"{run}: another process is working on this run; wait for it, or use --fresh"
        ) from error
    try:
        yield
    finally:
        lock.release()


def start_run(run: Path, manifest: Manifest) -> None:
    """Write a run's manifest, or check it against the one that is there. Raises ManifestDiffers."""
    path = run / "events.jsonl"
    if path.exists() and path.stat().st_size:
        found = differences(read_manifest(run).model_dump(mode="json"), manifest.model_dump(mode="json"))
        if found:
            raise ManifestDiffers(
                f"{run} holds another run ({'; '.join(found[:4])}{'; …' if len(found) > 4 else ''}); "
                "use --fresh to start beside it, or --name"
            )
        return
    if path.is_symlink() and not path.exists():
        raise LogError(f"{path} is a link that leads nowhere; remove it")
    _write_whole(path, encode(manifest.event()))


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody, whatever happens, finds a part of it."""
    draft = path.with_name(f".{path.name}.new")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


class Recorder:
    """Writes a conversation's events, once those that the log holds already have been gone through.

    A conversation is resumed by running it again: as long as the log has events, `put` compares instead of
    writing, and what was replied is read instead of asked.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.cut = _mend(path)
        """Bytes of a torn last line that were cut off."""
        self._replay = read_events(path) if path.exists() else iter(())
        self._logged: Event | None = next(self._replay, None)
        self._following: Event | None = None
        if self._logged is not None and self._logged["event"] == "manifest":
            self.skip()
        self._file = path.open("ab", buffering=0)
        self._syncing: asyncio.Task[None] | None = None
        self.last_filler = _last_filler(path)
        """The turn of the last filler that the log holds already; None where there is none."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._syncing is not None and not self._syncing.cancel() and not self._syncing.cancelled():
            self._syncing.exception()  # looked at; if it lasts, the next line raises it
        os.fsync(self._file.fileno())
        self._file.close()

    @property
    def logged(self) -> Event | None:
        """The next event that the log holds already; None once it is all gone through."""
        return self._logged

    def peek(self) -> Event | None:
        """Return the logged event after that; None where there is none."""
        if self._following is None:
            self._following = next(self._replay, None)
        return self._following

    def put(self, event: Event) -> None:
        """Write an event, or compare it with the logged one. Raises ReplayDiverged, with both shown."""
        if self._logged is None:
            try:
                _append(self._file, encode(event))
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self.path)) from error
            return
        if self._logged != event:
            raise self._difference(self._logged, event)
        self.skip()

    def skip(self) -> None:
        """Go on to the next logged event."""
        following, self._following = self._following, None
        self._logged = following or next(self._replay, None)

    def sync_soon(self) -> None:
        """Let what was written be brought to the disk within SYNC_SECONDS, while the conversation goes on.

        Raises OSError, which names the file, where that did not succeed the last time.
        """
        if self._syncing is not None and self._syncing.done():
            done, self._syncing = self._syncing, None
            done.result()
        if self._syncing is None:
            self._syncing = asyncio.create_task(self._sync_later())

    async def _sync_later(self) -> None:
        await asyncio.sleep(SYNC_SECONDS)
        await asyncio.to_thread(_sync, self.path)

    def _difference(self, old: Event, new: Event) -> ReplayDiverged:
        where = f"turn {old['turn']}" if "turn" in old else f"event {old['event']}"
        key = next((k for k in (*old, *new) if old.get(k) != new.get(k)), "event")
        return self.diverged(f"{where} the log says {key}", old.get(key), new.get(key))

    def diverged(self, what: str, old: object, new: object) -> ReplayDiverged:
        """Return the error that says what the log has, and what the scripts now say instead."""
        return ReplayDiverged(
            f"{self.path}: at {what} = {old!r:.300}, the scripts now say "
            f"{new!r:.300}. A scenario, the filler or ltm-bench has changed since; install the version "
            "of the manifest, or start anew with --fresh"
        )


def _sync(path: Path) -> None:
    """Bring a file to the disk. It is opened anew, since who waits for it may be in another thread, and late."""
    file = os.open(path, os.O_RDWR)
    try:
        os.fsync(file)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(file)


_FILLER = re.compile(rb'\n\{"event":"sent","turn":(\d{1,15}),"kind":"fill"')
_BLOCK = 1 << 20


def _last_filler(path: Path) -> int | None:
    """Return the turn of the last filler in a log, which is looked for from its end."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        start, later = file.seek(0, os.SEEK_END), b""
        while start > 0:
            end, start = start, max(0, start - _BLOCK)
            file.seek(start)
            block = file.read(end - start) + later
            if found := _FILLER.findall(block):
                return int(found[-1])
            later = block[:100]  # a line can begin in one block and go on in the next
    return None


def _append(file: FileIO, line: bytes) -> None:
    """Write a line. A full disk can take a part of one without a word; the next write then complains."""
    while line:
        line = line[file.write(line) :]


def _mend(path: Path) -> int:
    """Cut off a torn last line, or end a whole one; return the number of bytes that were cut."""
    if not path.exists() or not path.stat().st_size:
        return 0
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        tail, start = b"", size
        while start > 0 and b"\n" not in tail:
            start = max(0, start - 65536)
            file.seek(start)
            tail = file.read(size - start)
        if tail.endswith(b"\n"):
            return 0
        last = tail.rpartition(b"\n")[2]
        try:
            whole = isinstance(json.loads(last), dict)
        except ValueError:
            whole = False
        if whole:
            file.seek(size)
            file.write(b"\n")
            return 0
        file.truncate(size - len(last))
        return len(last)


def begun_at(run: Path) -> datetime | None:
    """Return when a run was begun in the real world, from the side file that says so; None where it does not."""
    try:
        started = json.loads((run / "environment.json").read_text("utf-8"))["started"][0]
        found = datetime.fromisoformat(started)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return found if found.tzinfo is not None else None


def side_records(path: Path) -> Iterator[dict[str, Any]]:
    """Give the objects of a file beside the log, which is evidence and no truth: what cannot be read is passed over."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                yield record


class Journal:
    """A side file of JSON lines for what differs between equal runs, such as wall-clock times.

    It is there once something was put, and is held open from then on: of every reply there is a record.
    """

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self.path = path
        self.clock = clock
        """Seconds from any fixed moment, for measuring durations."""
        self._file: FileIO | None = None
        _mend(path)

    def put(self, record: Mapping[str, Any]) -> None:
        """Append a record."""
        self._file = self._file or self.path.open("ab", buffering=0)
        _append(self._file, encode(dict(record)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
