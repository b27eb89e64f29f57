"""Says that a run or a sweep has ended: the terminal's bell after a long one, and a command of the user's."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_bench.cli.console import complain, err, out, safe
from ltm_bench.core.errors import LtmBenchError

if TYPE_CHECKING:
    from ltm_bench.api import Run


def send_spans(run: "Run", endpoint: str) -> None:
    """Send a run's spans to a collector, and say so. Raises ConfigError."""
    from ltm_bench.export.sending import HEADERS, send
    from ltm_bench.export.source import source_of

    sent = send(source_of(run.folder, run.results), endpoint, os.environ.get(HEADERS, ""))
    out().print(f"otel: {sent:,} spans of {safe(run.name)} sent")


LONG = 30.0
"""Seconds after which the bell rings: until then, somebody is still looking."""


@contextmanager
def saying_when_it_ends(notify: str | None) -> Iterator[list[Path]]:
    """Ring the bell and run a command at the end, however that comes.

    Args:
        notify: The command, for the shell; None for none. What it prints goes to standard error. Its environment has
            LTM_BENCH_EXIT_CODE and LTM_BENCH_FOLDER: the run's folder, or the one that holds them all.

    Yields:
        A list for the folders of the runs.
    """
    folders: list[Path] = []
    began, code = time.monotonic(), 0
    try:
        yield folders
    except KeyboardInterrupt:
        code = 130
        raise
    except BaseException as error:  # what a user's file raises can have any class
        code = error.exit_code if isinstance(error, LtmBenchError) else 1
        raise
    finally:
        if err().is_terminal and time.monotonic() - began >= LONG:
            err().bell()
        if notify is not None:
            folder = folders[0] if len(folders) == 1 else Path(os.path.commonpath(folders)) if folders else ""
            told = {"LTM_BENCH_EXIT_CODE": str(code), "LTM_BENCH_FOLDER": str(folder)}
            ended = subprocess.run(notify, shell=True, env={**os.environ, **told}, stdout=2, check=False)
            if ended.returncode:
                complain(f"warning: --notify {notify}: it ended with {ended.returncode}")
