"""The faults, each caused inside the process that suffers it."""

import asyncio
import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from ltm_bench.adapters.testing import Fault, Handler, Provider, Request, Server
from ltm_bench.core.agent import Agent
from ltm_bench.core.messages import Message, Reply
from ltm_bench.plugins.agents import agent_class

HOST, PORT = "nowhere.invalid", 18431


def hear(turn: int) -> None:
    """Write a turn that an agent has heard to the file `calls`."""
    with open("calls", "ab", buffering=0) as file:
        file.write(b"%d\n" % turn)


def watch(
    adapter: type[Agent],
    hook: Callable[[int], object] = lambda _: None,
    asked: Callable[[int], object] = hear,
) -> None:
    """Write every turn that an agent is asked to the file `calls`.

    Args:
        adapter: The agent's class. It is patched, since a command makes its own agents.
        hook: Called with the turn before the agent replies; may be awaited.
        asked: Called with the turn first. By then an agent in this process has heard it; one behind a provider has not.
    """
    inner = adapter.reply

    async def reply(agent: Agent, message: Message) -> Reply:
        asked(message.turn)
        waiting = hook(message.turn)
        if asyncio.iscoroutine(waiting):
            await waiting
        return await inner(agent, message)

    mock.patch.object(adapter, "reply", reply).start()


def watch_named(
    name: str, hook: Callable[[int], object] = lambda _: None, asked: Callable[[int], object] = hear
) -> None:
    """Watch the adapter of this name, looked up from the current folder."""
    adapter = agent_class(name)
    assert isinstance(adapter, type), name
    watch(adapter, hook, asked)


class Torn:
    """The file of a log; its process is killed when the log reaches a size, during a write or after it."""

    def __init__(self, file: Any, size: int, *, late: bool) -> None:
        self._file, self._size, self._late = file, size, late

    def write(self, data: bytes) -> int:
        """Write as much as is allowed before the kill."""
        left = self._size - self._file.seek(0, os.SEEK_END)
        if len(data) > left or (len(data) == left and not self._late):
            self._file.write(data[:left])
            os.kill(os.getpid(), signal.SIGKILL)
        return int(self._file.write(data))

    def fileno(self) -> int:
        """Return the file's own number."""
        return int(self._file.fileno())

    def close(self) -> None:
        """Close it."""
        self._file.close()


def die_at(size: int, *, late: bool) -> None:
    """Kill this process when its log reaches `size` bytes or, if `late`, when it would exceed them.

    Opening files is patched, since a limit on the size of files would also affect the agent's.
    """
    begin = Path.open

    def opening(path: Path, mode: str = "r", *more: Any, **options: Any) -> Any:
        file = begin(path, mode, *more, **options)
        return Torn(file, size, late=late) if (path.name, mode) == ("events.jsonl", "ab") else file

    mock.patch.object(Path, "open", opening).start()


def resolve(address: str | None) -> None:
    """Make the agent's host resolve to an address, or to nothing."""
    ask = socket.getaddrinfo

    def getaddrinfo(host: Any, *more: Any, **options: Any) -> Any:
        if host not in (HOST, HOST.encode()):
            return ask(host, *more, **options)
        if address is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return ask(address, *more, **options)

    mock.patch.object(socket, "getaddrinfo", getaddrinfo).start()


def clock_back(seconds: float) -> None:
    """Set back the clocks of this process: the wall clock, and the one that counts from boot."""
    for name in ("time", "perf_counter"):
        mock.patch.object(time, name, partial(_earlier, getattr(time, name), seconds)).start()


def _earlier(clock: Callable[[], float], seconds: float) -> float:
    return clock() - seconds


@dataclass
class Failing(Provider):
    """A provider that stops answering for good."""

    fault: Fault | None = None
    """What happens to requests from then on."""
    after: int = 0
    """The number of replies before."""
    turn: int | None = None
    """The turn that it is asked now; None once it has heard it."""

    def ask(self, turn: int) -> None:
        """Expect a turn."""
        self.turn = turn

    def receive(self, request: Request) -> Fault | None:
        """Record a request, and return the fault that is due for it.

        A turn counts as heard once, however often a library tries, and not if the provider refuses it (HTTP 4xx).
        """
        super().receive(request)
        fault = self.fault if len(self.requests) > self.after else None
        refused = fault is not None and fault.kind == "error" and fault.status < 500
        if self.turn is not None and not refused:
            hear(self.turn)
            self.turn = None
        return fault


def uncached(body: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without prompt-cache figures, since a restarted provider has no cache."""
    return {**body, "usage": {**body["usage"], "prompt_tokens_details": None}}


@contextlib.contextmanager
def served(*, fault: Fault | None = None, after: int = 0) -> Iterator[Failing]:
    """Run a provider on this machine that fails for good after a number of replies."""
    pid = os.getpid()
    address = f"127.{pid >> 16 & 127 | 64}.{pid >> 8 & 255}.{pid & 255}"  # for this process alone
    server = Server((address, PORT), Handler)
    server.provider = provider = Failing(fault=fault, after=after, edit=uncached)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    resolve(address)
    yield provider
