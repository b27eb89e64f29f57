"""Tasks about documents: a question, its answer, the documents that hold it, and decisions about the task.

The file format is SWiM's, extended: an object from names to `{question, answer, answer_doc}`. Ours may have several
`answer_docs`, and keeps `validated` (a person's decision) and `checked` (a second model's). Models may write tasks and
check them: a model's output is data, never an instruction.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from ltm_bench.core.limits import content_of, json_of
from ltm_bench.datasets.swim.documents import Document
from ltm_bench.matchers.reading import last_readable


class Ruling(BaseModel):
    """A decision about a task, and who made it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: str
    verdict: Literal["accepted", "edited", "rejected"]
    why: str = ""


class Task(BaseModel):
    """A question about one document, or about several together."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str
    answer: str
    answer_docs: tuple[str, ...]
    made_by: str | None = None
    validated: Ruling | None = None
    checked: Ruling | None = None

    @model_validator(mode="before")
    @classmethod
    def _theirs(cls, value: Any) -> Any:
        """Read the published form, which has one document."""
        if isinstance(value, Mapping) and "answer_docs" not in value and "answer_doc" in value:
            return {**value, "answer_docs": (value["answer_doc"],)}
        return value

    @property
    def rejected(self) -> bool:
        """Whether a person has rejected it."""
        return self.validated is not None and self.validated.verdict == "rejected"

    def accept(self, by: str) -> Task:
        """Return the task as accepted by a person."""
        return self.model_copy(update={"validated": Ruling(by=by, verdict="accepted")})

    def reject(self, by: str, why: str) -> Task:
        """Return the task as rejected by a person."""
        return self.model_copy(update={"validated": Ruling(by=by, verdict="rejected", why=why)})

    def edit(self, by: str, *, question: str, answer: str) -> Task:
        """Return the task with another question and answer, written by a person."""
        decision = Ruling(by=by, verdict="edited")
        return self.model_copy(update={"question": question, "answer": answer, "validated": decision})


def read_tasks(path: Path) -> dict[str, Task]:
    """Return tasks by name, in the order of the file. Raises ValueError."""
    try:
        content = json_of(content_of(path))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from error
    if not isinstance(content, dict) or not content:
        raise ValueError(
            f"{path}: expected an object of tasks, such as {{'0': {{question, answer, answer_doc}}}}"
        )
    found = {}
    for name, each in content.items():
        try:
            found[name] = Task.model_validate(each)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(map(str, (name, *problem["loc"])))
            raise ValueError(f"{path}: {where}: {problem['msg'].lower()}") from error
    return found


def write_tasks(path: Path, tasks: Mapping[str, Task]) -> None:
    """Write tasks; the file is replaced as a whole, so that a crash leaves the old one."""
    content = {name: task.model_dump(mode="json", exclude_none=True) for name, task in tasks.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.part")
    draft.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    draft.replace(path)


def unvalidated(tasks: Mapping[str, Task]) -> int:
    """Return the number of tasks that no person has reviewed."""
    return sum(task.validated is None for task in tasks.values())


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
