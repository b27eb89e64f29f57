"""What a run may owe for calls whose replies its log does not hold, by the side file `timings.jsonl`."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Set
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.log.lines import records


class Doubt(NamedTuple):
    """What is known of a call whose message is in the log, and whose reply is not."""

    asked: bool
    """Whether the agent has heard the message, as far as anybody knows."""
    unpaid: bool
    """Whether it may have cost something that has not been charged."""
    reserved: Decimal | None = None
    """What was reserved for that, where the side file says so."""


NONE = Doubt(False, False)


def doubt_about(timings: Path, where: Mapping[str, Any]) -> Doubt:
    """Return what the side file says of a call whose reply is not in the log.

    Where it does not say when the conversation began, it tells nothing, and everything is in doubt.
    """
    told, state = False, _State()
    for record in records(timings):
        if record.get("conversation") != where.get("conversation"):
            continue
        if record.get("begun") is True or record.get("resumed") is True:
            told = True
        if record.get("turn") == where.get("turn"):
            state = state.after(record)
    return Doubt(state.asked or state.unpaid, state.unpaid, state.reserved) if told else Doubt(True, True)


class _State(NamedTuple):
    """How the call of one turn stands, by the records of the side file so far."""

    asked: bool = False
    unpaid: bool = False
    reserved: Decimal | None = None

    def after(self, record: Mapping[str, Any]) -> _State:
        """Return how it stands after one more record of this turn."""
        if record.get("sending") is True:
            return _State(self.asked, True, _price(record, "reserved"))
        if "seconds" in record:  # a reply was there; if the log has lost it since, so is its usage
            return _State(True, True)
        if record.get("lost") is True or record.get("doubtful") is True:
            unreadable = "dollars" in record and _price(record, "dollars") is None
            return _State(True, True, self.reserved) if self.unpaid and unreadable else _State(True)
        if record.get("failed") is True:
            return _State(True)
        if record.get("refused") is True or _all_refused(record):
            return _State(self.asked)
        return self


def _all_refused(record: Mapping[str, Any]) -> bool:
    """Whether a failed call's attempts did not reach the agent, or were all answered with an error."""
    attempts = record.get("attempts")
    if "failed_after" not in record or not isinstance(attempts, list) or not attempts:
        return False
    known = [attempt for attempt in attempts if isinstance(attempt, dict)]
    statuses = [attempt.get("status") for attempt in known if attempt.get("unsent") is not True]
    errors = [isinstance(status, int) and status >= 400 for status in statuses]
    return len(known) == len(attempts) and all(errors)


Place = tuple[str | None, int]
"""A turn or a fork: its conversation, where a run has several, and its number."""


class Owed(NamedTuple):
    """What a run's side file says of money that its log does not show."""

    dollars: Decimal
    """The upper bound, if known, for the attempts whose usage never came."""
    replies: Set[Place]
    """Logged replies that are among them."""


def owed(timings: Path, replied: Container[Place]) -> Owed:
    """Read what was charged because no usage came, and what is reserved for calls that a crash cut off.

    Args:
        timings: The side file, in which all commands that have worked on the run have written.
        replied: The turns and forks whose replies are in a log: none of those was cut off.
    """
    total, replies = Decimal(), set()
    states: dict[Place, _State] = {}
    for record in records(timings):
        price = _price(record, "dollars")
        total += price or 0
        turn, conversation = record.get("turn"), record.get("conversation")
        if isinstance(turn, int):
            place = (conversation if isinstance(conversation, str) else None, turn)
            states[place] = states.get(place, _State()).after(record)
            if price is not None and "seconds" in record:
                replies.add(place)
    cut_off = (state.reserved for place, state in states.items() if place not in replied)
    return Owed(sum((each for each in cut_off if each is not None), total), replies)


def _price(record: Mapping[str, Any], name: str) -> Decimal | None:
    """Return what a record says in dollars; None if it says nothing that makes sense."""
    price = record.get(name)
    if not isinstance(price, int | float) or not math.isfinite(price) or price <= 0:
        return None
    return Decimal(str(price))
