"""Has models write and check tasks about a user's documents. A model's output is data, never an instruction."""

import json
from collections.abc import Generator, Sequence
from typing import Any

from ltm_bench.datasets.swim.documents import Document
from ltm_bench.datasets.swim.tasks import Ruling, Task
from ltm_bench.matchers.reading import last_readable

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


def _object(answer: str) -> dict[str, Any]:
    """Return the last JSON object in an answer, repaired if necessary. Raises ValueError."""
    value = last_readable(answer, lambda each: each if isinstance(each, dict) else None)
    if value is None:
        raise ValueError(f"no JSON object in the answer: {answer.strip()[:80]!r}")
    return value


def writing(document: Document, count: int, by: str) -> Generator[str, str, list[Task]]:
    """Have tasks written about a document. Raises ValueError if an answer holds none.

    Args:
        document: The document.
        count: How many.
        by: Who writes them, for the record.
    """
    wanted = "one question" if count == 1 else f"{count} different questions"
    text = json.dumps(document.text[:LONGEST], ensure_ascii=False)
    found = _object((yield _WRITE.format(count=wanted, document=text)))
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


def checking(task: Task, documents: Sequence[Document], by: str) -> Generator[str, str, Ruling]:
    """Have a task checked against its documents. Raises ValueError if an answer cannot be read.

    Args:
        task: What is checked.
        documents: All of them; those that hold the answer are shown.
        by: Who checks it, for the record.
    """
    text = "\n\n".join(each.text for each in documents if each.name in task.answer_docs)
    case = {"document": text[:LONGEST], "question": task.question, "answer": task.answer}
    found = _object((yield _CHECK.format(case=json.dumps(case, ensure_ascii=False))))
    if not isinstance(found.get("ok"), bool):
        raise ValueError("the model did not say whether the task is good")
    why = found.get("why", "")
    return Ruling(
        by=by,
        verdict="accepted" if found["ok"] else "rejected",
        why=why[:300] if isinstance(why, str) else "",
    )
