"""`run` and `resume`."""

from __future__ import annotations

import asyncio
import json
import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ltm_bench.adapters.http import caching
from ltm_bench.cli.comparing import write_comparison
from ltm_bench.cli.console import err, out
from ltm_bench.cli.demands import Demands
from ltm_bench.cli.judging import have_judged, make_judges
from ltm_bench.cli.progress import RunProgress
from ltm_bench.cli.showing import check_records, publish, summarise
from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached, ConfigError, LtmBenchError, RunIncomplete
from ltm_bench.core.messages import Message
from ltm_bench.core.pricing import dollars
from ltm_bench.log.recorder import locked, start_run
from ltm_bench.plan import config
from ltm_bench.plan.agents import agent_maker
from ltm_bench.plan.folders import find_run, run_folder
from ltm_bench.plan.planning import PLAIN, Plan, left_out, make_plan, plan_of
from ltm_bench.plan.request import Calls, Wish
from ltm_bench.runner.runs import CONCURRENT, finished, run_conversations
from ltm_bench.score.comparison import Run, compare
from ltm_bench.score.results import Results


def start(
    wish: Wish,
    name: str | None,
    *,
    repeats: int,
    fresh: bool,
    limit: Decimal | None,
    demands: Demands,
    judges: Sequence[str],
    calls: Calls,
) -> None:
    """Begin a run, or go on with it if it was interrupted; the same for every further seed."""
    make_judges(judges)
    baseline = demands.find_baseline()
    plans = [make_plan(replace(wish, seed=seed)) for seed in range(wish.seed, wish.seed + repeats)]
    for line in left_out(wish):
        err().print(line, markup=False)
    runs, folders = [], []
    for plan in plans:
        chosen = f"{name}-seed{plan.manifest.seed}" if name is not None and repeats > 1 else name
        folders.append(run_folder(plan.manifest, chosen, fresh=fresh))
        budget = Budget(limit)
        runs.append(Run(plan.manifest, carry_out(plan, folders[-1], budget, judges, calls)))
        if limit is not None:
            limit = max(Decimal(), limit - budget.spent)
    if repeats > 1:
        _summarise_together(runs, folders)
    demands.check(runs, baseline)


def go_on(
    run: str | None, *, limit: Decimal | None, demands: Demands, judges: Sequence[str], calls: Calls
) -> None:
    """Go on with a run that exists."""
    make_judges(judges)
    folder = find_run(run)
    plan, baseline = plan_of(folder), demands.find_baseline()
    demands.check([Run(plan.manifest, carry_out(plan, folder, Budget(limit), judges, calls))], baseline)


def carry_out(
    plan: Plan, folder: Path, budget: Budget, judges: Sequence[str], calls: Calls = PLAIN
) -> Results:
    """Run a plan in its folder, or say that it is finished; then write and print what came of it."""
    manifest = plan.manifest
    _check_price(agent_maker(manifest.agent, calls)(), budget.limit, manifest.agent.name)
    if (folder / "events.jsonl").is_file() and (folder / "events.jsonl").stat().st_size:
        check_records(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder):
            start_run(folder, manifest)
            if finished(plan, folder):
                results = publish(folder)
                budget.spent += Decimal(str(results.costs.dollars or 0))
                out().print(f"{folder} is finished already; --fresh starts beside it.", markup=False)
            else:
                failure = _talk(plan, folder, budget, calls)
                results = _publish_after(failure, folder)
            if have_judged(folder, results, make_judges(judges), budget):
                results = publish(folder)
    except KeyboardInterrupt:
        asked = "".join(f" --judge {name}" for name in judges)
        raise RunIncomplete(
            f"interrupted; nothing is lost: `ltm-bench resume {folder.name}{asked}` goes on from here"
        ) from None
    summarise(results, folder)
    return results


def _publish_after(failure: LtmBenchError | None, folder: Path) -> Results:
    """Publish a run; raise what stopped it, if something did, having said that it can be resumed."""
    try:
        results = publish(folder)
        if failure is not None:
            summarise(results, folder)
    except (OSError, ConfigError):  # a full disk has no room for the page either
        if failure is None:
            raise
    if failure is not None:
        err().print(f"The run can be resumed: ltm-bench resume {folder.name}", markup=False)
        raise failure
    return results


def _summarise_together(runs: Sequence[Run], folders: Sequence[Path]) -> None:
    """Print what several seeds came to together, and write a page of them."""
    comparison = compare(runs)
    for cell in comparison.cells:
        interval = f", 95 % {cell.interval.low:.2f} – {cell.interval.high:.2f}" if cell.interval else ""
        score = f"{cell.score:.2f} / {cell.out_of}" if cell.complete else "incomplete"
        out().print(f"{len(runs)} seeds together: {score}{interval}, n = {cell.n}", markup=False)
    page = folders[0].with_name(f"{folders[0].name}-to-{runs[-1].manifest.seed}.html")
    write_comparison(comparison, folders, page)
    out().print(f"page of all: {page}", markup=False)


def _check_price(agent: Agent, limit: Decimal | None, name: str) -> None:
    if limit is None:
        return
    most = agent.reserve(Message("Hello", datetime(2026, 1, 1, tzinfo=UTC), 0))
    if not agent.free and (most is None or dollars(most) is None):
        raise ConfigError(
            f"--max-cost {limit} cannot be held: the price of agent {name} is unknown; leave it out to run all the same"
        )


def _talk(plan: Plan, folder: Path, budget: Budget, calls: Calls) -> LtmBenchError | None:
    """Run the conversations; return what stopped them, if something did."""
    try:
        return _converse(plan, folder, budget, calls)
    except OSError as error:
        return RunIncomplete(
            f"{error.filename or folder}: {error.strerror or error}; "
            f"`ltm-bench resume {folder.name}` goes on from there when it can be written again"
        )


def _converse(plan: Plan, folder: Path, budget: Budget, calls: Calls) -> LtmBenchError | None:
    _write_environment(folder)
    manifest = plan.manifest
    title = (manifest.agent.name, manifest.suite.name, f"span {config.spell_span(manifest.span)}")
    err().print(" · ".join((*title, f"{len(plan.examples)} examples", str(folder))), markup=False)
    make = agent_maker(manifest.agent, calls)
    interactive, free = make().interactive, manifest.agent.free
    with (
        caching(calls.path),
        RunProgress(manifest, plan.examples, budget, free=free, interactive=interactive) as progress,
    ):
        try:
            asyncio.run(
                run_conversations(
                    plan,
                    make,
                    folder,
                    budget=budget,
                    observer=progress,
                    clock=time.perf_counter,
                    on_cut=lambda n: err().print(
                        f"A torn last line of {n} bytes was cut off the log.", markup=False
                    ),
                    on_doubt=lambda where: err().print(doubt(where), markup=False),
                    concurrent=1 if interactive else CONCURRENT,
                )
            )
        except (RunIncomplete, BudgetReached) as error:
            return error
    return None


def doubt(where: str) -> str:
    """Return what is said of a turn that an agent may get twice."""
    return (
        f"{where[:1].upper()}{where[1:]} may have been sent twice: its message was on the way when the run stopped, "
        "and no reply to it is in the log."
    )


_PACKAGES = (
    "ltm-bench",
    "openai",
    "anthropic",
    "chromadb",
    "tiktoken",
    "rapidfuzz",
    "json-repair",
    "genai-prices",
)


def _write_environment(folder: Path) -> None:
    """Record what differs between machines; kept out of the log, so that equal runs have equal logs."""
    packages = {}
    for package in _PACKAGES:
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            continue
    started = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
    path = folder / "environment.json"
    try:
        earlier = json.loads(path.read_text("utf-8"))["started"]
    except (OSError, ValueError, LookupError, TypeError):  # none yet, or killed while writing it
        earlier = []
    starts = [*earlier, started]
    content = {
        "started": starts,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": packages,
    }
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
