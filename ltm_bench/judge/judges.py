"""Judges: agents with a rubric, found by name like any other agent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ltm_bench.core.agent import Agent
from ltm_bench.judge import rubric
from ltm_bench.plan.agents import resolve_agent


@dataclass(frozen=True)
class Judge:
    """An agent that gives verdicts: a fresh instance for every case, so that no case influences the next."""

    name: str
    description: Mapping[str, Any]
    """Adapter, its content hash and its settings."""
    make: Callable[[], Agent]

    @property
    def key(self) -> str:
        """Hash of everything that its verdicts depend on, including the rubric."""
        return self.key_with(rubric.digest())

    def key_with(self, digest: str) -> str:
        """Return the same for another rubric, given by its hash."""
        content = json.dumps([self.description, digest], sort_keys=True, default=str)
        return hashlib.sha256(content.encode()).hexdigest()[:16]


def find_judges(names: Sequence[str]) -> list[Judge]:
    """Return the judges with these names: presets or adapters, as for agents. Raises ConfigError."""
    judges = []
    for name in dict.fromkeys(names):
        entry, source, _ = resolve_agent(name, role="judge")
        description = {"adapter": entry.adapter, "hash": entry.hash, "settings": entry.settings}
        judges.append(Judge(name, description, source))
    return judges
