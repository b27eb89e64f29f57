"""Calls to the agent of one conversation: opening it, catching up with the log, asking it, and what that may cost.

Whatever an adapter raises becomes an error from which the run can be resumed.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ltm_bench.adapters.http import Traffic, listening
from ltm_bench.core.agent import Agent, Memory
from ltm_bench.core.budget import NOTHING, Budget
from ltm_bench.core.errors import AgentError, LtmBenchError
from ltm_bench.core.messages import Finish, Message, Reply, Turn
from ltm_bench.core.pricing import dollars
from ltm_bench.log.events import is_usage
from ltm_bench.log.journal import Journal, retrieval_trace_of
from ltm_bench.log.lines import records
from ltm_bench.log.reader import read_turns
from ltm_bench.log.recorder import Recorder

T = TypeVar("T")

RECALLED = 50
"""Memories that retrieval is asked for, to find out where an answer was lost."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking the agent."""

    reply: Reply
    tokens_sent: int
    seconds: float
    traffic: Traffic
    recalled: Sequence[Memory] | None
    """What retrieval gave for a question, before it was asked; None where nobody can tell."""


class Calls:
    """The agent of one conversation, and every call to it."""

    def __init__(
        self,
        agent: Agent,
        recorder: Recorder,
        journal: Journal,
        *,
        home: Path,
        budget: Budget,
        places: asyncio.Semaphore,
        conversation: str | None,
        on_doubt: Callable[[str], None],
    ) -> None:
        """Prepare the calls; nothing is called yet.

        Args:
            agent: The agent.
            recorder: Of the conversation.
            journal: Where the wall-clock time of every call goes.
            home: The agent's own folder.
            budget: What may be spent.
            places: Calls that may be under way at a time; other conversations share them.
            conversation: The name of the conversation, where a run has several.
            on_doubt: Told of a turn that the agent may get twice.
        """
        self.agent = agent
        self.live = False
        """Whether the agent has caught up with the log, so that it may be asked."""
        self.opened = False
        self._recorder = recorder
        self._journal = journal
        self._trace = Journal(retrieval_trace_of(recorder.path), journal.clock)
        self._home = home
        self._budget = budget
        self._places = places
        self._conversation = conversation
        self._on_doubt = on_doubt
        self._turn = 0  # the last one that the agent has heard of, for errors

    @property
    def observes_the_replay(self) -> bool:
        """Whether the agent is restored by observing every turn, so that it can do so while the log is replayed."""
        return type(self.agent).restore is Agent.restore

    async def open(self) -> None:
        """Open the agent."""
        self.opened = True
        self._home.mkdir(parents=True, exist_ok=True)
        await self._guard(self.agent.open(self._home), self._turn)

    async def close(self) -> None:
        """Close the agent and the side files."""
        with self._trace:
            if self.opened:
                await self._guard(self.agent.close(), self._turn)

    async def observe(self, turn: Turn) -> None:
        """Let the agent take a turn as having happened."""
        self._turn = turn.message.turn
        await self._guard(self.agent.observe(turn), turn.message.turn)

    async def catch_up(self, turn: int) -> None:
        """Open the agent and bring it to where the log ends, unless it is there already.

        Args:
            turn: The number of the next turn; all before it are in the log.
        """
        self._turn = turn
        if self.live:
            return
        self.live = True
        if turn:
            untold = {} if self.agent.can_be_told else {"untold": True}
            self._journal.put(self._where(turn) | {"resumed": True} | untold)
        if not self.opened:
            await self.open()
            if turn:
                turns: Iterator[Turn] = islice(read_turns(self._recorder.path), turn)
                await self._guard(self.agent.restore(turns), turn)

    async def ask(
        self, message: Message, record: Callable[[], int], *, question: bool, doubtful: bool
    ) -> Answer:
        """Have the agent reply.

        Args:
            message: What it is asked.
            record: Records that the message goes out, and returns its tokens; called at the last moment, when nothing
                can stop the call any more.
            question: Whether the reply will be scored: the agent's indexers are then waited for.
            doubtful: Whether the log holds the message already, so that the agent may get it twice.
        """
        await self.catch_up(message.turn)
        lost = self._lost(message) if doubtful else NOTHING
        self._budget.lose(lost)
        recalled = None
        if question:
            await self._guard(self.agent.settle(), message.turn)
            recalled = await self._recalled(message)
        async with self._places:
            held = self._budget.hold(self.agent, message)
            begun = self._journal.clock()
            with listening() as heard:
                try:
                    sent, begun = record(), self._journal.clock()
                    if doubtful:
                        self._doubt(message.turn, lost)
                    reply = await self._guard(self.agent.reply(message), message.turn)
                    seconds = self._journal.clock() - begun
                except BaseException:  # whatever it is, what was held is given back
                    self._budget.release(held)
                    if heard.attempts:
                        self._note(message.turn, "failed_after", self._journal.clock() - begun, heard)
                    raise
        if problem := _unusable(reply):
            raise AgentError(f"the agent failed at turn {message.turn}: reply() returned {problem}")
        self._budget.settle(reply.usage, free=self.agent.free, held=held)
        return Answer(reply, sent, seconds, heard, recalled)

    async def note(self, turn: int, answer: Answer) -> None:
        """Write down how long a reply took, once it is in the log, and have a paid one synced."""
        self._note(turn, "seconds", answer.seconds, answer.traffic)
        if not self.agent.free:
            self._recorder.sync_soon()
            await asyncio.sleep(0)  # an agent that never waits would keep the sync from its turn

    def paid_before(self, reply: Reply) -> None:
        """Count what a logged reply cost."""
        self._budget.settle(reply.usage, free=self.agent.free)

    async def trace(self, question: Message, heard: Sequence[Turn], found: Sequence[Memory]) -> None:
        """Write down which needles were stored, and which were retrieved for a question that failed.

        This is evidence beside the log, not part of it: what retrieval would have given cannot be replayed.
        """
        needles = []
        for turn in heard[:-1]:
            if turn.kind == "tell":
                try:
                    stored = await self.agent.recall(turn.message.text, RECALLED)
                except (NotImplementedError, AgentError):
                    return
                needles.append([turn.message.turn, _among(turn, stored), _among(turn, found)])
        self._trace.put({"turn": question.turn, "needles": needles})

    async def _recalled(self, message: Message) -> Sequence[Memory] | None:
        """Return what retrieval gives for a question; None where there is none, or where it might cost money."""
        if type(self.agent).recall is Agent.recall:
            return None
        if self._budget.limit is not None and not self.agent.free:  # nothing was set aside for it
            return None
        try:
            return await self.agent.recall(message.text, RECALLED)
        except (NotImplementedError, AgentError):
            return None

    def _lost(self, message: Message) -> Decimal:
        """Return the upper bound for a call whose reply was lost.

        It is nothing where the price is unknown, and where the provider is known to have refused.
        """
        if self.agent.free or refused(self._journal.path, self._where(message.turn)):
            return NOTHING
        most = self.agent.reserve(message)
        return (dollars(most) if most is not None else None) or NOTHING

    def _doubt(self, turn: int, lost: Decimal) -> None:
        """Name a turn whose message is in the log and whose reply is not: the agent now gets it once more."""
        self._journal.put(self._where(turn) | {"doubtful": True} | ({"dollars": float(lost)} if lost else {}))
        self._on_doubt(f"turn {turn}" + (f" of {self._conversation}" if self._conversation else ""))

    def _where(self, turn: int) -> dict[str, Any]:
        """Return how a side file says to which turn of which conversation a record belongs."""
        return {"turn": turn} | ({"conversation": self._conversation} if self._conversation else {})

    def _note(self, turn: int, name: str, seconds: float, heard: Traffic) -> None:
        record = self._where(turn) | {name: round(seconds, 6)}
        if heard.attempts:
            record["attempts"] = [attempt.record() for attempt in heard.attempts]
        self._journal.put(record)

    async def _guard(self, call: Awaitable[T], turn: int) -> T:
        try:
            result = await call
        except (LtmBenchError, asyncio.CancelledError, KeyboardInterrupt):
            raise
        except Exception as error:  # an adapter is anybody's code
            raise AgentError(f"the agent failed at turn {turn}: {type(error).__name__}: {error}") from error
        return result


def refused(timings: Path, where: dict[str, Any]) -> bool:
    """Whether the last thing known of a turn's call is that the provider answered with nothing but errors."""
    last: dict[str, Any] = {}
    for record in records(timings):
        same = all(record.get(key) == where.get(key) for key in ("turn", "conversation"))
        if same and isinstance(record.get("attempts"), list):
            last = record
    statuses = [attempt.get("status") for attempt in last.get("attempts", ()) if isinstance(attempt, dict)]
    errors = [isinstance(status, int) and status >= 400 for status in statuses]
    return "failed_after" in last and bool(errors) and all(errors)


def lost_before(timings: Path) -> Decimal:
    """Return the upper bound, as far as it is known, for the calls whose replies never got into the log."""
    prices = (record.get("dollars") for record in records(timings))
    return sum(
        (
            Decimal(str(price))
            for price in prices
            if isinstance(price, int | float) and math.isfinite(price) and price > 0
        ),
        Decimal(),
    )


def _among(needle: Turn, memories: Sequence[Memory]) -> bool:
    """Whether a needle is among memories: by its turn where they say it, else by its text."""
    text = " ".join(needle.message.text.split())
    return any(
        memory.turn == needle.message.turn
        if memory.turn is not None
        else text in " ".join(memory.text.split())
        for memory in memories
    )


def _unusable(reply: object) -> str:
    """Return why what an adapter returned cannot be written down as a reply; empty if it can."""
    if not isinstance(reply, Reply):
        return f"{type(reply).__name__}, not a Reply"
    if not isinstance(reply.text, str):
        return f"a Reply whose text is {type(reply.text).__name__}, not a string"
    if not isinstance(reply.finish, Finish):
        return f"a Reply whose finish is {reply.finish!r:.60}, not one of Finish ({', '.join(Finish)})"
    if reply.usage is not None and not is_usage(reply.usage):
        return f"a Reply whose usage is {reply.usage!r:.200}, not a Usage of whole numbers from 0"
    return ""
