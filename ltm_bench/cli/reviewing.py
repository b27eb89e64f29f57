"""Reviews tasks about documents with a person: accept, edit or reject each."""

from collections.abc import Callable, Mapping
from contextlib import suppress

from ltm_bench.cli.asking import ask_key, print_titled
from ltm_bench.cli.console import out, safe
from ltm_bench.datasets.swim import Document
from ltm_bench.datasets.swim.tasks import Task

_HELP = "a accept, e edit, r reject; s skip, q quit"

_SHOWN = 4000
"""Maximum characters of a document shown."""


def review_tasks(
    tasks: dict[str, Task], documents: Mapping[str, Document], by: str, save: Callable[[], None]
) -> None:
    """Show each unreviewed task, and call `save` after every decision."""
    waiting = [name for name, task in tasks.items() if task.validated is None]
    out().print(f"{len(waiting)} tasks to review, as {by}. {_HELP}.")
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
    match ask_key("a/e/r/s/q > ", {"a", "e", "r", "s"}, _HELP)[0]:
        case "a":
            return task.accept(by)
        case "r":
            return task.reject(by, input("why > ").strip())
        case "e":
            question = input("question (empty: as it is) > ").strip() or task.question
            answer = input("answer (empty: as it is) > ").strip() or task.answer
            return task.edit(by, question=question, answer=answer)
    return task
