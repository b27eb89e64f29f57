"""A run's folder behind a URL: fetches it, claims it, and copies it back so that no log is ever ahead of its agent.

The user's own files travel with a sweep.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from ltm_bench.core.errors import ConfigError, RunIncomplete, RunLocked
from ltm_bench.log.reader import is_finished, logs, read_manifest
from ltm_bench.log.remote import Remote, is_passed_over
from ltm_bench.score.results.stored import DERIVED

_DOORS = ("scenarios", "agents", "configs")
_LARGEST = 64 << 20
"""Maximum total bytes, since they go to every worker."""


@dataclass(frozen=True)
class Files:
    """The user's own scenarios, agents and suites, which every worker must have."""

    here: str
    content: Mapping[str, bytes]

    @classmethod
    def of(cls, here: Path) -> Files:
        """Read a folder's files. Raises ConfigError if they are too large to send around."""
        content, size = {}, 0
        for path in (path for door in _DOORS for path in sorted((here / door).rglob("*"))):
            name = path.relative_to(here).as_posix()
            if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in name.split("/")):
                size += path.stat().st_size
                if size > _LARGEST:
                    raise ConfigError(
                        f"{path}: {', '.join(_DOORS)} hold more than {_LARGEST >> 20} MiB; "
                        "keep large files elsewhere, where all nodes see them"
                    )
                content[name] = path.read_bytes()
        return cls(str(here), content)

    def stand(self, scratch: Path) -> Path:
        """Return a worker's current directory: the same folder, or one with copies of these files."""
        here = Path(self.here)
        with contextlib.suppress(OSError, ConfigError):
            if here.is_dir() and Files.of(here).content == self.content:
                return here
        for name, content in self.content.items():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            (scratch / name).write_bytes(content)
        return scratch


class Shared(Remote):
    """The folder of one run behind a URL."""

    _HOLDER = ".holder"
    _LEDGER = ".ledger"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._is_local = "file" in ((p,) if isinstance(p := self._fs.protocol, str) else p)
        self._known: dict[str, tuple[int, int]] = {}
        self._token = b""

    def fetch(self, folder: Path) -> None:
        """Fetch what is not yet in a folder, the logs before what is derived from them, which is newer."""
        found = self.files()
        for name in sorted(found, key=lambda name: name in DERIVED):
            if not found[name].is_at(folder / name):
                self.get(name, folder / name)
            self._known[name] = _state(folder / name)

    def ledger(self) -> Decimal | None:
        """Return what the run may have cost at most, as its workers wrote before they made calls; None if unknown."""
        with self._reaching():
            self._fs.invalidate_cache()
            known = self._fs.exists(f"{self._root}/{self._LEDGER}")
        return _amount(self.read(self._LEDGER)) if known else None

    def write_ledger(self, most: Decimal) -> None:
        """Write what the run may have cost at most, by the end of the calls that may go out now."""
        self._write(self._LEDGER, str(most).encode())

    @classmethod
    def ledgers(cls, url: str) -> dict[str, Decimal]:
        """Return what the runs below a URL may have cost at most, by their names."""
        place = cls(url)
        with place._reaching():
            place._fs.invalidate_cache()
            found = [
                path[len(place._root) + 1 :] for path in place._fs.glob(f"{place._root}/*/{cls._LEDGER}")
            ]
        contents = place._read(found)
        return {name.partition("/")[0]: _amount(text) for name, text in zip(found, contents, strict=True)}

    def claim(self) -> None:
        """Claim the run, so that a worker wrongly believed lost stops copying."""
        self._token = uuid.uuid4().hex.encode()
        self._write(self._HOLDER, self._token)

    def push(self, folder: Path, *, whole: bool) -> None:
        """Copy the changed files: the agent's first, then the logs, which must never be ahead of them.

        A copy in the middle of a run is not `whole`: of an isolated run, it covers the finished examples. Raises
        RunLocked if another worker has taken over.
        """
        if self.read(self._HOLDER) != self._token:
            raise RunLocked(f"{self.url}: another worker has taken this run over")
        names, of_logs = _to_copy(folder, whole=whole)
        # Read before the agent's files are copied, and written after them: a log that is ahead of its agent tells it
        # too little when it is resumed.
        texts = {name: (_state(folder / name), (folder / name).read_bytes()) for name in sorted(of_logs)}
        for name in sorted(names - of_logs):
            with contextlib.suppress(FileNotFoundError):  # an agent's file, deleted in between
                state = _state(folder / name)  # before the content: a change in between is copied next time
                if self._known.get(name) != state:
                    self._copy(name, (folder / name).read_bytes(), state)
        for name in [name for name in self._known if name.startswith("agent/")]:
            if not (folder / name).exists():
                with self._reaching():
                    self._fs.rm_file(f"{self._root}/{name}")
                del self._known[name]
        for name, (state, text) in texts.items():
            if self._known.get(name) != state:
                self._copy(name, text, state)

    def _copy(self, name: str, content: bytes, state: tuple[int, int]) -> None:
        self._write(name, content)
        self._known[name] = state

    def put(self, folder: Path, names: Sequence[str]) -> None:
        """Copy those of these files that exist."""
        for name in names:
            if (folder / name).is_file():
                self._write(name, (folder / name).read_bytes())

    def _write(self, name: str, content: bytes) -> None:
        path = f"{self._root}/{name}"
        with contextlib.suppress(Exception):  # stores without folders; others fail at once
            self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        with self._reaching():
            if self._is_local:  # an object store writes atomically; on a disk, this does
                self._fs.pipe_file(f"{path}.part", content)
                os.replace(f"{path}.part", path)
            else:
                self._fs.pipe_file(path, content)


def _to_copy(folder: Path, *, whole: bool) -> tuple[set[str], set[str]]:
    """Return the names of all files of a run to copy, and of the logs among them."""
    manifest = read_manifest(folder)
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    names = {name for name in names if not is_passed_over(name)}
    found = {path.relative_to(folder).as_posix() for path in logs(folder, manifest)}
    if whole or not manifest.suite.isolated:
        return names, found
    # The agents of unfinished examples are at work, so what they hold cannot be copied beside their logs.
    ended = {name for name in found if name == "events.jsonl" or is_finished(folder / name)}
    return {name for name in names if "/" not in name} | ended, ended


def _amount(text: bytes) -> Decimal:
    """Return the amount in a ledger. Raises RunIncomplete, since nothing may be spent without it."""
    try:
        found = Decimal(text.decode("ascii"))
    except (ArithmeticError, ValueError):
        found = Decimal("NaN")
    if not found.is_finite() or found < 0:
        raise RunIncomplete(
            f".ledger: {text[:40]!r} is no amount of dollars; write into it what the run has cost"
        )
    return found


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
