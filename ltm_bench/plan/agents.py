"""From an agent's name and settings to a factory of its instances."""

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from weakref import WeakSet

from ltm_bench.adapters.routing import route
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError, unknown
from ltm_bench.log.manifest import AgentEntry
from ltm_bench.plan.suites import Preset, presets
from ltm_bench.plan.tables import config_folders
from ltm_bench.plugins.agents import adapter_of, make_agent
from ltm_bench.plugins.catalogue import Catalogue
from ltm_bench.plugins.functions import name_of
from ltm_bench.plugins.targets import UNKNOWN, target_of

_PYTHON = "python:"
"""The prefix of agents that are functions or classes of a module."""

_FUNCTION = "function"
"""The adapter of these."""


class AtHand(str):
    """The name of an agent that is an object of this process, and that no other process finds by it."""

    player: object = None


def named(agent: object) -> str:
    """Return the name of an agent, which may be an object: `python:MODULE:NAME` if it can be imported by that."""
    if isinstance(agent, str):
        return agent
    module, path = getattr(agent, "__module__", None), getattr(agent, "__qualname__", "")
    found: object = None if module == "__main__" else sys.modules.get(str(module))
    for part in path.split("."):
        found = getattr(found, part, None)
    if path and found is agent:
        return f"{_PYTHON}{module}:{path}"
    name = AtHand(re.sub(r"\W+", "", name_of(agent)) or _FUNCTION)
    name.player = agent
    return name


def named_apart(agents: Iterable[object]) -> list[str]:
    """Return the names of several agents, each its own.

    Raises ConfigError for an `Agent`, which has one conversation.
    """
    found: list[str] = []
    for agent in agents:
        if isinstance(agent, Agent):
            raise ConfigError(
                f"{named(agent)} is one agent, for one conversation; pass its class, or what makes it"
            )
        name = named(agent)
        if isinstance(name, AtHand):
            same = [each for each in found if each.partition("-")[0] == name]
            if same:
                name = AtHand(f"{name}-{len(same) + 1}")
                name.player = agent
        found.append(name)
    return found


_talked_to: WeakSet[Agent] = WeakSet()
"""The users' own that have had their conversation."""


class AgentSource:
    """Makes the agents of a run. The instance that was made to check the settings is handed out first."""

    def __init__(self, adapter: object, settings: Mapping[str, Any]) -> None:
        self._adapter, self._settings = adapter, dict(settings)
        self.sample = make_agent(adapter, self._settings)
        """The first instance. Inspect it, but do not talk to it."""
        self.single = isinstance(adapter, Agent)
        """Whether there is but this one, for one conversation."""
        self.at_hand = not isinstance(adapter, str)
        """Whether it is an object, of which no name says all."""
        self._unused: Agent | None = self.sample
        self._asked = False
        self.window: int | None = None
        """The window that the agents' server says it has; None if it was not asked, or does not say."""

    async def find_window(self, known: int | None = None) -> None:
        """Ask once for a window that no setting gives, and use it in all agents; they must not be in use yet.

        Args:
            known: The window with which the run began, if it resumes.
        """
        if self._asked or self.single:
            return
        self._asked = True
        if found := known or await self.sample.find_window():
            self._settings["window"] = self.window = found
            self.sample = self._unused = make_agent(self._adapter, self._settings)

    def __call__(self) -> Agent:
        """Return an unused agent. The first instance knows no gateway, so a conversation with one gets another.

        Raises ConfigError if there is no other one.
        """
        if isinstance(agent := self._adapter, Agent):
            if agent in _talked_to:
                raise ConfigError(
                    f"{name_of(agent)} is one agent, and has had its conversation; pass its class, or what makes it"
                )
            _talked_to.add(agent)
            return agent
        unused, self._unused = self._unused if route() is None else None, None
        return unused if unused is not None else make_agent(self._adapter, self._settings)

    def calling(self, calls: Mapping[str, Any]) -> "AgentSource":
        """Return a source of such agents with other settings of their calls."""
        return AgentSource(self._adapter, {**self._settings, **calls})


class Resolved(NamedTuple):
    """An agent that was found."""

    entry: AgentEntry
    source: AgentSource
    usual: Mapping[str, Any]
    """The settings implied by its name alone."""


def resolve_agent(
    name: str,
    settings: Mapping[str, Any] | None = None,
    base_url: str | None = None,
    *,
    calls: Mapping[str, Any] | None = None,
    role: str = "agent",
    catalogue: Catalogue | None = None,
) -> Resolved:
    """Find an agent, and make its first instance.

    Args:
        name: A preset, an adapter, a provider and its model (`openai:gpt-6-luna`, or an adapter in place of the
            provider), a path to an adapter's file, or `python:MODULE:NAME`. A preset's settings for that model apply.
        settings: Added to those of a preset.
        base_url: A compatible server for the adapter.
        calls: Settings of its calls, which override its own and are not recorded.
        role: The role to name in errors: `agent`, `judge`.
        catalogue: The catalogue of adapters, if it has been read.

    Raises:
        ConfigError: There is no such agent, or a setting cannot be used.
    """
    known_presets = presets(config_folders())
    catalogue = catalogue or Catalogue.open()
    adapters = catalogue.agents
    values: dict[str, Any]
    provider, _, model = name.partition(":")
    if isinstance(name, AtHand):
        adapter, values = _FUNCTION, {"target": str(name)}
    elif name.startswith(_PYTHON) or (model and provider.endswith(".py")):
        adapter, values = _FUNCTION, {"target": name.removeprefix(_PYTHON)}
    elif name in known_presets and name in adapters and known_presets[name].adapter != name:
        raise ConfigError(
            f"--{role} {name}: both a preset and {adapters[name]} have this name; rename the file, or the preset"
        )
    elif name in known_presets:
        adapter, values = known_presets[name].adapter, known_presets[name].settings
    elif name in adapters or name.endswith(".py"):
        adapter, values = name, {}
    elif model and (found := adapter_of(provider, adapters)) is not None:
        adapter, values = found, _of_model(found, model, known_presets)
    else:
        known = [*known_presets, *adapters]
        more = "; a model, such as openai:gpt-6-luna; or your own: a file in ./agents/, or python:MODULE:NAME"
        raise ConfigError(unknown(f"unknown {role} {name!r}", name, known, more))
    usual = dict(values)
    values |= settings or {}
    if base_url is not None:
        values["base_url"] = base_url
    player: object = adapter
    own = values
    if isinstance(name, AtHand):
        player, own = name.player, {key: value for key, value in values.items() if key != "target"}
    source = AgentSource(player, {**own, **(calls or {})})
    if calls:  # the recorded settings must be valid by themselves
        make_agent(player, own)
    entry = AgentEntry(
        name=str(name),
        adapter=adapter,
        hash=catalogue.hash(adapter, "agents"),
        settings=values,
        free=source.sample.free,
        observes=source.sample.observes,
        keeps_users=source.sample.keeps_users or None,
        target=UNKNOWN if isinstance(name, AtHand) else target_of(catalogue.find("agents", adapter), values),
        server=server_of(source.sample),
    )
    return Resolved(entry, source, usual)


def server_of(agent: Agent) -> str | None:
    """Return what an agent's calls connect to; None if that is nothing but itself."""
    return agent.connections if "connections" in vars(agent) else None


def _of_model(adapter: str, model: str, known: Mapping[str, Preset]) -> dict[str, Any]:
    """Return the settings of a model, from its preset if there is one."""
    for preset in known.values():
        if preset.adapter == adapter and preset.settings.get("model") == model:
            return preset.settings
    return {"model": model}


def source_of(entry: AgentEntry, calls: Mapping[str, Any] | None = None) -> AgentSource:
    """Return the factory of the agents that a manifest names. Raises ConfigError."""
    return AgentSource(entry.adapter, {**entry.settings, **(calls or {})})
