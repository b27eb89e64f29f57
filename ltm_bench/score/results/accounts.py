"""A run's usage and cost, summed by purpose and model while its log is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal

from pydantic import BaseModel, Field, computed_field

from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars, price_list
from ltm_bench.score.audits.judgements import FIGURES
from ltm_bench.score.results.examples import ExampleResult


def tokens_in(usage: Mapping[str, int] | None) -> int | None:
    """Return the tokens that a model read, from the cache or not; None if unknown."""
    return sum(usage.get(name, 0) for name in FIGURES[:3]) if usage else None


class Account(BaseModel, frozen=True):
    """One model's usage in a run, for one purpose."""

    purpose: str
    """`agent`, `beside the agent` (an embedder, say), or `judge` and its name."""
    model: str | None
    """None if the adapter does not report it."""
    calls: int = 0
    unknown: int = 0
    """Calls with unknown usage."""
    uncached: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    """The hidden part of `output`."""
    dollars: float | None = 0.0
    """None if a price is unknown."""


class Costs(BaseModel, frozen=True):
    """The agent's usage and cost."""

    calls: int = 0
    """The agent's own replies, without scripted filler."""
    usage: dict[str, int] = Field(default_factory=dict)
    """Sums of the normalised token figures."""
    dollars: float | None = 0.0
    """None if a price is unknown."""
    judge_dollars: float | None = 0.0
    """The judges' cost, not included in `dollars`; None if a price is unknown."""
    price_list: str = ""
    """Name and date of the price list."""
    accounts: list[Account] = Field(default_factory=list)
    """All of it by purpose and model."""

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def tokens_in(self) -> int | None:
        """Tokens that the agent's model read, from the cache or not; None if unknown."""
        return tokens_in(self.usage)


@dataclass
class _Sum:
    calls: int = 0
    unknown: int = 0
    figures: dict[str, int] = field(default_factory=dict)
    dollars: Decimal | None = Decimal()

    def add(self, usage: Usage | None, price: Decimal | None) -> None:
        self.calls += 1
        if usage is None:
            self.unknown += 1
        else:
            for name in FIGURES:
                self.figures[name] = self.figures.get(name, 0) + getattr(usage, name)
        self.dollars = None if price is None or self.dollars is None else self.dollars + price

    def account(self, purpose: str, model: str | None) -> Account:
        spent = None if self.dollars is None else round(float(self.dollars), 9)
        return Account(
            purpose=purpose,
            model=model,
            calls=self.calls,
            unknown=self.unknown,
            dollars=spent,
            **self.figures,
        )


class Bookkeeping:
    """Adds up the agent's calls, at the prices of a day; None for today."""

    def __init__(self, *, free: bool, on: datetime | None) -> None:
        self._free, self._on = free, on
        self._all = _Sum()
        self._accounts: dict[tuple[str, str | None], _Sum] = {}

    def add(self, usage: Usage | None) -> Decimal | None:
        """Add one call; return its price, None if unknown."""
        price = self.price(usage)
        # An agent without a price costs nothing, even if it names a model that no price list knows.
        counted = Decimal() if price is None and self._free else price
        self._all.add(usage, counted)
        own = None if usage is None else replace(usage, besides=())
        self._account("agent", own, usage.model if usage else None)
        for each in usage.besides if usage else ():
            self._account("beside the agent", each, each.model)
        return price

    @property
    def spent(self) -> Decimal | None:
        """What all calls of the agent cost; None if a price is unknown, and as long as there is none to know."""
        return self._all.dollars if self._free or self._all.calls else None

    def price(self, usage: Usage | None) -> Decimal | None:
        """Return the price of one call; None if unknown."""
        return None if usage is None else dollars(usage, self._on)

    def _account(self, purpose: str, usage: Usage | None, model: str | None) -> None:
        price = Decimal() if self._free else None if usage is None else dollars(usage, self._on)
        self._accounts.setdefault((purpose, model), _Sum()).add(usage, price)

    def costs(self, examples: Sequence[ExampleResult]) -> Costs:
        """Return the sums, including the judges' cost."""
        opinions = [opinion for e in examples for q in e.questions for opinion in q.asked_of]
        judges: dict[tuple[str, str | None], _Sum] = {}
        for opinion in opinions:
            price = None if opinion.dollars is None else Decimal(str(opinion.dollars))
            judges.setdefault((f"judge {opinion.judge}", opinion.model), _Sum()).add(opinion.used, price)
        judged = [opinion.dollars for opinion in opinions]
        return Costs(
            calls=self._all.calls,
            usage=self._all.figures,
            dollars=None if self.spent is None else round(float(self.spent), 6),
            judge_dollars=None if None in judged else round(sum(each or 0.0 for each in judged), 6),
            price_list=price_list(self._on),
            accounts=[each.account(*key) for key, each in (self._accounts | judges).items()],
        )
