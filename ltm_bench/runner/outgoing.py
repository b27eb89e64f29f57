"""A message on its way to the agent: what is known of it before the call, and the result of the call."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from ltm_bench.adapters.compaction import Compacted
from ltm_bench.adapters.http.traffic import Traffic
from ltm_bench.adapters.operations import Done
from ltm_bench.adapters.routing import OpenTurn
from ltm_bench.core.messages import Message, Reply
from ltm_bench.runner.tracing import Found


class CallResult(NamedTuple):
    """The result of asking the agent."""

    reply: Reply
    tokens_sent: int
    seconds: float
    traffic: Traffic
    recalled: Found | None
    """What retrieval gave for a question, before it was asked; None if unknown."""
    charged: Decimal | None = None
    """What was charged, whatever it reports; None if what it reports is its price."""
    operations: Sequence[Done] = ()
    """The agent's operations for it."""
    since_told: float | None = None
    """Seconds since its example's last turn, for a question that did not wait for indexers."""

    by_gateway: bool = False
    """Whether the gateway saw its calls, and keeps them."""

    @property
    def noted(self) -> tuple[float, Traffic, Sequence[Done], float | None, bool]:
        """What `Notes.call` takes of it."""
        compacted = isinstance(self.reply, Compacted)
        return self.seconds, self.traffic, self.operations, self.since_told, compacted


class Early(NamedTuple):
    """How long after its example's last turn a question goes out that does not wait for indexers."""

    seconds: float
    told: float | None
    """When that turn ended, by the clock; None if another process heard it."""

    def left(self, now: float) -> float:
        """Return the seconds to wait from now on."""
        return max(0.0, (now if self.told is None else self.told) + self.seconds - now)


class Outgoing(NamedTuple):
    """A message to the agent, and what is known about earlier attempts."""

    message: Message
    what: str
    """Its name in messages about doubt."""
    lost: Decimal | None
    """The charge for an earlier attempt; None if the agent cannot have heard it."""
    recalled: Found | None
    frozen: Sequence[Done] = ()
    """The agent's operations while it froze its prompt."""
    told: float | None = None
    """As in `Early`."""


def share_out(seen: OpenTurn | None, done: Sequence[Done]) -> None:
    """Give operations the usage of the calls that the gateway saw for them, and the last one that of all others."""
    if seen is not None:
        for each in done:
            each.usage = seen.used(each.name)
        done[-1].usage += [usage for _, usage in seen.calls]
