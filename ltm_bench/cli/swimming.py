"""`swim generate|validate|run|show`: SWiM's four steps with a user's own documents."""

from __future__ import annotations

import asyncio
import getpass
import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from ltm_bench.adapters.embeddings import embedder_of
from ltm_bench.cli.comparing import write_comparison
from ltm_bench.cli.console import err, out, safe
from ltm_bench.cli.demands import Demands
from ltm_bench.cli.showing import publish
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import AgentError, ConfigError, RunIncomplete
from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.swim import (
    Decision,
    Document,
    Task,
    authoring,
    keep,
    read_documents,
    read_tasks,
    unvalidated,
    vote,
    write_tasks,
)
from ltm_bench.datasets.swim.matcher import says_absent
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan import config
from ltm_bench.plan.planning import (
    PLAIN,
    Wish,
    agent_entry,
    agent_maker,
    find_run,
    make_plan,
    run_folder,
)
from ltm_bench.score.comparison import Run, compare
from ltm_bench.score.results import ExampleResult, Results
from ltm_bench.score.statistics import wilson
from ltm_bench.script.deliveries import room

TESTS = ("position", "size", "absent", "voting", "control")
"""The rows of the suite `swim`."""


def _documents(place: Path) -> Sequence[Document]:
    try:
        return read_documents(str(place))
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _tasks(path: Path) -> dict[str, Task]:
    try:
        return read_tasks(path)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def generate(
    place: Path, output: Path, agent: str, settings: Sequence[str], each: int, limit: Decimal | None
) -> None:
    """Have a model write tasks about every document; documents that have some already are not asked about again."""
    from rich.progress import Progress

    documents = _documents(place)
    entry = agent_entry(agent, settings, None)
    tasks = _tasks(output) if output.exists() else {}
    done = {name for task in tasks.values() for name in task.answer_docs}
    budget, failed = Budget(limit), 0
    with Progress(console=err(), disable=not err().is_terminal, transient=True) as progress:
        for document in progress.track([d for d in documents if d.name not in done], description="documents"):
            try:
                written = asyncio.run(
                    authoring.write_about(agent_maker(entry), agent, document, each, budget)
                )
            except (ValueError, AgentError) as error:
                failed += 1
                err().print(f"{safe(document.name)}: skipped: {safe(str(error))}", markup=False)
                continue
            for task in written:
                tasks[str(len(tasks))] = task
            write_tasks(output, tasks)
    out().print(
        f"{output}: {len(tasks)} tasks about {len(documents)} documents, {failed} documents without; "
        f"look at them before you believe them: ltm-bench swim validate {shlex.quote(str(output))} "
        f"{shlex.quote(str(place))}",
        markup=False,
    )
    if failed:
        raise RunIncomplete(f"{failed} documents have no task yet; the same command asks about them again")


def validate(
    path: Path, place: Path, validator: str | None, agent: str | None, limit: Decimal | None
) -> None:
    """Walk through tasks that nobody has looked at, and write down what a person, or a second model, decides."""
    documents, tasks = _documents(place), _tasks(path)
    if agent is not None:
        _check_all(path, tasks, documents, agent, limit)
        return
    waiting = [name for name, task in tasks.items() if task.validated is None]
    if not waiting:
        out().print(f"Every task of {path} has been looked at.", markup=False)
        return
    name = validator or getpass.getuser()
    texts = {document.name: document.text for document in documents}
    out().print(f"{len(waiting)} tasks to look at, as {name}. {_HELP}.", markup=False)
    for place_of, key in enumerate(waiting, start=1):
        task = tasks[key]
        out().rule(f"{place_of} of {len(waiting)} · task {safe(key)}", align="left")
        for title, text in (
            *(
                (f"in {doc}", texts.get(doc, "(there is no such document)")[:_SHOWN])
                for doc in task.answer_docs
            ),
            ("question", task.question),
            ("answer", task.answer),
            *(
                (f"{task.checked.by}", f"{task.checked.verdict}: {task.checked.why}")
                for _ in [1]
                if task.checked
            ),
        ):
            out().print(f"{safe(title):<9} {safe(text)}", markup=False)
        decided = _decide(task, name)
        if decided is None:
            break
        tasks[key] = decided
        write_tasks(path, tasks)
    left = unvalidated(tasks)
    rejected = sum(task.rejected for task in tasks.values())
    out().print(
        f"{path}: {len(tasks) - left} looked at, {rejected} of them rejected, {left} left", markup=False
    )


_HELP = "a accept, e edit, r reject; s skip, q quit"
_SHOWN = 4000


def _decide(task: Task, by: str) -> Task | None:
    """Read what is decided of a task; None to quit. The end of the input is a quit."""
    try:
        while True:
            key = input("a/e/r/s/q > ").strip().lower()
            if key in ("q", "s"):
                return None if key == "q" else task
            if key == "a":
                return task.model_copy(update={"validated": Decision(by=by, verdict="accepted")})
            if key == "r":
                why = input("why > ").strip()
                return task.model_copy(update={"validated": Decision(by=by, verdict="rejected", why=why)})
            if key == "e":
                question = input("question (empty: as it is) > ").strip() or task.question
                answer = input("answer (empty: as it is) > ").strip() or task.answer
                return task.model_copy(
                    update={
                        "question": question,
                        "answer": answer,
                        "validated": Decision(by=by, verdict="edited"),
                    }
                )
            out().print(_HELP)
    except EOFError:
        return None


def _check_all(
    path: Path, tasks: dict[str, Task], documents: Sequence[Document], agent: str, limit: Decimal | None
) -> None:
    entry, budget = agent_entry(agent, [], None), Budget(limit)
    for key, task in tasks.items():
        if task.checked is None or task.checked.by != agent:
            try:
                said = asyncio.run(authoring.check(agent_maker(entry), agent, task, documents, budget))
            except (ValueError, AgentError) as error:
                err().print(f"task {safe(key)}: not checked: {safe(str(error))}", markup=False)
                continue
            tasks[key] = task.model_copy(update={"checked": said})
            write_tasks(path, tasks)
    doubted = [key for key, task in tasks.items() if task.checked and task.checked.verdict == "rejected"]
    checked = sum(task.checked is not None for task in tasks.values())
    out().print(
        f"{path}: {checked} of {len(tasks)} tasks checked by {agent}, {len(doubted)} doubted"
        + (f": {', '.join(map(safe, doubted[:20]))}" if doubted else "")
        + "; a person still has to look at them",
        markup=False,
    )


class Tests(NamedTuple):
    """What is asked of documents."""

    names: Sequence[str]
    depths: Sequence[float]
    shares: Sequence[float]
    runs: int
    delivery: str
    control: float
    """The depth of the control."""


def run(
    path: Path,
    place: Path,
    wish: Wish,
    agents: Sequence[str],
    tests: Tests,
    questions: int | None,
    limit: Decimal | None,
    judges: Sequence[str],
) -> None:
    """Run the tests with every agent, each a run of the suite `swim`; then print them, and compare them on a page."""
    from ltm_bench.cli.running import start

    for name in tests.names:
        if name not in TESTS:
            raise ConfigError(f"--test {name}: it is one of {', '.join(TESTS)}")
    span = config.parse_span(wish.span)
    kept = keep(_documents(place), _tasks(path), room(span))
    for name, why in kept.dropped.items():
        err().print(f"task {safe(name)} is left out: {safe(why)}", markup=False)
    if not kept.tasks:
        raise ConfigError(f"{path}: no task can be asked at a span of {wish.span}; take a larger one")
    count = min(questions or len(kept.tasks), len(kept.tasks))
    each = {"position": len(tests.depths), "size": len(tests.shares), "absent": 1}
    parameters = [
        f"{name}.{key}={json.dumps(value)}"
        for name in tests.names
        for key, value in {
            "tasks": str(path),
            "data": str(place),
            "depths": [tests.control] if name == "control" else list(tests.depths),
            "shares": list(tests.shares),
            "runs": tests.runs,
            "delivery": tests.delivery,
            "examples": count * each.get(name, tests.runs),
        }.items()
    ]
    folders = []
    for agent in dict.fromkeys(agents):
        wanted = replace(wish, agent=agent, suite="swim", scenarios=tests.names, parameters=parameters)
        folders.append(run_folder(make_plan(wanted).manifest, None, fresh=False))
        start(
            wanted,
            None,
            repeats=1,
            fresh=False,
            limit=limit,
            demands=Demands(None, None, 0.05),
            judges=judges,
            calls=PLAIN,
        )
    for folder in folders:
        show(str(folder), "local", None, as_json=False)
    if len(folders) > 1:
        page = folders[0].with_name("swim-compare.html")
        found = compare([Run(read_manifest(folder), publish(folder)) for folder in folders])
        write_comparison(found, folders, page)
        out().print(f"page of all: {page}", markup=False)


class Line(NamedTuple):
    """A figure of a test: which, at what, how good, of how many."""

    test: str
    at: str
    score: float
    low: float
    high: float
    n: int


def show(run_name: str | None, embedding: str, base_url: str | None, *, as_json: bool) -> None:
    """Print accuracy over depth and size, how often nothing was invented, and what voting makes of several runs."""
    folder = find_run(run_name)
    manifest, results = read_manifest(folder), publish(folder)
    found: list[Line] = []
    for entry in manifest.suite.scenarios:
        if (entry.scenario or entry.name) != "swim":
            continue
        examples = [e for e in results.examples if e.scenario == entry.name and e.score is not None]
        given = entry.parameters
        test = str(given.get("test", "position"))
        if test == "position":
            found += _over(entry.name, "depth", examples, given.get("depths", _DEPTHS))
        elif test == "size":
            found += _over(entry.name, "share", examples, given.get("shares", _DEPTHS))
        elif test == "absent":
            found.append(_line(entry.name, "nothing invented", [e.score or 0.0 for e in examples]))
        else:
            found += _voted(entry.name, examples, int(given.get("runs", 5)), embedding, base_url)
    if not found:
        raise ConfigError(f"{folder}: nobody was asked about documents in that run")
    if as_json:
        out().print_json(json.dumps([line._asdict() for line in found]))
        return
    _print(results, found)


_DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)


def _line(test: str, at: str, scores: Sequence[float]) -> Line:
    mean = sum(scores) / len(scores) if scores else 0.0
    interval = wilson(mean, max(1, len(scores)))
    return Line(test, at, mean, interval.low, interval.high, len(scores))


def _index(example: ExampleResult) -> int:
    return int(example.id.rpartition("/")[2])


def _over(test: str, what: str, examples: Iterable[ExampleResult], places: Sequence[float]) -> list[Line]:
    scores: dict[float, list[float]] = {place: [] for place in places}
    for example in examples:
        scores[places[_index(example) % len(places)]].append(example.score or 0.0)
    return [_line(test, f"{what} {place:.0%}", each) for place, each in scores.items() if each]


def _voted(
    test: str, examples: Sequence[ExampleResult], runs: int, embedding: str, base_url: str | None
) -> list[Line]:
    """Give the accuracy of single runs, by where the answer stood, and of votes over all runs of each question."""
    groups: dict[int, list[ExampleResult]] = {}
    for example in examples:
        groups.setdefault(_index(example) // runs, []).append(example)
    embed = embedder_of(embedding, base_url)
    singles = [e.score or 0.0 for e in examples]
    lines = [_line(test, "single runs", singles)]
    thirds: dict[str, list[float]] = {"first third": [], "middle third": [], "last third": []}
    for example in examples:
        if example.needles:
            depth = 1 - min(1.0, example.needles[0].depth / max(1, example.span))
            thirds[list(thirds)[min(2, int(3 * depth))]].append(example.score or 0.0)
    if test != "control":
        lines += [_line(test, f"single, {name}", each) for name, each in thirds.items() if each]
    for name, filtered in (("vote", False), ("vote, absences left out", True)):
        chosen = []
        for group in groups.values():
            asked = [question for each in group for question in each.questions[:1]]
            # What phrases do not show a judge may have heard.
            absent = {
                q.reply or "" for q in asked if q.outcome is Outcome.ABSTAINED or says_absent(q.reply or "")
            }
            replies = [question.reply or "" for question in asked]
            won = vote(replies, embed, absent.__contains__ if filtered else None)
            chosen.append(group[won].score or 0.0)
        lines.append(_line(test, f"{name} of {runs}", chosen))
    return lines


def _print(results: Results, lines: Sequence[Line]) -> None:
    from rich import box
    from rich.table import Table

    out().print(f"{safe(results.agent)} · span {config.spell_span(results.span)}", markup=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("test", "at", "accuracy", "95 %", "n"):
        table.add_column(column, justify="left" if column in ("test", "at") else "right")
    for line in lines:
        table.add_row(
            line.test, line.at, f"{line.score:.3f}", f"{line.low:.2f} – {line.high:.2f}", str(line.n)
        )
    out().print(table)
    undecided = results.outcomes.get(Outcome.UNDECIDED, 0)
    if undecided:
        out().print(
            f"{undecided} answers are undecided and count 0: text alone cannot tell; rescore --judge NAME decides them"
        )
    for remark in results.remarks:
        out().print(f"note: {remark}", markup=False)
