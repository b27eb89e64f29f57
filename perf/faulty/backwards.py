"""Knows everything, and writes it in a form that nobody reads."""

from typing import Any

from ltm_bench import Message, Reply
from ltm_bench.plugins.agents import agent_class

Reference: Any = agent_class("reference")


class Backwards(Reference):  # type: ignore[misc]  # it is loaded by path, so its type is not known
    """Knows everything, and writes it in a form that nobody reads."""

    def _answer(self, message: Message) -> Reply:
        said = super()._answer(message).text[::-1]
        return Reply(
            f"Well, {said} is how I would put it if you asked me to say it in a way of my own today."
        )
