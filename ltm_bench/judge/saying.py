"""Sends a judge one message and returns its answer: the only place that calls judges."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.keys import scrubbed, without_values
from ltm_bench.core.messages import Message, Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.judge.judges import Judge

AT = datetime(2026, 1, 1, tzinfo=UTC)
"""The time of every message to a judge: its answer must not depend on when it is asked."""


class Said(NamedTuple):
    """A judge's answer."""

    text: str
    """The answer, or what went wrong if it failed."""
    usage: Usage | None = None
    dollars: float | None = None
    """None if the price is unknown."""
    failed: bool = False


async def say(judge: Judge, text: str, budget: Budget) -> Said:
    """Send a text to a fresh judge. Any failure is an answer that `failed`, except BudgetReached, which is raised."""
    message = Message(text, AT, 0)
    with tempfile.TemporaryDirectory() as home:
        agent = None
        try:
            agent = judge.make()
            with budget.paying(agent, message) as payment:
                await agent.open(Path(home))
                payment.calling()
                reply = await agent.reply(message)
                payment.settle(reply.usage)
        except BudgetReached:
            raise
        except Exception as error:  # a judge's adapter can raise anything
            return Said(scrubbed(f"{type(error).__name__}: {error}"), failed=True)
        finally:
            if agent is not None:
                await agent.close()
    price = Decimal(0) if agent.free else dollars(reply.usage) if reply.usage else None
    return Said(without_values(reply.text), reply.usage, None if price is None else float(price))
