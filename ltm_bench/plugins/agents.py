"""Makes agents from settings: finds an adapter's class, checks the settings against its signature, constructs it.

A plain function or callable object becomes an agent too. Values from files and from the command line are checked
against the annotations of whatever takes them, as JSON, in strict mode: a string is not a number, but it is a valid
Path, and a list a valid tuple.
"""

import inspect
import json
from collections.abc import Callable, Container, Mapping
from typing import Any

from ltm_bench.core.agent import REPLY, Agent
from ltm_bench.core.errors import AgentError, ConfigError, LtmBenchError, PluginError, nearest
from ltm_bench.core.keys import key_in, looks_secret, scrubbed
from ltm_bench.core.limits import BODY
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.plugins.files import find, load


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


class FunctionAgent(Agent):
    """A function `(message: str) -> str` or `(message: str, at: datetime) -> str` as an agent.

    It may be sync or async, or an object with `__call__`, and may return a `Reply`, with the tokens that it used. The
    agent observes if that object has a method
    `observe(message, reply)`, which may also take `at`, the benchmark time of the message.
    """

    def __init__(self, function: Callable[..., Any], name: str = "the function") -> None:
        """Inspect the function's signature.

        Args:
            function: The function or callable object.
            name: Its name in errors.

        Raises:
            ValueError: It has another signature.
        """
        self._name, self._function = name, function
        self._timed = _takes_time(function, ("message",), name)
        observe = getattr(function, "observe", None)
        self.observes = callable(observe)
        self._observe: Callable[..., Any] | None = observe if callable(observe) else None
        if self._observe is not None:
            wanted = ("message", "reply")
            self._observe_timed = _takes_time(self._observe, wanted, f"{name}.observe")

    async def reply(self, message: Message) -> Reply:
        """Call the function with the message's text, and its time if it takes one."""
        time = {"at": message.at} if self._timed else {}
        answer = self._function(message.text, **time)
        if inspect.isawaitable(answer):
            answer = await answer
        if not isinstance(answer, str | Reply):
            raise AgentError(f"{self._name} returned {type(answer).__name__}, not a string or a Reply")
        return Reply(answer) if isinstance(answer, str) else answer

    async def observe(self, turn: Turn) -> None:
        """Pass a turn to the object, if it observes."""
        if self._observe is not None:
            time = {"at": turn.message.at} if self._observe_timed else {}
            told = self._observe(turn.message.text, turn.reply.text, **time)
            if inspect.isawaitable(told):
                await told


def _takes_time(function: Callable[..., Any], given: tuple[str, ...], name: str) -> bool:
    """Whether a function has a parameter `at`. Raises ValueError if it cannot be called with these arguments.

    Args:
        function: The function to inspect.
        given: Its positional arguments.
        name: Its name in the error.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions written in C have no signature
        return False
    at = signature.parameters.get("at")
    timed = at is not None and at.kind is not inspect.Parameter.POSITIONAL_ONLY
    try:
        signature.bind(*given, **({"at": None} if timed else {}))
    except TypeError as error:
        words = ", ".join(given)
        raise ValueError(
            f"{name} takes {signature}; make it take ({words}) or ({words}, at), where `at` is the time"
        ) from error
    return timed


def annotations_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the types of a function's arguments; none if one of them cannot be resolved."""
    try:
        arguments = inspect.signature(function, eval_str=True).parameters.values()
    except Exception:  # an annotation may be any expression, or a name that only type checkers know
        return {}
    return {each.name: each.annotation for each in arguments if each.annotation is not each.empty}


def mistyped(option: str, name: str, value: object, kind: Any) -> str:
    """Return what is wrong with a value's type; empty if it fits or cannot be checked.

    Args:
        option: The option by which it can be given.
        name: Its name there.
        value: The value.
        kind: The annotation.
    """
    problems = _problems(value, kind)
    if not problems:
        return ""
    wanted = " or ".join(dict.fromkeys(problems))
    quoted = f"; write {option} '{name}=\"{value}\"'" if not _problems("", kind) else ""
    return scrubbed(f"{name}={value!r:.300}: this setting must be {wanted}{quoted:.300}")


_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "bool_type": "true or false",
}
"""Expected values by pydantic's error type; for other types, pydantic's own message is used."""


def _problems(value: object, kind: Any) -> list[str]:
    """Return the expected values, one per member of a union; empty if the value fits."""
    # Imported here: pydantic takes as long to import as everything else until the first turn.
    from pydantic import PydanticUserError, TypeAdapter, ValidationError

    try:
        content = json.dumps(value, default=str, allow_nan=False)
    except ValueError:
        return ["a finite number"]
    try:
        TypeAdapter(kind).validate_json(content, strict=True)
    except ValidationError as error:
        # `None` is left out: it cannot be written.
        return [
            _EXPECTED.get(each["type"], each["msg"].removeprefix("Input should be "))
            for each in error.errors()
            if each["type"] not in ("none_required", "json_invalid")
        ]
    except (
        PydanticUserError,
        NameError,
    ):  # types without a pydantic schema are left to whoever takes the value
        return []
    return []
