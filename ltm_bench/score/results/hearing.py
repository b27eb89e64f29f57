"""How much of a conversation reached the agent."""

from __future__ import annotations

from pydantic import BaseModel


class Heard(BaseModel, frozen=True):
    """How many tokens of a conversation reached the agent, and how; messages and replies together."""

    asked: int = 0
    """In turns that it was asked to answer."""
    observed: int = 0
    """In turns that a script answered for it (filler, needles) and that it observed."""
    missed: int = 0
    """In turns that never reached it."""

    @property
    def tokens(self) -> int:
        """What reached it."""
        return self.asked + self.observed

    @property
    def whole(self) -> int:
        """All of the conversation."""
        return self.tokens + self.missed
