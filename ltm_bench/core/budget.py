"""The budget of a run or a sweep, in US dollars: the limit, what has been spent, what is reserved for pending calls.

A call to an agent can take several attempts: providers' libraries retry what was cut off or came too late, and
the provider may bill each attempt. So every attempt reserves money before it is sent, and an attempt that ends with
neither an HTTP error nor a usage is charged everything it reserved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Literal

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.messages import Message, Usage
from ltm_bench.core.pricing import dollars

NOTHING = Decimal()

Mark = Literal["sending", "refused", "failed", "lost"]
"""A mark made about an attempt while a call is in flight; see `Payment`."""

Note = Callable[[Mark, Decimal | None], None]
"""Receives each mark with the amount charged, None if unknown; for `sending`, the amount reserved."""


class Halted(BaseException):
    """There is no money for another attempt. Libraries do not take it for a transient error, so they do not retry."""


@dataclass
class Budget:
    """Keeps spending within a limit by reserving the most that each attempt could cost. Threads may share it."""

    limit: Decimal | None = None
    spent: Decimal = field(default_factory=Decimal)
    unknown: bool = False
    """Whether the price of some reply is unknown, which makes `spent` a lower bound."""

    held: Decimal = field(default_factory=Decimal)
    """The most that pending attempts could cost."""

    keys: dict[str, Decimal] = field(default_factory=dict, repr=False, compare=False)
    """What of `spent` was counted for stored answers, by key; nothing for those whose calls were counted."""

    folders: set[Path] = field(default_factory=set, repr=False, compare=False)
    """Those whose calls were counted."""

    lock: RLock = field(default_factory=RLock, repr=False, compare=False)

    @contextmanager
    def paying(
        self, agent: Agent, message: Message, note: Note = lambda *_: None, *, at_once: bool = True
    ) -> Iterator[Payment]:
        """Pay for one call to an agent, made inside the block: for every attempt of the toolkit's HTTP clients.

        The caller reports the usage of a reply with `Payment.settle`. A call that ends with an error is charged
        what it may have cost.

        Args:
            agent: The agent that is called.
            message: The message it gets.
            note: Called for every attempt; if the process dies, the notes say what it may owe.
            at_once: Reserve before anything is sent. False waits for the first request, for calls that rarely
                make one.

        Raises:
            BudgetReached: There is no money for the call, or for another attempt of it.
        """
        payment = Payment(self, agent, message, note)
        if at_once:
            payment.reserve()
        token = _paying.set(payment)
        try:
            yield payment
        except BaseException as error:  # any error: charge what the call may have cost, give back the rest
            payment.fail()
            if payment.stopped is not None:
                raise payment.stopped from error
            raise
        finally:
            _paying.reset(token)
        payment.release()

    def settle(self, usage: Usage | None, *, free: bool, held: Decimal = NOTHING) -> None:
        """Add the price of a reply, and release what was reserved for it."""
        with self.lock:
            self.held -= held
            price = None if usage is None else dollars(usage)
            if price is not None:
                self.spent += price
            elif not free:
                self.unknown = True

    def take(self, price: Decimal | None) -> Decimal:
        """Reserve this price, and return it. Raises BudgetReached if it is unknown or could exceed the limit."""
        with self.lock:
            if price is None or self.unknown:
                raise BudgetReached(
                    f"--max-cost {self.limit} cannot be guaranteed: what the next call could cost is unknown; "
                    "run without --max-cost"
                )
            if self.limit is not None and self.spent + self.held + price > self.limit:
                raise BudgetReached(
                    f"${self.spent:.4f} spent, and the next call could cost ${price:.4f}: that could exceed "
                    f"--max-cost {self.limit}; resume with a larger one"
                )
            self.held += price
            return price

    def count(self, price: Decimal) -> None:
        """Count what replies in a log have cost."""
        with self.lock:
            self.spent += price

    def count_once(self, key: str, price: float | None) -> None:
        """Count what a stored answer has cost, unless it was counted or paid for here before."""
        with self.lock:
            # Once: a sweep that its limit had stopped among the judges had the whole limit again when it was repeated.
            if key not in self.keys:
                self.keys[key] = Decimal(str(price or 0))
                self.spent += self.keys[key]

    def count_calls(self, of: Path, calls: Iterable[tuple[str | None, Decimal]]) -> None:
        """Count the calls that a folder records, unless that was done; the answers that came do not count besides.

        Args:
            of: The folder.
            calls: Each with the key of its answer, None if none came, and what it cost.
        """
        with self.lock:
            if of in self.folders:
                return
            self.folders.add(of)
            for key, price in calls:
                self.spent += price
                if key is not None:
                    # Of several runs with one budget, another may have found the answer stored, and counted it.
                    self.spent -= self.keys.get(key, NOTHING)
                    self.keys[key] = NOTHING

    def charge(self, price: Decimal, held: Decimal = NOTHING) -> None:
        """Count what may have been billed although no usage came back; release its reservation."""
        with self.lock:
            self.spent += price
            self.held -= held

    def lose(self, price: Decimal) -> None:
        """Count a call that may have been billed, and whose reply was lost in a crash."""
        with self.lock:
            self.spent += price

    def release(self, held: Decimal) -> None:
        """Release what was reserved for a call that failed."""
        with self.lock:
            self.held -= held


class Payment:
    """What one call to an agent costs, attempt by attempt.

    An attempt reserves what the agent reserves for a whole reply. That covers the first attempt of every
    request that a reply takes; each retry of a lost one reserves as much again.
    """

    def __init__(self, budget: Budget, agent: Agent, message: Message, note: Note) -> None:
        self.charged = NOTHING
        """Charged because no usage came back."""
        self.stopped: BudgetReached | None = None
        """Why there was no money for another attempt."""
        self._budget, self._agent, self._message, self._note = budget, agent, message, note
        self._held: Decimal | None = None
        self._sent = self._settled = False
        self._answered = 0

    @cached_property
    def price(self) -> Decimal | None:
        """The most that an attempt can cost; None if unknown."""
        most = None if self._agent.free else self._agent.reserve(self._message)
        return dollars(most) if most is not None else None

    def reserve(self) -> None:
        """Reserve the money for an attempt, unless that has been done. Raises BudgetReached."""
        with self._budget.lock:
            if self._held is None and self._budget.limit is not None and not self._agent.free:
                self._held = self._budget.take(self.price)

    def begin(self) -> None:
        """Reserve for an attempt that is about to be made. Raises Halted."""
        try:
            if self.stopped is None:
                self.reserve()
        except BudgetReached as error:
            self.stopped = error
        if self.stopped is not None:
            raise Halted(str(self.stopped)) from None

    def calling(self) -> None:
        """Note that the agent is called now; if its attempts are not visible, the call counts as one."""
        if not self._agent.metered:
            self.sending()

    def sending(self) -> None:
        """Note that an attempt's first byte is being sent."""
        self._sent = True
        self._note("sending", self._held or NOTHING)

    def end(self, *, refused: bool, answered: bool, heard: bool = False) -> None:
        """Note how an attempt ended.

        Args:
            refused: By an HTTP error, or before it was sent: it costs nothing.
            answered: An answer came; the reply will report its usage.
            heard: Whether the agent may have got the message anyway: the server failed while processing it.
        """
        self._sent = False
        if refused:
            self._note("failed" if heard else "refused", NOTHING)
        elif answered:
            self._answered += 1
        else:
            self._note("lost", self._charge())

    def settle(self, usage: Usage | None) -> None:
        """Count what a reply used, or everything reserved if it does not say."""
        self._settled = True
        free, held = self._agent.free, self._held
        if held is not None and not free and (usage is None or dollars(usage) is None):
            self._charge()
            return
        self._held = None
        self._budget.settle(usage, free=free, held=held or NOTHING)

    def fail(self) -> None:
        """Charge a failed call what it may have cost, besides the attempts already charged."""
        if not self._settled and (self._answered or self._sent):
            self._settled = True
            self._note("lost", self._charge())
        self.release()

    def release(self) -> None:
        """Give back what is still reserved."""
        held, self._held = self._held, None
        if held is not None:
            self._budget.release(held)

    def _charge(self) -> Decimal | None:
        with self._budget.lock:
            price, held = NOTHING if self._agent.free else self.price, self._held
            self._held = None
            if not self._agent.free:
                self._budget.charge(price or NOTHING, held or NOTHING)
                self._budget.unknown = self._budget.unknown or price is None
            self.charged += price or NOTHING
        return price


_paying: ContextVar[Payment | None] = ContextVar("paying", default=None)


def payment() -> Payment | None:
    """Return the payment that the current attempts draw on, if any."""
    return _paying.get()
