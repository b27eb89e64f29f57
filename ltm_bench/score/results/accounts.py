"""A run's usage and cost, summed by purpose and model while its log is read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal

from pydantic import BaseModel, Field, computed_field

from ltm_bench.core.messages import Reply, Usage
from ltm_bench.core.pricing import dollars, price_list
from ltm_bench.log.gateway import GatewayCall, GatewayCalls
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


class Passed(BaseModel, frozen=True):
    """The agent's own calls that went through a gateway."""

    calls: int = 0
    unassigned: int = 0
    """Calls that came while no turn was open, or several."""
    lost: int = 0
    """Calls without a usage, which were charged the most that they could cost."""
    retries: int = 0
    """Calls that an agent's library repeated."""

    @property
    def words(self) -> str:
        """All of it in words."""
        parts = (
            f"{self.unassigned:,} of them tied to no turn",
            f"{self.lost:,} cut off and charged the most that they could cost" if self.lost else "",
            f"{self.retries:,} repeated" if self.retries else "",
        )
        return ", ".join([f"{self.calls:,} calls through the gateway", *filter(None, parts)])


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
    accounts: list[Account] = []
    """All of it by purpose and model."""
    gateway: Passed | None = None
    """None without a gateway."""

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

    def add(self, usage: Usage | None, price: Decimal | None, calls: int = 1) -> None:
        self.calls += calls
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
        self._passed: list[GatewayCall] = []
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

    def answered(self) -> None:
        """Count a reply whose cost a gateway saw."""
        self._all.calls += 1

    def pass_through(self, call: GatewayCall) -> None:
        """Add one call that went through a gateway."""
        price = self.price_of([call])
        self._all.add(call.usage, price, calls=0)
        self._accounts.setdefault(("agent", call.model), _Sum()).add(call.usage, price)
        self._passed.append(call)

    def price(self, usage: Usage | None) -> Decimal | None:
        """Return the price of one call; None if unknown."""
        return None if usage is None else dollars(usage, self._on)

    def price_of(self, calls: Sequence[GatewayCall]) -> Decimal | None:
        """Return what calls through a gateway cost; None if any of it is unknown."""
        known = [
            price
            for each in calls
            if (price := each.dollars if each.usage is None else self.price(each.usage)) is not None
        ]
        return sum(known, Decimal()) if len(known) == len(calls) else None

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
            gateway=self._gateway,
        )

    @property
    def _gateway(self) -> Passed | None:
        if not self._passed:
            return None
        return Passed(
            calls=len(self._passed),
            unassigned=sum(each.turn is None for each in self._passed),
            lost=sum(each.lost for each in self._passed),
            retries=sum(each.retry for each in self._passed),
        )


def spent_beside(replies: Iterable[Reply], seen: GatewayCalls, *, free: bool) -> float | None:
    """Return what replies beside a run cost; None if a price is unknown. What a gateway saw, they do not say."""
    total = _Sum()
    for usage in [] if free else [each.usage for each in replies]:
        if usage is not None or not seen.calls:
            total.add(usage, None if usage is None else dollars(usage))
    for call in seen.calls:
        total.add(call.usage, call.dollars)
    return None if total.dollars is None else float(total.dollars)


def used_by(calls: Sequence[GatewayCall]) -> Usage | None:
    """Return what calls used together, other models `besides` the first one; None if any of them did not say."""
    models: dict[str | None, list[Usage]] = {}
    for each in calls:
        if each.usage is None:
            return None
        models.setdefault(each.usage.model, []).append(each.usage)
    first, *others = map(Usage.of, models.values() or [[Usage()]])
    return replace(first, besides=tuple(others))
