"""A run's usage and cost, summed by purpose and model while its log is read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from pydantic import BaseModel, Field, computed_field

from ltm_bench.core.messages import Finish, Usage
from ltm_bench.core.pricing import price_list, total
from ltm_bench.log.calls import CALLS, Call, KeptCalls
from ltm_bench.log.controls import AskedAgain
from ltm_bench.score.audits.judgements import FIGURES, Opinion


def tokens_in(usage: Mapping[str, int] | None) -> int | None:
    """Return the tokens that a model read, from the cache or not; None if unknown."""
    return sum(usage.get(name, 0) for name in FIGURES[:3]) if usage else None


class Account(BaseModel, frozen=True):
    """One model's usage in a run, for one purpose."""

    purpose: str
    """`agent`, `beside the agent` (an embedder, say), `judge` and its name; without one, what no verdict stands on."""
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
        self.dollars = total([self.dollars, price])

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


_AT_MOST = "each is counted as the most that was reserved for it"


class Bookkeeping:
    """Adds up a run's calls: the one place where tokens and dollars become sums.

    Args:
        free: Whether the agent costs nothing.
        kept: What the folder keeps, which gets the calls to judges and readers that are still to come.
    """

    def __init__(self, *, free: bool, kept: KeptCalls | None = None) -> None:
        self._free, self._kept = free, kept or KeptCalls()
        self._all = _Sum()
        self._accounts: dict[tuple[str, str | None], _Sum] = {}
        self._calls: list[Call] = []
        self.replies = 0
        """The agent's own replies."""

    def add(self, calls: Iterable[Call]) -> None:
        """Add calls."""
        for each in calls:
            price = self.price_of([each])
            self._all.add(each.usage, price)
            purpose = "beside the agent" if each.role == "memory" else "agent"
            self._accounts.setdefault((purpose, each.model), _Sum()).add(each.usage, price)
            self._calls.append(each)

    def price_of(self, calls: Iterable[Call]) -> Decimal | None:
        """Return what calls cost; None if any of it is unknown."""
        # An agent without a price costs nothing, even if it names a model that some price list knows.
        return total(Decimal() if self._free and not each.passed else each.price for each in calls)

    def unlined(self, opinions: Iterable[Opinion]) -> list[Opinion]:
        """Return the opinions of judges and readers none of whose calls was kept: what they cost is known by these."""
        lined = {each.name for each in self._kept.asked if each.came}
        return [each for each in opinions if not each.recorded or each.judge not in lined]

    def judged(self, opinions: Iterable[Opinion]) -> Iterator[Call]:
        """Yield the calls of judges and readers that can have cost something, whose opinions these are."""
        yield from (each for each in self._kept.asked if each.came or each.dollars != 0)
        for each in self.unlined(opinions):
            price = None if each.dollars is None else Decimal(str(each.dollars))
            yield Call(each.model, dollars=price, usage=each.used, ending=Finish.STOP, name=each.judge)

    def remarks(self, opinions: Iterable[Opinion], *, kept: bool) -> Iterator[str]:
        """Say which figures of calls cannot be, and which are not known by the calls themselves.

        Args:
            opinions: Those of judges and readers.
            kept: Whether each call was kept from the run's start on.
        """
        of = f"of {self._all.calls:,} calls"
        yield from self._unread(of)
        for calls, whose in ((self._calls, of), (self._kept.asked, "of the calls to judges and readers")):
            if lost := sum(each.lost and not each.passed and each.dollars != 0 for each in calls):
                yield f"{lost:,} {whose} got no answer, and may have been billed: {_AT_MOST}"
        if cut := [
            (each.sent, each.usage.prompt) for each in self._calls if each.sent and each.usage is not None
        ]:
            sent, counted = max(cut)
            yield (
                f"in {len(cut):,} {of} the server counted far fewer tokens than were sent ({counted:,} of about "
                f"{sent:,}): it cuts prompts, so the agent has not seen all that it was told"
            )
        if (unkept := len(self._kept.alone)) and not self._free:
            why = (
                f"are missing in {CALLS}: what they cost is known by the log, what failed calls cost is lost"
                if kept
                else f"are from before each call was kept ({CALLS}): their sums are as they were"
            )
            yield f"the calls of {unkept:,} of {self.replies:,} replies {why}"
        if paid := [each for each in self.unlined(opinions) if each.dollars != 0]:
            names = ", ".join(dict.fromkeys(each.judge for each in paid))
            yield f"{CALLS} has no calls to {names}: what {len(paid):,} opinions cost is as it was recorded with them"

    def _unread(self, of: str) -> Iterator[str]:
        unread = [each for each in self._calls if not each.lost and each.usage is None and each.dollars != 0]
        if unread and not self._free:
            cost = "what they cost is unknown" if None in (each.dollars for each in unread) else _AT_MOST
            yield f"{len(unread):,} {of} state no usage, or one that cannot be true: {cost}"

    def costs(self, opinions: Iterable[Opinion]) -> Costs:
        """Return the sums, including the cost of judges and readers, whose opinions these are."""
        judges = dict[tuple[str, str | None], _Sum]()
        for each in self.judged(opinions):
            key = (f"judge {each.name}", each.model) if each.came else (each.role, None)
            judges.setdefault(key, _Sum()).add(each.usage, each.dollars)
        judged = total(of.dollars for of in judges.values())
        spent = self._all.dollars if self._free or self._all.calls else None  # or there is none to know yet
        return Costs(
            calls=self.replies,
            usage=self._all.figures,
            dollars=None if spent is None else round(float(spent), 6),
            judge_dollars=None if judged is None else round(float(judged), 6),
            price_list=price_list(*(each.at for each in self._calls if each.at is not None)),
            accounts=[of.account(*key) for key, of in (self._accounts | judges).items()],
            gateway=self._gateway,
        )

    @property
    def _gateway(self) -> Passed | None:
        passed = [each for each in self._calls if each.passed]
        if not passed:
            return None
        return Passed(
            calls=len(passed),
            unassigned=sum(each.turn is None for each in passed),
            lost=sum(each.lost for each in passed),
            retries=sum(each.retry for each in passed),
        )


def dollars_of(calls: Iterable[Call], *, free: bool) -> float | None:
    """Return what calls cost; None if a price is unknown."""
    price = Bookkeeping(free=free).price_of(calls)
    return None if price is None else float(price)


def used_by(calls: Sequence[Call]) -> Usage | None:
    """Return what calls used together, other models `besides` the first one; None if any of them did not say."""
    models: dict[str | None, list[Usage]] = {}
    for each in calls:
        if each.usage is None:
            return None
        models.setdefault(each.usage.model, []).append(each.usage)
    first, *others = map(Usage.of, models.values() or [[Usage()]])
    return replace(first, besides=tuple(others))


def in_all(costs: Costs, again: Mapping[str, AskedAgain], *, free: bool) -> dict[str, float | None]:
    """Return what a run has cost with all that was asked of it again, by part, and `all`; empty if nothing was.

    Args:
        costs: Its own costs.
        again: How its questions were asked again, by kind.
        free: Whether its agent costs nothing.
    """
    if not again:
        return {}
    books = Bookkeeping(free=free)
    parts: dict[str, float | Decimal | None] = {"run": costs.dollars, "judges": costs.judge_dollars}
    for kind, each in again.items():
        parts[kind] = total([books.price_of(each.calls), *(call.dollars for call in each.judged)])
    parts["all"] = total(None if each is None else Decimal(str(each)) for each in parts.values())
    return {name: None if each is None else round(float(each), 6) for name, each in parts.items()}
