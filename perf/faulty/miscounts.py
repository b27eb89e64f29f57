"""Knows everything, and counts double."""

import re
from typing import Any

from ltm_bench import Message, Reply
from ltm_bench.plugins.agents import agent_class

Reference: Any = agent_class("reference")


class Miscounts(Reference):  # type: ignore[misc]  # it is loaded by path, so its type is not known
    """Knows everything, and counts double."""

    def _answer(self, message: Message) -> Reply:
        reply = super()._answer(message)
        return Reply(re.sub(r"\d+", lambda number: str(2 * int(number[0])), reply.text))
