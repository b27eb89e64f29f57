"""Makes agents from settings: finds an adapter's class, checks the settings against its signature, constructs it."""

import inspect
import json
import math
from collections.abc import Callable, Container, Mapping
from typing import Any

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError, LtmBenchError, PluginError, nearest
from ltm_bench.core.keys import key_in, looks_secret, scrubbed
from ltm_bench.plugins.files import find, load
from ltm_bench.plugins.functions import FunctionAgent


def agent_class(name: str) -> Callable[..., Agent]:
    """Return the factory in the adapter of this name or file: its Agent subclass, or its function `agent`."""
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
    function = getattr(module, "agent", None)
    if callable(function):

        def made() -> Agent:
            agent = FunctionAgent(function)
            agent.connections = path.stem
            return agent

        return made
    raise PluginError(f"{path}: it has no subclass of ltm_bench.Agent, and no function `agent`")


def adapter_of(provider: str, known: Container[str]) -> str | None:
    """Return the adapter for `PROVIDER:MODEL`: `PROVIDER` or else `PROVIDER_chat`; None if neither exists."""
    return next((each for each in (provider, f"{provider}_chat") if each in known), None)


def make_agent(adapter: str, settings: Mapping[str, Any]) -> Agent:
    """Construct an agent. Raises ConfigError if a setting is unknown, missing, secret or of the wrong type."""
    make = agent_class(adapter)
    parameters = inspect.signature(make).parameters
    known = [name for name, p in parameters.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [name for name in known if parameters[name].default is inspect.Parameter.empty]
    types = _types(make)
    for problem in (
        *(_unsuitable(name, value, known) for name, value in settings.items()),
        *(_mistyped(name, value, types[name]) for name, value in settings.items() if name in types),
        *(f"the setting {name!r} is required; add -A {name}=…" for name in required if name not in settings),
    ):
        if problem:
            raise ConfigError(f"agent {adapter}: {problem}")
    try:
        return make(**settings)
    except LtmBenchError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigError(f"agent {adapter}: {error}") from error


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
    if isinstance(value, float) and not math.isfinite(value):
        return f"{name}={value}: this setting must be a finite number"
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


def _types(make: Callable[..., Agent]) -> dict[str, Any]:
    """Return the types of the settings; none if one of them cannot be resolved."""
    try:
        settings = inspect.signature(make, eval_str=True).parameters.values()
    except Exception:  # an annotation may be any expression, or a name that only type checkers know
        return {}
    return {each.name: each.annotation for each in settings if each.annotation is not each.empty}


_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "bool_type": "true or false",
}
"""Expected values by pydantic's error type; for other types, pydantic's own message is used."""


def _mistyped(name: str, value: object, kind: Any) -> str:
    """Return what is wrong with a setting's type; empty if it fits or cannot be checked.

    Settings come from TOML and from the command line. They are validated as JSON, in strict mode: a string is not a
    number, but it is a valid Path, and a list is a valid tuple.
    """
    problems = _problems(value, kind)
    if not problems:
        return ""
    wanted = " or ".join(dict.fromkeys(problems))
    quoted = f"; write -A '{name}=\"{value}\"'" if not _problems("", kind) else ""
    return scrubbed(f"{name}={value!r:.300}: this setting must be {wanted}{quoted:.300}")


def _problems(value: object, kind: Any) -> list[str]:
    """Return the expected values, one per member of a union; empty if the value fits."""
    # Imported here: pydantic takes as long to import as everything else until the first turn.
    from pydantic import PydanticUserError, TypeAdapter, ValidationError

    try:
        TypeAdapter(kind).validate_json(json.dumps(value, default=str), strict=True)
    except ValidationError as error:
        # `None` is left out: it cannot be written.
        return [
            _EXPECTED.get(each["type"], each["msg"].removeprefix("Input should be "))
            for each in error.errors()
            if each["type"] not in ("none_required", "json_invalid")
        ]
    except (PydanticUserError, NameError):  # types without a pydantic schema are left to the adapter
        return []
    return []
