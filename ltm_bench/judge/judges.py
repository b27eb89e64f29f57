"""Judges: agents with a rubric, found by name like any other agent."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import isclass, signature
from typing import Any

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError
from ltm_bench.log.manifest import AgentEntry
from ltm_bench.plan.agents import AgentSource, resolve_agent
from ltm_bench.plugins.agents import agent_class

OWN = "self"
"""The name of a reader that is the agent's own model."""


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
        from ltm_bench.judge import rubric

        return self.key_with(rubric.digest())

    def key_with(self, digest: str) -> str:
        """Return the same for another rubric, given by its hash."""
        content = json.dumps([self.description, digest], sort_keys=True, default=str)
        return hashlib.sha256(content.encode()).hexdigest()[:16]


def find_judges(
    names: Sequence[str], role: str = "judge", settings: Mapping[str, Any] | None = None
) -> list[Judge]:
    """Return the judges with these names: presets or adapters, as for agents. Raises ConfigError."""
    return [_judge(name, *resolve_agent(name, settings, role=role)) for name in dict.fromkeys(names)]


def find_reader(name: str | None, agent: AgentEntry) -> Judge | None:
    """Return the blind reader of this name; `self` is the agent's own model, by a fresh client without its memory.

    Raises:
        ConfigError: There is no such agent, or `self` has no model that can be asked by itself.
    """
    if name is None:
        return None
    if name != OWN:
        return _judge(name, *resolve_agent(name, role="reader"))
    model, url = _own_model(agent)
    return _judge(f"{OWN} ({model})", *resolve_agent(model, base_url=url, role="reader"))


def _own_model(agent: AgentEntry) -> tuple[str, str | None]:
    """Return the model of an agent, as an agent's name, and its server."""
    from ltm_bench.adapters import DurableAgent
    from ltm_bench.adapters.chat import ChatModel

    made = agent_class(agent.adapter)
    given, known = agent.settings, signature(made).parameters
    core, model = given.get("core") or (known["core"].default if "core" in known else ""), given.get("model")
    url = given.get("core_url" if "core_url" in known else "base_url")
    name = core or model
    if isinstance(name, str) and ":" in name:
        return name, url
    if isinstance(model, str) and not core:
        if "core" in known:  # a product that answers with the model by which it extracts
            return f"openai:{model}", url
        if isclass(made) and issubclass(made, ChatModel) and not issubclass(made, DurableAgent):
            return f"{agent.adapter}:{model}", url
    raise ConfigError(
        f"--reader {OWN}: agent {agent.name} has no model that could be asked by itself; name a reader, as for --agent"
    )


def _judge(name: str, entry: AgentEntry, source: AgentSource, _: object) -> Judge:
    description: dict[str, Any] = {"adapter": entry.adapter, "hash": entry.hash, "settings": entry.settings}
    # A server that only the environment names. The vendor's own, of which a host alone is known, is left out: that is
    # what judgements of 0.4.0 and before stand for.
    if "://" in (entry.server or "") and "base_url" not in entry.settings:
        description["server"] = entry.server
    return Judge(name, description, source)
