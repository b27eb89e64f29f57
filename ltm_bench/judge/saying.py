"""Sends a judge one message and returns its answer: the only place that calls judges."""

import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.adapters.chat import ChatModel
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import AgentError, BudgetReached
from ltm_bench.core.keys import cleaned, known_values, scrubbed
from ltm_bench.core.limits import answers_of
from ltm_bench.core.messages import Finish, Message, Reply, Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.core.thinking import spoken
from ltm_bench.judge.judges import Judge
from ltm_bench.runner.guarding import guarded, unusable

AT = datetime(2026, 1, 1, tzinfo=UTC)
"""The time of every message to a judge: its answer must not depend on when it is asked."""


class JudgeAnswer(NamedTuple):
    """A judge's answer."""

    text: str
    """The answer, or what went wrong if it failed."""
    usage: Usage | None = None
    dollars: float | None = None
    """None if the price is unknown."""
    failed: bool = False


async def say(
    judge: Judge, text: str, budget: Budget, schema: Mapping[str, Any] | None = None
) -> JudgeAnswer:
    """Send a text to a fresh judge. Any failure is an answer that `failed`, except BudgetReached, which is raised.

    Args:
        judge: The judge.
        text: The text.
        budget: What may be spent.
        schema: A JSON schema for the answer, for judges that can be held to one.
    """
    message = Message(text, AT, 0)
    with tempfile.TemporaryDirectory() as home:
        agent = None
        try:
            agent = judge.make()
            if isinstance(agent, ChatModel):
                agent.schema = schema
            with budget.paying(agent, message) as payment:
                await agent.open(Path(home))
                payment.calling()
                with answers_of(agent.max_bytes):
                    reply = cleaned(await guarded(lambda: agent.reply(message)), known_values())
                if problem := unusable(reply, agent.max_bytes):
                    raise AgentError(f"reply() returned {problem}")
                payment.settle(reply.usage)
        except BudgetReached:
            raise
        except Exception as error:  # a judge's adapter can raise anything
            return JudgeAnswer(scrubbed(f"{type(error).__name__}: {error}"), failed=True)
        finally:
            if agent is not None:
                await agent.close()
    price = Decimal(0) if agent.free else dollars(reply.usage) if reply.usage else None
    problem = _unsaid(reply)
    text = f"{problem}: {reply.text[:200]!r}" if problem else reply.text
    return JudgeAnswer(text, reply.usage, None if price is None else float(price), failed=bool(problem))


def _unsaid(reply: Reply) -> str:
    """Return why a reply that came is no answer: it did not end well, or says nothing; empty if it is one."""
    if reply.finish is not Finish.STOP:
        return f"it ended with {reply.finish.value}"
    return "" if spoken(reply.text).strip() else "it says nothing"
