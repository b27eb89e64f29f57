"""Tasks about documents: a question, its answer, the documents that hold it, and decisions about the task.

The file format is SWiM's, extended: an object from names to `{question, answer, answer_doc}`. Ours may have several
`answer_docs`, and keeps `validated` (a person's decision) and `checked` (a second model's).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from ltm_bench.core.limits import content_of, json_of


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
