"""A memory's files, and a journal of how each turn changed them, so that a resumed run gets its own back.

A change is stored as the new part between unchanged ends, so the journal of a growing file stays as small as the file.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ltm_bench.adapters.files import write_whole
from ltm_bench.adapters.ledger import fingerprint
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Turn

Files = Mapping[str, bytes]
"""Contents by their path in a folder."""


class Folder:
    """A folder that is read and written whole."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self) -> dict[str, bytes]:
        """Return all files in it, by path."""
        files = sorted(path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in files}

    def read_at_rest(self, locks: str) -> dict[str, bytes] | None:
        """Return all files in it, or None if one is locked, or changed in the meantime.

        Args:
            locks: The pattern of the files that exist while others are being changed.
        """
        try:
            # Twice: a lock that came meanwhile was written back with the rest, and nobody released it.
            files, again = self.read(), self.read()
        except FileNotFoundError:  # a temporary one
            return None
        locked = any(PurePosixPath(name).match(locks) for name in files)
        return files if files == again and not locked else None

    def write(self, files: Files) -> None:
        """Make these the only files in it."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


class Edit(NamedTuple):
    """A file's new content: a number of bytes from the old start, new bytes (as Latin-1), a number from the old end."""

    head: int
    text: str
    tail: int

    @classmethod
    def of(cls, before: bytes, after: bytes) -> Edit:
        """Return the edit that turns `before` into `after`."""
        head = _shared(before, after)
        tail = _shared(before[head:][::-1], after[head:][::-1])
        return cls(head, after[head : len(after) - tail].decode("latin-1"), tail)

    def done(self, before: bytes) -> bytes:
        """Return the new content."""
        return before[: self.head] + self.text.encode("latin-1") + before[len(before) - self.tail :]


def _shared(one: bytes, other: bytes) -> int:
    """Return the length of the common prefix."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


class Change(NamedTuple):
    """What a turn changed in a user's files."""

    turn: int
    said: str
    """The turn's fingerprint."""
    at: str
    user: str | None
    edits: Mapping[str, Edit | None]
    """Edits by path; None for a deleted file."""

    def done(self, files: Files) -> dict[str, bytes]:
        """Return the files after it."""
        changed = dict(files)
        for path, edit in self.edits.items():
            if edit is None:
                changed.pop(path, None)
            else:
                changed[path] = edit.done(files.get(path, b""))
        return changed


class FolderJournal:
    """The changes of users' files, one line for every turn that made any."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        """Whether a conversation has begun here, even if it has no line yet."""
        return self.path.exists()

    def note(self, turn: Turn, user: str | None, before: Files, after: Files) -> Change | None:
        """Record what a turn has changed; None if it changed nothing."""
        edits = {
            path: Edit.of(before.get(path, b""), after[path]) if path in after else None
            for path in sorted({*before, *after})
            if before.get(path) != after.get(path)
        }
        if not edits:
            return None
        at = turn.message.at.isoformat()
        change = Change(turn.message.turn, fingerprint(turn), at, user, edits)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(change) + "\n")
        return change

    def cut(self, turns: Iterable[Turn]) -> list[Change]:
        """Keep the changes of these turns, drop all others, and return what is kept."""
        known = list(self.read())
        numbers = {change.turn for change in known}
        # all are looked at
        made = {(t.message.turn, fingerprint(t)) for t in turns if t.message.turn in numbers}
        kept = [change for change in known if (change.turn, change.said) in made]
        write_whole(self.path, "".join(json.dumps(change) + "\n" for change in kept))
        return kept

    def read(self) -> Iterator[Change]:
        """Iterate over the recorded changes."""
        for line in self.path.read_text("utf-8").splitlines() if self.exists else ():
            try:
                turn, said, at, user, edits = json_of(line)
                yield Change(
                    turn, said, at, user, {path: each and Edit(*each) for path, each in edits.items()}
                )
            except (ValueError, TypeError, AttributeError):  # torn by a crash; nothing comes after it
                return


def files_after(changes: Iterable[Change]) -> dict[str | None, dict[str, bytes]]:
    """Return the files of every user after these changes."""
    files: dict[str | None, dict[str, bytes]] = {}
    for change in changes:
        files[change.user] = change.done(files.get(change.user, {}))
    return files
