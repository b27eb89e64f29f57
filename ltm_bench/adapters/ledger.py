"""What an external memory has heard, turn by turn, so that a run can be resumed.

A line is written before the memory hears a turn, and another one after. So turns that are not in the run's log, and
turns that the memory may have heard in part, can be told from the rest.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ltm_bench.adapters.files import write_whole
from ltm_bench.core.errors import CannotResume
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Turn, Usage


def fingerprint(turn: Turn) -> str:
    """Return what tells this turn from another one of the same number."""
    said = [turn.message.text, turn.reply.text, turn.message.at.isoformat()]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def name_in(home: Path) -> str:
    """Return a name that no other run has, for everything that this one keeps elsewhere; the same one when resumed."""
    kept = home / "name"
    if not kept.exists():
        write_whole(kept, f"ltm-bench-{uuid.uuid4().hex}")
    return kept.read_text("utf-8").strip()


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn that the memory has heard to its end."""

    turn: int
    said: str
    """The turn's fingerprint."""
    data: Any = None
    """What the adapter wants to know of it."""


class Ledger:
    """The turns that a memory has heard, in a file; lines are JSON: `[turn]` before, `[turn, said, data]` after."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.heard: list[Heard] = []
        self.begun: int | None = None
        """The turn that the memory may have heard a part of."""
        text = path.read_text("utf-8") if path.exists() else ""
        for line in text[: text.rfind("\n") + 1].splitlines():
            try:
                turn, *rest = json_of(line)
                if rest:
                    said, data = rest
                    self.heard.append(Heard(int(turn), str(said), data))
                self.begun = None if rest else int(turn)
            except (ValueError, TypeError) as error:
                raise CannotResume(
                    f"{path} is damaged: {line[:80]!r}; start the run again, with --fresh"
                ) from error
        if text and not text.endswith("\n"):  # a crash tore the last line; what it announced did not follow
            write_whole(path, text[: text.rfind("\n") + 1])

    def begin(self, turn: int) -> None:
        """Write down that the memory is about to hear this turn."""
        self._put([turn])
        self.begun = turn

    def finish(self, turn: Turn, data: Any = None) -> None:
        """Write down that the memory has heard this turn."""
        heard = Heard(turn.message.turn, fingerprint(turn), data)
        self._put([heard.turn, heard.said, heard.data])
        self.heard.append(heard)
        self.begun = None

    def agreed(self, turns: Sequence[Turn]) -> int:
        """Return how many turns, from the first on, the memory has heard exactly as the log has them."""
        count = 0
        for heard, turn in zip(self.heard, turns, strict=False):
            if (heard.turn, heard.said) != (turn.message.turn, fingerprint(turn)):
                break
            count += 1
        return count

    def clean(self, agreed: int) -> bool:
        """Whether the memory has heard nothing but so many turns: none after them, and none in part."""
        return self.begun is None and len(self.heard) == agreed

    def cut(self, count: int) -> None:
        """Keep the first turns only."""
        del self.heard[count:]
        self.begun = None
        write_whole(self._path, "".join(_line([each.turn, each.said, each.data]) for each in self.heard))

    def _put(self, row: list[Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(row))


class Tally:
    """What a memory's own calls have used, and which reply it is to be counted with: the next one.

    What turns used that were only observed is in the ledger, so that a run that is resumed still counts it.
    """

    def __init__(self) -> None:
        self._owed: list[Usage | None] = []
        self._turn: list[Usage | None] = []
        self.calls: list[Usage | None] = []
        """All of them, in order."""

    def add(self, usage: Usage | None) -> None:
        """Count one call; None: it is unknown what it used."""
        self._turn.append(usage)
        self.calls.append(usage)

    def turn(self) -> list[dict[str, Any] | None]:
        """Return what the turn that is now heard has used, for the ledger."""
        spent, self._turn = self._turn, []
        self._owed += spent
        return [None if each is None else {k: v for k, v in asdict(each).items() if v} for each in spent]

    def owe(self, turns: Sequence[Turn], spent: Sequence[Sequence[dict[str, Any] | None]]) -> None:
        """Take up what the last of these turns used, if no reply has come after them."""
        self._owed, self._turn = [], []
        for turn, calls in zip(reversed(turns), reversed(spent), strict=True):
            if turn.billed:
                break
            self._owed += [None if call is None else Usage(**call) for call in calls]

    def settle(self, reply: Usage | None) -> Usage | None:
        """Return what a reply and everything since the last one used; None if a part of it is unknown.

        What another model embedded, and so wrote nothing, stands beside what the models wrote.
        """
        calls, self._owed, self._turn = [*self._owed, *self._turn], [], []
        return _together(calls, reply)

    def apart(self) -> Callable[[Usage | None], Usage | None]:
        """Take the calls since the last turn out of what is owed; return what adds them to a forked reply's usage."""
        calls, self._turn = self._turn, []
        return partial(_together, calls)


def _together(calls: Sequence[Usage | None], reply: Usage | None) -> Usage | None:
    known = [usage for usage in calls if usage is not None]
    if reply is None or len(known) < len(calls):
        return None
    total, beside = reply, dict[str | None, Usage]()
    for usage in known:
        if usage.output or usage.model == reply.model:
            total += usage
        else:
            beside[usage.model] = beside[usage.model] + usage if usage.model in beside else usage
    return replace(total, besides=(*total.besides, *beside.values()))


def _line(row: list[Any]) -> str:
    return json.dumps(row) + "\n"
