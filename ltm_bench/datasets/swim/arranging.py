"""Chooses the documents that an agent gets, and their order, at random and by tokens.

As in SWiM the documents that fit are a fixed set, those that hold answers first, so that every depth is tested with the
same ones. Its depths count documents; ours count tokens. How many examples ask all tasks that fit, `own` says.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.dice import Dice
from ltm_bench.core.tokens import counter
from ltm_bench.datasets.swim.documents import Document, read_documents
from ltm_bench.datasets.swim.tasks import Task, read_tasks
from ltm_bench.script.deliveries import room

JOINT = "\n\n"
"""The separator between two documents."""


@lru_cache(maxsize=100_000)
def size_of(text: str) -> int:
    """Return the tokens of a document with the separator after it."""
    return counter().count(text + JOINT)


class Kept(NamedTuple):
    """The documents and tasks that fit."""

    documents: tuple[Document, ...]
    tasks: Mapping[str, Task]
    dropped: Mapping[str, str]
    """The tasks that cannot be asked, and why."""


def keep(documents: Sequence[Document], tasks: Mapping[str, Task], tokens: int) -> Kept:
    """Return the documents that fit into a number of tokens, and the tasks whose documents are among them."""
    known = {document.name: document for document in documents}
    wanted = dict.fromkeys(
        name for task in tasks.values() if not task.rejected for name in task.answer_docs if name in known
    )
    kept: list[Document] = []
    room = tokens
    for name in dict.fromkeys((*wanted, *known)):
        size = size_of(known[name].text)
        if size > room:
            break
        kept.append(known[name])
        room -= size
    names = {document.name for document in kept}
    dropped = {}
    for name, task in tasks.items():
        missing = [each for each in task.answer_docs if each not in names]
        if task.rejected:
            dropped[name] = "it was rejected"
        elif missing:
            where = "does not fit" if missing[0] in known else "is not among the documents"
            dropped[name] = f"its document {missing[0]!r} {where}"
    return Kept(tuple(kept), {name: task for name, task in tasks.items() if name not in dropped}, dropped)


def arrange(
    documents: Sequence[Document],
    answers: Sequence[str],
    dice: Dice,
    *,
    depth: float | None,
    tokens: int | None = None,
    absent: bool = False,
) -> list[Document]:
    """Return documents in the order in which an agent gets them.

    Args:
        documents: The documents to choose from.
        answers: Names of the documents that hold the answer.
        dice: Shuffle the others, and choose among them if not all fit into `tokens`.
        depth: The position of the first of the answer's documents, from 0 to 1 of the tokens of the others; further
            ones follow at equal distances. None: anywhere.
        tokens: Maximum tokens of the others.
        absent: Whether the answer's documents are left out.
    """
    held = [document for name in answers for document in documents if document.name == name]
    others = dice.shuffled([document for document in documents if document.name not in set(answers)])
    if tokens is not None:
        taken, room = [], tokens
        for document in others:
            if size_of(document.text) <= room:
                taken.append(document)
                room -= size_of(document.text)
        others = taken
    if absent:
        return others
    if depth is None:
        return dice.shuffled([*others, *held])
    total = sum(size_of(document.text) for document in others)
    starts = [((depth + i / len(held)) % 1.0 if i else depth, document) for i, document in enumerate(held)]
    arranged: list[Document] = []
    waiting = sorted(starts, key=lambda pair: pair[0])
    before = 0
    for document in others:
        size = size_of(document.text)
        # A document goes to the joint nearest to its depth.
        while waiting and waiting[0][0] * total <= before + size / 2:
            arranged.append(waiting.pop(0)[1])
        arranged.append(document)
        before += size
    return [*arranged, *(document for _, document in waiting)]


TESTS = ("position", "size", "absent", "voting", "control")
"""The rows of the suite `swim`."""

DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The default depths and shares."""

RUNS = 5
"""Conversations per question of voting and control, if the suite does not say."""


class Own(NamedTuple):
    """What a row asks about documents of a user's own."""

    kept: Kept
    variants: int
    """Examples of each question."""

    @property
    def examples(self) -> int:
        """The number of examples that ask all questions."""
        return len(self.kept.tasks) * self.variants


def own(parameters: Mapping[str, Any], span: int) -> Own:
    """Return what a row asks about a user's own documents. Raises ValueError if no task fits."""
    tasks = Path(parameters["tasks"])
    kept = keep(read_documents(str(parameters["data"])), read_tasks(tasks), room(span))
    if not kept.tasks:
        raise ValueError(f"{tasks}: no task fits a span of {span:,}; choose a larger one")
    test, runs = parameters.get("test", TESTS[0]), int(parameters.get("runs", RUNS))
    places = {"position": parameters.get("depths", DEPTHS), "size": parameters.get("shares", DEPTHS)}
    return Own(kept, 1 if test == "absent" else len(places.get(test, range(runs))))
