"""The time and cost of ingesting an example's needles: a public set's history, or a scenario's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from pydantic import BaseModel

from ltm_bench.core.pricing import total
from ltm_bench.log.events import Sent


class Ingestion(BaseModel, frozen=True):
    """The time and cost of telling the agent an example's needles, including waits for its indexers."""

    turns: int
    sessions: int
    """Sessions of a record; 0 if the needles belong to none."""
    tokens: int
    """Tokens of the messages."""
    calls: int
    """The agent's own replies to them."""
    seconds: float | None
    """Wall-clock seconds; None if not measured."""
    dollars: float | None
    """None if a price is unknown."""


class Spent(NamedTuple):
    """The time and money spent on a turn."""

    seconds: float
    waiting: float
    """The part of `seconds` spent waiting for indexers."""
    dollars: Decimal | None

    def plus(self, seconds: float, waiting: float, prices: Sequence[Decimal | None]) -> Spent:
        """Add an operation, with the prices of its calls; None where unknown."""
        return Spent(self.seconds + seconds, self.waiting + waiting, total([self.dollars, *prices]))


@dataclass
class Taking:
    """Adds up the ingestion of an example while its log is read."""

    free: bool
    turns: int = 0
    tokens: int = 0
    calls: int = 0
    sessions: dict[str, None] = field(default_factory=dict)
    seconds: float | None = None
    dollars: Decimal | None = Decimal()

    def told(self, sent: Sent, taken: Spent | None, *, asked: bool) -> None:
        """Add a needle. `asked` says whether the agent replied to it itself."""
        self.turns += 1
        self.tokens += sent.tokens
        self.calls += asked
        if sent.session is not None:
            self.sessions[sent.session] = None
        if taken is not None:
            self.seconds = (self.seconds or 0.0) + taken.seconds
            self.dollars = total([self.dollars, taken.dollars])

    def waited(self, taken: Spent | None) -> None:
        """Add the wait before a question."""
        if taken is not None and taken.waiting:
            self.seconds = (self.seconds or 0.0) + taken.waiting

    @property
    def ingestion(self) -> Ingestion | None:
        """The sums; None if nothing was told."""
        if not self.turns:
            return None
        price = Decimal() if self.free else self.dollars
        return Ingestion(
            turns=self.turns,
            sessions=len(self.sessions),
            tokens=self.tokens,
            calls=self.calls,
            seconds=None if self.seconds is None else round(self.seconds, 6),
            dollars=None if price is None else round(float(price), 9),
        )
