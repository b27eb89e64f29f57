"""Asks an agent's memory what a published benchmark of memories asks, and writes reports in its form."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

from ltm_bench.cli.console import err
from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError, wrong_with
from ltm_bench.datasets.recounting import explaining, learn
from ltm_bench.plan.agents import resolve_agent
from ltm_bench.report.publishing import replace_file
from ltm_bench.runner.recalling import ask_memory

_REPORTS = {"retrieval-report": "case", "session-retrieval-report": "session"}
"""Their names, and the role of the rows that they are about."""


def report_on(agent: str, data: Path, folder: Path, budget: Budget) -> Iterator[Path]:
    """Yield an agent's reports on queries and on sessions, which are written into a folder.

    Raises:
        ConfigError: The data lacks something, or the agent has no retrieval.
        AgentError: The agent failed.
        BudgetReached: The next call could exceed the budget.
    """
    known = learn(list(explaining(data)))
    lacking = [role for role in ("belief", "case", "session") if role not in known]
    if lacking:
        raise ConfigError(
            f"--data {data}: PrecisionMemBench's {lacking[0]} rows are not in it; see src/fixtures there"
        )
    source = resolve_agent(agent).source
    if type(source.sample).recall is Agent.recall:
        raise ConfigError(
            f"--agent {agent}: it has no retrieval to ask; name one with recall(), such as vector_memory"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, role in _REPORTS.items():
        try:
            rows = asyncio.run(ask_memory(source, known["belief"], known[role], budget))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            # The agent's own are AgentErrors.
            raise ConfigError(
                f"--data {data}: a belief or {role} cannot be read: {wrong_with(error)}"
            ) from error
        path = folder / f"{name}-{re.sub(r'[^A-Za-z0-9._-]+', '-', agent)}.json"
        text = json.dumps({"provider": agent, "cases" if role == "case" else "turns": rows}, indent=2)
        replace_file(path, text.encode())
        err().print(f"{path} is written")
        yield path
