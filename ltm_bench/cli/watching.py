"""Runs at the terminal: shows progress, prints scores, and says how to resume a run that stops."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from ltm_bench.api import Options, Run
from ltm_bench.api.continuing import resuming
from ltm_bench.cli.console import complain, err
from ltm_bench.cli.display import RunDisplay
from ltm_bench.cli.forecasting import agree
from ltm_bench.cli.summary import print_run
from ltm_bench.core.errors import RunIncomplete
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.estimate import Estimate

Execution = Callable[[Options], Coroutine[Any, Any, Run]]
"""Carries out a run with these options."""


def watch(
    execute: Execution, options: Options, resumable: Path | None = None, *, dear: list[int] | None = None
) -> Run:
    """Carry out a run, and print its results.

    Args:
        execute: Carries it out.
        options: How it is carried out; several runs can share them, and their budget.
        resumable: The run's folder, if it has begun.
        dear: Number of runs like it whose price a person at the terminal is to agree to; taken out once it is asked.

    Raises:
        ConfigError: A person did not agree to what it costs.
        RunIncomplete: It was interrupted, or had to stop.
    """
    display = RunDisplay()
    begun = [] if resumable is None else [resumable]

    def begin(plan: Plan, folder: Path) -> None:
        begun.append(folder)
        display.begin(plan, folder)

    def foresee(plan: Plan, found: Estimate | None) -> None:
        display.foresee(plan, found)
        if dear and sys.stdin is not None and sys.stdin.isatty() and err().is_terminal:
            agree(plan, found, dear.pop())

    def stopped(run: Run) -> None:
        display.end()
        print_run(run)

    options = replace(
        options,
        progress=display,
        notify=lambda line: err().print(line),
        foresee=foresee,
        watch=begin,
        reused=lambda line: complain(f"nothing was run: {line}"),
        stopped=stopped,
    )
    try:
        run = asyncio.run(execute(options))
    except KeyboardInterrupt:
        again = (
            f"`{resuming(begun[-1], options)}` continues from here" if begun else "the same command continues"
        )
        raise RunIncomplete(f"interrupted; nothing is lost: {again}") from None
    finally:
        display.end()
    print_run(run)
    return run
