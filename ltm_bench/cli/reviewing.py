"""Reviews tasks about documents with a person: accept, edit or reject each."""

from collections.abc import Callable, Mapping

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
    for number, name in enumerate(waiting, start=1):
        out().rule(f"{number} of {len(waiting)} · task {safe(name)}", align="left")
        _show(tasks[name], documents)
        decided = _decide(tasks[name], by)
        if decided is None:
            return
        tasks[name] = decided
        save()


def _show(task: Task, documents: Mapping[str, Document]) -> None:
    lines = [
        (f"in {name}", documents[name].text[:_SHOWN] if name in documents else "(no such document)")
        for name in task.answer_docs
    ]
    lines += [("question", task.question), ("answer", task.answer)]
    if task.checked is not None:
        lines.append((task.checked.by, f"{task.checked.verdict}: {task.checked.why}"))
    for title, text in lines:
        out().print(f"{safe(title):<9} {safe(text)}")


def _decide(task: Task, by: str) -> Task | None:
    """Read a person's decision on a task; None to quit, as at end of input."""
    try:
        while True:
            match input("a/e/r/s/q > ").strip().lower():
                case "q":
                    return None
                case "s":
                    return task
                case "a":
                    return task.accept(by)
                case "r":
                    return task.reject(by, input("why > ").strip())
                case "e":
                    question = input("question (empty: as it is) > ").strip() or task.question
                    answer = input("answer (empty: as it is) > ").strip() or task.answer
                    return task.edit(by, question=question, answer=answer)
                case _:
                    out().print(_HELP)
    except EOFError:
        return None
