"""Time and cost of a memory's operations: writing, waiting for indexers, retrieving, answering, and judging beside it.

Seconds and the usage of each call come from the side file `timings.jsonl`. Prices are those of the run's day.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from ltm_bench.core.messages import Usage
from ltm_bench.log.calls import Call
from ltm_bench.log.events import usage_of
from ltm_bench.score.statistics.intervals import Interval, median_interval

OPERATIONS = ("write", "settle", "retrieve", "answer", "judge")
"""Operations in the order of a turn."""

BINS = 10
"""Number of parts of a conversation in which an operation is measured separately."""


class Stretch(BaseModel, frozen=True):
    """An operation in one part of a conversation."""

    position: int
    """Tokens of the conversation before the end of this part."""
    calls: int
    p50: float
    """Seconds."""


class Operation(BaseModel, frozen=True):
    """Time and cost of one kind of operation in a run."""

    name: str
    calls: int
    p50: float | None = None
    """Seconds; None if not measured (judges)."""
    p50_interval: Interval | None = None
    """Interval of the median, without assumptions about the distribution."""
    p95: float | None = None
    seconds: float | None = None
    """Total seconds."""
    tokens: int = 0
    """Tokens of prompts and outputs, if known."""
    dollars: float | None = 0.0
    """Total; None if a price is unknown."""
    dollars_interval: Interval | None = None
    """Interval of the total for as many such calls; None for fewer than two, or if all cost the same."""
    along: tuple[Stretch, ...] = ()
    """By position in the conversation; empty in isolated runs."""


@dataclass
class Samples:
    """All operations of one kind."""

    seconds: list[float] = field(default_factory=list)
    turns: list[object] = field(default_factory=list)
    prices: list[float] = field(default_factory=list)
    tokens: int = 0
    unknown: bool = False

    def add(
        self, seconds: float, turn: object, usage: Sequence[Usage | None], prices: Sequence[Decimal | None]
    ) -> None:
        """Add an operation, with the usage of its calls and their prices; None where unknown."""
        self.seconds.append(seconds)
        self.turns.append(turn)
        self.prices.append(float(sum(price or 0 for price in prices)))
        self.tokens += sum(_tokens(each) for each in usage if each is not None)
        self.unknown = self.unknown or None in prices


def operations(
    samples: Mapping[str, Samples], positions: Mapping[int, int], *, free: bool
) -> list[Operation]:
    """Return the time and cost of an agent's operations, in the order of a turn.

    Args:
        samples: The operations of each kind.
        positions: Tokens before each turn and fork; empty in isolated runs.
        free: Whether the agent costs nothing.
    """
    return [_operation(name, samples[name], positions, free=free) for name in OPERATIONS if name in samples]


def read_operations(noted: Any) -> Iterable[tuple[str, float, list[Usage | None]]]:
    """Yield a record's valid operations: it is evidence, not truth."""
    for each in noted if isinstance(noted, list) else ():
        if not isinstance(each, list) or len(each) != 3 or each[0] not in OPERATIONS:
            continue
        name, seconds, usage = each
        if isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0:
            calls = usage if isinstance(usage, list) else [None]
            yield name, float(seconds), [usage_of(call) for call in calls]


def _operation(name: str, of: Samples, positions: Mapping[int, int], *, free: bool) -> Operation:
    taken = sorted(of.seconds)
    count = len(taken)
    total = sum(of.prices)
    unknown = of.unknown and not free
    return Operation(
        name=name,
        calls=count,
        p50=round(_quantile(taken, 0.5), 6),
        p50_interval=median_interval(taken),
        p95=round(_quantile(taken, 0.95), 6),
        seconds=round(sum(taken), 6),
        tokens=of.tokens,
        dollars=None if unknown else round(total, 9),
        dollars_interval=None if unknown else _of_sum(of.prices),
        along=tuple(_along(of, positions)),
    )


def _along(of: Samples, positions: Mapping[int, int]) -> Iterable[Stretch]:
    end = max(positions.values(), default=0)
    parts: dict[int, list[float]] = {}
    for seconds, turn in zip(of.seconds, of.turns, strict=True) if end else ():
        position = positions.get(turn, 0) if isinstance(turn, int) else 0
        parts.setdefault(min(BINS - 1, BINS * position // end), []).append(seconds)
    for part in sorted(parts):
        taken = sorted(parts[part])
        yield Stretch(
            position=(part + 1) * end // BINS, calls=len(taken), p50=round(_quantile(taken, 0.5), 6)
        )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of values in order, by the nearest rank."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _of_sum(prices: Sequence[float]) -> Interval | None:
    """Return the 95 % interval of the sum of as many prices like these."""
    count = len(prices)
    if count < 2 or min(prices) == max(prices):
        return None
    mean = sum(prices) / count
    deviation = math.sqrt(sum((price - mean) ** 2 for price in prices) / (count - 1))
    half = 1.96 * deviation * math.sqrt(count)
    return Interval(low=max(0.0, count * mean - half), high=count * mean + half)


def judging(calls: Sequence[Call]) -> Iterable[Operation]:
    """Yield the cost of the judges, if there were any."""
    if calls:
        prices = [float(each.dollars) for each in calls if each.dollars is not None]
        yield Operation(
            name="judge",
            calls=len(calls),
            tokens=sum(_tokens(each.usage) for each in calls if each.usage is not None),
            dollars=round(sum(prices), 9) if len(prices) == len(calls) else None,
            dollars_interval=_of_sum(prices) if len(prices) == len(calls) else None,
        )


def _tokens(usage: Usage) -> int:
    return usage.prompt + usage.output + sum(map(_tokens, usage.besides))
