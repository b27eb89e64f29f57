"""The harness of measurements: their arguments and beginning, processes of their own, and tables in Markdown."""

import argparse
import multiprocessing
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

Arguments = argparse.Namespace


def measurement(
    docstring: str | None, **options: Any
) -> Callable[[Callable[[Arguments], None]], Callable[..., None]]:
    """Return a decorator that makes a program of the last function of a module; its help is the docstring as it stands.

    Args:
        docstring: The module's docstring.
        options: The default of each option, perhaps with a help text; one that is False is a flag. A type stands for an
            argument that has to be given; a dictionary is what argparse is told, with a default if it is an option.
    """

    def decorate(function: Callable[[Arguments], None]) -> Callable[..., None]:
        def main(given: Sequence[str] | None = None) -> None:
            function(_parser(docstring, options).parse_args(given))

        if function.__module__ == "__main__":  # it is run, not imported
            main()
        return main

    return decorate


def _parser(docstring: str | None, options: dict[str, Any]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=docstring, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, told in options.items():
        default, about = told if isinstance(told, tuple) else (told, None)
        flag = f"--{name.replace('_', '-')}"
        if isinstance(default, dict):
            parser.add_argument(flag if "default" in default else name, **default)
        elif isinstance(default, type):
            parser.add_argument(name, type=default, help=about)
        elif default is False:
            parser.add_argument(flag, action="store_true", help=about)
        else:
            parser.add_argument(flag, type=type(default), default=default, help=about)
    return parser


class Spent(NamedTuple):
    """The time and memory that a process took."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds of processor time, user and system."""
    mb: float
    """Peak memory."""


def spent_on(arguments: Sequence[str], folder: Path) -> Spent:
    """Run the command of this checkout in a folder, to its end. Raises SystemExit if it fails."""
    words, before = [sys.executable, "-m", "ltm_bench", *arguments], time.perf_counter()
    silent = subprocess.DEVNULL
    process = subprocess.Popen(words, cwd=folder, stdout=silent, stderr=silent)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{process.args!r} ended with {process.returncode}")
    return Spent(time.perf_counter() - before, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def apart(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function of a module in a separate process, and return its result."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


def peak() -> float:
    """Return the peak memory of this process so far, in MB."""
    import resource  # which Windows lacks, where tests import measurements too

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table(*columns: str, names: int = 1) -> Callable[..., None]:
    """Print the head of a table, and return a function that prints a row of cells.

    Args:
        columns: The headings.
        names: How many columns, from the left, hold names; the others are aligned as figures.
    """

    def row(*cells: object) -> None:
        print(f"| {' | '.join(map(str, cells))} |", flush=True)

    row(*columns)
    print("|" + "---|" * names + "--:|" * (len(columns) - names))
    return row


def inserted(page: str, module: str, text: str) -> str:
    """Return a page with a text between the marks of the module that writes it."""
    begin, end = f"<!-- written by {module} -->", "<!-- until here -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n\n{text}\n\n{end}", page, flags=re.DOTALL)
