"""Who is told how a run goes on."""

from __future__ import annotations

from typing import Protocol

from ltm_bench.core.messages import Turn, Verdict
from ltm_bench.schedule import Ended
from ltm_bench.script.scenario import Example


class Observer(Protocol):
    """Hears what happens, as it happens, including the events that the log already holds."""

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Hear that a message was answered; `position` counts the tokens of the conversation so far."""

    def verdict(self, example: Example, verdict: Verdict) -> None:
        """Hear the verdict on a question."""

    def ended(self, ended: Ended) -> None:
        """Hear that an example said its last message."""


class Silent:
    """An observer that does nothing."""

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Do nothing."""

    def verdict(self, example: Example, verdict: Verdict) -> None:
        """Do nothing."""

    def ended(self, ended: Ended) -> None:
        """Do nothing."""
