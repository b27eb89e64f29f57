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
from typing import NamedTuple, ParamSpec, TypeVar

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


def spent_on(
    arguments: Sequence[str],
    folder: Path,
    *,
    program: Sequence[str] = LTM_BENCH,
    environment: Mapping[str, str] | None = None,
) -> Spent:
    """Run a command in a folder. Raises SystemExit if it fails.

    Args:
        arguments: The command's arguments.
        folder: The folder in which it runs.
        program: The program.
        environment: Environment variables, in addition to those of this process.
    """
    command = [*program, *arguments]
    before = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - before
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Spent(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def apart(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function of a module in a separate process, and return its result."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


def peak() -> float:
    """Return the peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
