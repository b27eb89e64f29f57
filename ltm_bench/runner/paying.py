"""What the calls of one conversation may cost: money for every attempt, and what a lost one may have cost.

Of every call `timings.jsonl` notes how long it took, and `calls.jsonl` what it used and cost, or may have cost.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from ltm_bench.adapters.http.traffic import Traffic, listening
from ltm_bench.adapters.operations import Done
from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import NOTHING, Budget, Mark, Payment
from ltm_bench.core.clock import wall
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.messages import Message
from ltm_bench.core.pricing import dollars
from ltm_bench.log.calls import LOST, Call, Role, SideFiles, calls_of, line_of, mark_of
from ltm_bench.log.doubts import Doubt, doubt_about
from ltm_bench.log.events import usage_data
from ltm_bench.log.lines import records
from ltm_bench.runner.guarding import guarded
from ltm_bench.runner.outgoing import CallResult


class Notes:
    """The notes of one conversation's calls, in side files that all conversations of a run share.

    Args:
        files: The files.
        conversation: The conversation's name, if the run has several.
        role: Whose calls they are.
    """

    def __init__(self, files: SideFiles, conversation: str | None, role: Role = "agent") -> None:
        self._timings, self._calls = files.timings, files.calls
        self._conversation, self._role = conversation, role

    def caught_up(self, turn: int, *, untold: bool) -> None:
        """Note that the agent is about to get its first turn from this process, and whether it lacks earlier ones."""
        self._calls.put(self._where(turn) | {"resumed" if turn else "begun": True})
        if untold:
            self._timings.put(self._where(turn) | {"untold": True})

    def did(self, turn: int, done: Sequence[Done]) -> None:
        """Note operations of the agent that belong to no reply."""
        self._timings.put(self._where(turn) | _operations(done))

    def doubt_about(self, turn: int) -> Doubt:
        """Return what is known about a call whose message is logged and whose reply is not."""
        said = chain(records(self._timings.path), records(self._calls.path))
        return doubt_about(said, self._where(turn))

    def doubted(self, turn: int, lost: Decimal) -> None:
        """Note that the agent has heard, or may have heard, a turn or fork that it now gets again."""
        self._calls.put(self._where(turn) | {"doubtful": True} | (self._lost(lost) if lost else {}))

    def mark(self, turn: int, mark: Mark, price: Decimal | None) -> None:
        """Note the state of an attempt, so that after a crash it is known what it may have cost."""
        self._calls.put(self._where(turn) | (self._lost(price) if mark == LOST else mark_of(mark, price)))
        # A charge that a power failure took back would be spent a second time.
        if mark == LOST and price:
            self._calls.sync()

    def call(
        self,
        turn: int,
        name: str,
        seconds: float,
        heard: Traffic,
        operations: Sequence[Done] = (),
        since_told: float | None = None,
        compacted: bool = False,
    ) -> None:
        """Note a call that has ended.

        Args:
            turn: The number of the turn or fork.
            name: `seconds` for a reply, `failed_after` for none.
            seconds: How long it took.
            heard: The attempts at sending it.
            operations: The agent's operations for it.
            since_told: Seconds from what was told to this question, if it did not wait for indexers.
            compacted: Whether the provider has replaced the older conversation by something shorter with it.
        """
        record = self._where(turn) | {name: round(seconds, 6)} | _operations(operations)
        if since_told is not None:
            record["since_told"] = round(since_told, 6)
        if compacted:
            record["compacted"] = True
        if heard.attempts:
            record["attempts"] = [attempt.record() for attempt in heard.attempts]
        self._timings.put(record)

    def paid(self, turn: int, answer: CallResult, server: str | None) -> None:
        """Note the calls behind the reply to a turn or fork, which went to a server."""
        reply, charged = answer.reply, answer.charged
        own = Call(role=self._role, ending=reply.finish.value, at=wall(), sent=answer.traffic.sent)
        found = [each._replace(dollars=each.price) for each in calls_of(reply.usage, own)]
        if charged is not None:  # for all of them together
            first, *rest = found
            found = [first._replace(dollars=charged), *(each._replace(dollars=NOTHING) for each in rest)]
        # At once: whoever finds one of them takes the reply for paid.
        self._calls.put(*(self._where(turn) | line_of(each, server) for each in found))

    def paid_elsewhere(self, turn: int) -> None:
        """Note a reply whose calls the gateway charges where it saw them."""
        self._calls.put(
            self._where(turn) | line_of(Call(dollars=NOTHING, role=self._role, ending="stop", at=wall()))
        )

    def _lost(self, price: Decimal | None) -> dict[str, Any]:
        return line_of(Call(dollars=price, role=self._role, ending=LOST, at=wall()))

    def _where(self, turn: int) -> dict[str, Any]:
        """Return the fields by which a side file identifies a turn and its conversation."""
        return {"turn": turn} | ({"conversation": self._conversation} if self._conversation else {})


def _operations(done: Sequence[Done]) -> dict[str, Any]:
    """Return the side file's form of operations: name, seconds, and the usage of each model call."""
    rows = [
        [each.name, round(each.seconds, 6), [usage and usage_data(usage) for usage in each.usage]]
        for each in done
    ]
    return {"operations": rows} if rows else {}


T = TypeVar("T")


class Payments:
    """Pays for the calls of one conversation, and waits for a slot and for money."""

    def __init__(self, agent: Agent, budget: Budget, places: asyncio.Semaphore, notes: Notes) -> None:
        self.agent = agent
        self._budget = budget
        self._places = places
        self._notes = notes
        self._under_way: set[asyncio.Future[None]] = set()

    async def pay_for(self, call: Callable[[], Awaitable[T]], message: Message) -> T:
        """Make a call without a reply, with money reserved for each attempt; the next reply reports its usage."""
        return (await self.pay_ahead(call, message))[0]

    async def pay_ahead(self, call: Callable[[], Awaitable[T]], message: Message) -> tuple[T, Payment]:
        """Make such a call; also return its payment, which is to `fail` if no reply ever reports the usage."""
        mark = partial(self._notes.mark, message.turn)
        with self._budget.paying(self.agent, message, mark, at_once=False) as payment:
            return await guarded(call, message.turn), payment

    @asynccontextmanager
    async def granted(self, message: Message) -> AsyncIterator[tuple[Payment, Traffic]]:
        """Wait for a slot and for money, both released at the end; also yields what is sent meanwhile.

        If other calls of this conversation hold the money, waits for them: most of it comes back.
        """
        mark = partial(self._notes.mark, message.turn)
        while True:
            async with self._places:
                with ExitStack() as paying:
                    try:
                        payment = paying.enter_context(self._budget.paying(self.agent, message, mark))
                    except BudgetReached:
                        if not self._under_way:
                            raise
                    else:
                        done = asyncio.get_running_loop().create_future()
                        self._under_way.add(done)
                        try:
                            with listening() as heard:
                                yield payment, heard
                        finally:
                            self._under_way.remove(done)
                            # Wakes whoever waits, but not before the money is released: until then, nothing awaits.
                            done.set_result(None)
                        return
            # Without the slot: others can use it meanwhile.
            await asyncio.wait(self._under_way, return_when=asyncio.FIRST_COMPLETED)

    def charge_lost(self, message: Message) -> Decimal | None:
        """Charge what an earlier call with this message may have cost; None if the agent cannot have heard it."""
        doubt = self._notes.doubt_about(message.turn)
        if not doubt.unpaid:
            return NOTHING if doubt.asked else None
        # A reservation in the side file was counted before the run continued, with all that is unsettled.
        if doubt.reserved is not None:
            return doubt.reserved
        most = None if self.agent.free else self.agent.reserve(message)
        lost = (dollars(most) if most is not None else None) or NOTHING
        self._budget.lose(lost)
        return lost
