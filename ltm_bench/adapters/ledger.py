"""What an external memory has heard, turn by turn, so that a run can be resumed.

One line is written before the memory hears a turn, and one after. That identifies turns that are not in the run's log,
and turns that the memory may have heard in part.
"""

import hashlib
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.adapters.files import write_whole
from ltm_bench.core.errors import CannotResume
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Turn, Usage
from ltm_bench.log.events import usage_data, usage_of


def fingerprint(turn: Turn) -> str:
    """Return a hash that distinguishes this turn from others with the same number."""
    said = [turn.message.text, turn.reply.text, turn.message.at.isoformat()]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def name_in(home: Path) -> str:
    """Return a name unique to this run, for everything it keeps elsewhere; a resumed run gets the same one."""
    kept = home / "name"
    if not kept.exists():
        write_whole(kept, f"ltm-bench-{uuid.uuid4().hex}")
    return kept.read_text("utf-8").strip()


class HeardTurn(NamedTuple):
    """A turn that the memory has heard completely."""

    turn: int
    said: str
    """The turn's fingerprint."""
    data: Any = None
    """The adapter's own data about it."""


class Ledger:
    """The turns that a memory has heard, in a file; lines are JSON: `[turn]` before, `[turn, said, data]` after."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.heard: list[HeardTurn] = []
        self.begun: int | None = None
        """The turn that the memory may have heard in part."""
        text = path.read_text("utf-8") if path.exists() else ""
        for line in text[: text.rfind("\n") + 1].splitlines():
            try:
                turn, *rest = json_of(line)
                if rest:
                    said, data = rest
                    self.heard.append(HeardTurn(int(turn), str(said), data))
                self.begun = None if rest else int(turn)
            except (ValueError, TypeError) as error:
                raise CannotResume(
                    f"{path} is damaged: {line[:80]!r}; start the run again, with --fresh"
                ) from error
        if text and not text.endswith("\n"):  # a crash tore the last line; nothing followed it
            write_whole(path, text[: text.rfind("\n") + 1])

    def begin(self, turn: int) -> None:
        """Record that the memory is about to hear this turn."""
        self._put([turn])
        self.begun = turn

    def finish(self, turn: Turn, data: Any = None, *, with_it: Sequence[Turn] = ()) -> None:
        """Record that the memory has heard this turn, and those before it that it heard in the same call.

        For the earlier ones the ledger has no data: the adapter's data goes with the last one.
        """
        together = [HeardTurn(each.message.turn, fingerprint(each)) for each in with_it]
        together.append(HeardTurn(turn.message.turn, fingerprint(turn), data))
        self._put(*([each.turn, each.said, each.data] for each in together))
        self.heard += together
        self.begun = None

    def agreed(self, turns: Sequence[Turn]) -> int:
        """Return how many turns from the start the memory has heard exactly as logged."""
        count = 0
        for heard, turn in zip(self.heard, turns, strict=False):
            if (heard.turn, heard.said) != (turn.message.turn, fingerprint(turn)):
                break
            count += 1
        return count

    def clean(self, agreed: int) -> bool:
        """Whether the memory has heard exactly the agreed turns: none after them, and none in part."""
        return self.begun is None and len(self.heard) == agreed

    def whole(self, count: int) -> int:
        """Return how many of the first `count` turns are left without the calls that are not wholly among them."""
        while count and self.heard[count - 1].data is None:
            count -= 1
        return count

    def cut(self, count: int) -> None:
        """Keep only the first turns."""
        del self.heard[count:]
        self.begun = None
        write_whole(self._path, "".join(_line([each.turn, each.said, each.data]) for each in self.heard))

    def _put(self, *rows: list[Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write("".join(map(_line, rows)))


class Tally:
    """The usage of a memory's own calls, which is billed with its next reply.

    Usage of observed turns is in the ledger, so that a resumed run still counts it.
    """

    def __init__(self) -> None:
        self._owed: list[Usage | None] = []
        self._turn: list[Usage | None] = []
        self.calls: list[Usage | None] = []
        """All of them, in order."""

    def add(self, usage: Usage | None) -> None:
        """Count one call; None if its usage is unknown."""
        self._turn.append(usage)
        self.calls.append(usage)

    def turn(self) -> list[dict[str, Any] | None]:
        """Return the usage of the current turn, for the ledger."""
        spent, self._turn = self._turn, []
        self._owed += spent
        return [None if each is None else usage_data(each) for each in spent]

    def owe(self, turns: Sequence[Turn], spent: Sequence[Sequence[dict[str, Any] | None]]) -> None:
        """Owe the usage of these turns that no reply has billed yet."""
        self._owed, self._turn = [], []
        for turn, calls in zip(reversed(turns), reversed(spent), strict=True):
            if turn.billed:
                break
            self._owed += map(usage_of, calls)

    def settle(self, reply: Usage | None) -> Usage | None:
        """Return the usage of a reply and of everything since the last one; None if any of it is unknown.

        Embeddings of another model are kept in `besides`.
        """
        calls, self._owed, self._turn = [*self._owed, *self._turn], [], []
        return _together(calls, reply)

    def apart(self) -> Callable[[Usage | None], Usage | None]:
        """Take the calls since the last turn out of the debt; return a function that adds them to a fork's usage."""
        calls, self._turn = self._turn, []
        return partial(_together, calls)


def _together(calls: Sequence[Usage | None], reply: Usage | None) -> Usage | None:
    known = [usage for usage in calls if usage is not None]
    if reply is None or len(known) < len(calls):
        return None
    own, beside = [reply], dict[str | None, list[Usage]]()
    for usage in known:
        (own if usage.output or usage.model == reply.model else beside.setdefault(usage.model, [])).append(
            usage
        )
    total = Usage.of(own)
    return replace(total, besides=(*total.besides, *map(Usage.of, beside.values())))


def _line(row: list[Any]) -> str:
    return json.dumps(row) + "\n"
