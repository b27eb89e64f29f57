"""A plain function or callable object as an agent."""

import inspect
from collections.abc import Callable
from typing import Any

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Message, Reply, Turn


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
