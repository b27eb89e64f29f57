"""The system under test, as the benchmark sees it. An adapter subclasses `Agent` and writes `reply`.

Everything else is optional. What an agent can do is said by attributes of the *instance*, since it often depends on
the settings: `free`, `metered`, `interactive`, `observes`, `writes_in_reply`, `forks`, `keeps_users`, `connections`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Literal

from ltm_bench.core.messages import Message, Reply, Turn, Usage

Forks = Literal["no", "snapshot", "barrier"]
"""Whether an agent can answer a question on the side, outside the conversation (see `Agent.fork`).

`snapshot`: the answer depends only on what `fork` froze. `barrier`: it must also be awaited before anything else is
said to the agent.
"""


@dataclass(frozen=True, slots=True)
class Memory:
    """Something that an agent's memory holds, or that its retrieval would return."""

    text: str
    at: datetime | None = None
    """The benchmark's time at which it was stored."""
    turn: int | None = None
    """The turn that it came from."""
    relevance: float | None = None
    """Higher is nearer; the scale is the agent's own."""
    id: str | None = None
    """What the agent's store calls it."""
    user: str | None = None
    """Whose memory it is, for agents that keep users apart."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that an agent found out about itself, for `ltm-bench doctor`."""

    ok: bool
    text: str
    lacks: bool = False
    """Whether something is missing that an agent can do without."""


def session_of(turn: Turn) -> tuple[str | None, str] | None:
    """Return what the turns of one session have in common: example and session; None for a turn of no session."""
    return None if turn.session is None else (turn.example, turn.session)


@dataclass(frozen=True)
class UsageModel:
    """What the use of a chat model in a window depends on, so that `ltm-bench estimate` can simulate it."""

    model: str | None
    provider: str | None
    """Whose prices apply; None if unknown."""
    system: str
    window: int
    """The model's context window, in its own tokens."""
    max_output: int
    """The most tokens of one reply, in the model's own tokens."""
    writes_cost: bool = False
    """Whether writing to the prompt cache has a price of its own (Anthropic)."""
    ratio: float = 1.0
    """How many of the model's tokens one of ours can become, as its adapter reckons when it fills the window."""
    truncate: str = "step"
    """As in `ltm_bench.adapters.Window`."""
    keep: float = 0.75
    """As in `ltm_bench.adapters.Window`."""


class Agent:
    """One conversational agent in one conversation. Settings are keyword arguments of the constructor.

    Methods are called one at a time, in the order of the conversation. Adapters raise `AgentError` when they
    cannot reply; they never answer "no response".
    """

    free: bool = False
    """True for agents that run on this machine and cost nothing; otherwise a missing usage is an unknown cost."""

    interactive: bool = False
    """True for agents that talk to somebody at this terminal, so that no progress is drawn over it."""

    told_ideal: bool = False
    """True for `perfect` alone: its messages carry the ideal reply."""

    observes: bool = False
    """Whether a turn reaches the agent that it is not asked to answer. True for classes that override `observe` or
    `observe_session`.

    What the agent observes costs no call; an agent that does not observe is asked everything, filler included. An
    adapter whose settings decide sets it on the instance, and one that remembers nothing may set it, too.
    """

    metered: bool = False
    """Whether all its requests go through the toolkit's HTTP client, so that each is paid for by itself."""

    writes_in_reply: bool = False
    """Whether it decides what to remember while it replies, with memory tools or a scratchpad, say.

    A message that such an agent only observes is not remembered as one that it answers.
    """

    forks: Forks = "no"
    """Whether `fork` can be called, and what it promises."""

    keeps_users: bool = False
    """Whether the agent keeps the users apart that `Message.user` names."""

    connections: str
    """Whose connections its calls take: a server's URL or a vendor's host. By default, the adapter's own name.

    A sweep limits the calls that are under way at the same time, for all agents with the same connections together.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = cls.__dict__
        if "connections" not in own:
            cls.connections = cls.__module__.rpartition(".")[2]
        if "observes" not in own and ("observe" in own or "observe_session" in own):
            cls.observes = True

    # A conversation

    async def open(self, home: Path) -> None:
        """Get ready; `home` is a folder of this agent's own inside the run. Called once, before all else."""

    async def reply(self, message: Message) -> Reply:
        """Answer a message. The only method that must be written."""
        raise TypeError(f"the adapter {type(self).__name__} does not define reply()")

    async def observe(self, turn: Turn) -> None:
        """Take a turn as having happened, without being asked (scripted filler, replay)."""
        if self.takes_sessions:  # this one has a single turn
            await self.observe_session((turn,))

    async def observe_session(self, turns: Sequence[Turn]) -> None:
        """Take a whole session at once, for memories that store sessions. The default observes turn by turn.

        Records such as the public sets' consist of sessions. The turns have the session's date; a long session
        has several. Texts name who speaks, line by line. What belongs to no session goes to `observe`.
        """
        for turn in turns:
            await self.observe(turn)

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Return to the state after these turns; called once after `open` when a run is resumed.

        The default observes each turn, and each session at once where the agent takes sessions. Agents with a durable
        memory cut it back to these, or raise CannotResume.
        """
        for session, together in groupby(turns, key=session_of):
            if session is not None and self.takes_sessions:
                await self.observe_session(tuple(together))
            else:
                for turn in together:
                    await self.observe(turn)

    async def settle(self) -> None:
        """Wait until everything that was said can be retrieved (asynchronous indexers). Called before a question."""

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze the prompt for `message` and return a call that answers it outside the conversation.

        The first await settles, retrieves and freezes, and writes nothing; the returned call answers from the frozen
        prompt and touches no state of the agent. Raises NotImplementedError if `forks` is `no`.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot be forked")

    async def close(self) -> None:
        """Let go of connections and files. Called once, at the end."""

    # Its memory

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return what retrieval would give for `query`; raises NotImplementedError where there is none."""
        raise NotImplementedError(f"{type(self).__name__} has no retrieval to ask")

    def memories(self) -> AsyncIterator[Memory]:
        """Iterate over everything that the store holds; raises NotImplementedError where it cannot be listed."""
        raise NotImplementedError(f"{type(self).__name__} cannot list its memories")

    async def forget(self, query: str) -> int:
        """Delete what the store holds on `query` and return how many memories that were.

        Raises NotImplementedError if nothing can be deleted.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot forget on request")

    # What the benchmark asks about it

    @property
    def takes_sessions(self) -> bool:
        """Whether it has an `observe_session` of its own."""
        return type(self).observe_session is not Agent.observe_session

    @property
    def can_be_told(self) -> bool:
        """Whether a run that was interrupted can tell it what was said before."""
        return self.observes or type(self).restore is not Agent.restore

    def reserve(self, message: Message) -> Usage | None:
        """Return the most that replying to `message` could use, for --max-cost; None if unknown."""
        return None

    def usage_model(self) -> UsageModel | None:
        """Return what a simulation of its use needs, for `ltm-bench estimate`; None if there is none is possible."""
        return None

    async def examine(self) -> Sequence[Finding]:
        """Find out, without talking, whether this agent can work: key, model, retirement. Makes no paid call."""
        return ()
