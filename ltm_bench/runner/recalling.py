"""Asks an agent's own memory the queries of PrecisionMemBench through `recall`."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ltm_bench.core.agent import Agent, Memory
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.datasets.precisionmembench.context import USER, Belief, most_of, row_of, surfaced, text_of
from ltm_bench.runner.guarding import guarded

_AT = datetime(2026, 1, 1, tzinfo=UTC)
"""The time of all that is told: the set's beliefs are not told one after the other."""

Rows = Mapping[str, Mapping[str, Any]]


class _Believer:
    """An agent that is told beliefs, one a turn, and the beliefs that its memories come from."""

    def __init__(self, agent: Agent, budget: Budget) -> None:
        self._agent, self._budget = agent, budget
        self._told: list[tuple[str, Message]] = []
        self.beliefs: dict[str, Belief] = {}

    async def tell(self, belief: Belief) -> None:
        """Tell a belief, or a newer form of one."""
        name = str(belief["_id"])
        self.beliefs[name] = belief
        message = Message(text_of(belief), _AT, len(self._told), user=str(belief["user_id"]))
        self._told.append((name, message))
        with self._budget.paying(self._agent, message, at_once=not self._agent.observes) as payment:
            if self._agent.observes:
                turn = Turn(message, Reply("Noted."), kind="tell", answered="script")
                await guarded(lambda: self._agent.observe(turn), message.turn)
            else:
                payment.calling()
                payment.settle((await guarded(lambda: self._agent.reply(message), message.turn)).usage)

    async def found(self, case: Mapping[str, Any]) -> list[str]:
        """Return the beliefs that the agent's retrieval gives for a query or a turn, the nearest first."""
        query, user = str(case.get("query", case.get("userMessage"))), case.get("userId", USER)
        if not (most := most_of(case)):
            return []
        message = Message(query, _AT, len(self._told), user=user)
        with self._budget.paying(self._agent, message, at_once=False):
            await guarded(self._agent.settle)
            # Some memories give the best of each user in turn, so all that is told is asked for.
            memories = await guarded(lambda: self._agent.recall(query, most + len(self._told)))
        if odd := [each for each in memories if not isinstance(each, Memory)]:
            raise AgentError(f"recall() returned {type(odd[0]).__name__}, not a Memory")
        own = [each for each in memories if each.user in (None, user)]
        return list(dict.fromkeys(name for each in own for name in self._named(each)))

    def _named(self, memory: Memory) -> Sequence[str]:
        """Return the beliefs that a memory comes from: by its turns if known, else by their texts."""
        if memory.turn is None:
            said = " ".join(memory.text.split())
            texts = [(name, " ".join(message.text.split())) for name, message in self._told]
            return [name for name, text in texts if text in said or (said and said in text)]
        first = memory.turn if memory.since is None else memory.since
        return [name for name, _ in self._told[max(0, first) : memory.turn + 1]]


async def ask_memory(
    make: Callable[[], Agent], beliefs: Rows, cases: Rows, budget: Budget
) -> list[dict[str, Any]]:
    """Return a report's rows about queries or sessions, put to a new agent that was told all beliefs.

    In sessions beliefs are added, and get other names. Raises AgentError or BudgetReached.
    """
    agent, rows = make(), []
    with tempfile.TemporaryDirectory() as home:
        try:
            await guarded(lambda: agent.open(Path(home)))
            memory = _Believer(agent, budget)
            for belief in beliefs.values():
                await memory.tell(belief)
            for case in cases.values():
                for asked in case.get("turns", (case,)):
                    held = surfaced(asked, memory.beliefs, await memory.found(asked))
                    rows.append(row_of(case, asked, held, beliefs))
                    if new := asked.get("createBeliefAtTurn"):
                        await memory.tell(new)
                    if more := asked.get("updateBeliefAtTurn"):
                        old = memory.beliefs[more["beliefId"]]
                        names = [*old.get("aliases", ()), *more.get("addAliases", ())]
                        await memory.tell({**old, "aliases": names})
        finally:
            await guarded(agent.close)
    return rows
