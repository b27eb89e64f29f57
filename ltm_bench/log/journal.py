"""Side files: evidence beside the log that differs between equal runs, such as wall-clock times. Never the truth."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any, Self

from ltm_bench.log.lines import append, mend, sync_folder, to_line


def retrieval_trace_of(log: Path) -> Path:
    """Return the side file that records retrieval for failed questions."""
    return log.with_suffix(".recalls")


def written_of(log: Path) -> Path:
    """Return the side file that records which of each example's facts the agent's store held."""
    return log.with_suffix(".written")


class Journal:
    """A side file of JSON lines for what differs between equal runs, such as wall-clock times.

    It is created on the first `put` and then stays open, since every reply adds a record.
    """

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self.path = path
        self.clock = clock
        """Seconds from any fixed moment, for measuring durations."""
        self._file: FileIO | None = None
        self._lock = Lock()
        mend(path)

    def put(self, *found: Mapping[str, Any]) -> None:
        """Append records, all of them or none; from any thread. Raises OSError, which names the file."""
        with self._lock:
            if self._file is None:
                self._file = self.path.open("ab", buffering=0)
                sync_folder(self.path.parent)  # or a power failure could take the whole file, synced or not
            end = os.fstat(self._file.fileno()).st_size
            try:
                append(self._file, b"".join(map(to_line, found)))
            except OSError:
                # A full disk may have taken a part, which would swallow the next record: a call, with what it cost.
                with suppress(OSError):
                    self._file.truncate(end)
                raise

    def sync(self) -> None:
        """Sync everything to disk."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Sync and close the file."""
        if self._file is not None:
            self.sync()
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
