"""Files behind a URL, read where they lie: whatever fsspec knows, such as s3:// with s3fs."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError, RunIncomplete
from ltm_bench.core.extras import pip
from ltm_bench.core.limits import BODY, FILE, Intake

# Of 200 small runs, four times as much was 20 MB for manifests of 2 kB.
HEAD = 1 << 14
"""Bytes at a log's beginning, which nearly always hold its manifest."""

_DATES = ("mtime", "LastModified", "last_modified", "updated", "created")
"""What file systems call the time of the last change."""


def is_url(place: str) -> bool:
    """Whether a location is a URL for fsspec rather than a path."""
    return "://" in place or "::" in place


_LOG = "events.jsonl"

AT_ONCE = 64
"""Runs that are read together."""


class RemoteFile(NamedTuple):
    """A file behind a URL, as the store lists it."""

    size: int | None
    """Bytes; None if the store does not say."""
    changed: float
    """When it was changed; 0 if the store does not say."""

    def is_at(self, path: Path) -> bool:
        """Whether a local file is a copy of it, as far as sizes and times tell: it was written since."""
        try:
            mine = path.stat()
        except OSError:
            return False
        return mine.st_size == self.size and mine.st_mtime >= self.changed > 0


class RemoteRun(NamedTuple):
    """A run behind a URL, as far as it has been read."""

    url: str
    changed: Mapping[str, float]
    """When each of its files was changed; 0 if the store does not say."""
    head: bytes
    """The first line of its log."""
    contents: Mapping[str, bytes]
    """The files that were asked for, of those that it has."""

    @property
    def name(self) -> str:
        """The run's name."""
        return self.url.rpartition("/")[2]


class Remote:
    """A folder behind a URL."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            import fsspec
        except ImportError as error:
            raise ConfigError(f"{url}: this needs fsspec: {pip('ray')}") from error
        try:
            self._fs, root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise ConfigError(f"{url}: {error}") from error
        self._root = root.rstrip("/")

    @contextlib.contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # every file system has its own errors
            raise RunIncomplete(f"{self.url}: {type(error).__name__}: {error}") from error

    def files(self) -> dict[str, RemoteFile]:
        """Return all files, by their paths in the folder."""
        with self._reaching():
            self._fs.invalidate_cache()
            found = self._fs.find(self._root, detail=True)
            self._fs.invalidate_cache()  # nothing else reads what it keeps of every file
        names = {path[len(self._root) :].lstrip("/"): told for path, told in found.items()}
        return {
            name: RemoteFile(told.get("size"), _when(told))
            for name, told in names.items()
            if not is_passed_over(name)
        }

    def changed(self) -> dict[str, float]:
        """Return when each file was changed, by its path in the folder; 0 if the store does not say."""
        return {name: file.changed for name, file in self.files().items()}

    def runs(self, *besides: str) -> Iterator[RemoteRun]:
        """Yield the run that this is, or every run in it, by name, with the first line of its log.

        Args:
            besides: Further files to read, of those that it has.
        """
        below = dict[str, dict[str, float]]()
        for name, at in (changed := self.changed()).items():
            run, _, rest = name.partition("/")
            below.setdefault(f"{run}/", {})[rest] = at
        found = {"": changed} if _LOG in changed else {run: of for run, of in below.items() if _LOG in of}
        names = sorted(found)
        for start in range(0, len(names), AT_ONCE):
            some = names[start : start + AT_ONCE]
            heads = self._heads([run + _LOG for run in some])
            wanted = [run + name for run in some for name in besides if name in found[run]]
            contents = dict(zip(wanted, self._read(wanted), strict=True))
            for run, head in zip(some, heads, strict=True):
                own = {name: contents[run + name] for name in besides if run + name in contents}
                yield RemoteRun(f"{self.url}/{run}".rstrip("/"), found[run], head, own)

    def read(self, name: str, first: int | None = None) -> bytes:
        """Return the content of a file, or its first bytes."""
        with self._reaching():
            content: bytes = self._fs.cat_file(f"{self._root}/{name}", end=first or FILE + 1)
            Intake(name, FILE, 0 if first else len(content))
        return content

    def _read(self, names: Sequence[str], most: int | None = None) -> list[bytes]:
        """Return the contents of files, or their first bytes, at the same time if the store can do that."""
        paths = [f"{self._root}/{name}" for name in names]
        with self._reaching():
            return list(self._fs.cat_ranges(paths, [0] * len(paths), [most] * len(paths), on_error="raise"))

    def _heads(self, names: Sequence[str]) -> list[bytes]:
        heads = self._read(names, HEAD)
        return [
            (head if b"\n" in head or len(head) < HEAD else self.read(name, BODY)).partition(b"\n")[0]
            for name, head in zip(names, heads, strict=True)
        ]

    def get(self, name: str, path: Path) -> None:
        """Fetch a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._reaching():
            self._fs.get_file(f"{self._root}/{name}", str(path))


@contextlib.contextmanager
def copied(url: str, is_wanted: Callable[[str], bool]) -> Iterator[Path]:
    """Copy the wanted ones of the files behind a URL into a folder of the same name, for the time of the block.

    Args:
        url: The URL.
        is_wanted: Whether a file is wanted, by its path there.

    Raises:
        RunIncomplete: It cannot be reached.
    """
    place = Remote(url)
    with TemporaryDirectory(prefix="ltm-bench-") as scratch:
        folder = Path(scratch, place.url.rpartition("/")[2])
        folder.mkdir()
        for name in filter(is_wanted, place.changed()):
            place.get(name, folder / name)
        yield folder


def is_passed_over(name: str) -> bool:
    """Whether a file is no part of what lies there: drafts, our own marks, and names that lead elsewhere."""
    hidden = "/" not in name and name.startswith(".")
    return not name or name.endswith(".part") or hidden or ".." in name.split("/")


def _when(told: Mapping[str, Any]) -> float:
    at = next((told[key] for key in _DATES if told.get(key) is not None), 0.0)
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    return at.timestamp() if isinstance(at, datetime) else float(at)
