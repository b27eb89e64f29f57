"""The system under test, as the benchmark sees it. An adapter subclasses `Agent` and writes `reply`.

Everything else is optional. Attributes of the *instance* declare what an agent can do, since that often depends
on its settings: `free`, `metered`, `interactive`, `observes`, `writes_in_reply`, `forks`, `keeps_users`,
`uses`, `answers_early`, `can_reopen`, `max_bytes`, `connections`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Literal

from ltm_bench.core.messages import Message, Reply, Turn, Usage

REPLY = 4_000_000
"""Bytes of an answer that holds a reply, unless an agent's `max_bytes` says otherwise."""

Forks = Literal["no", "snapshot", "barrier"]
"""Whether an agent can answer a question on the side, outside the conversation (see `Agent.fork`).

`snapshot`: the answer depends only on what `fork` froze. `barrier`: it must also be awaited before the agent
gets another message.
"""


@dataclass(frozen=True, slots=True)
class Memory:
    """Something that an agent's memory holds, or that its retrieval would return."""

    text: str
    at: datetime | None = None
    """The benchmark's time at which it was stored."""
    turn: int | None = None
    """The turn that it came from; the last one, if it came from several at once."""
    relevance: float | None = None
    """Higher is nearer; the scale is the agent's own."""
    id: str | None = None
    """What the agent's store calls it."""
    user: str | None = None
    """The user it belongs to, for agents that keep users apart."""
    since: int | None = None
    """The first of the turns that it came from, if it came from a whole session at once."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `ltm-bench doctor` reports about an agent."""

    ok: bool
    text: str
    lacks: bool = False
    """Whether an optional feature is missing."""


SessionKey = tuple[str | None, str]
"""The key that all turns of a session share: example and session."""


def session_of(turn: Turn) -> SessionKey | None:
    """Return the session key of a turn; None for a turn outside any session."""
    return None if turn.session is None else (turn.example, turn.session)


@dataclass(frozen=True)
class UsageModel:
    """What `ltm-bench estimate` needs to simulate the usage of a chat model in a window."""

    model: str | None
    provider: str | None
    """Whose prices apply; None if unknown."""
    system: str
    window: int
    """The model's context window, in its own tokens."""
    max_output: int
    """Maximum tokens of one reply, in the model's own tokens."""
    writes_cost: bool = False
    """Whether writing to the prompt cache is priced separately (Anthropic)."""
    ratio: float = 1.0
    """The model's tokens per token of the benchmark's counter, at worst; the adapter fills its window by this ratio."""
    truncate: str = "step"
    """As in `ltm_bench.adapters.Window`."""
    keep: float = 0.75
    """As in `ltm_bench.adapters.Window`."""
    assumed: bool = False
    """Whether the window is only assumed: no setting gives it, and the server is not the vendor's own."""

    @property
    def room(self) -> int:
        """Maximum tokens of a prompt, by the benchmark's counter."""
        return int((self.window - self.max_output) / self.ratio)


class Agent:
    """One conversational agent in one conversation. Settings are keyword arguments of the constructor.

    Methods are called one at a time, in the order of the conversation. Adapters raise `AgentError` when they
    cannot reply; they never answer "no response".
    """

    free: bool = False
    """True for agents that run on this machine and cost nothing; otherwise a missing usage is an unknown cost."""

    interactive: bool = False
    """True for agents that talk to a person at this terminal: no progress bar is drawn over them."""

    told_ideal: bool = False
    """True for `perfect` and `reference` alone: their messages carry the ideal reply, and the line that it answers."""

    observes: bool = False
    """Whether the agent receives turns that it is not asked to answer. True for classes that override `observe` or
    `observe_session`.

    Observing costs no call; an agent that does not observe is asked everything, filler included. An adapter may
    set it on the instance if its settings decide, or if it remembers nothing.
    """

    metered: bool = False
    """Whether all its requests go through the toolkit's HTTP client, so that each attempt is budgeted."""

    writes_in_reply: bool = False
    """Whether it decides what to remember while replying, for example with memory tools or a scratchpad.

    Such an agent does not remember an observed message the way it remembers one that it answers.
    """

    forks: Forks = "no"
    """Whether `fork` can be called, and what its answers depend on."""

    keeps_users: bool = False
    """Whether the agent keeps the users named in `Message.user` apart."""

    uses: int | None = None
    """How many of the memories that `recall` gives it uses for an answer; None if it cannot say.

    What lies beyond them counts as not retrieved.
    """

    answers_early: bool = True
    """Whether a message with `settle=False` is answered from what can be read by then, without waiting for indexers.

    False for classes that override `settle` and do not declare it: nobody knows how long their replies wait.
    """

    left: str = ""
    """What it left behind when it was closed, as a sentence: a run says so. Empty for nothing."""

    can_reopen: bool = False
    """Whether another instance can go on from what this one kept when it was closed (`reopen`)."""

    max_bytes: int = REPLY
    """The most bytes of an answer with a reply that are read from outside. Every adapter has it as a setting."""

    connections: str
    """What its calls connect to: a server's URL or a vendor's host. Defaults to the adapter's name.

    A sweep limits concurrent calls across all agents that share a connection.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = cls.__dict__
        if "connections" not in own:
            cls.connections = cls.__module__.rpartition(".")[2]
        if "observes" not in own and ("observe" in own or "observe_session" in own):
            cls.observes = True
        if "answers_early" not in own and "settle" in own:
            cls.answers_early = False

    # A conversation

    async def open(self, home: Path) -> None:
        """Get ready; `home` is this agent's own folder inside the run. Called once, first."""

    async def reply(self, message: Message) -> Reply:
        """Answer a message. The only required method."""
        raise TypeError(f"the adapter {type(self).__name__} does not define reply()")

    async def observe(self, turn: Turn) -> None:
        """Take in a turn without answering it (scripted filler, replay)."""
        if self.takes_sessions:  # a session of a single turn
            await self.observe_session((turn,))

    async def observe_session(self, turns: Sequence[Turn]) -> None:
        """Take in a whole session at once, for memories that store sessions. The default observes turn by turn.

        Public sets consist of sessions. Every turn carries the session's date; a long session has several
        turns. Each line of a text names its speaker. Turns outside any session go to `observe`.
        """
        for turn in turns:
            await self.observe(turn)

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Return to the state after these turns. Called once, after `open`, when a run resumes.

        The default observes each turn, or each session if the agent takes sessions. Agents with a durable
        memory cut it back to these turns, or raise CannotResume.
        """
        for session, together in groupby(turns, key=session_of):
            if session is not None and self.takes_sessions:
                await self.observe_session(tuple(together))
            else:
                for turn in together:
                    await self.observe(turn)

    async def reopen(self, home: Path, turns: Sequence[Turn], since: int) -> None:
        """Go on from what an earlier instance left in `home` when it was closed, in place of `open` and `restore`.

        Only what the memory kept by itself counts: what was said before it was closed is not told again. The default is
        for agents that remember nothing.

        Args:
            home: As for `open`.
            turns: All turns of the log.
            since: The number of those that were said before. A resumed run has later ones: those that the memory lacks
                are told.
        """
        await self.open(home)

    async def settle(self) -> None:
        """Wait until everything that was said can be retrieved (asynchronous indexers). Called before a question."""

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze the prompt for `message` and return a call that answers it outside the conversation.

        The first await settles, retrieves and freezes, and writes nothing; the returned call answers from the frozen
        prompt and touches no state of the agent. Raises NotImplementedError if `forks` is `no`.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot be forked")

    async def close(self) -> None:
        """Close connections and files. Called once, last."""

    # Its memory

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return what retrieval gives for `query`. Raises NotImplementedError if the agent has no retrieval."""
        raise NotImplementedError(f"{type(self).__name__} has no retrieval to ask")

    def memories(self) -> AsyncIterator[Memory]:
        """Iterate over everything in the store. Raises NotImplementedError if it cannot be listed."""
        raise NotImplementedError(f"{type(self).__name__} cannot list its memories")

    async def forget(self, query: str) -> int:
        """Delete what the store holds about `query`, for every user, and return the number of memories deleted.

        A resumed run must not have them again, although its log does; it may call this a second time. Raises
        NotImplementedError if the agent cannot delete.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot forget on request")

    # What the benchmark asks about it

    @property
    def takes_sessions(self) -> bool:
        """Whether it overrides `observe_session`."""
        return type(self).observe_session is not Agent.observe_session

    @property
    def can_be_told(self) -> bool:
        """Whether a resumed run can tell it what was said before."""
        return self.observes or type(self).restore is not Agent.restore

    def reserve(self, message: Message) -> Usage | None:
        """Return an upper bound on the usage of a reply to `message`, for --max-cost; None if unknown."""
        return None

    def usage_model(self) -> UsageModel | None:
        """Return what a simulation of its use needs, for `ltm-bench estimate`; None if it cannot be simulated."""
        return None

    async def find_window(self) -> int | None:
        """Ask the server for a window that no setting gives, and return it; None if there is nothing to find.

        Makes no paid call and never raises. Called before `open`; the run's agents then get it as a setting.
        """
        return None

    async def examine(self) -> Sequence[Finding]:
        """Check that this agent can work (key, model, retirement) without a paid call. Called after `open`."""
        return ()
