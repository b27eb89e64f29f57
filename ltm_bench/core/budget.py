"""Money: what may be spent, what has been, and what calls that are under way could cost."""

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
    """What may be spent, and what has been."""

    limit: Decimal | None = None
    spent: Decimal = field(default_factory=Decimal)
    unknown: bool = False
    """Whether a reply's price is unknown, so that `spent` is a lower bound."""

    held: Decimal = field(default_factory=Decimal)
    """What calls that are under way could cost at most."""

    def settle(self, usage: Usage | None, *, free: bool, held: Decimal = NOTHING) -> None:
        """Add what a reply cost, and give back what was held for it."""
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
        """Set aside the most that replying to `message` could cost, and return it.

        Raises BudgetReached if that, with all that is under way, could exceed the limit.
        """
        if self.limit is None or agent.free:
            return NOTHING
        most = agent.reserve(message)
        return self.take(dollars(most) if most is not None else None)

    def take(self, price: Decimal | None) -> Decimal:
        """Set this much aside, and return it. Raises BudgetReached as `hold` does."""
        if price is None or self.unknown:
            raise BudgetReached(
                f"--max-cost {self.limit} cannot be held: the agent's price is unknown; run it without --max-cost"
            )
        if self.limit is not None and self.spent + self.held + price > self.limit:
            raise BudgetReached(
                f"${self.spent:.4f} spent, and the next call could cost ${price:.4f}: that could exceed "
                f"--max-cost {self.limit}; resume with a larger one"
            )
        self.held += price
        return price

    def release(self, held: Decimal) -> None:
        """Give back what was held for a call that failed."""
        self.held -= held
