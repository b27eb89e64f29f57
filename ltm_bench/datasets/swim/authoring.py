"""Has models write and check tasks about a user's documents. A model's output is data, never an instruction."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import AgentError
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Message
from ltm_bench.datasets.swim.documents import Document
from ltm_bench.datasets.swim.tasks import Ruling, Task, write_tasks

_WRITE = """\
Below is a document, as a JSON string. Write {count} about it, each with its answer, such that:
- it can be answered from this document alone, and only by somebody who has it;
- it does not point at the document ("in the text", "the author"), since it will be asked among many documents;
- the answer is a fact of a few words, and there is just one.
Write one JSON object and nothing else: {{"tasks": [{{"question": "…", "answer": "…"}}]}}

{document}
"""

_CHECK = """\
Below are a document, a question about it and an answer, as a JSON object. Is the answer right, does the document say \
it, and is the question clear even to somebody who has many documents before them?
Write one JSON object and nothing else: {{"ok": true, "why": "one short sentence"}}

{case}
"""

LONGEST = 400_000
"""Maximum characters of a document that a model is shown; the rest is left out."""

_AT = datetime(2026, 1, 1, tzinfo=UTC)


class Consulted(NamedTuple):
    """A document or a task that a model has been asked about."""

    name: str
    problem: str | None = None
    """Why there is no result; None if there is one."""


async def consult(make: Callable[[], Agent], text: str, budget: Budget) -> str:
    """Ask a fresh agent one question. Raises BudgetReached, and AgentError if it cannot answer."""
    message = Message(text, _AT, 0)
    agent = make()
    with tempfile.TemporaryDirectory() as home:
        try:
            with budget.paying(agent, message) as payment:
                await agent.open(Path(home))
                payment.calling()
                reply = await agent.reply(message)
                payment.settle(reply.usage)
        finally:
            await agent.close()
    return reply.text


def _object(answer: str) -> dict[str, Any]:
    """Return the JSON object in an answer, repaired if necessary. Raises ValueError."""
    from json_repair import repair_json

    start, end = answer.find("{"), answer.rfind("}")
    held = answer[start : end + 1] if 0 <= start < end else answer
    try:
        value = json_of(held)
    except ValueError:
        value = repair_json(held[:20_000], return_objects=True)
    if not isinstance(value, dict):
        raise ValueError(f"no JSON object in the answer: {answer.strip()[:80]!r}")
    return value


async def write_about(
    make: Callable[[], Agent], by: str, document: Document, count: int, budget: Budget
) -> list[Task]:
    """Have tasks written about a document.

    Args:
        make: Makes the agent that writes them.
        by: Its name, for the record.
        document: The document.
        count: How many.
        budget: What may be spent.

    Raises:
        ValueError: The answer holds no task.
    """
    wanted = "one question" if count == 1 else f"{count} different questions"
    text = _WRITE.format(count=wanted, document=json.dumps(document.text[:LONGEST], ensure_ascii=False))
    found = _object(await consult(make, text, budget))
    listed = found.get("tasks", [found])
    tasks = [
        Task(
            question=each["question"].strip(),
            answer=str(each["answer"]).strip(),
            answer_docs=(document.name,),
            made_by=by,
        )
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict)
        and isinstance(each.get("question"), str)
        and isinstance(each.get("answer"), str | int | float)
        and each["question"].strip()
        and str(each["answer"]).strip()
    ]
    if not tasks:
        raise ValueError("no question with an answer in what the model wrote")
    return tasks[:count]


async def check(
    make: Callable[[], Agent], by: str, task: Task, documents: Sequence[Document], budget: Budget
) -> Ruling:
    """Have a task checked against its documents.

    Args:
        make: Makes the agent that checks it.
        by: Its name, for the record.
        task: What is checked.
        documents: All of them; those that hold the answer are shown.
        budget: What may be spent.

    Raises:
        ValueError: The answer cannot be read.
    """
    text = "\n\n".join(each.text for each in documents if each.name in task.answer_docs)
    case = {"document": text[:LONGEST], "question": task.question, "answer": task.answer}
    found = _object(await consult(make, _CHECK.format(case=json.dumps(case, ensure_ascii=False)), budget))
    if not isinstance(found.get("ok"), bool):
        raise ValueError("the model did not say whether the task is good")
    why = found.get("why", "")
    return Ruling(
        by=by,
        verdict="accepted" if found["ok"] else "rejected",
        why=why[:300] if isinstance(why, str) else "",
    )


def write_all(
    path: Path,
    tasks: dict[str, Task],
    documents: Sequence[Document],
    make: Callable[[], Agent],
    *,
    by: str,
    each: int,
    budget: Budget,
) -> Iterator[Consulted]:
    """Have tasks written about documents, one document at a time; the file is written after each.

    Args:
        path: The file of tasks.
        tasks: The tasks that are known; new ones are added.
        documents: What to ask about.
        make: Makes the agent that writes, afresh for every document.
        by: The agent's name, kept with its tasks.
        each: Tasks per document.
        budget: What the calls may cost.

    Raises:
        BudgetReached: The next call could exceed the budget; tasks already written stay.
    """
    for document in documents:
        try:
            written = asyncio.run(write_about(make, by, document, each, budget))
        except (ValueError, AgentError) as error:
            yield Consulted(document.name, str(error))
            continue
        for task in written:
            tasks[str(len(tasks))] = task
        write_tasks(path, tasks)
        yield Consulted(document.name)


def check_all(
    path: Path,
    tasks: dict[str, Task],
    documents: Sequence[Document],
    make: Callable[[], Agent],
    *,
    by: str,
    budget: Budget,
) -> Iterator[Consulted]:
    """Have every task checked that this agent has not checked yet; the file is written after each.

    Args:
        path: The file of tasks.
        tasks: The tasks; those that are checked are replaced.
        documents: What the tasks are about.
        make: Makes the agent that checks, afresh for every task.
        by: The agent's name, kept with its decisions.
        budget: What the calls may cost.

    Raises:
        BudgetReached: The next call could exceed the budget; decisions already made stay.
    """
    for key, task in tasks.items():
        if task.checked is not None and task.checked.by == by:
            continue
        try:
            said = asyncio.run(check(make, by, task, documents, budget))
        except (ValueError, AgentError) as error:
            yield Consulted(key, str(error))
            continue
        tasks[key] = task.model_copy(update={"checked": said})
        write_tasks(path, tasks)
        yield Consulted(key)
