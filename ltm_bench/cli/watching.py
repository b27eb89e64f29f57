"""Runs at the terminal: shows progress, prints scores, and says how to resume a run that stops."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from ltm_bench.api import Options, Run
from ltm_bench.cli.console import complain, err
from ltm_bench.cli.display import RunDisplay
from ltm_bench.cli.summary import print_run
from ltm_bench.core.budget import NOTHING
from ltm_bench.core.errors import RunIncomplete
from ltm_bench.plan.planning import Plan
from ltm_bench.plan.request import Conduct

Execution = Callable[[Options], Coroutine[Any, Any, Run]]
"""Carries out a run with these options."""


def watch_all(executions: Iterable[Execution], conduct: Conduct) -> list[Run]:
    """Carry out runs one after the other, on one budget, and print the results of each. Raises RunIncomplete."""
    runs, spent = [], Decimal()
    for execute in executions:
        run, spent = watch(execute, conduct, before=spent)
        runs.append(run)
    return runs


def watch(
    execute: Execution, conduct: Conduct, resumable: str | None = None, *, before: Decimal = NOTHING
) -> tuple[Run, Decimal]:
    """Carry out a run, and print its results. Returns it, and what was spent, with what was spent before.

    Args:
        execute: Carries it out.
        conduct: How it is carried out.
        resumable: The run's name, if known before it starts.
        before: What has been spent of the budget.

    Raises:
        RunIncomplete: It was interrupted, or had to stop.
    """
    display = RunDisplay()
    names: list[str] = [resumable] if resumable is not None else []

    def begin(plan: Plan, folder: Path) -> None:
        names.append(folder.name)
        display.begin(plan, folder)

    def stopped(run: Run) -> None:
        display.end()
        print_run(run)

    options = replace(
        Options.of(conduct),
        progress=display,
        notify=lambda line: err().print(line),
        foresee=display.foresee,
        watch=begin,
        reused=lambda line: complain(f"nothing was run: {line}"),
        stopped=stopped,
    )
    options.budget.count(before)
    try:
        run = asyncio.run(execute(options))
    except KeyboardInterrupt:
        asked = f" --reader {conduct.reader}" if conduct.reader else ""
        asked += "".join(f" --judge {name}" for name in conduct.judges)
        name = f" {names[-1]}" if names else ""
        raise RunIncomplete(
            f"interrupted; nothing is lost: `ltm-bench resume{name}{asked}` continues from here"
        ) from None
    finally:
        display.end()
    print_run(run)
    return run, options.budget.spent
