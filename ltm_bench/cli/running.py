"""`run` and `resume`."""

from __future__ import annotations

import asyncio
import json
import platform
import time
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from ltm_bench import config
from ltm_bench.cli.console import err, out
from ltm_bench.cli.planning import Wish, agent_maker, find_run, make_plan, plan_of, run_folder
from ltm_bench.cli.progress import RunProgress
from ltm_bench.cli.showing import publish, summarise
from ltm_bench.errors import BudgetReached, ConfigError, LtmBenchError, RunIncomplete, ThresholdMissed
from ltm_bench.log import locked, start_run
from ltm_bench.messages import Message
from ltm_bench.prices import dollars
from ltm_bench.runner import Budget, Plan, finished
from ltm_bench.runner import run as run_plan
from ltm_bench.tokens import DEFAULT

MaxCost = Annotated[
    str | None,
    typer.Option("--max-cost", metavar="USD", envvar="LTM_BENCH_MAX_COST", help="Stop before spending more."),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under",
        metavar="SCORE",
        envvar="LTM_BENCH_FAIL_UNDER",
        help="Exit with 2 if the score is lower.",
    ),
]


def run(
    span: Annotated[
        str,
        typer.Option(
            metavar="TOKENS",
            envvar="LTM_BENCH_SPAN",
            help="Tokens between what is told and what is asked: 2k 32k 120k 200k 500k 1M 10M, or a number.",
        ),
    ] = "32k",
    agent: Annotated[
        str,
        typer.Option(
            envvar="LTM_BENCH_AGENT", help="Who is asked: a preset or an adapter (see list agents)."
        ),
    ] = "vector_memory",
    suite: Annotated[
        str, typer.Option(envvar="LTM_BENCH_SUITE", help="What is asked (see list suites).")
    ] = "standard",
    scenario: Annotated[
        list[str] | None,
        typer.Option(envvar="LTM_BENCH_SCENARIO", help="Only this scenario; may be given several times."),
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(
            min=1, envvar="LTM_BENCH_EXAMPLES", help="Examples per scenario, instead of the suite's."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(envvar="LTM_BENCH_SEED", help="The same seed gives the same conversation.")
    ] = 0,
    isolated: Annotated[
        bool,
        typer.Option(
            "--isolated",
            envvar="LTM_BENCH_ISOLATED",
            help="No filler: every example alone, with a fresh agent.",
        ),
    ] = False,
    filler: Annotated[
        str,
        typer.Option(
            envvar="LTM_BENCH_FILLER",
            help="scripted (the agent only observes filler), live (it answers), and/or triviaqa:PATH.",
        ),
    ] = "scripted",
    tokenizer: Annotated[
        str, typer.Option(envvar="LTM_BENCH_TOKENIZER", help="The encoding that measures spans.")
    ] = DEFAULT,
    name: Annotated[
        str | None, typer.Option(envvar="LTM_BENCH_NAME", help="Name of the folder in reports/.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", envvar="LTM_BENCH_FRESH", help="Start beside a run of the same name.")
    ] = False,
    max_cost: MaxCost = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "-A",
            "--setting",
            metavar="KEY=VALUE",
            envvar="LTM_BENCH_SETTING",
            help="A setting of the agent; may be given several times.",
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(envvar="LTM_BENCH_BASE_URL", help="A compatible server for the agent's adapter."),
    ] = None,
    fail_under: FailUnder = None,
) -> None:
    """Hold one conversation with an agent, score it, write its page. Resumes a run that was interrupted."""
    plan = make_plan(
        Wish(
            span=span,
            agent=agent,
            suite=suite,
            scenarios=scenario or (),
            examples=examples,
            seed=seed,
            isolated=isolated,
            filler=filler,
            tokenizer=tokenizer,
            settings=setting or (),
            base_url=base_url,
        )
    )
    carry_out(plan, run_folder(plan.manifest, name, fresh=fresh), _dollars(max_cost), fail_under)


def resume(
    run: Annotated[
        str | None, typer.Argument(help="The run's name or folder; the newest if left out.")
    ] = None,
    max_cost: MaxCost = None,
    fail_under: FailUnder = None,
) -> None:
    """Go on with a run that was interrupted, exactly where it stopped."""
    folder = find_run(run)
    carry_out(plan_of(folder), folder, _dollars(max_cost), fail_under)


def _dollars(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        limit = Decimal(text.lstrip("$"))
    except InvalidOperation:
        raise ConfigError(f"--max-cost {text}: write US dollars, such as 2.50") from None
    if not limit.is_finite() or limit < 0:
        raise ConfigError(f"--max-cost {text}: write US dollars, 0 or more")
    return limit


def carry_out(plan: Plan, folder: Path, limit: Decimal | None, fail_under: float | None) -> None:
    """Run a plan in its folder, or say that it is finished; then write and print what came of it."""
    manifest = plan.manifest
    make_agent = agent_maker(manifest.agent)
    _check_price(make_agent, limit, manifest.agent.name)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        start_run(folder, manifest)
        if finished(plan, folder):
            results = publish(folder)
            out().print(f"{folder} is finished already; --fresh starts beside it.", markup=False)
        else:
            failure = _talk(plan, folder, Budget(limit), free=manifest.agent.free)
            results = publish(folder)
            if failure is not None:
                summarise(results, folder)
                err().print(f"The run can be resumed: ltm-bench resume {folder.name}", markup=False)
                raise failure
    summarise(results, folder)
    if fail_under is not None and (results.score or 0.0) < fail_under:
        raise ThresholdMissed(f"the score {results.score:.2f} is below --fail-under {fail_under:g}")


def _check_price(make_agent: object, limit: Decimal | None, name: str) -> None:
    if limit is None:
        return
    agent = make_agent()  # type: ignore[operator]
    most = agent.reserve(Message("Hello", datetime(2026, 1, 1, tzinfo=UTC), 0))
    if not agent.free and (most is None or dollars(most) is None):
        raise ConfigError(
            f"--max-cost {limit} cannot be held: the price of agent {name} is unknown; leave it out to run all the same"
        )


def _talk(plan: Plan, folder: Path, budget: Budget, *, free: bool) -> LtmBenchError | None:
    """Run the conversations; return what stopped them, if something did."""
    _write_environment(folder)
    manifest = plan.manifest
    title = (manifest.agent.name, manifest.suite.name, f"span {config.spell_span(manifest.span)}")
    err().print(" · ".join((*title, f"{len(plan.examples)} examples", str(folder))), markup=False)
    with RunProgress(plan.manifest, plan.examples, budget, free=free) as progress:
        try:
            asyncio.run(
                run_plan(
                    plan,
                    agent_maker(plan.manifest.agent),
                    folder,
                    budget=budget,
                    observer=progress,
                    clock=time.perf_counter,
                    on_cut=lambda n: err().print(
                        f"A torn last line of {n} bytes was cut off the log.", markup=False
                    ),
                )
            )
        except (RunIncomplete, BudgetReached) as error:
            return error
    return None


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
