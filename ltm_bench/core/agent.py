"""The system under test, as the benchmark sees it. An adapter subclasses `Agent` and writes `reply`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from ltm_bench.core.messages import Message, Reply, Turn, Usage


@dataclass(frozen=True, slots=True)
class Memory:
    """Something that an agent's retrieval would return."""

    text: str
    at: datetime | None = None
    """The benchmark's time at which it was stored."""
    turn: int | None = None
    """The turn that it came from."""
    relevance: float | None = None
    """Higher is nearer; the scale is the agent's own."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that an agent found out about itself, for `ltm-bench doctor`."""

    ok: bool
    text: str


class Agent:
    """One conversational agent in one conversation. Settings are keyword arguments of the constructor.

    Methods are called one at a time, in the order of the conversation. Adapters raise `AgentError` when they
    cannot reply; they never answer "no response".
    """

    free: ClassVar[bool] = False
    """True for agents that run on this machine and cost nothing; otherwise a missing usage is an unknown cost."""

    interactive: ClassVar[bool] = False
    """True for agents that talk with somebody at this terminal, so that no progress is drawn over it."""

    told_ideal: ClassVar[bool] = False
    """True for `perfect` alone: its messages carry the ideal reply."""

    async def open(self, home: Path) -> None:
        """Get ready; `home` is a folder of this agent's own inside the run. Called once, before all else."""

    async def reply(self, message: Message) -> Reply:
        """Answer a message. The only method that must be written."""
        raise TypeError(f"the adapter {type(self).__name__} does not define reply()")

    async def observe(self, turn: Turn) -> None:
        """Take a turn as having happened, without being asked (scripted filler, replay)."""

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Be as after these turns; called once after `open` when a run is resumed.

        The default observes each turn. Agents with a durable memory cut it back to these, or raise CannotResume.
        """
        for turn in turns:
            await self.observe(turn)

    async def settle(self) -> None:
        """Wait until everything that was said can be retrieved (asynchronous indexers). Called before a question."""

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return what retrieval would give for `query`; raises NotImplementedError where there is none."""
        raise NotImplementedError(f"{type(self).__name__} has no retrieval to ask")

    def reserve(self, message: Message) -> Usage | None:
        """Return the most that replying to `message` could use, for --max-cost; None where it is unknown."""
        return None

    async def examine(self) -> Sequence[Finding]:
        """Find out, without talking, whether this agent can work: key, model, retirement. Makes no paid call."""
        return ()

    async def close(self) -> None:
        """Let go of connections and files. Called once, at the end."""
