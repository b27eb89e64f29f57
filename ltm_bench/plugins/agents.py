"""Makes agents from settings: finds an adapter's class, checks the settings against its signature, constructs it."""

import inspect
from collections.abc import Callable, Container, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, get_args

from ltm_bench.core.agent import REPLY, Agent
from ltm_bench.core.errors import ConfigError, LtmBenchError, PluginError, nearest
from ltm_bench.core.keys import key_in, looks_secret, scrubbed
from ltm_bench.core.limits import BODY
from ltm_bench.plugins.files import find, load
from ltm_bench.plugins.functions import factory_of, name_of
from ltm_bench.plugins.typed import annotations_of, mistyped


def agent_class(name: object) -> Callable[..., Agent]:
    """Return the factory in the adapter of this name or file: its Agent subclass, or what `agent` is there.

    Of an object that is no name, return its own (`factory_of`).
    """
    if not isinstance(name, str):
        return _factory(name)
    path = find("agents", name)
    module = load(path)
    classes = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Agent) and value.__module__ == module.__name__
    ]
    if len(classes) > 1:
        names = ", ".join(each.__name__ for each in classes)
        raise PluginError(f"{path}: a file holds one adapter, but this one holds {len(classes)}: {names}")
    if classes:
        return classes[0]
    if not callable(function := getattr(module, "agent", None)):
        other = f"any other class or function of it is python:{path.stem}:NAME"
        raise PluginError(f"{path}: it has no subclass of ltm_bench.Agent, and no function `agent`; {other}")
    make = _factory(function, "the function")

    @wraps(make)
    def made(**settings: Any) -> Agent:
        agent = make(**settings)
        agent.connections = path.stem
        return agent

    return made


def _factory(player: object, name: str = "") -> Callable[..., Agent]:
    try:
        return factory_of(player, name)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def adapter_of(provider: str, known: Container[str]) -> str | None:
    """Return the adapter for `PROVIDER:MODEL`: `PROVIDER` or else `PROVIDER_chat`; None if neither exists."""
    return next((each for each in (provider, f"{provider}_chat") if each in known), None)


def player_of(player: object, timeout: float) -> Agent:
    """Construct an agent at hand, with so many seconds for one call if it is none of our `Agent` class."""
    own = isinstance(player, str | Agent) or (isinstance(player, type) and issubclass(player, Agent))
    timed = not own and "timeout" in inspect.signature(agent_class(player)).parameters
    return make_agent(player, {"timeout": timeout} if timed else {})


def make_agent(adapter: object, settings: Mapping[str, Any] = MappingProxyType({})) -> Agent:
    """Construct an agent. Raises ConfigError if a setting is unknown, missing, secret or of the wrong type.

    Args:
        adapter: An adapter's name or file; or a function, an object, a class, or an `Agent`.
        settings: Its settings.
    """
    make = agent_class(adapter)
    adapter = adapter if isinstance(adapter, str) else name_of(adapter)
    parameters = inspect.signature(make).parameters
    known = [name for name, p in parameters.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [name for name in known if parameters[name].default is inspect.Parameter.empty]
    types = {_SIZE: int, **annotations_of(make)}
    for problem in (
        *(_unsuitable(name, value, [*known, _SIZE]) for name, value in settings.items()),
        *(mistyped("-A", name, value, types.get(name, Any)) for name, value in settings.items()),
        *(f"the setting {name!r} is required; add -A {name}=…" for name in required if name not in settings),
    ):
        if problem:
            raise ConfigError(f"agent {adapter}: {problem}")
    own = {name: value for name, value in settings.items() if name in known}
    most = settings.get(_SIZE, REPLY) if _SIZE not in known else REPLY
    if not 1 <= most <= BODY:
        raise ConfigError(f"agent {adapter}: {_SIZE}={most}: this setting must be from 1 to {BODY}")
    try:
        agent = make(**own)
    except LtmBenchError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigError(f"agent {adapter}: {error}") from error
    if most != REPLY:
        agent.max_bytes = most
    # A fact that an adapter cannot mean would fail in the middle of a run.
    for name, kind in Agent.__annotations__.items():
        value, allowed = getattr(agent, name), get_args(kind) or (kind,)
        if type(value) not in allowed and not (isinstance(value, str) and value in allowed):
            wanted = " or ".join(getattr(each, "__name__", repr(each)) for each in allowed)
            raise ConfigError(f"agent {adapter}: its {name} is {value!r:.60}; declare it as {wanted}")
    return agent


_SIZE = "max_bytes"
"""The setting that every adapter has."""


def _unsuitable(name: str, value: object, known: list[str]) -> str:
    """Return what is wrong with a setting regardless of type; empty if nothing is."""
    if looks_secret(name):
        return f"{name} looks like a secret; pass it through the environment, since settings are written into the log"
    if found := key_in({"": value}):
        return (
            f"{scrubbed(name)} holds what looks like a key or a password (not shown here), and settings are "
            f"written into the log; pass it through an environment variable, {_way(name, found.variable, known)}"
        )
    if name not in known:
        return f"no setting {scrubbed(name)!r}{nearest(name, known)} (it has: {', '.join(known) or 'none'})"
    return ""


def _way(name: str, variable: str, known: list[str]) -> str:
    """Return how to pass a key to an adapter instead: the variable, and the setting that names it, if any."""
    if "headers" in known:
        return f"{variable or 'MY_KEY'}, and name that: -A headers='Authorization={variable or 'MY_KEY'}'"
    if "key_variable" in known:
        return f"{variable or 'MY_KEY'}, and name that: -A key_variable={variable or 'MY_KEY'}"
    if name == "command":
        return f"{variable or 'MY_KEY'}, which the program inherits"
    return variable or "such as OPENAI_API_KEY"
