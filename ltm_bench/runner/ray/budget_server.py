"""Collects the progress of all runs of a sweep, and grants their spending. Knows nothing of Ray."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached
from ltm_bench.runner.spent import Cost


@dataclass
class Spending:
    """One run's progress and spending."""

    attempt: str = ""
    attempts: int = 0
    already: bool = False
    turns: int = 0
    examples: int = 0
    spent: Decimal = field(default_factory=Decimal)
    """Spent by its current attempt, including what its log had cost before."""
    held: Decimal = field(default_factory=Decimal)
    carried: Decimal = field(default_factory=Decimal)
    """Upper bound for spending by lost attempts that the log does not show."""
    unknown: bool = False


class Begun(NamedTuple):
    """A run that has started."""

    attempts: int
    already: bool
    """Whether it was finished before."""


class Standing(NamedTuple):
    """The combined progress of all runs of a sweep."""

    begun: Mapping[int, Begun]
    """Runs that have started, by number."""
    turns: int
    examples: int
    spent: Decimal
    unknown: bool
    """Whether a reply's price is unknown."""


class BudgetServer:
    """Collects all workers' progress, and grants their spending. One per sweep, beside the driver."""

    def __init__(self, limit: Decimal | None, before: Sequence[Cost]) -> None:
        """Open an account for every run, with its cost before the sweep, if known here."""
        self._limit = limit
        self._accounts = [Spending(spent=cost.logged, carried=cost.charged) for cost in before]

    def open(
        self,
        number: int,
        attempt: str,
        logged: Decimal,
        *,
        already: bool,
        unsettled: Decimal | None = None,
        ledger: Decimal | None = None,
    ) -> Decimal:
        """Start a run, or restart it: what a lost attempt spent beyond its log stays spent. Return that amount at most.

        Args:
            number: The run's number in the sweep.
            attempt: The worker's attempt.
            logged: What the replies in its log have cost.
            already: Whether it was finished before.
            unsettled: What it may also have cost, according to its files; None if they are a copy, which may be older
                than the last call.
            ledger: What it may have cost in all, according to its ledger, if it has one. Counts when the sweep that
                wrote it is gone, and with it the account.
        """
        old = self._accounts[number]
        known = not already or bool(old.attempt)  # runs finished before the sweep do not count
        settled = old.carried + old.spent
        lost = max(settled + old.held - logged, Decimal())
        # The files are complete, so a call that is not in them was never made. If they show less than is known here,
        # they are not: a node that went down had not written everything.
        if unsettled is not None and logged + unsettled >= settled:
            lost = unsettled
        first = old.carried if ledger is None else max(ledger - logged, Decimal())
        carried = lost if old.attempt else first
        self._accounts[number] = Spending(
            attempt,
            old.attempts + 1,
            already,
            spent=logged if known else Decimal(),
            carried=carried,
            unknown=old.unknown,
        )
        return carried

    def take(
        self, number: int, attempt: str, price: Decimal | None, spent: Decimal, *, unknown: bool
    ) -> Decimal | str:
        """Reserve money for a call; return the amount, or why there is none.

        Args:
            number: The run's number in the sweep.
            attempt: The attempt of the worker that asks; one that was replaced gets nothing.
            price: Upper bound for the call's cost; None if unknown.
            spent: What the run has spent by now.
            unknown: Whether a reply's price is unknown.
        """
        account = self._accounts[number]
        if account.attempt != attempt:
            return "another worker has taken this run over"
        account.spent = max(account.spent, spent)
        account.unknown = account.unknown or unknown
        everything = Budget(
            self._limit,
            spent=self.spent(),
            unknown=any(each.unknown for each in self._accounts),
            held=sum((each.held for each in self._accounts), Decimal()),
        )
        try:
            everything.take(price)
        except BudgetReached as error:
            return str(error)
        account.held += price or Decimal()
        return price or Decimal()

    def lose(self, number: int, attempt: str, price: Decimal) -> None:
        """Count a call whose reply was lost, as its run does now, without counting a carried-over reservation twice.

        Args:
            number: The run's number in the sweep.
            attempt: The worker's attempt.
            price: Upper bound for what the call cost.
        """
        account = self._accounts[number]
        if account.attempt == attempt:
            account.carried = max(account.carried - price, Decimal())
            account.spent += price

    def give(self, number: int, attempt: str, held: Decimal, spent: Decimal, *, unknown: bool) -> None:
        """Release a call's reservation.

        Args:
            number: The run's number in the sweep.
            attempt: The worker's attempt.
            held: The amount reserved.
            spent: What the run has spent by now.
            unknown: Whether a reply's price is unknown.
        """
        account = self._accounts[number]
        if account.attempt == attempt:
            account.held -= held
            account.spent = max(account.spent, spent)
            account.unknown = account.unknown or unknown

    def report(self, number: int, attempt: str, turns: int, examples: int, spent: Decimal) -> None:
        """Record a run's progress.

        Args:
            number: The run's number in the sweep.
            attempt: The worker's attempt.
            turns: Said so far.
            examples: Ended so far.
            spent: US dollars so far.
        """
        account = self._accounts[number]
        if account.attempt == attempt:
            account.turns, account.examples = turns, examples
            account.spent = max(account.spent, spent)

    def spent(self) -> Decimal:
        """Return the total spending of all runs."""
        return sum((each.carried + each.spent for each in self._accounts), Decimal())

    def look(self) -> Standing:
        """Return the combined progress of all runs."""
        begun = {
            number: Begun(each.attempts, each.already)
            for number, each in enumerate(self._accounts)
            if each.attempt
        }
        turns = sum(each.turns for each in self._accounts)
        examples = sum(each.examples for each in self._accounts)
        unknown = any(each.unknown for each in self._accounts)
        return Standing(begun, turns, examples, self.spent(), unknown)
