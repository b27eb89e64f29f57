"""Ask about your own documents, as SWiM does: generate and validate tasks, run the suite swim, and show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltm_bench.cli.console import ask_key, err, out, print_titled, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import Json, RunName
from ltm_bench.cli.verdicts import check_judged
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError, RunIncomplete
from ltm_bench.core.tokens import DEFAULT
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.request import (
    RUN,
    AgentName,
    BaseUrl,
    Conduct,
    MaxCost,
    NewRun,
    Request,
    Settings,
    Span,
    Tokenizer,
)
from ltm_bench.plan.values import number

if TYPE_CHECKING:
    from ltm_bench.datasets.swim import Document
    from ltm_bench.datasets.swim.tasks import Task

app = group(
    "Ask about your own documents, as SWiM does: generate and validate tasks, run the suite swim, and show."
)


_share = number("numbers from 0 to 1, such as 0,0.25,0.5,0.75,1", lambda value: 0 <= value <= 1)


def _shares(text: str) -> list[float]:
    return [_share(part) for part in text.split(",")]


_KEYS = "a accept, e edit, r reject; s skip, q quit"

_SHOWN = 4000
"""Maximum characters of a document shown."""

TasksFile = Annotated[Path, typer.Argument(metavar="FILE", help="The tasks, as JSON; SWiM's own files work.")]
Documents = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The documents: text, Markdown, PDF, HTML (extra documents).")
]


@command(app, "datasets swim generate docs/ --agent gpt-6-luna -o tasks.json", name="generate")
def swim_generate(
    documents: Documents,
    agent: AgentName,
    output: Annotated[
        Path, Option("The file for the tasks.", "FILE", flags=("-o", "--output"), variable="SWIM_OUTPUT")
    ] = Path("tasks.json"),
    each: Annotated[int, Option("Tasks per document.", "N", least=1)] = 1,
    settings: Settings = None,
    max_cost: MaxCost = None,
) -> None:
    """Have a model write questions and answers, document by document. Continues where it stopped."""
    import shlex

    from rich.progress import Progress

    from ltm_bench.cli.judging import in_turn
    from ltm_bench.datasets.swim.tasks import write_tasks, writing
    from ltm_bench.judge.judges import find_judges

    read = _documents(documents)
    (writer,) = find_judges([agent], "agent", settings)
    tasks = _tasks(output) if output.exists() else {}
    done = {name for task in tasks.values() for name in task.answer_docs}
    waiting = [document for document in read if document.name not in done]
    failed = 0
    with Progress(console=err(), disable=not err().is_terminal, transient=True) as progress:
        asked = ((document.name, writing(document, each, agent)) for document in waiting)
        steps = in_turn(writer, asked, Budget(max_cost))
        for name, written, problem in progress.track(steps, total=len(waiting), description="documents"):
            if written is None:
                failed += 1
                err().print(f"{safe(name)}: skipped: {safe(problem)}")
                continue
            for task in written:
                tasks[str(len(tasks))] = task
            write_tasks(output, tasks)
    out().print(
        f"{output}: {len(tasks)} tasks about {len(read)} documents, {failed} documents without; review them before "
        f"use: ltm-bench datasets swim validate {shlex.quote(str(output))} {shlex.quote(str(documents))}"
    )
    if failed:
        raise RunIncomplete(f"{failed} documents have no task yet; the same command asks about them again")


@command(
    app,
    "datasets swim validate tasks.json docs/ --validator Ada",
    "datasets swim validate tasks.json docs/ --agent gpt-6-luna",
    name="validate",
)
def swim_validate(
    tasks: TasksFile,
    documents: Documents,
    validator: Annotated[str | None, Option("Who decides; by default, your user name.", "NAME")] = None,
    agent: Annotated[
        str | None,
        Option(
            "A model that checks all tasks; a person still has to review them.", "NAME", variable="CHECKER"
        ),
    ] = None,
    max_cost: MaxCost = None,
) -> None:
    """Accept, edit or reject tasks, one by one. Continues where it stopped."""
    import getpass

    from ltm_bench.datasets.swim.tasks import unvalidated, write_tasks

    read, known = _documents(documents), _tasks(tasks)
    if agent is not None:
        _check(tasks, known, read, agent, Budget(max_cost))
        return
    if not unvalidated(known):
        out().print(f"Every task of {tasks} has been reviewed.")
        return
    by_name = {document.name: document for document in read}
    _review(known, by_name, validator or getpass.getuser(), lambda: write_tasks(tasks, known))
    left = unvalidated(known)
    rejected = sum(task.rejected for task in known.values())
    out().print(f"{tasks}: {len(known) - left} reviewed, {rejected} of them rejected, {left} left")


@command(
    app,
    "datasets swim run tasks.json docs/ --agent gpt-6-luna --span 128k --judge gpt-6-luna",
    "datasets swim run tasks.json docs/ --agent gpt-6-luna --agent vector_memory --test position --delivery chunked",
    "datasets swim run tasks.json docs/ --agent gpt-6-luna --test voting --test control --runs 5",
    name="run",
    idle=RUN,
    hidden=True,
)
def swim_run(
    tasks: TasksFile,
    documents: Documents,
    *,
    agents: Annotated[Sequence[str], Option("An agent; several are compared.", "NAME")],
    span: Span = None,
    tests: Annotated[
        Sequence[str], Option("position (the default), size, absent, voting or control.", "NAME")
    ] = ("position",),
    depths: Annotated[Any, Option("Depths of the answer's document.", "LIST", _shares)] = "0,0.25,0.5,0.75,1",
    shares: Annotated[
        Any, Option("Shares of the span filled with other documents.", "LIST", _shares)
    ] = "0,0.25,0.5,0.75,1",
    runs: Annotated[int, Option("Conversations per question of voting and control.", "K", least=1)] = 5,
    control: Annotated[Any, Option("The depth of the control.", "DEPTH", _share)] = "0.25",
    delivery: Annotated[str, Option("one_shot, chunked, or scattered.", "KIND")] = "one_shot",
    questions: Annotated[int | None, Option("Maximum number of questions.", "N", least=1)] = None,
    seed: Annotated[int, Option("The same seed gives the same order of documents.", "N")] = 0,
    tokenizer: Tokenizer = DEFAULT,
    settings: Settings = None,
    base_url: BaseUrl = None,
    conduct: Conduct,
    new: NewRun,
) -> None:
    """Ask about documents, as `run --suite swim --data FOLDER` does: an old name."""
    from functools import partial

    from ltm_bench.api import Options, compare, start
    from ltm_bench.cli.comparison import write_comparison
    from ltm_bench.cli.swim_figures import show_figures
    from ltm_bench.cli.watching import watch
    from ltm_bench.datasets.swim.arranging import TESTS
    from ltm_bench.plan.scenarios import own_tasks
    from ltm_bench.plan.suites import SPAN
    from ltm_bench.plan.values import parse_span

    parameters: dict[str, dict[str, Any]] = {}
    for name in tests:
        if name not in TESTS:
            raise ConfigError(f"--test {name}: must be one of {', '.join(TESTS)}")
        own = {"tasks": str(tasks), "data": str(documents), "test": name, "runs": runs, "delivery": delivery}
        parameters[name] = own | {"shares": shares, "depths": [control] if name == "control" else depths}
        if questions and (asked := own_tasks(parameters[name], parse_span(span or SPAN))):
            parameters[name]["examples"] = min(questions, len(asked.kept.tasks)) * asked.variants
    request = partial(
        Request,
        span=span,
        suite="swim",
        scenarios=tuple(parameters),
        seed=seed,
        isolated=True,
        tokenizer=tokenizer,
        settings=settings,
        base_url=base_url,
        parameters=parameters,
    )
    several, options = list(dict.fromkeys(agents)), Options.of(conduct)
    made = [(request(agent=agent), _name(new.name, agent, several)) for agent in several]
    done = [watch(partial(start, asked, name=name, fresh=new.fresh), options) for asked, name in made]
    for each in done:
        show_figures(each.folder, "local", None, as_json=False)
    if len(done) > 1:
        page = done[0].folder.with_name(f"{new.name or 'swim'}-compare.html")
        write_comparison(compare(*done), [each.folder for each in done], page)
        out().print(f"page of all: {page}")
    check_judged(done)


@command(
    app,
    "datasets swim show",
    "datasets swim show swim-32k-gpt-6-luna-seed0-isolated --embedder local",
    name="show",
)
def swim_show(
    run: RunName = None,
    embedder: Annotated[
        str, Option("Embedder for votes: local, python:module:callable, or a model at --base-url.", "NAME")
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
    from ltm_bench.cli.judging import in_turn
    from ltm_bench.datasets.swim.tasks import checking, write_tasks
    from ltm_bench.judge.judges import find_judges

    (checker,) = find_judges([agent], "agent")
    waiting = [key for key, task in tasks.items() if task.checked is None or task.checked.by != agent]
    asked = ((key, checking(tasks[key], documents, agent)) for key in waiting)
    for key, ruling, problem in in_turn(checker, asked, budget):
        if ruling is None:
            err().print(f"task {safe(key)}: not checked: {safe(problem)}")
            continue
        tasks[key] = tasks[key].model_copy(update={"checked": ruling})
        write_tasks(path, tasks)
    checked = {key: task.checked for key, task in tasks.items() if task.checked is not None}
    doubted = [key for key, decision in checked.items() if decision.verdict == "rejected"]
    out().print(
        f"{path}: {len(checked)} of {len(tasks)} tasks checked by {agent}, {len(doubted)} doubted"
        + (f": {', '.join(map(safe, doubted[:20]))}" if doubted else "")
        + "; a person still has to review them"
    )


def _review(
    tasks: dict[str, Task], documents: Mapping[str, Document], by: str, save: Callable[[], None]
) -> None:
    """Show each unreviewed task, and call `save` after every decision."""
    waiting = [name for name, task in tasks.items() if task.validated is None]
    out().print(f"{len(waiting)} tasks to review, as {by}. {_KEYS}.")
    with suppress(EOFError):
        for number, name in enumerate(waiting, start=1):
            out().rule(f"{number} of {len(waiting)} · task {safe(name)}", align="left")
            _show(tasks[name], documents)
            tasks[name] = _decide(tasks[name], by)
            save()


def _show(task: Task, documents: Mapping[str, Document]) -> None:
    lines = [
        (f"in {name}", documents[name].text[:_SHOWN] if name in documents else "(no such document)")
        for name in task.answer_docs
    ]
    lines += [("question", task.question), ("answer", task.answer)]
    if task.checked is not None:
        lines.append((task.checked.by, f"{task.checked.verdict}: {task.checked.why}"))
    print_titled(*lines)


def _decide(task: Task, by: str) -> Task:
    """Read a person's decision on a task. Raises EOFError to quit."""
    match ask_key("a/e/r/s/q > ", {"a", "e", "r", "s"}, _KEYS)[0]:
        case "a":
            return task.accept(by)
        case "r":
            return task.reject(by, input("why > ").strip())
        case "e":
            question = input("question (empty: as it is) > ").strip() or task.question
            answer = input("answer (empty: as it is) > ").strip() or task.answer
            return task.edit(by, question=question, answer=answer)
    return task
