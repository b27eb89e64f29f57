"""Ask about your own documents, as SWiM does: generate, validate, run, show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ltm_bench.cli.options import (
    AgentName,
    BaseUrl,
    Fresh,
    Json,
    Judges,
    MaxCost,
    Name,
    RunName,
    Settings,
    Span,
    examples_of,
    group,
)
from ltm_bench.cli.parsing import whole
from ltm_bench.core.errors import ConfigError

if TYPE_CHECKING:
    from ltm_bench.core.budget import Budget
    from ltm_bench.datasets.swim import Document
    from ltm_bench.datasets.swim.tasks import Task

_swim = group("Ask about your own documents, as SWiM does: generate, validate, run, show.")


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    app.add_typer(_swim, name="swim")


def _shares(option: str, text: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = [math.nan]
    if not all(0 <= value <= 1 for value in values):
        raise ConfigError(f"{option} {text}: write numbers from 0 to 1, such as 0,0.25,0.5,0.75,1")
    return values


TasksFile = Annotated[Path, typer.Argument(metavar="FILE", help="The tasks, as JSON; SWiM's own files work.")]
Documents = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The documents: text, Markdown, PDF, HTML (extra documents).")
]


@_swim.command("generate", epilog=examples_of("swim generate docs/ --agent gpt-6-luna -o tasks.json"))
def swim_generate(
    documents: Documents,
    agent: AgentName,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", envvar="LTM_BENCH_SWIM_OUTPUT", help="The file for the tasks."
        ),
    ] = Path("tasks.json"),
    each: Annotated[
        int,
        typer.Option(
            metavar="N", parser=whole("--each", 1), envvar="LTM_BENCH_EACH", help="Tasks per document."
        ),
    ] = 1,
    setting: Settings = None,
    max_cost: MaxCost = None,
) -> None:
    """Have a model write questions and answers, document by document. Continues where it stopped."""
    import shlex

    from rich.progress import Progress

    from ltm_bench.cli.console import err, out, safe
    from ltm_bench.core.budget import Budget
    from ltm_bench.core.errors import RunIncomplete
    from ltm_bench.datasets.swim.authoring import write_all
    from ltm_bench.plan.agents import resolve_agent
    from ltm_bench.plan.values import parse_settings

    read = _documents(documents)
    make = resolve_agent(agent, parse_settings(setting or ())).source
    tasks = _tasks(output) if output.exists() else {}
    done = {name for task in tasks.values() for name in task.answer_docs}
    waiting = [document for document in read if document.name not in done]
    failed = 0
    with Progress(console=err(), disable=not err().is_terminal, transient=True) as progress:
        steps = write_all(output, tasks, waiting, make, by=agent, each=each, budget=Budget(max_cost))
        for step in progress.track(steps, total=len(waiting), description="documents"):
            if step.problem is not None:
                failed += 1
                err().print(f"{safe(step.name)}: skipped: {safe(step.problem)}")
    out().print(
        f"{output}: {len(tasks)} tasks about {len(read)} documents, {failed} documents without; review them before "
        f"use: ltm-bench swim validate {shlex.quote(str(output))} {shlex.quote(str(documents))}"
    )
    if failed:
        raise RunIncomplete(f"{failed} documents have no task yet; the same command asks about them again")


@_swim.command(
    "validate",
    epilog=examples_of(
        "swim validate tasks.json docs/ --validator Ada", "swim validate tasks.json docs/ --agent gpt-6-luna"
    ),
)
def swim_validate(
    tasks: TasksFile,
    documents: Documents,
    validator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", envvar="LTM_BENCH_VALIDATOR", help="Who decides; by default, your user name."
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_CHECKER",
            help="A model that checks all tasks; a person still has to review them.",
        ),
    ] = None,
    max_cost: MaxCost = None,
) -> None:
    """Accept, edit or reject tasks, one by one. Continues where it stopped."""
    import getpass

    from ltm_bench.cli.console import out
    from ltm_bench.cli.reviewing import review_tasks
    from ltm_bench.core.budget import Budget
    from ltm_bench.datasets.swim.tasks import unvalidated, write_tasks

    read, known = _documents(documents), _tasks(tasks)
    if agent is not None:
        _check(tasks, known, read, agent, Budget(max_cost))
        return
    if not unvalidated(known):
        out().print(f"Every task of {tasks} has been reviewed.")
        return
    by_name = {document.name: document for document in read}
    review_tasks(known, by_name, validator or getpass.getuser(), lambda: write_tasks(tasks, known))
    left = unvalidated(known)
    rejected = sum(task.rejected for task in known.values())
    out().print(f"{tasks}: {len(known) - left} reviewed, {rejected} of them rejected, {left} left")


@_swim.command(
    "run",
    epilog=examples_of(
        "swim run tasks.json docs/ --agent gpt-6-luna --span 128k --judge gpt-6-luna",
        "swim run tasks.json docs/ --agent gpt-6-luna --agent vector_memory --test position --delivery chunked",
        "swim run tasks.json docs/ --agent gpt-6-luna --test voting --test control --runs 5",
    ),
)
def swim_run(
    tasks: TasksFile,
    documents: Documents,
    agent: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_AGENT",
            help="An agent; can be repeated to compare several.",
        ),
    ],
    span: Span = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_TEST",
            help="position, size, absent, voting or control; can be repeated; position by default.",
        ),
    ] = None,
    depths: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            envvar="LTM_BENCH_DEPTHS",
            help="Depths of the answer's document.",
        ),
    ] = "0,0.25,0.5,0.75,1",
    shares: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            envvar="LTM_BENCH_SHARES",
            help="Shares of the span filled with other documents.",
        ),
    ] = "0,0.25,0.5,0.75,1",
    runs: Annotated[
        int,
        typer.Option(
            metavar="K",
            parser=whole("--runs", 1),
            envvar="LTM_BENCH_RUNS",
            help="Conversations per question of voting and control.",
        ),
    ] = 5,
    control: Annotated[
        str,
        typer.Option(
            metavar="DEPTH",
            envvar="LTM_BENCH_CONTROL",
            help="The depth of the control.",
        ),
    ] = "0.25",
    delivery: Annotated[
        str,
        typer.Option(metavar="KIND", envvar="LTM_BENCH_DELIVERY", help="one_shot, chunked, or scattered."),
    ] = "one_shot",
    questions: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=whole("--questions", 1),
            envvar="LTM_BENCH_QUESTIONS",
            help="Maximum number of questions.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N",
            parser=whole("--seed"),
            envvar="LTM_BENCH_SEED",
            help="The same seed gives the same order of documents.",
        ),
    ] = 0,
    setting: Settings = None,
    base_url: BaseUrl = None,
    judge: Judges = None,
    max_cost: MaxCost = None,
    name: Name = None,
    fresh: Fresh = False,
) -> None:
    """Ask about documents: at every depth, among ever more others, without the relevant one, or several times."""
    from dataclasses import replace
    from functools import partial

    from ltm_bench.api import compare, start
    from ltm_bench.cli.carrying_out import carry_out
    from ltm_bench.cli.comparison import write_comparison
    from ltm_bench.cli.console import err, out, safe
    from ltm_bench.cli.swim_figures import show_figures
    from ltm_bench.core.budget import Budget
    from ltm_bench.datasets.swim import keep
    from ltm_bench.datasets.swim.suite import Tests
    from ltm_bench.plan.request import Request
    from ltm_bench.plan.suites import SPAN
    from ltm_bench.plan.values import parse_settings, parse_span
    from ltm_bench.script.deliveries import room

    tests = Tests(
        names=tuple(dict.fromkeys(test or ["position"])),
        depths=_shares("--depths", depths),
        shares=_shares("--shares", shares),
        runs=runs,
        delivery=delivery,
        control=_shares("--control", control)[0],
    )
    tests.check()
    span = span or SPAN
    kept = keep(_documents(documents), _tasks(tasks), room(parse_span(span)))
    for name, why in kept.dropped.items():
        err().print(f"task {safe(name)} is left out: {safe(why)}")
    if not kept.tasks:
        raise ConfigError(f"{tasks}: no task fits a span of {span}; choose a larger one")
    request = Request(
        span=span,
        agent=agent[0],
        suite="swim",
        scenarios=tests.names,
        seed=seed,
        isolated=True,
        settings=parse_settings(setting or ()),
        base_url=base_url,
        parameters=tests.parameters(tasks, documents, min(questions or len(kept.tasks), len(kept.tasks))),
    )
    agents = list(dict.fromkeys(agent))
    held = [
        carry_out(
            partial(start, replace(request, agent=each), name=_name(name, each, agents), fresh=fresh),
            budget=Budget(max_cost),
            judges=judge or (),
        )
        for each in agents
    ]
    for each in held:
        show_figures(each.folder, "local", None, as_json=False)
    if len(held) > 1:
        page = held[0].folder.with_name(f"{name or 'swim'}-compare.html")
        write_comparison(compare(*held), [each.folder for each in held], page)
        out().print(f"page of all: {page}")


@_swim.command(
    "show", epilog=examples_of("swim show", "swim show swim-32k-gpt-6-luna-seed0-isolated --embedder local")
)
def swim_show(
    run: RunName = None,
    embedder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_EMBEDDER",
            help="Embedder for votes: local, python:module:callable, or a model at --base-url.",
        ),
    ] = "local",
    base_url: BaseUrl = None,
    as_json: Json = False,
) -> None:
    """Print accuracy over depth and size, inventions, and the result of voting over several runs."""
    from ltm_bench.cli.swim_figures import show_figures
    from ltm_bench.plan.folders import find_run

    show_figures(find_run(run), embedder, base_url, as_json=as_json)


def _name(name: str | None, agent: str, agents: Sequence[str]) -> str | None:
    """Return the name of an agent's run: the given one, with the agent appended if there are several."""
    if name is None or len(agents) == 1:
        return name
    from ltm_bench.plan.naming import as_name

    return f"{name}-{as_name(agent)}"


def _documents(place: Path) -> Sequence[Document]:
    from ltm_bench.datasets.swim import read_documents

    try:
        return read_documents(str(place))
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _tasks(path: Path) -> dict[str, Task]:
    from ltm_bench.datasets.swim import read_tasks

    try:
        return read_tasks(path)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _check(
    path: Path, tasks: dict[str, Task], documents: Sequence[Document], agent: str, budget: Budget
) -> None:
    """Have a model check all tasks, and print the doubtful ones."""
    from ltm_bench.cli.console import err, out, safe
    from ltm_bench.datasets.swim.authoring import check_all
    from ltm_bench.plan.agents import resolve_agent

    make = resolve_agent(agent).source
    for step in check_all(path, tasks, documents, make, by=agent, budget=budget):
        if step.problem is not None:
            err().print(f"task {safe(step.name)}: not checked: {safe(step.problem)}")
    checked = {key: task.checked for key, task in tasks.items() if task.checked is not None}
    doubted = [key for key, decision in checked.items() if decision.verdict == "rejected"]
    out().print(
        f"{path}: {len(checked)} of {len(tasks)} tasks checked by {agent}, {len(doubted)} doubted"
        + (f": {', '.join(map(safe, doubted[:20]))}" if doubted else "")
        + "; a person still has to review them"
    )
