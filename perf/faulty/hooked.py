"""`reference` with hooks: they show what is written, and what a question's own words find."""

from collections.abc import Sequence
from typing import Any

from ltm_bench import Memory, Message
from ltm_bench.plugins.agents import agent_class

Reference: Any = agent_class("reference")


class Hooked(Reference):  # type: ignore[misc]  # it is loaded by path, so its type is not known
    """A reference memory with hooks: they show what is written, and what a question's own words find."""

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return what is written and found; a needle's own words always find it."""
        every = [each for told in self._told.values() for each in told if not self._chance("loses", each.key)]
        return [
            Memory(each.said, each.at)
            for each in every
            if each.said == query or not self._chance("finds", f"{query} {each.key}")
        ]

    def _knows(self, fact: Any, message: Message) -> bool:
        asked = message.line.text if message.line is not None and isinstance(message.line.text, str) else ""
        help_ = message.text.replace(asked, "", 1)
        if fact.said in help_:
            return True
        found = bool(help_) or not self._chance("finds", f"{asked} {fact.key}")
        return found and not self._chance("loses", fact.key)
