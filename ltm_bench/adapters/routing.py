"""A conversation's route through the gateway: its address and key, its open turns, and what its calls cost."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from decimal import Decimal
from threading import Lock
from typing import Any, Literal

from ltm_bench.core.budget import NOTHING, Budget
from ltm_bench.core.clock import wall
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.keys import betrays, cleaned
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.log.calls import LOST
from ltm_bench.log.events import usage_data
from ltm_bench.log.journal import Journal

LOOPBACK = frozenset(("127.0.0.1", "::1", "localhost"))
"""The names of this machine in an address."""

Family = Literal["openai", "anthropic"]
"""Whose form requests, keys and errors have."""

_PATIENCE = 5.0
"""Seconds that calls get to end after their conversation."""


@dataclass(slots=True, eq=False)
class OpenTurn:
    """A turn that waits for the agent."""

    number: int
    operation: str
    """What the agent is doing for it."""
    calls: list[tuple[str, Usage | None]] = field(default_factory=list)
    """What each of its calls was for, and what it used."""

    def used(self, operation: str) -> list[Usage | None]:
        """Take out the usage of the calls for an operation."""
        found = [usage for name, usage in self.calls if name == operation]
        self.calls = [each for each in self.calls if each[0] != operation]
        return found


class Route:
    """One conversation's route.

    Args:
        address: The gateway's URL.
        name: The part of its path that stands for this conversation.
        key: The key that the agent gets instead of the provider's.
        journal: The side file for its calls.
        budget: What may be spent.
        secret: The providers' keys, which no agent gets.
        replaces: The providers' URLs, in whose place adapters call the gateway.
        conversation: The conversation's name, if the run has several.
    """

    def __init__(
        self,
        address: str,
        name: str,
        key: str,
        journal: Journal,
        budget: Budget,
        secret: Collection[str] = (),
        replaces: Collection[str] = (),
        conversation: str | None = None,
    ) -> None:
        self.name, self.key, self.budget = name, key, budget
        self._secret, self._replaces = secret, replaces
        self.root = f"{address}/c/{name}"
        self.passed: Collection[str] = ()
        """Environment variables that the agent gets although they hold a key or are named like one."""
        self.stopped: BudgetReached | None = None
        """Why a call was refused for lack of money."""
        self.arrived = 0
        """Calls so far."""
        self.asked = False
        """Whether the agent was asked anything, whose reply is not in the log already."""
        self._journal, self._lock = journal, Lock()
        self._where = {"conversation": conversation} if conversation else {}
        self._open: list[OpenTurn] = []
        self._passing: set[Future[None]] = set()
        self._closed = False

    def instead_of(self, url: str | None, variable: str) -> str | None:
        """Return the URL at which an adapter calls a provider; None if its calls go elsewhere.

        Args:
            url: The URL that it was given, if any.
            variable: The environment variable that it reads otherwise.
        """
        known = url is None or url.rstrip("/").removesuffix("/v1") in self._replaces
        return self.variables.get(variable) if known else None

    def client(self, family: Family) -> dict[str, str]:
        """Return the arguments of a client of OpenAI's or Anthropic's SDK."""
        return {"base_url": self.url(family), "api_key": self.key}

    def url(self, family: Family) -> str:
        """Return the base URL, which for OpenAI ends with /v1."""
        return f"{self.root}/v1" if family == "openai" else self.root

    def environment(self) -> dict[str, str]:
        """Return this process's environment for a program: the conversation's address and key, and no other key."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in self.passed or not betrays(name, value, self._secret)
        }
        direct = ",".join(filter(None, (os.environ.get("NO_PROXY"), "127.0.0.1")))
        return {**kept, **self.variables, "NO_PROXY": direct, "no_proxy": direct}

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables from which SDKs and frameworks take address and key."""
        openai, anthropic = self.url("openai"), self.url("anthropic")
        return {
            "OPENAI_BASE_URL": openai,
            "OPENAI_API_BASE": openai,
            "OPENAI_API_KEY": self.key,
            "ANTHROPIC_BASE_URL": anthropic,
            "ANTHROPIC_API_BASE": anthropic,
            "ANTHROPIC_API_KEY": self.key,
        }

    # The conversation's turns

    @contextmanager
    def turn(self, number: int, operation: str, *, asked: bool = False) -> Iterator[OpenTurn]:
        """Tie the calls that arrive inside the block to a turn, unless another one is open as well.

        Args:
            number: The turn's number, or the fork's.
            operation: What the agent does, unless it says so itself.
            asked: Whether a reply is expected, whose cost is then known by the gateway alone.
        """
        if asked:
            self.asked = True
            self.put({"turn": number, "opened": operation})
        opened = OpenTurn(number, operation)
        self._open.append(opened)
        try:
            yield opened
        finally:
            self._open.remove(opened)

    @contextmanager
    def doing(self, operation: str) -> Iterator[None]:
        """Count the calls inside the block as this operation's, if only one turn is open."""
        opened = self._only()
        before = "" if opened is None else opened.operation
        if opened is not None:
            opened.operation = operation
        try:
            yield
        finally:
            if opened is not None:
                opened.operation = before

    def _only(self) -> OpenTurn | None:
        return self._open[0] if len(self._open) == 1 else None

    # Its calls

    def begin(self, most: Decimal | None, **call: Any) -> PaidCall:
        """Reserve the most that a call can cost, if that is known, and record it before it goes out.

        Args:
            most: The most that it can cost; None if unknown.
            call: What to record of it.

        Raises:
            BudgetReached: There is no money for it.
            OSError: It cannot be recorded.
        """
        held = NOTHING if self.budget.limit is None else self.budget.take(most)
        opened = self._only()
        place = {} if opened is None else {"turn": opened.number}
        about = {"role": "agent", **call, **place}
        passage = PaidCall(self, opened, "" if opened is None else opened.operation, most, held, about)
        reserved = {} if most is None else {"reserved": float(most)}
        try:
            self.put({"call": passage.id} | about | reserved)
        except OSError:  # a full disk
            self.budget.release(held)
            raise
        self._passing.add(passage.done)
        passage.done.add_done_callback(self._passing.discard)
        return passage

    def put(self, record: Mapping[str, Any]) -> bool:
        """Write a line of the side file, unless the conversation is over; return whether it was written."""
        with self._lock:
            if not self._closed:
                self._journal.put(cleaned(dict(record)) | self._where)
            return not self._closed

    async def close(self) -> None:
        """Wait briefly for calls that the agent left behind; whatever then has not ended is charged its reservation."""
        if waiting := [asyncio.wrap_future(each) for each in self._passing]:
            await asyncio.wait(waiting, timeout=_PATIENCE)
        with self._lock:
            self._closed = True


_THOUGHT = 1 << 16
"""Maximum tokens of reasoning, beside a reply's limit, that a call is believed to have used."""


@dataclass
class PaidCall:
    """One call on its way through the gateway."""

    route: Route
    opened: OpenTurn | None
    operation: str
    most: Decimal | None
    held: Decimal
    about: Mapping[str, Any]
    """What is recorded of it."""
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    begun: float = field(default_factory=time.perf_counter)
    done: Future[None] = field(default_factory=Future)
    """Done once it is charged."""

    def end(self, usage: Usage | None, status: int, **more: Any) -> None:
        """Charge what an answer says that it used: without that, or a price, the reservation, which is the most."""
        price = None if usage is None else dollars(usage)
        if usage is None or (price is not None and self.most is not None and price > self.most):
            # Some providers count reasoning beside the output, and limit only that.
            told = (
                None if usage is None else replace(usage, output=usage.output - usage.reasoning, reasoning=0)
            )
            rest = None if told is None or not 0 < (usage or told).reasoning <= _THOUGHT else dollars(told)
            if rest is None or (self.most is not None and rest > self.most):
                self.lose(status, **more)  # more than it can have cost is nothing that a provider bills
                return
        self._end(self.most if price is None else price, usage, status, **more)

    def lose(self, status: int, **more: Any) -> None:
        """Charge the reservation, since no usage came."""
        self._end(self.most, None, status, lost=True, **more)

    def cost_nothing(self, status: int, **more: Any) -> None:
        """Charge nothing: the provider refused, nothing was sent, or the answer was known."""
        self._end(NOTHING, None, status, **more)

    def _end(self, price: Decimal | None, usage: Usage | None, status: int, **more: Any) -> None:
        if self.done.done():
            return
        if self.opened is not None and (usage is not None or price != NOTHING):
            self.opened.calls.append((self.operation, usage))
        record = {
            "call": self.id,
            **self.about,
            "ending": LOST if more.get("lost") else "answered" if usage else f"HTTP {status}",
            "at": ((usage and usage.at) or wall()).isoformat(),
            "status": status,
            "seconds": round(time.perf_counter() - self.begun, 6),
            **({} if price is None else {"dollars": float(price)}),
            **({} if usage is None else {"usage": usage_data(usage, timed=False)}),
            **{name: value for name, value in more.items() if value},
        }
        written = False
        try:
            written = self.route.put(record)
        except OSError:  # a full disk; the call has been paid for
            pass
        finally:
            if not written:
                price = self.most  # as whoever reads the file will count it
            self.route.budget.charge(price or NOTHING, self.held)
            if price is None:
                self.route.budget.unknown = True
            self.done.set_result(None)


_route: ContextVar[Route | None] = ContextVar("route", default=None)


def route() -> Route | None:
    """Return the route of the conversation that runs here; None without a gateway."""
    return _route.get()


@contextmanager
def routed(through: Route | None) -> Iterator[None]:
    """Make a conversation's agent, and call it, inside the block."""
    token = _route.set(through)
    try:
        yield
    finally:
        _route.reset(token)


def program_environment() -> Mapping[str, str]:
    """Return the environment for an agent's program: behind a gateway, its address and key instead of a provider's."""
    through = route()
    return os.environ if through is None else through.environment()


def through_gateway(family: Family) -> dict[str, str]:
    """Return `base_url` and `api_key` for a client of an SDK in this process; nothing without a gateway.

    `openai.OpenAI(**through_gateway("openai"))` works with and without one.
    """
    through = route()
    return {} if through is None else through.client(family)


_gateway: ContextVar[Any] = ContextVar("gateway", default=None)
"""The `Gateway` of the runs here, if any; its server takes a while to import, and most runs have none."""


@contextmanager
def serving(through: Any, port: int = 0) -> Iterator[None]:
    """Listen inside the block, as the `Gateway` of all runs there; None: they have none. Raises ConfigError."""
    with nullcontext() if through is None else through.listening(port):
        token = _gateway.set(through)
        try:
            yield
        finally:
            _gateway.reset(token)


@asynccontextmanager
async def conversing(journal: Journal, conversation: str | None = None) -> AsyncIterator[Route | None]:
    """Give a conversation inside the block a route, if the runs here have a gateway, and yield it.

    Args:
        journal: The side file for its calls.
        conversation: The conversation's name, if the run has several.
    """
    if (through := _gateway.get()) is None:
        yield None
        return
    async with through.route(journal, conversation) as found:
        with routed(found):
            yield found
