"""Short conversations with an agent: tell it things, and see whether it knows them; every call has a deadline."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from ltm_bench.adapters.testing.faults import FaultKind
from ltm_bench.core.agent import Agent, Memory
from ltm_bench.core.messages import Message, Reply, Turn

Result = TypeVar("Result")

START = datetime(2026, 1, 5, 9, tzinfo=UTC)

MOST = 1000
"""Maximum memories read from a listing."""

NEAREST = 20
"""Memories requested from retrieval."""


class ToldFact(NamedTuple):
    """Something to tell and to ask for; its word occurs in no other text of these conversations."""

    told: str
    question: str
    word: str


PARROT = ToldFact("My parrot is called Zebedee.", "What is my parrot called?", "Zebedee")
BOAT = ToldFact("My boat is called Undine.", "What is my boat called?", "Undine")
TEACHER = ToldFact("My teacher is called Quillon.", "What is my teacher called?", "Quillon")
FACTS = (PARROT, BOAT, TEACHER)


class Broken(Exception):
    """The agent breaks a rule."""


class Absent(Exception):
    """The agent says that it lacks this hook."""


class Failing(Protocol):
    """A server that can fail on demand, as `Provider` can."""

    def failing(self, kind: FaultKind = "error", **details: object) -> AbstractContextManager[object]:
        """Fail every request inside the block: `hang`, or `error` with a status and a message."""


class Talk:
    """A conversation with an open agent, one message a minute."""

    def __init__(self, agent: Agent, home: Path, within: float) -> None:
        self.agent, self.home, self.turns = agent, home, list[Turn]()
        self.within = within

    async def call(self, name: str, made: Awaitable[Result]) -> Result:
        """Await a call of the agent. Raises Broken if it takes too long."""
        try:
            async with asyncio.timeout(self.within) as deadline:
                return await made
        except TimeoutError:
            if deadline.expired():
                raise Broken(f"{name} did not return within {self.within:g} seconds") from None
            raise

    def message(self, text: str, user: str | None = None) -> Message:
        """Return the next message, with the ideal reply for agents that are told it."""
        turn = len(self.turns)
        ideal = self._ideal(text) if self.agent.told_ideal else None
        return Message(text, START + timedelta(minutes=turn), turn, ideal, user)

    def _ideal(self, text: str) -> str:
        told = [fact for fact in FACTS if any(fact.told in turn.message.text for turn in self.turns)]
        asked = [fact.word for fact in told if fact.question in text]
        return asked[0] if asked else "Noted."

    async def say(self, text: str, user: str | None = None) -> Reply:
        """Say something, and return the reply."""
        message = self.message(text, user)
        reply = await self.call("reply()", self.agent.reply(message))
        if not isinstance(reply, Reply) or not isinstance(reply.text, str):
            raise Broken(f"reply() returned {_kind(reply)}, not a Reply with a text")
        self.turns.append(Turn(message, reply))
        return reply

    def scripted(self, text: str) -> Turn:
        """Return the next turn, answered by a script; the agent does not observe it."""
        return Turn(self.message(text), Reply("Noted."), "fill", answered="script")

    async def observe(self, text: str) -> None:
        """Let the agent observe a turn that a script answers."""
        turn = self.scripted(text)
        await self.call("observe()", self.agent.observe(turn))
        self.turns.append(turn)

    async def observe_session(self, *facts: ToldFact) -> None:
        """Let the agent observe a session of facts at once."""
        turns: list[Turn] = []
        for fact in facts:
            message = self.message(fact.told)
            turns.append(Turn(message, Reply("Noted."), "tell", "talk/0", "script", session="1"))
            self.turns.append(turns[-1])
        await self.call("observe_session()", self.agent.observe_session(tuple(turns)))

    async def tell(self, *facts: ToldFact) -> None:
        """Tell facts."""
        for fact in facts:
            await self.say(fact.told)

    async def restore(self, turns: Sequence[Turn]) -> None:
        """Restore the agent to these turns."""
        await self.call("restore()", self.agent.restore(turns))
        self.turns = list(turns)

    async def fork(self, text: str, user: str | None = None) -> Callable[[], Awaitable[Reply]]:
        """Freeze a question beside the conversation; the returned call has a deadline, too."""
        answer = await self.call("fork()", self.agent.fork(self.message(text, user)))

        async def answered() -> Reply:
            reply = await self.call("a fork's call", answer())
            if not isinstance(reply, Reply):
                raise Broken(f"a fork's call returned {_kind(reply)}, not a Reply")
            return reply

        return answered

    async def recall(self, query: str) -> Sequence[Memory]:
        """Return what retrieval gives. Raises Absent, or Broken if that is not a sequence of memories."""
        try:
            found = await self.call("recall()", self.agent.recall(query, NEAREST))
        except NotImplementedError:
            raise Absent("has no retrieval to ask") from None
        if not isinstance(found, Sequence) or isinstance(found, str):
            raise Broken(f"recall() returned {_kind(found)}, not a list of Memory")
        if len(found) > NEAREST:
            raise Broken(f"recall() returned {len(found)} memories where {NEAREST} were asked for")
        return _checked("recall()", found)

    async def memories(self) -> Sequence[Memory]:
        """Return what the store holds. Raises Absent, or Broken for anything but a memory."""

        async def listed() -> list[Memory]:
            found: list[Memory] = []
            each = self.agent.memories()
            if not isinstance(each, AsyncIterator):
                raise Broken(
                    f"memories() returned {_kind(each)}, not an asynchronous iterator; write `yield` in it"
                )
            async for memory in each:
                found.append(memory)
                if len(found) >= MOST:
                    break
            return found

        try:
            return _checked("memories()", await self.call("memories()", listed()))
        except NotImplementedError:
            raise Absent("cannot list its memories") from None

    async def count(self) -> int | None:
        """Return how many memories its store holds; None if it cannot be listed."""
        await self.call("settle()", self.agent.settle())
        try:
            return len(await self.memories())
        except Absent:
            return None

    async def holds(self, fact: ToldFact) -> bool | None:
        """Whether a fact is in its store; None if that cannot be told."""
        await self.call("settle()", self.agent.settle())
        found: list[Memory] = []
        ways = 0
        for look in (self.memories, lambda: self.recall(fact.question)):
            try:
                found += await look()
                ways += 1
            except Absent:
                pass
        return any(fact.word in memory.text for memory in found) if ways else None

    async def answers(self, fact: ToldFact, user: str | None = None) -> str:
        """Return its answer to a fact's question, asked beside the conversation if possible."""
        await self.call("settle()", self.agent.settle())
        if self.agent.forks != "no":
            return (await (await self.fork(fact.question, user))()).text
        return (await self.say(fact.question, user)).text

    async def knows(self, fact: ToldFact) -> bool:
        """Whether a fact is in its store or in its answer."""
        return bool(await self.holds(fact)) or fact.word in await self.answers(fact)


def _kind(value: object) -> str:
    return type(value).__name__


def _checked(name: str, found: Sequence[Memory]) -> Sequence[Memory]:
    for each in found:
        if not isinstance(each, Memory):
            raise Broken(f"{name} gave {_kind(each)}, not a Memory")
    return found


@dataclass
class Stage:
    """What a rule needs: a way to make the agent, and folders for its conversations."""

    make: Callable[[], Agent]
    folder: Path
    within: float
    """Maximum seconds of one call."""
    server: Failing | None = None
    talks: list[Talk] = field(default_factory=list)

    @asynccontextmanager
    async def talk(self, name: str, kept: Sequence[Turn] | None = None) -> AsyncIterator[Talk]:
        """Open an agent in the folder of this name, and close it at the end; the same folder is a resumed run.

        With `kept`, what was said there before, it goes on from what it kept by itself.
        """
        home = self.folder / name
        home.mkdir(exist_ok=True)
        talk = Talk(self.make(), home, self.within)
        if kept is None:
            await talk.call("open()", talk.agent.open(home))
        else:
            talk.turns = list(kept)
            await talk.call("reopen()", talk.agent.reopen(home, kept, len(kept)))
        try:
            yield talk
        finally:
            await talk.call("close()", talk.agent.close())

    @contextmanager
    def failing(self, kind: FaultKind, **details: object) -> Iterator[None]:
        """Make the server fail. Raises Absent if there is none."""
        if self.server is None:
            raise Absent("not tried: this needs a server that can fail on demand (server=)")
        with self.server.failing(kind, **details):
            yield
