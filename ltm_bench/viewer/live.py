"""The state of an active run: its score so far, and the last turns.

Both come from the log, by the same fold that scores a finished run. Looking again at a grown log takes as long as
reading it, so looks are rationed: together they take at most a share of one processor.
"""

import time
from collections import deque
from collections.abc import Hashable
from pathlib import Path
from typing import NamedTuple

from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, is_finished, read_manifest
from ltm_bench.report.anchors import anchor
from ltm_bench.score.results.examples import Question
from ltm_bench.score.results.fold import TurnListener
from ltm_bench.score.results.scoring import score_run

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
