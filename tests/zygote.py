"""Programs under test, forked from one process that has imported ltm_bench and made a run: a start costs little.

`Forked` and `run` are used as `subprocess.Popen` and `subprocess.run` are, and what they start is a process of its own,
which can be killed. They are for programs of this interpreter, wherever a fresh one is not what is tested: the seed of
hashes is that of the tests, whatever the environment says, and all have imported what one has. Where nothing can be
forked (Windows), they start an ordinary process.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

ENDED = struct.Struct("<id")
"""How a process ended, and the processor time that it took."""
LENGTH = struct.Struct("<I")

spent = 0.0
"""Processor time of all that has ended here: the system adds it to that of the process which forked it, not of this."""


class Forked(subprocess.Popen[Any]):
    """A process that was forked. `preexec_fn` and what else concerns the start alone is not heard."""

    if hasattr(os, "fork"):

        def _execute_child(self, args: Sequence[str | Path], *more: Any) -> None:
            cwd, env, streams = more[4], more[5], more[9:15]
            asked = {
                "words": list(map(str, args)),
                "folder": str(cwd or Path.cwd()),
                "environment": dict(os.environ if env is None else env),
            }
            packet = json.dumps(asked).encode()
            theirs = (streams[0], streams[3], streams[5])
            given = [number if each == -1 else each for number, each in enumerate(theirs)]
            self._told, told = socket.socketpair()
            with told:
                socket.send_fds(control(), [LENGTH.pack(len(packet))], [*given, told.fileno()])
                control().sendall(packet)
            (self.pid,) = LENGTH.unpack(self._told.recv(LENGTH.size))
            self._child_created = True
            cast(Any, self)._close_pipe_fds(*streams)

        def _try_wait(self, flags: int) -> tuple[int, int]:
            global spent
            if flags and not select.select([self._told], [], [], 0)[0]:
                return 0, 0
            status, took = ENDED.unpack(self._told.recv(ENDED.size))
            spent += took
            self._told.close()
            return self.pid, status

        def _internal_poll(self, *_: object, **__: object) -> int | None:
            if self.returncode is None:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    cast(Any, self)._handle_exitstatus(status)
            return self.returncode


def run(
    words: Sequence[str | Path],
    *,
    capture_output: bool = False,
    check: bool = False,
    input: Any = None,
    timeout: float = 400,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end."""
    if capture_output:
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with Forked(words, **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:  # a test that is stopped leaves no process behind
            process.kill()
            raise
    done = subprocess.CompletedProcess(words, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


@cache
def control() -> socket.socket:
    """Start the process that forks, and return the socket on which it is asked to."""
    ours, its = socket.socketpair()
    with its:
        process = subprocess.Popen(
            [sys.executable, __file__, str(its.fileno())], pass_fds=[its.fileno()], stdout=subprocess.DEVNULL
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def serve(asking: socket.socket) -> Callable[[], object]:
    """Fork whenever it is asked to; return what is to be done in the process that was forked."""
    woken, wake = socket.socketpair()
    for each in (woken, wake):
        each.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    children: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([asking, woken], [], [])
        if woken in ready:
            woken.recv(1 << 16)
            while children:
                pid, status, took = os.wait4(-1, os.WNOHANG)
                if not pid:
                    break
                with children.pop(pid) as told, suppress(BrokenPipeError):  # nobody asks any more
                    told.send(ENDED.pack(status, took.ru_utime + took.ru_stime))
        if asking in ready:
            length, given, _, _ = socket.recv_fds(asking, LENGTH.size, 4)
            if not length:
                sys.exit()
            packet = asking.recv(LENGTH.unpack(length)[0], socket.MSG_WAITALL)
            told = socket.socket(fileno=given[3])
            if pid := os.fork():
                children[pid] = told
                told.send(LENGTH.pack(pid))
                for stream in given[:3]:
                    os.close(stream)
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number, stream in enumerate(given[:3]):
                os.dup2(stream, number)
                os.close(stream)
            for number, name in enumerate(
                ("stdin", "stdout", "stderr")
            ):  # each notes whether its file can seek
                opened = os.fdopen(number, "w" if number else "r", 1 if number == 2 else -1, closefd=False)
                setattr(sys, name, opened)
                setattr(sys, f"__{name}__", opened)
            for held in (asking, woken, wake, told, *children.values()):
                held.close()
            return lambda: begin(**json.loads(packet))


def leave(code: object) -> None:
    """End as the interpreter does, but do not free what it holds: this takes longer than many a program."""
    if code is not None and not isinstance(code, int):
        sys.stderr.write(f"{code}\n")
        code = 1
    cast(Any, threading)._shutdown()
    cast(Any, atexit)._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(BrokenPipeError, ValueError):
            stream.flush()
    os._exit(code or 0)


def begin(words: list[str], folder: str, environment: dict[str, str]) -> None:
    """Become the program: `-m ltm_bench`, `-c` and its text, or a file."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    _, kind, *rest = words
    if kind == "-m":
        assert rest.pop(0) == "ltm_bench"
        place, name = folder, "ltm-bench"
    elif kind == "-c":
        place, name = "", "-c"
    else:
        place, name = str(Path(kind).parent), kind
    sys.path[0:1] = [place, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [name, *rest[kind == "-c" :]]
    if kind == "-m":
        from ltm_bench.__main__ import main

        main()
    elif kind == "-c":
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), module.__dict__)
    else:
        runpy.run_path(kind, run_name="__main__")


def warm() -> None:
    """Import what a run imports, and have ready what it keeps in memory."""
    import ssl
    import tempfile

    import ltm_bench
    import ltm_bench.cli.main

    for lazily in ("anthropic", "numpy", "openai", "pytest"):  # by adapters, and by helpers of the tests
        import_module(lazily)
    cast(Any, ssl).create_default_context = cache(ssl.create_default_context)
    with tempfile.TemporaryDirectory() as folder:
        ltm_bench.run("parrot", "2k", reports=folder)


if __name__ == "__main__":
    warm()
    gc.collect()
    gc.freeze()
    program = serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        program()
    except SystemExit as ended:
        leave(ended.code)
    except BaseException:  # shown as the interpreter shows it
        traceback.print_exc()
        leave(1)
    leave(0)
