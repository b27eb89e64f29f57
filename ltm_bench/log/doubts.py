"""What the side files say about a call whose reply is not in the log: whether the agent heard it, what it may cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple


class Doubt(NamedTuple):
    """What the side files' records so far say about a call whose reply is not in the log."""

    asked: bool = False
    """Whether the agent may have heard the message."""
    unpaid: bool = False
    """Whether it may have cost something not charged yet."""
    reserved: Decimal | None = None
    """The amount reserved for that, if it was noted."""

    def after(self, record: Mapping[str, Any]) -> Doubt:
        """Return what is known after one more record of this call."""
        if "call" in record:  # one of the agent's own, behind the gateway, which pays for it
            return self
        if record.get("sending") is True:
            # Not `asked` yet: an attempt that is refused, as the next record may say, was not heard.
            return Doubt(self.asked, True, price_in(record, "reserved") or None)
        if isinstance(record.get("ending"), str):  # it is paid for, even if the log has lost the reply
            return Doubt(True)
        if "seconds" in record:  # there was a reply; if the log has since lost it, its usage is lost too
            return Doubt(True, True)
        if record.get("lost") is True or record.get("doubtful") is True:
            unreadable = "dollars" in record and not price_in(record, "dollars")
            return Doubt(True, True, self.reserved) if self.unpaid and unreadable else Doubt(True)
        if record.get("failed") is True:
            return Doubt(True)
        if record.get("refused") is True or _all_refused(record):
            return Doubt(self.asked)
        return self


def doubt_about(records: Iterable[Mapping[str, Any]], where: Mapping[str, Any]) -> Doubt:
    """Return what is known about a call whose reply is not in the log.

    If the records lack the start of the conversation, they prove nothing, and everything is in doubt.
    """
    begun, doubt = False, Doubt()
    for record in records:
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


def price_in(record: Mapping[str, Any], name: str) -> Decimal | None:
    """Return a record's amount in dollars; None if it has no valid one."""
    price = record.get(name)
    valid = isinstance(price, int | float) and math.isfinite(price) and price >= 0
    return Decimal(str(price)) if valid else None
