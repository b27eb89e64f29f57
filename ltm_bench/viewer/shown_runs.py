"""Where the runs that are shown lie, and which of them one page of the table shows: a page at a time, in order.

They lie in a folder, or behind a URL, where no run is followed while it goes on.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any, NamedTuple

from ltm_bench.log.remote import Remote, copied
from ltm_bench.score.results.stored import PAGES, SUMS, is_source
from ltm_bench.viewer.access import MEDIA, find_file, headers_for
from ltm_bench.viewer.states import Look, RunState, Watch, states_at

PAGE = 200
"""Maximum rows of a page. If all runs fit on one, the browser sorts and filters them."""

_ORDERS: Mapping[str, Callable[[RunState], Any]] = {
    "name": lambda each: _natural(each.name),
    "agent": lambda each: _natural(each.agent),
    "span": lambda each: each.span,
    "state": lambda each: each.state,
    "score": lambda each: _share(each),
    "cost": lambda each: -1.0 if each.dollars is None else each.dollars,
    "started": lambda each: each.started,
}


class Listing(NamedTuple):
    """A page of the table."""

    rows: Sequence[RunState]
    found: int
    """Runs that are asked for, on all pages."""
    page: int
    pages: int


def listed(states: Sequence[RunState], asked: Mapping[str, str]) -> Listing:
    """Return the page that is asked for; all runs if they fit on one.

    Args:
        states: All runs.
        asked: `words` that a row must hold, its `state`, the column to `sort` by, `down` (0 for up), and the `page`.
    """
    if len(states) <= PAGE:
        return Listing(states, len(states), 1, 1)
    words, state = asked.get("words", "").casefold().split(), asked.get("state")
    found = [each for each in states if state in ("", None, each.state) and _holds(each, words)]
    order = _ORDERS.get(asked.get("sort", ""), _ORDERS["started"])
    found.sort(key=lambda each: _natural(each.name))
    found.sort(key=order, reverse=asked.get("down") != "0")
    pages = max(1, -(-len(found) // PAGE))
    given = asked.get("page", "")
    page = min(max(1, int(given)), pages) if re.fullmatch(r"[0-9]{1,9}", given) else 1
    return Listing(found[(page - 1) * PAGE : page * PAGE], len(found), page, pages)


def _holds(each: RunState, words: Sequence[str]) -> bool:
    tags = " ".join(f"{key}={value}" for key, value in each.tags.items())
    text = f"{each.name} {each.agent} {each.suite} seed {each.seed} {each.state} {each.verdict} {tags}".casefold()
    return all(word in text for word in words)


def _natural(text: str) -> list[tuple[int, str]]:
    """Return a key that sorts the numbers in texts as numbers."""
    return [
        (int(digits or 0), word) for word, digits in re.findall(r"([^0-9]*)([0-9]{0,18})", text.casefold())
    ]


def _share(each: RunState) -> float:
    score = each.so_far if each.score is None else each.score
    return -1.0 if score is None or not each.out_of else score / each.out_of


LISTED = 30.0
"""Seconds until the runs behind a URL are listed again."""


class Served(NamedTuple):
    """A file that may be served."""

    content: bytes | Path
    media: str
    headers: Mapping[str, str]


class LocalRuns:
    """A folder of runs."""

    def __init__(self, reports: Path) -> None:
        self._reports = reports
        self._watch = Watch(reports)

    def states(self) -> Sequence[RunState]:
        """Return all runs, newest first."""
        return self._watch.states()

    def live(self, name: str) -> tuple[RunState, Look | None] | None:
        """Return a run's state, and that of its conversation; None if there is no such run."""
        return self._watch.live(self._reports / name) if self._has(name) else None

    def others(self) -> Sequence[str]:
        """Return the names of other pages beside the runs."""
        return sorted(path.name for path in self._reports.glob("*.html"))

    def file(self, path: str) -> Served | None:
        """Return a file of the folder, where it lies; None if it does not exist or must not be served."""
        found = find_file(self._reports, path)
        if found is None:
            return None
        return Served(
            found, MEDIA[found.suffix], headers_for(found.relative_to(self._reports.resolve()).parts)
        )

    def searchable(self) -> Sequence[str]:
        """Return the names of all runs whose logs are served."""
        return [state.name for state in self.states() if self._has(state.name)]

    @contextmanager
    def at_hand(self, names: Sequence[str]) -> Iterator[list[Path] | None]:
        """Give the folders themselves; None if one of them does not exist."""
        yield [self._reports / name for name in names] if all(map(self._has, names)) else None

    def _has(self, name: str) -> bool:
        return "/" not in name and find_file(self._reports, f"{name}/events.jsonl") is not None


class RemoteRuns:
    """The runs behind a URL, which are fetched only to be compared or searched."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._known: list[RunState] = []
        self._listed: float | None = None
        self._lock = Lock()

    def states(self) -> Sequence[RunState]:
        """Return all runs, newest first, as listed within the last half minute."""
        with self._lock:
            now = time.monotonic()
            if self._listed is None or now - self._listed >= LISTED:
                self._known = sorted(states_at(self._url), key=lambda each: each.started, reverse=True)
                self._listed = time.monotonic()
            return self._known

    def live(self, name: str) -> tuple[RunState, Look | None] | None:
        """Return a run's state; its conversation is not followed."""
        return next(((state, None) for state in self.states() if state.name == name), None)

    def others(self) -> Sequence[str]:
        """Return nothing: only pages of runs are served."""
        return ()

    def file(self, path: str) -> Served | None:
        """Return a file of a run, read now."""
        run, _, name = path.partition("/")
        suffix = PurePosixPath(name).suffix
        if "/" in name or suffix not in MEDIA or not any(state.name == run for state in self.states()):
            return None
        place = Remote(f"{self._url}/{run}")
        names = place.changed()
        foreign = suffix == ".html" and (SUMS in names or name not in PAGES)
        if name not in names or foreign:
            return None
        return Served(place.read(name), MEDIA[suffix], headers_for((run, name)))

    def searchable(self) -> Sequence[str]:
        """Return nothing: every log has to be fetched."""
        return ()

    @contextmanager
    def at_hand(self, names: Sequence[str]) -> Iterator[list[Path] | None]:
        """Give copies, without pages and agents' files."""
        with ExitStack() as copies:
            known = {state.name for state in self.states()} >= set(names)
            fetch = (copies.enter_context(copied(f"{self._url}/{name}", is_source)) for name in names)
            yield list(fetch) if known else None
