"""Human: a person at the terminal. How much would you remember?"""

import asyncio
import os
import sys
from asyncio import AbstractEventLoop
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from ltm_bench import Agent, AgentError, Message, Reply, Turn

_one_at_a_time: WeakKeyDictionary[AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""Concurrent conversations share the person."""

_typed = bytearray()
"""Input typed after the last line read."""


class Human(Agent):
    """Shows every message, and takes one line as the reply. End of input stops the run, which can be resumed.

    Filler is shown with its answers, and needs no reply.

    Args:
        prompt: What stands before the reply.
    """

    free = True
    interactive = True

    def __init__(self, *, prompt: str = "> ") -> None:
        self._prompt = prompt

    async def reply(self, message: Message) -> Reply:
        """Show the message and read a line."""
        async with _turn():
            sys.stdout.write(f"{_shown(message)}\n{self._prompt}")
            sys.stdout.flush()
            line = await _line()
        if not line:
            raise AgentError("nobody is there any more (the input ended)")
        return Reply(line.rstrip("\n"))

    async def observe(self, turn: Turn) -> None:
        """Show the turn without waiting for input."""
        async with _turn():
            sys.stdout.write(f"{_shown(turn.message)}\n{self._prompt}{_safe(turn.reply.text)}\n")
            sys.stdout.flush()

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Show nothing again: the person here has read it."""


def _turn() -> asyncio.Lock:
    return _one_at_a_time.setdefault(asyncio.get_running_loop(), asyncio.Lock())


def _shown(message: Message) -> str:
    return f"\n[{message.at:%A %d %B %Y, %H:%M}]\n{_safe(message.text)}"


def _safe(text: str) -> str:
    """Return a text without terminal control characters."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


async def _line() -> str:
    """Read a line. At a terminal, do not wait in a thread, which would outlast an interruption."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        return await asyncio.to_thread(sys.stdin.readline)
    loop, readable, terminal = asyncio.get_running_loop(), asyncio.Event(), sys.stdin.fileno()
    loop.add_reader(terminal, readable.set)
    try:
        while b"\n" not in _typed:
            readable.clear()
            await readable.wait()
            piece = os.read(terminal, 65536)
            if not piece:  # the end of the input, or a last line typed without Enter
                break
            _typed.extend(piece)
    finally:
        loop.remove_reader(terminal)
    line, end, rest = _typed.partition(b"\n")
    _typed[:] = rest
    return (line + end).decode(sys.stdin.encoding, "replace")
