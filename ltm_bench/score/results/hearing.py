"""How much of a conversation reached the agent, and how."""

from pydantic import BaseModel

from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.manifest import Manifest


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


class Hearing:
    """Counts the tokens of turns by how they reached the agent."""

    def __init__(self, manifest: Manifest) -> None:
        self._live_filler = manifest.filler.mode == "live"
        self._observes = manifest.agent.observes
        self._asked = self._scripted = 0
        self.filler = 0
        """Tokens of filler."""

    def add(self, sent: Sent, replied: Replied) -> bool:
        """Add a turn; return whether the agent replied itself."""
        tokens = sent.tokens + replied.tokens
        if sent.kind == "fill":
            self.filler += tokens
        itself = replied.answered is None and (sent.kind != "fill" or self._live_filler)
        self._asked += tokens if itself else 0
        self._scripted += 0 if itself else tokens
        return itself

    @property
    def heard(self) -> Heard | None:
        """What reached the agent; None if the log does not record it."""
        if self._scripted and self._observes is None:
            return None
        observed = self._scripted if self._observes else 0
        return Heard(asked=self._asked, observed=observed, missed=self._scripted - observed)

    @property
    def of_filler(self) -> str:
        """How filler reached the agent, in brief."""
        if not self.filler:
            return "no filler"
        if self._live_filler:
            return "asked"
        return {None: "not recorded", True: "observed", False: "not heard"}[self._observes]
