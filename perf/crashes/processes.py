"""Separate processes: starting them in a folder, waiting for them, and mounting file systems that only they see."""

import contextlib
import ctypes
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

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
