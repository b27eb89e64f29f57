"""Time and memory of a command or a function, each in a fresh process, so that nothing is warm."""

import multiprocessing
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

LTM_BENCH = (sys.executable, "-m", "ltm_bench")
"""The command of this checkout."""


class Spent(NamedTuple):
    """The time and memory that a process took."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds of processor time, user and system."""
    mb: float
    """Peak memory."""


def begin(
    arguments: Sequence[str],
    folder: Path,
    *,
    program: Sequence[str] = LTM_BENCH,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Begin a command in a folder.

    Args:
        arguments: The command's arguments.
        folder: The folder in which it runs.
        program: The program.
        environment: Environment variables, in addition to those of this process.
    """
    return subprocess.Popen(
        [*program, *arguments],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def spent_by(process: subprocess.Popen[bytes], watch: Callable[[], object] | None = None) -> Spent:
    """Wait for the end of a process that has just begun; meanwhile call `watch`, if given, twice a second."""
    before = time.perf_counter()
    while watch is not None and not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        watch()
        time.sleep(0.5)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - before
    return Spent(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def spent_on(arguments: Sequence[str], folder: Path, **how: Any) -> Spent:
    """Run a command as `begin` does, to its end. Raises SystemExit if it fails."""
    process = begin(arguments, folder, **how)
    spent = spent_by(process)
    if process.returncode:
        raise SystemExit(f"{process.args!r} ended with {process.returncode}")
    return spent


def apart(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function of a module in a separate process, and return its result."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


def peak() -> float:
    """Return the peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
