"""Carries out one run at the terminal: shows progress, prints scores, and says how to resume if it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from ltm_bench.api import Options, Run
from ltm_bench.cli.console import err
from ltm_bench.cli.display import RunDisplay
from ltm_bench.cli.summary import print_run
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import LtmBenchError, RunIncomplete
from ltm_bench.runner.conversations import CONCURRENT


def carry_out(
    do: Callable[[Options], Coroutine[Any, Any, Run]],
    *,
    budget: Budget,
    judges: Sequence[str],
    cache: bool = False,
    tags: Mapping[str, str] | None = None,
    connections: int = CONCURRENT,
    resumable: str | None = None,
) -> Run:
    """Carry out a run, and print its results.

    Args:
        do: Runs it with these options.
        budget: What may be spent.
        judges: Judges of what text alone cannot decide.
        cache: Whether to cache providers' answers.
        tags: Tags to add to the run.
        connections: Maximum concurrent calls to the agent.
        resumable: The run's name, if known before it starts.

    Raises:
        RunIncomplete: It was interrupted, or had to stop.
    """
    display = RunDisplay()
    names: list[str] = [resumable] if resumable is not None else []

    def begin(plan: Any, folder: Any) -> None:
        names.append(folder.name)
        display.begin(plan, folder)

    def stopped(run: Run) -> None:
        display.end()
        print_run(run)

    options = Options(
        budget=budget,
        judges=judges,
        cache=cache,
        tags=tags or {},
        connections=connections,
        progress=display,
        notify=lambda line: err().print(line),
        foresee=display.foresee,
        watch=begin,
        stopped=stopped,
    )
    try:
        run = asyncio.run(do(options))
    except KeyboardInterrupt:
        display.end()
        asked = "".join(f" --judge {name}" for name in judges)
        name = f" {names[-1]}" if names else ""
        raise RunIncomplete(
            f"interrupted; nothing is lost: `ltm-bench resume{name}{asked}` continues from here"
        ) from None
    except LtmBenchError:
        display.end()
        raise
    display.end()
    print_run(run)
    return run
