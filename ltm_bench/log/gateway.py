"""The side file `gateway.jsonl`: an agent's own calls to its providers, as the gateway saw them.

A call has two lines: one before it goes out, with what is reserved for it, and one when it has ended. Whoever finds
only the first counts the reservation. A line with `opened` says that a turn's calls were seen.
"""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.log.events import usage_of
from ltm_bench.log.lines import records

GATEWAY = "gateway.jsonl"

Opened = tuple[str | None, int]
"""A turn or a fork: its conversation, if the run has several, and its number."""


@dataclass(frozen=True, slots=True)
class GatewayCall:
    """One call of an agent to a provider."""

    model: str
    conversation: str | None
    turn: int | None
    """None if not exactly one turn was open when it came."""
    dollars: Decimal | None
    """What was charged; the reservation, if its end is not recorded. None if unknown."""
    usage: Usage | None = None
    retry: bool = False
    """Whether the agent's library says that it repeats a call."""
    lost: bool = False
    """Whether it was charged without a usage: it was cut off, or the process died."""


class GatewayCalls(NamedTuple):
    """Everything that the file says."""

    calls: Sequence[GatewayCall] = ()
    opened: Set[Opened] = frozenset()
    """Turns and forks that were asked while the gateway saw the agent's calls."""

    def turns(self, conversation: str | None) -> dict[int, list[GatewayCall]]:
        """Return the calls of each turn and fork of a conversation that was asked."""
        # Without any call it is unknown what the agent uses: it may not know of the gateway.
        found: dict[int, list[GatewayCall]] = {
            turn: [] for name, turn in self.opened if name == conversation and self.calls
        }
        for call in self.calls:
            if call.conversation == conversation and call.turn in found:
                found[call.turn].append(call)
        return found

    @property
    def spent(self) -> Decimal:
        """What all calls cost, as far as it is known."""
        return sum((each.dollars for each in self.calls if each.dollars is not None), Decimal())


def read_gateway(folder: Path) -> GatewayCalls:
    """Read a folder's file, which may be missing. Nonsense in it is ignored: it is evidence, not truth."""
    calls: dict[str, GatewayCall] = {}
    opened = set[Opened]()
    for record in records(folder / GATEWAY):
        turn, named, call = record.get("turn"), record.get("conversation"), record.get("call")
        turn = turn if isinstance(turn, int) else None
        conversation = named if isinstance(named, str) else None
        if turn is not None and "opened" in record:
            opened.add((conversation, turn))
        elif isinstance(call, str) and "status" not in record:
            reserved, model = _price(record, "reserved"), record.get("model")
            calls[call] = GatewayCall(
                str(model), conversation, turn, reserved, retry="retry" in record, lost=True
            )
        elif isinstance(call, str) and call in calls:
            most, price = calls[call].dollars, _price(record, "dollars")
            used = usage_of(record.get("usage"))
            # No call costs more than was reserved for it, but for reasoning that no limit covers.
            known = [each for each in (most, dollars(used) if used is not None else None) if each is not None]
            calls[call] = replace(
                calls[call],
                dollars=price if price is None else min(price, max(known, default=price)),
                usage=used,
                lost=record.get("lost") is True,
            )
    return GatewayCalls(list(calls.values()), opened)


def _price(record: Mapping[str, Any], name: str) -> Decimal | None:
    price = record.get(name)
    valid = isinstance(price, int | float) and math.isfinite(price) and price >= 0
    return Decimal(str(price)) if valid else None
