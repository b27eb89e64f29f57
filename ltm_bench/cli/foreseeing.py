"""Prints what a sweep will take before it starts: once for all runs that differ only in the seed."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ltm_bench.api import Options
from ltm_bench.api.controlling import controls_for
from ltm_bench.cli.console import err, safe
from ltm_bench.cli.forecasting import sweep_lines
from ltm_bench.plan.planning import Plan
from ltm_bench.plan.values import spell_span
from ltm_bench.runner.control_costs import control_lines
from ltm_bench.runner.estimate import MOST_SIMULATED, Estimate, bound, forecast
from ltm_bench.runner.measured import seconds_per_reply
from ltm_bench.runner.outlook import outlook
from ltm_bench.runner.sweep import Job


def foresee(jobs: Sequence[Job]) -> list[Job]:
    """Print a forecast of the runs that have not started, one for all that differ only in the seed.

    Simulates as many as the time for one forecast allows; prints a lower bound for the others. Returns the jobs, each
    with what it is foretold of its agent's window.
    """
    alike: dict[str, list[Job]] = {}
    for job in jobs:
        if not (job.folder / "events.jsonl").exists():
            alike.setdefault(_but_for_the_seed(job), []).append(job)
    groups: list[tuple[Plan, Estimate | None, int]] = []
    foretold: dict[Path, str] = {}
    left = MOST_SIMULATED
    for same in alike.values():
        plan = same[0].plan
        latency = seconds_per_reply(plan.manifest.agent, plan.manifest.span, same[0].folder.parent)
        found = asyncio.run(forecast(plan, latency)) if left > 0 else None
        left -= 0 if found is None else found.tokens * (len(same) if found.bounded else 1)
        if found is not None and found.bounded:  # conversations of other seeds take other numbers of calls
            bounds = [bound(each.plan) for each in same] if left > 0 else []
            found.bounded = None not in bounds and len(bounds) == len(same)
            found.dollars = max(filter(None, bounds), default=found.dollars)
        groups.append((plan, found, len(same)))
        foretold |= dict.fromkeys((job.folder for job in same), outlook(plan, found))
    for line in sweep_lines(groups):
        err().print(safe(line))
    return [replace(job, outlook=foretold.get(job.folder, "")) for job in jobs]


def foresee_controls(jobs: Sequence[Job], options: Options) -> None:
    """Print what the controls will take, once for all runs that differ only in the seed."""
    alike: dict[str, list[Plan]] = {}
    for job in jobs:
        alike.setdefault(_but_for_the_seed(job), []).append(job.plan)
    for plan, *more in alike.values():
        each = f", in each of {len(more) + 1} runs" if more else ""
        for line in asyncio.run(control_lines(plan, controls_for(plan, options))):
            name = f"{plan.manifest.agent.name} at {spell_span(plan.manifest.span)}"
            err().print(safe(f"{name}: {line}{each}"))


def _but_for_the_seed(job: Job) -> str:
    manifest = job.plan.manifest
    return f"{manifest.agent.model_dump_json()} {manifest.suite.model_dump_json()} {manifest.span}"
