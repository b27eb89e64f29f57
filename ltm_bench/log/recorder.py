"""Writes the event log. While the log still holds events, compares with them instead."""

import asyncio
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from ltm_bench.core.errors import LogError, ManifestDiffers, ReplayDiverged, RunLocked
from ltm_bench.log.asked import AskedFor, write_asked
from ltm_bench.log.differences import differences
from ltm_bench.log.events import Event, encode
from ltm_bench.log.lines import append, backwards, mend, sync_file, write_whole
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import read_events, read_manifest

SYNC_SECONDS = 1.0
"""Most seconds of paid replies that a power failure can cost, roughly."""


@contextmanager
def locked(
    run: Path, otherwise: str = "another process is working on this run; wait for it, or use --fresh"
) -> Iterator[None]:
    """Lock a run for this process. The lock dies with the process. Raises RunLocked, which says what is the case."""
    lock = FileLock(run / ".lock")
    try:
        lock.acquire(timeout=0)
        folder = locked_folder(run)  # as well: somebody could delete the lock file, and then lock a new one
    except (Timeout, BlockingIOError) as error:
        lock.release()
        raise RunLocked(f"{run}: {otherwise}") from error
    try:
        yield
    finally:
        lock.release()
        if folder is not None:
            os.close(folder)


def locked_folder(folder: Path) -> int | None:
    """Lock a folder itself for this process, and return its descriptor.

    Return None if the platform or file system cannot lock folders. Raises BlockingIOError if it is locked.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # Windows, where a file in use cannot be deleted
        return None
    opened = os.open(folder, os.O_RDONLY)
    try:
        flock(opened, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        raise
    except OSError:
        os.close(opened)
        return None
    return opened


def start_run(run: Path, manifest: Manifest, asked: AskedFor | None = None) -> None:
    """Write a run's manifest, or check it against the existing one; also what was asked, if that is given.

    Raises ManifestDiffers.
    """
    path = run / "events.jsonl"
    # An empty file holds no run: whoever made it was killed, or ran out of space, before the manifest.
    begun = path.exists() and path.stat().st_size > 0
    if begun and (found := differences(read_manifest(run).identity(), manifest.identity())):
        raise ManifestDiffers(
            f"{run} holds another run ({'; '.join(found[:4])}{'; …' if len(found) > 4 else ''}); start a new "
            "run beside it with --fresh, or under another --name"
        )
    # Replacing it would start a second run beside the one that it leads to, on a disk that is not mounted, say.
    if path.is_symlink() and not path.exists():
        raise LogError(f"{path} is a broken link; remove it")
    if asked is not None:  # first: whoever finds the log must find what protects the run
        write_asked(run, asked)
    if not begun:
        write_whole(path, manifest.line())


class Recorder:
    """Writes a conversation's events, after replaying those that the log already holds.

    A conversation is resumed by running it again: as long as the log has events, `put` compares instead of writing, and
    replies are read instead of requested.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.cut = mend(path)
        """Bytes of a torn last line that were cut off."""
        # The replay reads through a descriptor of its own, while this one writes behind what it has still to read.
        self._replay = read_events(path) if path.exists() else iter(())
        self._logged: Event | None = next(self._replay, None)
        self._following: Event | None = None
        self._file = path.open("ab", buffering=0)
        self._syncing: asyncio.Task[None] | None = None
        self.last_filler = _last_filler(path)
        """The turn of the last filler in the log; None if it has none."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._syncing is not None and not self._syncing.cancel() and not self._syncing.cancelled():
            # Asked for, or asyncio would report it as never retrieved; if it persists, the next line raises it.
            self._syncing.exception()
        os.fsync(self._file.fileno())
        self._file.close()

    @property
    def logged(self) -> Event | None:
        """The next logged event; None at the end of the log."""
        return self._logged

    def peek(self) -> Event | None:
        """Return the logged event after the next one, if any."""
        if self._following is None:
            self._following = next(self._replay, None)
        return self._following

    def put(self, event: Event) -> None:
        """Write an event, or compare it with the logged one. Raises ReplayDiverged, with both shown."""
        if self._logged is None:
            append(self._file, encode(event))
            return
        if self._logged != event:
            raise self._difference(self._logged, event)
        self.skip()

    def skip(self) -> None:
        """Advance to the next logged event."""
        following, self._following = self._following, None
        self._logged = following or next(self._replay, None)

    def sync_soon(self, *beside: Path) -> None:
        """Sync to disk within SYNC_SECONDS, while the conversation continues.

        Files `beside` the log are synced first: they say what its turns cost.

        Raises OSError, which names the file, if the last sync failed.
        """
        if self._syncing is not None and self._syncing.done():
            done, self._syncing = self._syncing, None
            done.result()  # raises here, in the conversation, what the task met in the background
        if self._syncing is None:
            self._syncing = asyncio.create_task(self._sync_later(beside))

    async def _sync_later(self, beside: Sequence[Path]) -> None:
        await asyncio.sleep(SYNC_SECONDS)
        for path in (*beside, self.path):
            await asyncio.to_thread(sync_file, path)

    def _difference(self, old: Event, new: Event) -> ReplayDiverged:
        turn = getattr(old, "turn", None)
        where = f"event {old.event}" if turn is None else f"turn {turn}"
        names = [field.name for field in (*fields(old), *fields(new))]
        name = next((n for n in names if getattr(old, n, None) != getattr(new, n, None)), "event")
        return self.diverged(
            f"{where} the log says {name}", getattr(old, name, None), getattr(new, name, None)
        )

    def diverged(self, what: str, old: object, new: object) -> ReplayDiverged:
        """Return an error with the logged value and the scripts' current one."""
        return ReplayDiverged(
            f"{self.path}: at {what} = {old!r:.300}, the scripts now say "
            f"{new!r:.300}. A scenario, the filler or ltm-bench has changed since; install the version "
            "of the manifest, or start again with --fresh"
        )


_FILLER = re.compile(rb'\{"event":"sent","turn":(\d{1,15}),"kind":"fill"')


def _last_filler(path: Path) -> int | None:
    """Return the turn of the last filler in a log, read backwards."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        found = next(filter(None, map(_FILLER.match, backwards(file, 1 << 20))), None)
    return None if found is None else int(found[1])
