"""How far the runs of a folder are, as their logs tell."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.limits import content_of, json_of, opened
from ltm_bench.log.environment import begun_at
from ltm_bench.log.reader import conversations, is_finished, read_manifest
from ltm_bench.report.words import cost, moment, short_tokens

LIVELY = 120.0
"""Seconds without a new line after which a run no longer counts as running.

Trying the run's lock would tell for certain, but would hold it for a moment and so turn away a run that starts then.
"""


@dataclass(frozen=True)
class RunState:
    """A run as the list shows it."""

    name: str
    agent: str = ""
    suite: str = ""
    span: str = ""
    seed: str = ""
    done: int = 0
    """Examples that ended."""
    planned: int = 0
    state: str = "unreadable"
    """`running`, `unfinished`, `finished` or `unreadable`."""
    score: str = ""
    interval: str = ""
    """95 %, of the score."""
    cost: str = ""
    started: str = ""
    """When it was first started, in UTC; empty where nobody wrote it down."""
    report: bool = False
    """Whether it has a page."""


class _Changed(NamedTuple):
    """When a run's files were last written, and how large they are."""

    at: float
    size: int


class _Known(NamedTuple):
    changed: _Changed
    state: RunState


class Watch:
    """Watches a folder of runs; reads a log again only if it has changed. May be used from several threads."""

    def __init__(self, reports: Path) -> None:
        self.reports = reports
        self._known: dict[Path, _Known] = {}
        self._lock = threading.Lock()

    def states(self) -> list[RunState]:
        """Return all runs, the newest first."""
        runs = {path.parent: _changed(path.parent) for path in self.reports.glob("*/events.jsonl")}
        with self._lock:
            return [self._state(run, runs[run]) for run in sorted(runs, key=runs.__getitem__, reverse=True)]

    def _state(self, run: Path, changed: _Changed) -> RunState:
        known = self._known.get(run)
        if known is None or known.changed != changed:
            known = self._known[run] = _Known(changed, state_of(run))
        now = time.time()  # noqa: TID251  # files are dated by the wall clock
        lively = known.state.state == "unfinished" and now - changed.at < LIVELY
        return replace(known.state, state="running") if lively else known.state


def _changed(run: Path) -> _Changed:
    stats = []
    try:
        paths = [run / "events.jsonl", run / "results.json", *(run / "isolated").glob("*.jsonl")]
        for path in paths:
            with suppress(OSError, RuntimeError):
                stats.append(path.stat())
    except OSError:  # a folder that may not be read
        pass
    return _Changed(max((s.st_mtime for s in stats), default=0.0), sum(s.st_size for s in stats))


def state_of(run: Path) -> RunState:
    """Return how far a run is; one that cannot be read is `unreadable`."""
    try:
        manifest = read_manifest(run)
        paths = conversations(run)
        planned = sum(entry.examples for entry in manifest.suite.scenarios)
        done = sum(map(_ended, paths))
        finished = done >= planned and all(map(is_finished, paths))
        return RunState(
            name=run.name,
            agent=manifest.agent.name,
            suite=manifest.suite.title,
            span=short_tokens(manifest.span),
            seed=str(manifest.seed),
            done=done,
            planned=planned,
            state="finished" if finished else "unfinished",
            **_figures(run / "results.json", free=manifest.agent.free),
            started="" if (begun := begun_at(run)) is None else moment(begun),
            report=(run / "report.html").exists(),
        )
    except Exception:  # one run that cannot be read, whatever is wrong with it, is one bad row
        return RunState(name=run.name)


def _ended(path: Path) -> int:
    """Return how many examples of a log have ended; the log can be large."""
    with opened(path) as file:
        return sum(line.startswith(b'{"event":"ended"') for line in file)


def _figures(path: Path, *, free: bool) -> dict[str, str]:
    """Return what results say of the score, its interval and the cost; nothing where they cannot be read."""
    try:
        results = json_of(content_of(path))
        interval = results["interval"]
        return {
            "score": f"{results['score']:.2f} / {results['out_of']}" if results["complete"] else "incomplete",
            "interval": "" if interval is None else f"{interval['low']:.2f} – {interval['high']:.2f}",
            "cost": cost(results["costs"]["dollars"], free=free),
        }
    except (OSError, ValueError, LookupError, TypeError, OverflowError):
        return {}
