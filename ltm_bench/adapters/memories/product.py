"""Agents made of a memory product, which remembers, and a core, which answers from what the product finds.

The product runs here, or behind a server: its vendor's cloud, or the user's own.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Literal

from ltm_bench.adapters.endpoint import Endpoint
from ltm_bench.adapters.extractive import question_in
from ltm_bench.adapters.ledger import Ledger, Tally, name_in
from ltm_bench.adapters.memories.answerer import Core
from ltm_bench.adapters.memories.durable import DurableAgent
from ltm_bench.adapters.operations import Operation, operating
from ltm_bench.adapters.settings import Inheriting, at_least
from ltm_bench.core.agent import Finding, Memory
from ltm_bench.core.errors import AgentError, CannotResume, ConfigError
from ltm_bench.core.extras import installed
from ltm_bench.core.messages import Message, Reply, Turn, Usage


class MemoryProduct(DurableAgent):
    """Base of the adapters of memory products. Subclasses write `hear` or `hear_session`, `find` and `cut_back`.

    A ledger records each turn before and after the product hears it, so that a resumed run has the memory of its log:
    the product is told the turns it missed, and cut back if it heard more than the log has.
    """

    forks = "snapshot"
    can_reopen = True
    charges_extra = False
    """Whether the product's own calls cost something that it does not report."""
    _http: Any = None
    """The HTTP client of the product's SDK, if an adapter makes it; closed with the core's connections."""
    package: ClassVar[str] = ""
    """The package that comes with the extra of the adapter's name, for `ltm-bench doctor`."""
    maker_prompt: ClassVar[str] = ""
    """How to answer, by the product's own evaluation, in our words; empty if none is known."""

    def __init__(
        self,
        endpoint: Endpoint | None,
        core_settings: Mapping[str, Any],
        *,
        core: str,
        memories: int = 20,
        recent: int = 4,
        window: int = 8192,
        prompt: Literal["ours", "maker"] = "ours",
    ) -> None:
        """Set up the core.

        Args:
            endpoint: The product's server, or that of its model.
            core_settings: Further settings of the adapter that answers; None keeps its default.
            core: The adapter that answers, and its model, e.g. openai:gpt-6-luna.
            memories: Number of memories recalled per message.
            recent: Number of newest turns that the core sees verbatim.
            window: Tokens of the core's prompt, without its reply.
            prompt: How the core is told to answer: `ours`, as with every memory, or `maker`, as the product's own
                evaluation does.
        """
        if prompt == "maker" and not self.maker_prompt:
            raise ConfigError(
                f"{self.adapter_name()}: prompt=maker, but no answering prompt of its maker is known; "
                "leave it out"
            )
        at_least(self.adapter_name(), memories=(memories, 1), recent=(recent, 0), window=(window, 256))
        self._core = Core(core, core_settings, window)
        if endpoint is None:
            self.connections = self._core.connections
        else:
            self.endpoint, self.connections = endpoint, endpoint.connections
        self.uses = self._limit = memories
        self._instructions = self.maker_prompt if prompt == "maker" else ""
        self._tally = Tally()
        self._recent: deque[Turn] = deque(maxlen=recent)

    @classmethod
    def adapter_name(cls) -> str:
        """Return the name of the adapter, which is that of its file."""
        return cls.__module__.rpartition(".")[2]

    # What a subclass writes

    async def hear(self, turn: Turn) -> None:
        """Tell the product a turn, and record it in the ledger before and after.

        Not needed where there is a `hear_session`: then a turn is a session of one.
        """
        raise TypeError(f"{type(self).__name__} does not define hear()")

    async def hear_session(self, turns: Sequence[Turn]) -> None:
        """Tell the product about a session in one call. Products that take many messages at once override this.

        All turns have the same user.
        """
        raise TypeError(f"{type(self).__name__} does not define hear_session()")

    async def cut_back(self, turns: Sequence[Turn]) -> int:
        """Cut the product and the ledger back to these turns; return how many of them the product still has.

        Called only if the product has heard something else. Raises CannotResume.
        """
        raise TypeError(f"{type(self).__name__} does not define cut_back()")

    async def resumed(self, turns: Sequence[Turn]) -> None:
        """Return to the state after these turns, which match the ledger."""

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return what the product finds for a user; products without users ignore that."""
        raise TypeError(f"{type(self).__name__} does not define find()")

    def query(self, message: Message) -> str:
        """Return the search query for a message."""
        return message.query

    def billed(self, usage: Usage | None) -> Usage | None:
        """Return a reply's usage, given the core's. Its price is unknown if the product charges extra."""
        return replace(usage, provider=None) if usage is not None and self.charges_extra else usage

    def billed_apart(self) -> Callable[[Usage | None], Usage | None]:
        """Return a function that completes the usage of a forked reply, as `billed` does that of the others.

        Products that count their own calls override this, so that a fork is billed for its lookup alone.
        """
        return self.billed

    # The agent

    async def open(self, home: Path) -> None:
        """Read the run's ledger, and its name for everything kept elsewhere."""
        self._home = home
        self._name = name_in(home)
        self._ledger = Ledger(home / "heard.jsonl")

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Keep the turns that the product has heard, cut off the rest, and tell it the missing ones."""
        turns = list(turns)
        agreed = self._ledger.agreed(turns)
        if not self._ledger.clean(agreed):
            agreed = await self.cut_back(turns[:agreed])
        await self.resumed(turns[:agreed])
        self._restored = True
        self._recent.extend(turns[:agreed])
        await super().restore(turns[agreed:])

    async def reopen(self, home: Path, turns: Sequence[Turn], since: int) -> None:
        """Go on from what the product kept, and tell it what it missed since."""
        await self.open(home)
        # A turn under way when the run was killed, which it gets again.
        if len(self._ledger.heard) > len(turns):
            self._ledger.cut(len(turns))
        count = len(self._ledger.heard)
        if count < since:
            raise CannotResume(
                f"{self._home}: {self.adapter_name()} has lost turns that it had heard before it was closed; start the "
                "run again, with --fresh"
            )
        await self.resumed(turns[:count])
        self._restored = True
        self._recent.extend(turns[since:count])
        for turn in turns[count:]:
            await self.observe(turn)

    @property
    def takes_sessions(self) -> bool:
        """Whether the product has a `hear_session`."""
        return type(self).hear_session is not MemoryProduct.hear_session

    async def observe(self, turn: Turn) -> None:
        """Tell the product a turn."""
        await self._hear(turn)
        if turn.billed:  # a resumed run: this reply has been billed, and everything before it
            self.billed(None)

    async def observe_session(self, turns: Sequence[Turn]) -> None:
        """Tell the product about a session, in one call per user."""
        await self._ready()
        for _, own in groupby(turns, key=lambda turn: turn.message.user):
            together = tuple(own)
            with self._operating("write"):
                await self.hear_session(together)
            self._recent.extend(together)
            if together[-1].billed:
                self.billed(None)

    async def _hear(self, turn: Turn) -> None:
        await self._ready()
        with self._operating("write"):
            if type(self).hear is MemoryProduct.hear and self.takes_sessions:
                await self.hear_session((turn,))
            else:
                await self.hear(turn)
        self._recent.append(turn)

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return what the product finds for no particular user."""
        await self.settle()
        return await self.find(query, limit, None)

    async def _looked_up(self, message: Message) -> Message:
        """Return the core's prompt, with what the product finds for a message."""
        if message.settle:
            await self.settle()
        with self._operating("retrieve"):
            found = await self.find(self.query(message), self._limit, message.user)
        recent = [each for each in self._recent if not self.keeps_users or each.message.user == message.user]
        prompt = self._core.prompt(message, found, recent, instructions=self._instructions)
        return replace(message, text=prompt)

    @contextmanager
    def _operating(self, name: Operation) -> Iterator[None]:
        """Time an operation of the product, including the usage of its own calls."""
        with operating(name) as done:
            before = len(self._tally.calls)
            yield
            done.used(*self._tally.calls[before:])

    async def reply(self, message: Message) -> Reply:
        """Answer from what the product finds, then tell it the turn."""
        await self._ready()
        prompt = await self._looked_up(message)
        with operating("answer") as done:
            reply = await self._core.reply(self._home / "core", prompt)
            done.used(reply.usage)
        await self._hear(Turn(message, reply))
        return replace(reply, usage=self.billed(reply.usage))

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Look up what the product finds now, and freeze the core's prompt; the product is told nothing."""
        await self._ready()
        prompt = await self._looked_up(message)
        billed = self.billed_apart()

        async def answer() -> Reply:
            with operating("answer") as done:
                reply = await self._core.reply_apart(self._home / "core", prompt)
                done.used(reply.usage)
            return replace(reply, usage=billed(reply.usage))

        return answer

    async def examine(self) -> Sequence[Finding]:
        """Check whether the product's package is installed."""
        return [installed(self.adapter_name().replace("_", "-"), self.package)] if self.package else []

    async def close(self) -> None:
        """Close the core's connections, and the product's. What it has stored stays, so that a run can be resumed."""
        await self._core.close()
        if self._http is not None:
            await self._http.aclose()


class Patience:
    """Pauses between polls, each twice as long as the one before, until patience runs out."""

    def __init__(self, seconds: float, *, first: float, longest: float) -> None:
        self._until, self._pause, self._longest = time.monotonic() + seconds, first, longest

    async def lasts(self) -> bool:
        """Pause, and return True; return False, without a pause, once the seconds are over."""
        if time.monotonic() > self._until:
            return False
        await asyncio.sleep(self._pause)
        self._pause = min(2 * self._pause, self._longest)
        return True


class ServedProduct(Inheriting, MemoryProduct):
    """Base of the adapters of products behind a server, which works in the background and says no price.

    The environment has the key and the address, under the adapter's name: `zep.py` reads ZEP_API_KEY and ZEP_BASE_URL.

    Args:
        core_url: The core's API, if not the provider's.
        base_url: The product's API; default: the variable that ends with _BASE_URL, else the vendor's cloud.
        patience: Seconds to wait until the product has processed what it has heard.
        timeout: Seconds to wait for one answer.
        max_retries: Retries of a failed request.
        settings: Those of every `MemoryProduct`.
    """

    charges_extra = True
    vendor_url: ClassVar[str]
    """The vendor's cloud."""
    core_waits_alike: ClassVar[bool] = False
    """Whether `timeout` and `max_retries` are the core's, too."""

    def __init__(
        self,
        *,
        core_url: str | None = None,
        base_url: str | None = None,
        patience: float = 1800.0,
        timeout: float = 60.0,
        max_retries: int = 4,
        **settings: Any,
    ) -> None:
        name = self.adapter_name()
        endpoint = Endpoint(
            model=name,
            base_url=base_url,
            url_variable=f"{name.upper()}_BASE_URL",
            vendor_url=self.vendor_url,
            key_variable=f"{name.upper()}_API_KEY",
            timeout=timeout,
            max_retries=max_retries,
        )
        alike = {"timeout": timeout, "max_retries": max_retries} if self.core_waits_alike else {}
        super().__init__(endpoint, {"base_url": core_url, **alike}, **settings)
        self._patience = patience

    def impatient(self, what: str, why: str = "") -> AgentError:
        """Return the error for a product that did not do something in time, such as `"Zep did not finish"`."""
        return AgentError(
            f"{what} within patience={self._patience:g} seconds{why}; resume the run later, or raise patience"
        )

    def query(self, message: Message) -> str:
        """Search for what a message asks, if it asks anything."""
        return question_in(message.query) or message.query
