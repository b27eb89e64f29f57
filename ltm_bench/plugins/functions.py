"""Whatever a user has that can answer, as an agent: a function, an object, a class, a factory, or an `Agent` itself."""

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from types import MethodType, MethodWrapperType
from typing import Any

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.plugins.threads import CallThread, too_slow

PATIENCE = 300.0
"""Seconds for one call, unless an agent is given others."""


class FunctionAgent(Agent):
    """A function `(message: str) -> str` or `(message: str, at: datetime) -> str` as an agent.

    It may be sync or async, an object with `__call__`, or the class of one, of which every conversation gets an
    instance. It may return a `Reply`, with the tokens that it used. The agent observes if that object has a method
    `observe(message, reply)`, which may also take `at`, the benchmark time of the message.

    What is synchronous runs in a thread: a function is called by several conversations at once, an object by one after
    the other. An instance of a class is made in the thread in which it is called.
    """

    def __init__(
        self, function: Callable[..., Any], name: str = "the function", timeout: float = PATIENCE
    ) -> None:
        """Inspect the function's signature.

        Args:
            function: The function, the callable object, or its class.
            name: Its name in errors.
            timeout: Seconds for one call.

        Raises:
            ValueError: It has another signature.
        """
        self._name, self._function, self._timeout = name, function, timeout
        asked: Any = function
        told: Any = getattr(function, "observe", None)
        self._unmade = isinstance(function, type) and _answers(function)
        if self._unmade:  # a class is inspected as its instances would be
            if not _binds(function):
                raise ValueError(f"{name} cannot be made without arguments; pass a function that makes it")
            asked, told = partial(asked.__call__, None), told and partial(told, None)
        self._timed = _takes_time(asked, ("message",), name)
        self.observes = callable(told)
        self._observe_timed = self.observes and _takes_time(told, ("message", "reply"), f"{name}.observe")
        shared = _shared(function)
        self._thread = CallThread(name) if shared is None else CallThread.of(name, shared)

    async def reply(self, message: Message) -> Reply:
        """Call the function with the message's text, and its time if it takes one."""
        time = {"at": message.at} if self._timed else {}
        function = await self._ready()
        answer = await self._call(function, message.text, **time)
        if not isinstance(answer, str | Reply):
            hint = "; what makes an agent takes no message" if isinstance(answer, Agent) else ""
            raise AgentError(f"{self._name} returned {type(answer).__name__}, not a string or a Reply{hint}")
        return Reply(answer) if isinstance(answer, str) else answer

    async def observe(self, turn: Turn) -> None:
        """Pass a turn to the object, if it observes."""
        if self.observes:
            time = {"at": turn.message.at} if self._observe_timed else {}
            function: Any = await self._ready()
            await self._call(function.observe, turn.message.text, turn.reply.text, **time)

    async def close(self) -> None:
        """Say whether a call is left behind."""
        if self._thread.left:
            self.left = (
                f"A call of {self._name} had not ended, and cannot be ended: it goes on by itself, at most as long "
                "as this process, and whatever it still costs is not known."
            )

    async def _ready(self) -> Callable[..., Any]:
        """Return what is called; of a class, this conversation's instance."""
        if self._unmade:
            self._function = await self._call(self._function)
            self._unmade = False
        return self._function

    async def _call(self, function: Callable[..., Any], *given: Any, **more: Any) -> Any:
        try:
            async with asyncio.timeout(None) as clock:
                call = partial(function, *given, **more)
                answer = call() if _is_async(function) else await self._thread.call(call, self._timeout)
                clock.reschedule(asyncio.get_running_loop().time() + self._timeout)
                return await answer if inspect.isawaitable(answer) else answer
        except TimeoutError:
            if not clock.expired():
                raise
            raise too_slow(self._name, self._timeout) from None


def name_of(player: object) -> str:
    """Return what a function, a class or an object is called."""
    return str(getattr(player, "__name__", type(player).__name__))


def factory_of(player: object, name: str = "") -> Callable[..., Agent]:
    """Return what makes the agent of a conversation; what it takes, by keyword, are the agent's settings.

    An `Agent` is itself, and has one conversation. Of its class, or of what takes no message and returns an agent, each
    conversation gets another one. Whatever else takes a message becomes a `FunctionAgent`.

    Args:
        player: The object.
        name: What errors call it; its own name by default.

    Raises:
        ValueError: It is no agent.
    """
    name = name or name_of(player)
    if isinstance(player, Agent):
        return lambda: player
    if isinstance(player, type) and issubclass(player, Agent):
        return player
    if not callable(player) or not _answers(player):
        kind = player if isinstance(player, type) else type(player)
        raise ValueError(
            f"{player!r:.60} is no agent: pass a name, an Agent or its class, or what takes a message and returns a "
            f"reply: a function, an object or its class; {kind.__name__} cannot be called"
        )
    if isinstance(player, partial) and inspect.isclass(player.func):
        makes = True
    else:
        makes = not inspect.isclass(player) and _binds(player) and not _binds(player, "message")

    def made(*, timeout: float = PATIENCE) -> Agent:
        if not makes:
            return FunctionAgent(player, name, timeout)
        found = player()
        if not isinstance(found, Agent) and not callable(found):
            raise ValueError(
                f"{name} takes no message, and made {found!r:.60}, which is no agent; make it take (message) or "
                "(message, at), where `at` is the time"
            )
        return agent_of(found, name, timeout)

    return made


def agent_of(player: object, name: str = "", timeout: float = PATIENCE) -> Agent:
    """Return an agent of whatever can be one, as `factory_of` says, with so many seconds for one call.

    Raises:
        ValueError: It is no agent, or one that has no such setting.
    """
    make = factory_of(player, name)
    if timeout == PATIENCE:
        return make()
    if "timeout" not in inspect.signature(make).parameters:
        raise ValueError(
            f"no setting 'timeout': {name or name_of(player)} is an Agent, and has its own settings"
        )
    return make(timeout=timeout)


def _answers(player: object) -> bool:
    """Whether an object can be called, or the instances of a class: the call of a class itself makes one."""
    return not (isinstance(player, type) and isinstance(player.__call__, MethodWrapperType))


def _shared(function: Any) -> Any:
    """Return the object whose calls must not overlap; None for a plain function, and for a class."""
    while isinstance(function, partial):
        function = function.func
    owner = function.__self__ if isinstance(function, MethodType) else function
    return None if inspect.isroutine(owner) or inspect.isclass(owner) else owner


def _is_async(function: Any) -> bool:
    return any(map(inspect.iscoroutinefunction, (function, function.__call__)))


def _binds(function: Callable[..., Any], *given: Any, **more: Any) -> bool:
    """Whether a function can be called with these arguments; True if it does not say, as some written in C."""
    try:
        inspect.signature(function).bind(*given, **more)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


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
    if not _binds(function, *given, **({"at": None} if timed else {})):
        words = ", ".join(given)
        raise ValueError(
            f"{name} takes {signature}; make it take ({words}) or ({words}, at), where `at` is the time"
        )
    return timed
