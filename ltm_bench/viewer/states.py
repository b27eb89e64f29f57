"""The progress and results of a folder's runs, from their logs and results.

The score so far and the last turns of an active run come from the log, by the same fold that scores a finished run.
Looking again at a grown log takes as long as reading it, so looks are rationed: together they take at most a share of
one processor.
"""

import threading
import time
from collections import deque
from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.limits import content_of, json_of, lines_of, opened
from ltm_bench.core.seeds import Seed
from ltm_bench.log.environment import environment_of
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.lines import LINE
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, is_finished, manifest_in, read_manifest
from ltm_bench.log.remote import Remote
from ltm_bench.report.anchors import anchor
from ltm_bench.score.results.examples import Question
from ltm_bench.score.results.fold import TurnListener
from ltm_bench.score.results.scoring import score_run
from ltm_bench.score.results.stored import FILE, PAGES, SUMS, is_newest, pages_are_own

LAST = 40
"""Maximum turns of a conversation shown."""

LAST_OF_EACH = 4
"""Maximum turns shown of each active conversation of an isolated run."""

SHARE = 0.1
"""Share of one processor for all looks."""

RECENT = 60.0
"""Seconds for which a run that was looked at counts in dividing that share."""


class ShownTurn(NamedTuple):
    """A turn or a forked question."""

    anchor: str
    sent: Sent
    replied: Replied | None
    question: Question | None
    forked: bool


class Look(NamedTuple):
    """A run at one moment."""

    score: float
    """Score so far, over the answered questions."""
    out_of: int
    dollars: float | None
    """None if a price is unknown."""
    questions: int
    """Answered questions."""
    tokens: int
    said: tuple[ShownTurn, ...]
    """The last turns."""


class _Tail(TurnListener):
    """Keeps the last turns that the fold reports: of the conversation, or of each active one."""

    def __init__(self, manifest: Manifest) -> None:
        self._isolated = manifest.suite.isolated
        self._last: deque[ShownTurn] = deque(maxlen=LAST)
        self.conversations: list[deque[ShownTurn]] = []

    def conversation(self, example: str | None) -> None:
        self._last = deque(maxlen=LAST if example is None else LAST_OF_EACH)
        self.conversations.append(self._last)

    def turn(
        self, sent: Sent, replied: Replied | None, question: Question | None, *, forked: bool = False
    ) -> None:
        name = anchor(sent.turn, sent.example or "", isolated=self._isolated)
        self._last.append(ShownTurn(name, sent, replied, question, forked))


def look_at(run: Path) -> Look:
    """Return a run's state. Raises LogError if its log is damaged."""
    manifest = read_manifest(run)
    tail = _Tail(manifest)
    results = score_run(run, manifest, listener=tail)
    logs = zip(conversations(run, manifest), tail.conversations, strict=False)
    under_way = [said for path, said in logs if not is_finished(path)] or tail.conversations[-1:]
    return Look(
        score=results.score_so_far,
        out_of=results.out_of,
        dollars=results.costs.dollars,
        questions=sum(q.score is not None for e in results.examples for q in e.questions),
        tokens=results.tokens,
        said=tuple(said for each in under_way for said in each),
    )


class _LastLook(NamedTuple):
    changed: Hashable
    look: Look | None
    at: float
    """When the look was taken."""
    until: float
    """It is not looked at again before this moment."""


class Lookout:
    """Looks at runs as they change, but no more often than their share of the processor allows."""

    def __init__(self) -> None:
        self._kept: dict[Path, _LastLook] = {}

    def look(self, run: Path, changed: Hashable) -> Look | None:
        """Return a run's current or last known state.

        Args:
            run: Its folder.
            changed: Differs from the last time if the run has.
        """
        kept, begun = self._kept.get(run), time.perf_counter()
        if kept is not None and (kept.changed == changed or begun < kept.until):
            return kept.look
        # Processor time: by the clock, a busy machine would make pages wait ten times longer still.
        worked = time.thread_time()
        try:
            look: Look | None = look_at(run)
        except Exception:  # a broken log cannot be shown
            look = None
        took = time.thread_time() - worked
        others = sum(begun - each.at < RECENT for path, each in self._kept.items() if path != run)
        self._kept[run] = _LastLook(changed, look, begun, begun + took * (1 + others) / SHARE)
        return look


LIVELY = 120.0
"""Seconds without a new line after which a run counts as stopped.

Trying the run's lock would be reliable, but would hold it for a moment and turn away a run that starts then.
"""


@dataclass(frozen=True)
class RunState:
    """A run's row in the list. Unknown values are empty or None."""

    name: str
    agent: str = ""
    """The agent's name; for an unreadable run, the reason."""
    suite: str = ""
    span: int = 0
    seed: Seed | None = None
    done: int = 0
    """Examples that ended."""
    planned: int = 0
    state: str = "unreadable"
    """`running`, `unfinished`, `finished` or `unreadable`."""
    score: float | None = None
    """None while the run is incomplete."""
    so_far: float | None = None
    """The score so far of an active run, which is not a result."""
    out_of: int | None = None
    """None if there are no results yet."""
    interval: tuple[float, float] | None = None
    """95 %, of the score."""
    verdict: str = ""
    dollars: float | None = None
    free: bool = False
    started: str = ""
    """The first start: ISO 8601, with zone; empty if not recorded."""
    tags: Mapping[str, str] = field(default_factory=dict)
    report: bool = False
    """Whether it has a page that can be shown."""
    problem: str = ""
    """Why its results cannot be read, if they cannot."""


class _Changed(NamedTuple):
    """The modification times and sizes of a run's files."""

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
        self._lookout = Lookout()
        self._lock = threading.Lock()

    def states(self) -> list[RunState]:
        """Return all runs, newest first."""
        runs = {path.parent: _changed(path.parent) for path in self.reports.glob("*/events.jsonl")}
        with self._lock:
            return [self._state(run, runs[run]) for run in sorted(runs, key=runs.__getitem__, reverse=True)]

    def live(self, run: Path) -> tuple[RunState, Look | None]:
        """Return a run's state, and that of its conversation; None if unreadable."""
        changed = _changed(run)
        with self._lock:
            state = self._state(run, changed)
            return state, self._lookout.look(run, changed)

    def _state(self, run: Path, changed: _Changed) -> RunState:
        known = self._known.get(run)
        if known is None or known.changed != changed:
            known = self._known[run] = _Known(changed, state_of(run))
        now = time.time()  # noqa: TID251  # files are dated by the wall clock
        # abs: once a clock had been set back, runs that had stopped looked as if they were running, for years
        if known.state.state != "unfinished" or abs(now - changed.at) >= LIVELY:
            return known.state
        look = self._lookout.look(run, changed)
        if look is None:
            return replace(known.state, state="running")
        return replace(
            known.state, state="running", so_far=look.score, out_of=look.out_of, dollars=look.dollars
        )


def _changed(run: Path) -> _Changed:
    stats = []
    try:
        side = ("events.jsonl", "forks.jsonl", "results.json", "environment.json")
        for path in [*(run / name for name in side), *(run / "isolated").glob("*.jsonl")]:
            with suppress(OSError, RuntimeError):
                stats.append(path.stat())
    except OSError:  # an unreadable folder
        pass
    return _Changed(max((s.st_mtime for s in stats), default=0.0), sum(s.st_size for s in stats))


def state_of(run: Path) -> RunState:
    """Return a run's state; `unreadable` if it cannot be read."""
    try:
        manifest = read_manifest(run)
        paths = conversations(run, manifest)
        done = sum(map(_ended, paths))
        state = _planned(run.name, manifest, environment_of(run), done, all(map(is_finished, paths)))
        return replace(state, report=has_page(run), **_figures_in(run / FILE))
    except Exception as error:  # one unreadable run, for whatever reason, is one bad row
        return _unreadable(run.name, error)


def states_at(url: str) -> Iterator[RunState]:
    """Yield the states of the runs below a URL, from the first lines of their logs and what lies beside them.

    Without results it is not known whether a run is finished. Raises RunIncomplete if the URL cannot be reached.
    """
    for run in Remote(url).runs("environment.json", FILE):
        try:
            manifest = manifest_in(run.head, run.name)
            environment = json_of(run.contents.get("environment.json", b"{}"))
            results = json_of(run.contents[FILE]) if is_newest(run.changed) else None
            done = 0 if results is None or results["outcomes"].get("not_reached") else None
            state = _planned(run.name, manifest, environment, done)
            page = PAGES[0] in run.changed and SUMS not in run.changed
            yield replace(state, report=page, **({} if results is None else _figures(results)))
        except Exception as error:  # one unreadable run, for whatever reason, is one bad row
            yield _unreadable(run.name, error)


def _planned(
    name: str, manifest: Manifest, environment: Mapping[str, Any], done: int | None, finished: bool = True
) -> RunState:
    """Return the state of a run as far as its manifest, its environment and the ended examples (None: all) tell it."""
    planned = sum(entry.examples for entry in manifest.suite.scenarios)
    done = planned if done is None else done
    started, tags = environment.get("started"), environment.get("tags")
    return RunState(
        name=name,
        agent=manifest.agent.name,
        suite=manifest.suite.title,
        span=manifest.span,
        seed=manifest.seed,
        done=done,
        planned=planned,
        state="finished" if done >= planned and finished else "unfinished",
        free=manifest.agent.free,
        started=str(started[0]) if isinstance(started, list) and started else "",
        tags={str(k): str(v) for k, v in tags.items()} if isinstance(tags, dict) else {},
    )


def _unreadable(name: str, error: Exception) -> RunState:
    return RunState(name=name, agent=f"unreadable: {error or type(error).__name__}")


def has_page(run: Path) -> bool:
    """Whether a run has a page that can be shown."""
    return (run / "report.html").exists() and pages_are_own(run)


def _ended(path: Path) -> int:
    """Return the number of ended examples in a log, which can be large."""
    with opened(path) as file:
        return sum(line.startswith(b'{"event":"ended"') for line in lines_of(file, LINE))


def _figures(results: Any) -> dict[str, Any]:
    """Return score, interval, verdict and cost from results. Raises any error of their form."""
    interval, dollars = results["interval"], results["costs"]["dollars"]
    return {
        "score": float(results["score"]) if results["complete"] else None,
        "out_of": int(results["out_of"]),
        "interval": None if interval is None else (float(interval["low"]), float(interval["high"])),
        "verdict": str(results.get("verdict", "")),
        "dollars": None if dollars is None else float(dollars),
    }


def _figures_in(path: Path) -> dict[str, Any]:
    """Return the figures of a results.json, or why they cannot be read."""
    try:
        return _figures(json_of(content_of(path)))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        return {"problem": f"{path.name} is unreadable: {error or type(error).__name__}"}
