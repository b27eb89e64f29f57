"""Compaction: a provider replaces what a conversation has come to by something shorter, while it replies.

What it puts there comes with the reply, in the provider's own form, and goes back with every later request: it is all
that the model still has of what was before. The run's log has the text of a reply and no more, so it is kept in a file
beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ltm_bench.adapters.ledger import fingerprint
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Message, Reply, Turn

SUMMARY = 20_000
"""The most tokens that what a provider writes in place of a conversation is taken to have; none of them says."""


@dataclass(frozen=True, slots=True)
class Compacted(Reply):
    """A reply for which the provider has put something shorter in place of all that was before it."""

    said: tuple[Mapping[str, Any], ...] = ()
    """The reply as it is sent back: messages in the provider's form, what stands for everything older among them."""
    tokens: int = 0
    """About how many these are, as our counter has them."""


class Compactions:
    """What was put in place of a conversation, and by which turns; in a file, so that a run can be resumed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, tuple[tuple[Mapping[str, Any], ...], int]] = {}
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                turn, said, tokens = json_of(line)
                self._kept[str(turn)] = (tuple(said), int(tokens))
            except (ValueError, TypeError):  # torn by a crash; the reply that it belongs to is not in the log
                continue

    def note(self, message: Message, reply: Reply) -> None:
        """Write down what came with a reply, if anything did."""
        if isinstance(reply, Compacted):
            turn = fingerprint(Turn(message, reply))
            self._kept[turn] = (reply.said, reply.tokens)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([turn, reply.said, reply.tokens]) + "\n")

    def found(self, turn: Turn) -> Reply:
        """Return a turn's reply with what came with it, if that is known."""
        kept = self._kept.get(fingerprint(turn)) if turn.answered == "agent" and self._kept else None
        if kept is None:
            return turn.reply
        plain = {field.name: getattr(turn.reply, field.name) for field in fields(Reply)}
        return Compacted(**plain, said=kept[0], tokens=kept[1])
