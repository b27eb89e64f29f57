"""What the calls of one conversation may cost: money for every attempt, and what a lost one may have cost."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from decimal import Decimal
from functools import partial
from typing import TypeVar

from ltm_bench.adapters.http import Traffic, listening
from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import NOTHING, Budget, Payment
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.messages import Message
from ltm_bench.core.pricing import dollars
from ltm_bench.runner.guarding import guarded
from ltm_bench.runner.notes import Notes

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
