"""Function: any Python function or object that takes a message and returns a reply, by `--agent python:module:name`."""

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ltm_bench import Agent, AgentError, Message, Reply, Turn


class Function(Agent):
    """Calls `target`, `package.module:name`: a function `(message: str) -> str`, sync or async, or a class of such.

    The module is looked for in the current folder and where Python looks. Every conversation gets its own instance of
    a class. What it did not answer itself (filler, a resumed run) it is told by its method `observe(message, reply)`,
    if it has one.
    """

    def __init__(self, *, target: str) -> None:
        self._target = target
        self._call = _load(target)
        self.observes = callable(getattr(self._call, "observe", None))

    async def reply(self, message: Message) -> Reply:
        """Call the target with the message's text."""
        answer = self._call(message.text)
        if inspect.isawaitable(answer):
            answer = await answer
        if not isinstance(answer, str):
            raise AgentError(f"{self._target} returned {type(answer).__name__}, not a string")
        return Reply(answer)

    async def observe(self, turn: Turn) -> None:
        """Tell the target of a turn, if it wants to know."""
        if self.observes:
            target: Any = self._call
            told = target.observe(turn.message.text, turn.reply.text)
            if inspect.isawaitable(told):
                await told


def _load(target: str) -> Callable[[str], Any]:
    name, colon, attribute = target.partition(":")
    if not colon or not name or not attribute:
        raise ValueError(f"target={target!r}: write it as package.module:name")
    here = str(Path(os.curdir).resolve())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(name)
    except ImportError as error:
        raise ValueError(f"target={target!r}: {name} cannot be imported: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"target={target!r}: there is no {part!r} in it")
        found = getattr(found, part)
    if inspect.isclass(found):
        found = found()
    if not callable(found):
        raise ValueError(f"target={target!r}: {type(found).__name__} cannot be called")
    result: Callable[[str], Any] = found
    return result
