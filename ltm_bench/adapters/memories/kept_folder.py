"""A product's folder, and how it was after the last turns, so that a resumed run can go back.

A database may write most of its files once, never change them, and delete them when it no longer needs them. There can
be thousands, so a state has links to these, and copies of all others.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from ltm_bench.adapters.files import write_whole

_STATES = 3
"""How many states are kept."""


class KeptFolder:
    """A folder, and some of its states, each known by a number of turns."""

    def __init__(self, live: Path, states: Path, written_once: Callable[[str], bool]) -> None:
        """Set the places.

        Args:
            live: The folder that the product writes to.
            states: Where its states are kept, on the same file system.
            written_once: Whether a file of this name is never changed once it has been written.
        """
        self.live, self._states, self._written_once = live, states, written_once
        self._place = states / "place"

    def moved(self) -> bool:
        """Whether the folder was somewhere else when its states were kept."""
        return self._place.exists() and self._place.read_text("utf-8") != str(self.live)

    def keep(self, count: int) -> None:
        """Keep the files as they are after this many turns, in place of the oldest state."""
        self._states.mkdir(exist_ok=True)
        write_whole(self._place, str(self.live))
        part, kept = self._states / "part", self._kept()
        for number in kept[: max(0, len(kept) - _STATES + 1)]:
            shutil.rmtree(part, ignore_errors=True)
            (self._states / str(number)).rename(part)  # most of its files are those of the new one
        self._match(self.live, part)
        shutil.rmtree(self._states / str(count), ignore_errors=True)
        part.rename(self._states / str(count))

    def back_to(self, count: int) -> bool:
        """Restore the files as they were after this many turns; remove all of them if that state is not kept."""
        if count not in self._kept():
            self.clear()
            return False
        # Later states have files whose names will be used again.
        for later in ("part", *(number for number in self._kept() if number > count)):
            shutil.rmtree(self._states / str(later), ignore_errors=True)
        shutil.rmtree(self.live)
        self._match(self._states / str(count), self.live)
        return True

    def _kept(self) -> list[int]:
        names = [each.name for each in self._states.iterdir()] if self._states.exists() else []
        return sorted(int(name) for name in names if name.isdecimal())

    def drop(self) -> None:
        """Forget all states."""
        shutil.rmtree(self._states, ignore_errors=True)

    def clear(self) -> None:
        """Remove everything."""
        self.drop()
        shutil.rmtree(self.live, ignore_errors=True)
        self.live.mkdir(parents=True)

    def _match(self, source: Path, target: Path) -> None:
        """Give a folder the files of another, with links to those written once; those it already has stay."""
        target.mkdir(parents=True, exist_ok=True)
        wanted, there = _names(source), _names(target)
        for name in there - wanted:
            (target / name).unlink()
        for name in sorted(wanted):
            once = self._written_once(name)
            if once and name in there:
                continue
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if not (once and _linked(source / name, target / name)):
                shutil.copyfile(source / name, target / name)


def _names(folder: Path) -> set[str]:
    start = len(str(folder)) + 1
    found = ((place, files) for place, _, files in os.walk(folder))
    return {os.path.join(place, name)[start:] for place, files in found for name in files}


def _linked(source: Path, target: Path) -> bool:
    """Make a link; return False if the file system has none."""
    try:
        os.link(source, target)
    except OSError:
        return False
    return True
