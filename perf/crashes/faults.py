"""Processes that end by themselves, with mounts of their own; and the faults, each caused inside one of them."""

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from unittest import mock

from ltm_bench.adapters.testing import Fault, Handler, Provider, Request, Server
from ltm_bench.core.agent import Agent
from ltm_bench.core.messages import Message, Reply
from ltm_bench.plugins.agents import agent_class

(_SCRIPT,) = entry_points(group="console_scripts", name="ltm-bench")
LTM_BENCH: Callable[[], None] = _SCRIPT.load()
"""The function that the command `ltm-bench` calls."""

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, REMOUNT, READ_ONLY, BIND, RECURSIVE, PRIVATE = 0x20000, 32, 1, 4096, 16384, 1 << 18


def start(work: Callable[[], object], place: Path) -> int:
    """Call a function in a separate process in a folder; its output goes to the file `said` there."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code: object = 70
    try:
        os.chdir(place)
        said = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        work()
        code = 0
    except SystemExit as error:
        code = error.code
    except BaseException:  # a forked process must end here
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code if isinstance(code, int) else 0)


def end(pid: int) -> int:
    """Wait for a process; return its exit code, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def within(work: Callable[[], object], place: Path) -> int:
    """Call a function in a separate process, and wait for it to end."""
    return end(start(work, place))


def command(*words: str) -> None:
    """Be the command `ltm-bench`."""
    sys.argv = ["ltm-bench", *words]
    LTM_BENCH()


def mounted(kind: str, where: Path, flags: int = 0, data: str = "", source: str = "none") -> None:
    """Mount a file system that only this process and its children see."""
    target = str(where).encode()
    if LIBC.mount(source.encode(), target, kind.encode(), ctypes.c_ulong(flags), data.encode()):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(where))


def alone_with_mounts() -> None:
    """Leave the shared mount namespace. Raises OSError if that is not allowed."""
    if LIBC.unshare(NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    mounted("none", Path("/"), RECURSIVE | PRIVATE)


def can_mount() -> bool:
    """Whether this process may mount."""
    with tempfile.TemporaryDirectory() as folder:
        return within(alone_with_mounts, Path(folder)) == 0


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
