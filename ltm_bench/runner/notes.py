"""Notes on every call in the side file `timings.jsonl`: when it began, how long it took, what it may have cost."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ltm_bench.adapters.http import Traffic
from ltm_bench.adapters.operations import Done
from ltm_bench.core.budget import NOTHING, Mark
from ltm_bench.log.events import usage_data
from ltm_bench.log.journal import Journal
from ltm_bench.runner.unsettled import Doubt, doubt_about


class Notes:
    """The notes of one conversation's calls, in a side file that all conversations of a run share."""

    def __init__(self, journal: Journal, conversation: str | None) -> None:
        self._journal = journal
        self._conversation = conversation

    def caught_up(self, turn: int, *, untold: bool) -> None:
        """Note that the agent is about to get its first turn from this process, and whether it lacks earlier ones."""
        self._journal.put(
            self._where(turn) | {"resumed" if turn else "begun": True} | ({"untold": True} if untold else {})
        )

    def did(self, turn: int, done: Sequence[Done]) -> None:
        """Note operations of the agent that belong to no reply."""
        self._journal.put(self._where(turn) | _operations(done))

    def doubt_about(self, turn: int) -> Doubt:
        """Return what is known about a call whose message is logged and whose reply is not."""
        return doubt_about(self._journal.path, self._where(turn))

    def doubted(self, turn: int, lost: Decimal) -> None:
        """Note that the agent has heard, or may have heard, a turn or fork that it now gets again."""
        self._journal.put(self._where(turn) | {"doubtful": True} | _charged(lost))

    def mark(self, turn: int, mark: Mark, price: Decimal) -> None:
        """Note the state of an attempt, so that after a crash it is known what it may have cost."""
        if mark == "sending":
            reserved = {"reserved": float(price)} if price else {}
            self._journal.put(self._where(turn) | {mark: True} | reserved)
            return
        self._journal.put(self._where(turn) | {mark: True} | _charged(price))
        # A charge that a power failure took back would be spent a second time.
        if price:
            self._journal.sync()

    def call(
        self,
        turn: int,
        name: str,
        seconds: float,
        heard: Traffic,
        charged: Decimal = NOTHING,
        operations: Sequence[Done] = (),
        since_told: float | None = None,
    ) -> None:
        """Note a call that has ended.

        Args:
            turn: The number of the turn or fork.
            name: `seconds` for a reply, `failed_after` for none.
            seconds: How long it took.
            heard: The attempts at sending it.
            charged: The charge for a reply that does not report its usage.
            operations: The agent's operations for it.
            since_told: Seconds from what was told to this question, if it did not wait for indexers.
        """
        record = self._where(turn) | {name: round(seconds, 6)} | _charged(charged) | _operations(operations)
        if since_told is not None:
            record["since_told"] = round(since_told, 6)
        if heard.attempts:
            record["attempts"] = [attempt.record() for attempt in heard.attempts]
        self._journal.put(record)

    def _where(self, turn: int) -> dict[str, Any]:
        """Return the fields by which a side file identifies a turn and its conversation."""
        return {"turn": turn} | ({"conversation": self._conversation} if self._conversation else {})


def _operations(done: Sequence[Done]) -> dict[str, Any]:
    """Return the side file's form of operations: name, seconds, and the usage of each model call."""
    rows = [
        [each.name, round(each.seconds, 6), [usage and usage_data(usage) for usage in each.usage]]
        for each in done
    ]
    return {"operations": rows} if rows else {}


def _charged(price: Decimal) -> dict[str, float]:
    return {"dollars": float(price)} if price else {}
