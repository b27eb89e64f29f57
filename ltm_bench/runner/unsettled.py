"""What a run may owe for calls whose replies are not in its log, from the side file `timings.jsonl`."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Set
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.log.lines import records


class Doubt(NamedTuple):
    """What the side file's records so far say about a call whose reply is not in the log."""

    asked: bool = False
    """Whether the agent may have heard the message."""
    unpaid: bool = False
    """Whether it may have cost something not charged yet."""
    reserved: Decimal | None = None
    """The amount reserved for that, if the side file has it."""

    def after(self, record: Mapping[str, Any]) -> Doubt:
        """Return what is known after one more record of this call."""
        if record.get("sending") is True:
            # Not `asked` yet: an attempt that is refused, as the next record may say, was not heard.
            return Doubt(self.asked, True, _price(record, "reserved"))
        if "seconds" in record:  # there was a reply; if the log has since lost it, its usage is lost too
            return Doubt(True, True)
        if record.get("lost") is True or record.get("doubtful") is True:
            unreadable = "dollars" in record and _price(record, "dollars") is None
            return Doubt(True, True, self.reserved) if self.unpaid and unreadable else Doubt(True)
        if record.get("failed") is True:
            return Doubt(True)
        if record.get("refused") is True or _all_refused(record):
            return Doubt(self.asked)
        return self


def doubt_about(timings: Path, where: Mapping[str, Any]) -> Doubt:
    """Return what the side file says about a call whose reply is not in the log.

    If it lacks the start of the conversation, it proves nothing, and everything is in doubt.
    """
    begun, doubt = False, Doubt()
    for record in records(timings):
        if record.get("conversation") != where.get("conversation"):
            continue
        begun = begun or record.get("begun") is True or record.get("resumed") is True
        if record.get("turn") == where.get("turn"):
            doubt = doubt.after(record)
    return doubt._replace(asked=doubt.asked or doubt.unpaid) if begun else Doubt(True, True)


def _all_refused(record: Mapping[str, Any]) -> bool:
    """Whether each of a failed call's attempts was never sent, or was answered with an error."""
    attempts = record.get("attempts")
    if "failed_after" not in record or not isinstance(attempts, list) or not attempts:
        return False
    known = [attempt for attempt in attempts if isinstance(attempt, dict)]
    statuses = [attempt.get("status") for attempt in known if attempt.get("unsent") is not True]
    errors = [isinstance(status, int) and status >= 400 for status in statuses]
    return len(known) == len(attempts) and all(errors)


Place = tuple[str | None, int]
"""A turn or a fork: its conversation, if the run has several, and its number."""


class Unsettled(NamedTuple):
    """Money that a run's side file shows and its log does not."""

    dollars: Decimal
    """The upper bound, if known, for the attempts whose usage never came."""
    replies: Set[Place]
    """Logged replies among them."""


def unsettled(timings: Path, replied: Container[Place]) -> Unsettled:
    """Read what was charged for lack of a usage, and what is reserved for calls cut off by a crash.

    Args:
        timings: The side file, written by every command that worked on the run.
        replied: The turns and forks whose replies are logged; none of those was cut off.
    """
    total, replies = Decimal(), set()
    states: dict[Place, Doubt] = {}
    for record in records(timings):
        price = _price(record, "dollars")
        total += price or 0
        turn, conversation = record.get("turn"), record.get("conversation")
        if isinstance(turn, int):
            place = (conversation if isinstance(conversation, str) else None, turn)
            states[place] = states.get(place, Doubt()).after(record)
            if price is not None and "seconds" in record:
                replies.add(place)
    cut_off = (state.reserved for place, state in states.items() if place not in replied)
    return Unsettled(sum((each for each in cut_off if each is not None), total), replies)


def _price(record: Mapping[str, Any], name: str) -> Decimal | None:
    """Return a record's amount in dollars; None if it has no valid one."""
    price = record.get(name)
    if not isinstance(price, int | float) or not math.isfinite(price) or price <= 0:
        return None
    return Decimal(str(price))
