"""Knows everything, and says so by chance alone."""

from typing import Any

from ltm_bench import Dice, Message, Reply
from ltm_bench.plugins.agents import agent_class

Reference: Any = agent_class("reference")


class Fickle(Reference):  # type: ignore[misc]  # it is loaded by path, so its type is not known
    """Knows everything, and says so by chance alone."""

    calls = 0

    def _answer(self, message: Message) -> Reply:
        self.calls += 1
        lucky = Dice(f"{message.stream} {self.calls} {message.text}").chance(0.4)
        return super()._answer(message) if lucky else Reply("I do not know.")
