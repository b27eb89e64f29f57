"""Compaction: while it replies, a provider replaces the conversation so far by something shorter.

The replacement comes with the reply, in the provider's own form, and is sent back with every later request: it is all
that the model still has of the older conversation. The run's log holds only the text of a reply, so the replacement is
kept in a separate file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ltm_bench.adapters.ledger import fingerprint
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Message, Reply, Turn

SUMMARY = 20_000
"""Assumed maximum tokens of a replacement; no provider states one."""


@dataclass(frozen=True, slots=True)
class Compacted(Reply):
    """A reply with which the provider replaced everything before it by something shorter."""

    said: tuple[Mapping[str, Any], ...] = ()
    """The reply as it is sent back: messages in the provider's form, including the replacement for everything older."""
    tokens: int = 0
    """Their approximate length, by our counter."""


class Compactions:
    """The replacements and the turns that they came with; in a file, so that a run can be resumed."""

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
        """Record the replacement that came with a reply, if any."""
        if isinstance(reply, Compacted):
            turn = fingerprint(Turn(message, reply))
            self._kept[turn] = (reply.said, reply.tokens)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([turn, reply.said, reply.tokens]) + "\n")

    def found(self, turn: Turn) -> Reply:
        """Return a turn's reply with its replacement, if there was one."""
        kept = self._kept.get(fingerprint(turn)) if turn.answered == "agent" and self._kept else None
        if kept is None:
            return turn.reply
        plain = {field.name: getattr(turn.reply, field.name) for field in fields(Reply)}
        return Compacted(**plain, said=kept[0], tokens=kept[1])
