"""The figures of SWiM: accuracy by depth and size, how often nothing was invented, and what voting gains.

Medoid voting chooses the answer most similar to all the others (SWiM).

Answers that say there is no answer can be left out of the vote if one is known to exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ltm_bench.core.grouping import grouped
from ltm_bench.datasets.swim.arranging import DEPTHS, RUNS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


Embed = Callable[[Sequence[str]], "ArrayLike"]
"""Takes texts, and returns a row of numbers for each."""


def medoid(vectors: ArrayLike) -> int:
    """Return the row with the highest mean cosine similarity to the others; the first in a tie.

    A row of zeros has a similarity of 0 to every other.
    """
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    similar = unit @ unit.T
    np.fill_diagonal(similar, 0.0)
    # Rounded, so that the last bit does not decide between equal answers.
    return int(np.argmax(np.round(similar.sum(axis=1), 9)))


def vote(answers: Sequence[str], embed: Embed, absent: Callable[[str], bool] | None = None) -> int:
    """Return the index of the winning answer. Answers for which `absent` holds are left out unless all are."""
    heard = [i for i, answer in enumerate(answers) if absent is None or not absent(answer)] or list(
        range(len(answers))
    )
    return heard[0] if len(heard) == 1 else heard[medoid(embed([answers[i] for i in heard]))]


@dataclass(frozen=True)
class Tested:
    """An example of a run: one question about documents, and its result."""

    index: int
    """The example's number: examples take questions in turn, each with all variants of its test."""
    score: float
    reply: str
    absent: bool
    """Whether the reply says that there is no answer."""
    depth: float | None
    """The position of the answer's document, from 0 to 1; None if it was left out."""


def placed(
    parameters: Mapping[str, Any], answers: Sequence[Tested], embed: Callable[[], Embed]
) -> Iterator[tuple[str, Tested]]:
    """Yield every answer of a row of the suite with the name of each figure whose mean it is part of.

    Args:
        parameters: The row's parameters, as the manifest holds them.
        answers: The examples of that row that have a score.
        embed: Makes the embedder with which votes are counted; called only where there is a vote.
    """
    test = str(parameters.get("test", "position"))
    if test == "position":
        yield from _over("depth", answers, parameters.get("depths", DEPTHS))
    elif test == "size":
        yield from _over("share", answers, parameters.get("shares", DEPTHS))
    elif test == "absent":
        yield from (("nothing invented", each) for each in answers)
    else:
        yield from _voted(test, answers, int(parameters.get("runs", RUNS)), embed())


def _over(what: str, answers: Sequence[Tested], places: Sequence[float]) -> Iterator[tuple[str, Tested]]:
    for at, place in enumerate(places):
        yield from ((f"{what} {place:.0%}", each) for each in answers if each.index % len(places) == at)


def _voted(test: str, answers: Sequence[Tested], runs: int, embed: Embed) -> Iterator[tuple[str, Tested]]:
    """Yield single runs, also by the answer's position, and the winners of votes over all runs of each question."""
    yield from (("single runs", each) for each in answers)
    if test != "control":
        for third, name in enumerate(("first third", "middle third", "last third")):
            yield from ((f"single, {name}", each) for each in answers if _third(each) == third)
    groups = grouped((each.index // runs, each) for each in answers)
    for name, filtered in (("vote", False), ("vote, absences left out", True)):
        yield from ((f"{name} of {runs}", _winner(of, embed, filtered=filtered)) for of in groups.values())


def _third(answer: Tested) -> int | None:
    return None if answer.depth is None else min(2, int(3 * answer.depth))


def _winner(group: Sequence[Tested], embed: Embed, *, filtered: bool) -> Tested:
    absent = {each.reply for each in group if each.absent}
    return group[vote([each.reply for each in group], embed, absent.__contains__ if filtered else None)]
