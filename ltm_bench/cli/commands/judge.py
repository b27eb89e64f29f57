"""Calibrate the judges."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from ltm_bench.cli.console import err, out
from ltm_bench.cli.options import MaxCost, examples_of, group, whole
from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Outcome
from ltm_bench.judge.calibration import calibrate, trials
from ltm_bench.judge.judges import find_judges
from ltm_bench.judge.memory import FILE, THRESHOLD, Memory
from ltm_bench.plan.folders import REPORTS


def check(
    judge: Annotated[
        list[str],
        typer.Option("--judge", metavar="NAME", envvar="LTM_BENCH_JUDGE", help="An agent, as for --agent."),
    ],
    cases: Annotated[
        int,
        typer.Option(
            metavar="N",
            parser=whole("--cases", 10),
            envvar="LTM_BENCH_CASES",
            help="How many cases at most.",
        ),
    ] = 120,
    max_cost: MaxCost = None,
) -> None:
    """Put replies before a judge that are known to be right or wrong, and say whether it passes."""
    judges = find_judges(judge)
    composed = trials(cases)
    memory = Memory(REPORTS / FILE)
    try:
        for each in judges:
            err().print(f"{len(composed)} cases before {each.name} …")
            calibration, said = asyncio.run(calibrate(each, composed, memory, Budget(max_cost)))
            table = Table(box=box.SIMPLE_HEAD)
            for column in ("the reply is", "n", "judged right", "judged otherwise", "not readable"):
                table.add_column(column, justify="left" if column == "the reply is" else "right")
            for kind in dict.fromkeys(trial.kind for trial in composed):
                of = [outcome for trial, outcome in zip(composed, said, strict=True) if trial.kind == kind]
                right, lost = of.count(Outcome.CORRECT), of.count(Outcome.JUDGE_ERROR)
                table.add_row(kind, str(len(of)), str(right), str(len(of) - right - lost), str(lost))
            out().print(table)
            cost = "unknown" if calibration.dollars is None else f"${calibration.dollars:.4f}"
            out().print(
                f"{each.name}: sensitivity {calibration.sensitivity:.3f}, specificity {calibration.specificity:.3f}, "
                f"{calibration.unreadable} not readable, cost {cost}",
            )
            if calibration.believed:
                out().print(f"{each.name} passed: both are at least {THRESHOLD}.")
            else:
                out().print(
                    f"{each.name} failed calibration: both have to be at least {THRESHOLD}. "
                    "Runs that it judges say so on their page."
                )
    finally:
        memory.close()


def _nothing() -> None:
    """Calibrate the judges."""


def register(app: typer.Typer) -> None:
    """Add the group."""
    judging = group("Calibrate the judges.")
    judging.callback()(_nothing)
    judging.command("check", epilog=examples_of("judge check --judge gpt-6-luna"))(check)
    app.add_typer(judging, name="judge")
