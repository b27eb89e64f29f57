"""Human: a person on a local page, or at the terminal. How much would you remember?"""

import asyncio
import os
import sys
import webbrowser
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from ltm_bench import Agent, AgentError, Message, Reply, Turn
from ltm_bench.core.extras import extra

if TYPE_CHECKING:
    from ltm_bench.viewer.desk import Desk

_one_at_a_time: WeakKeyDictionary[AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""Concurrent conversations share the person."""

_typed = bytearray()
"""Input typed after the last line read."""


_desks: WeakKeyDictionary[AbstractEventLoop, "Desk"] = WeakKeyDictionary()
"""Concurrent conversations share the page; the last one closes it."""

_told: set[str] = set()
"""Addresses that were printed."""


class Human(Agent):
    """Shows a person one message after the other, and takes the replies.

    By default on a page of this machine: it opens in the browser, and its address is printed. Nothing that was said
    before is shown there, and no score. Filler is shown with its answers, and needs no reply. Ctrl-C stops the run (at
    the terminal the end of input, too), which can be resumed: at the message that was not answered, or not read to the
    end.

    Args:
        where: On a page (`page`), or at this terminal (`terminal`), where a reply is one line.
        port: The page's port; another free one if it is taken.
        messages: About how many messages there will be (`ltm-bench estimate` says it: turns); if given, the page shows
            how far the conversation is.
        prompt: What stands before the reply, at the terminal.
    """

    free = True
    interactive = True

    def __init__(
        self,
        *,
        where: Literal["page", "terminal"] = "page",
        port: int = 7711,
        messages: int | None = None,
        prompt: str = "> ",
    ) -> None:
        if not 0 <= port <= _LAST_PORT:
            raise ValueError(f"port={port}: write a number from 0 to {_LAST_PORT}")
        self._on_page, self._port, self._messages, self._prompt = where == "page", port, messages, prompt
        self._mark = Path()
        if self._on_page:
            with extra(
                "view", wanted_by="agent human (at the terminal, -A where=terminal, it needs nothing)"
            ):
                import starlette as starlette
                import uvicorn as uvicorn

    async def open(self, home: Path) -> None:
        """Remember where to note what was read."""
        self._mark = home / "read"

    async def reply(self, message: Message) -> Reply:
        """Show the message and wait for the answer."""
        if self._on_page:
            return Reply(await self._asked(message))
        async with _turn():
            sys.stdout.write(f"{_shown(message)}\n{self._prompt}")
            sys.stdout.flush()
            line = await _line()
        if not line:
            raise AgentError("nobody is there any more (the input ended)")
        return Reply(line.rstrip("\n"))

    async def observe(self, turn: Turn) -> None:
        """Show the turn: on a page until the person goes on, at the terminal without waiting for input."""
        if self._on_page:
            await self._asked(turn.message, turn.reply.text)
            self._mark.write_text(f"{turn.message.turn}", "utf-8")
            return
        async with _turn():
            sys.stdout.write(f"{_shown(turn.message)}\n{self._prompt}{_safe(turn.reply.text)}\n")
            sys.stdout.flush()

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Show nothing again: the person here has read it. Only a page left unread, the last one, is shown."""
        read = int(self._mark.read_text("utf-8")) if self._mark.exists() else -1
        for last in deque(turns, maxlen=1):
            if self._on_page and last.answered == "script" and last.message.turn > read:
                await self.observe(last)

    async def close(self) -> None:
        """Close the page, if no other conversation needs it."""
        loop = asyncio.get_running_loop()
        if (desk := _desks.get(loop)) is not None:
            desk.users.discard(self)
            if not desk.users:
                del _desks[loop]
                await desk.close()

    async def _asked(self, message: Message, reply: str | None = None) -> str:
        """Show a message on the page, with the reply that was given to it, if any; return the person's answer."""
        from ltm_bench.viewer.desk import Shown

        number, most = message.turn + 1, self._messages or 0
        place = f"Message {number}" + (f" of about {most}" if number <= most else "")
        desk = self._desk()
        async with _turn():
            return await desk.ask(Shown(_when(message), message.text, reply, place))

    def _desk(self) -> "Desk":
        """Return the desk that all conversations share; the first one opens it."""
        from ltm_bench.viewer.desk import Desk

        loop = asyncio.get_running_loop()
        if loop not in _desks:
            _desks[loop] = Desk(self.max_bytes)
            address = _desks[loop].open(self._port)
            if address not in _told:
                _told.add(address)
                _announce(address)
        _desks[loop].users.add(self)
        return _desks[loop]


_LAST_PORT = 65535


def _announce(address: str) -> None:
    """Print the address, and open it where a person sits before a screen; never in CI."""
    sys.stderr.write(f"Answer at {address}\n")
    sys.stderr.flush()
    here = os.environ
    screen = sys.platform in ("win32", "darwin") or "DISPLAY" in here or "WAYLAND_DISPLAY" in here
    if sys.stderr.isatty() and screen and not {"CI", "SSH_CONNECTION"} & here.keys():
        # A thread that nobody waits for: some browsers return only when they are closed.
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _turn() -> asyncio.Lock:
    return _one_at_a_time.setdefault(asyncio.get_running_loop(), asyncio.Lock())


def _when(message: Message) -> str:
    return f"{message.at:%A %d %B %Y, %H:%M}"


def _shown(message: Message) -> str:
    return f"\n[{_when(message)}]\n{_safe(message.text)}"


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
