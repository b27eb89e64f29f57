"""Observers of a run's progress."""

from typing import Protocol

from ltm_bench.core.messages import Ask, Turn, Verdict
from ltm_bench.schedule.scheduler import Completed
from ltm_bench.script.scenario import Example


class Observer(Protocol):
    """Gets events as they happen, including those replayed from the log."""

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Note that a message was answered; `position` is the tokens of the conversation so far."""

    def verdict(self, example: Example, asked: Ask, verdict: Verdict) -> None:
        """Note the verdict on a question."""

    def ended(self, ended: Completed) -> None:
        """Note that an example said its last message."""


class Silent:
    """An observer that does nothing."""

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Do nothing."""

    def verdict(self, example: Example, asked: Ask, verdict: Verdict) -> None:
        """Do nothing."""

    def ended(self, ended: Completed) -> None:
        """Do nothing."""
