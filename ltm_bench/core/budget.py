"""The budget of a run or a sweep, in US dollars: the limit, what has been spent, what is reserved for pending calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.messages import Message, Usage
from ltm_bench.core.pricing import dollars

NOTHING = Decimal()


@dataclass
class Budget:
    """Keeps spending within a limit by reserving the most that each call could cost."""

    limit: Decimal | None = None
    spent: Decimal = field(default_factory=Decimal)
    unknown: bool = False
    """Whether the price of some reply is unknown, which makes `spent` a lower bound."""

    held: Decimal = field(default_factory=Decimal)
    """The most that pending calls could cost."""

    def settle(self, usage: Usage | None, *, free: bool, held: Decimal = NOTHING) -> None:
        """Add the price of a reply, and release what was reserved for it."""
        self.held -= held
        if usage is None:
            self.unknown = self.unknown or not free
            return
        price = dollars(usage)
        if price is not None:
            self.spent += price
        elif not free:
            self.unknown = True

    def hold(self, agent: Agent, message: Message) -> Decimal:
        """Reserve the most that replying to `message` could cost, and return it.

        Raises BudgetReached if that could exceed the limit, or if the price is unknown.
        """
        if self.limit is None or agent.free:
            return NOTHING
        most = agent.reserve(message)
        return self.take(dollars(most) if most is not None else None)

    def take(self, price: Decimal | None) -> Decimal:
        """Reserve this price, and return it. Raises BudgetReached as `hold` does."""
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

    def lose(self, price: Decimal) -> None:
        """Count a call that may have been paid for, and whose reply was lost in a crash."""
        self.spent += price

    def release(self, held: Decimal) -> None:
        """Release what was reserved for a call that failed."""
        self.held -= held
