"""The start and the end of every command: signals, errors, exit codes."""

import atexit
import gc
import os
import re
import signal
import sys
import warnings
from errno import EIO, ENOSPC
from types import FrameType
from typing import Any, TextIO

from ltm_bench.cli.app import app
from ltm_bench.cli.console import complain, show_everything
from ltm_bench.core.errors import LtmBenchError, described, nearest

_INTERRUPTED = 128 + signal.SIGINT
"""Typer's exit code for a KeyboardInterrupt, which shells expect."""


_ALLOCATED = 200_000
"""Threshold of Python's cycle collector; its default of 700 costs a tenth of a short run."""


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _misused(error: Any) -> None:
    """Print a usage error in one line; if the command is missing, list the commands."""
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(f"{error.format_message()}\n")
        return
    where = error.ctx.command_path if getattr(error, "ctx", None) else "ltm-bench"
    said: str = error.format_message()
    if typed := re.fullmatch(r"No such command '(.+)'\.", said):
        said = said.removesuffix(".") + nearest(typed[1], error.ctx.command.list_commands(error.ctx))
    variable = getattr(getattr(error, "param", None), "envvar", None)
    # the parser omits the value of flags
    if isinstance(variable, str) and variable in os.environ and f"'{variable}'" in said:
        said += f": {os.environ.get(variable)!r:.60}"
    complain(f"{said} (see {where} --help)")


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of a scenario or adapter as one line; libraries' deprecation warnings are hidden."""
    if category is UserWarning:
        complain(str(message))


def _of_the_system(error: OSError) -> str:
    """Return what the system refused, and where."""
    if error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    try:
        os.getcwd()
    except OSError:
        return "the current folder is gone; change to another one"
    where = "the output cannot be written: " if error.errno in (ENOSPC, EIO) else ""
    return f"{where}{error.strerror or error}"


def _hush() -> None:
    """Drop what a full disk did not take: Python would add words of its own, and end with a code of its own, 120."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _caught(error: BaseException) -> int:
    """Print an unexpected error in one line, with the last file read; return the exit code.

    Last resort: whatever gets here is a bug in ltm-bench. LTM_BENCH_TRACEBACK=1 shows the traceback.
    """
    if os.environ.get("LTM_BENCH_TRACEBACK"):
        raise error
    from ltm_bench.core.limits import last_read

    path = last_read()
    where = f" ({path} was read last)" if path is not None else ""
    # neither of these two says more than its type does
    told = type(error).__name__ if isinstance(error, RecursionError | MemoryError) else described(error)
    complain(
        f"{told:.300}{where}; this is a bug in ltm-bench: please report it, with the traceback that "
        "LTM_BENCH_TRACEBACK=1 shows"
    )
    return 1


def main() -> None:
    """Run the command line; our errors, and those of a user's files, print one line and have their own exit codes."""
    warnings.showwarning = _warn
    show_everything()
    gc.set_threshold(_ALLOCATED, 20, 20)
    atexit.register(_hush)
    atexit.register(gc.freeze)  # at its exit, Python looks through all that is alive: a sixth of a short run
    # Sent by a supervisor, or when the terminal closes. asyncio handles those from the keyboard: the first Ctrl-C waits
    # for an agent that blocks, the second does not.
    for sent in (signal.SIGTERM, getattr(signal, "SIGHUP", None)):
        if sent is not None and signal.getsignal(sent) is not signal.SIG_IGN:
            signal.signal(sent, _interrupt)
    try:
        code = app(prog_name="ltm-bench", standalone_mode=False)
    except LtmBenchError as error:
        complain(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BaseException as error:  # what a user's file raises can have any class
        if isinstance(error.__context__, BrokenPipeError):  # Typer and Rich make a SystemExit of it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        if isinstance(error.__context__, KeyboardInterrupt):  # in the middle of a class, before Python 3.12
            complain("interrupted")
            sys.exit(_INTERRUPTED)
        if hasattr(error, "exit_code") and hasattr(error, "format_message"):  # of the parser's own
            _misused(error)
            sys.exit(1)
        from ltm_bench.core.extras import dependency
        from ltm_bench.plugins import files as dropins

        if (blamed := dropins.blame(error)) is not None:
            complain(str(blamed))
            sys.exit(blamed.exit_code)
        # Before errors of the system: it has to be one of these.
        if str(error).startswith("Symlink loop from "):  # a RuntimeError of pathlib's, before Python 3.13
            error = OSError(f"{error}: remove the link, or have it lead somewhere")
        if isinstance(error, OSError | ModuleNotFoundError):
            complain(_of_the_system(error) if isinstance(error, OSError) else dependency(error))
            sys.exit(1)
        sys.exit(_caught(error))
    if code == _INTERRUPTED:
        complain("interrupted")
    sys.exit(code if isinstance(code, int) else 0)
