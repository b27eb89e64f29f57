"""The result of scoring a prediction file: a mark for every answer, in one or several columns."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class AnswerMark(NamedTuple):
    """The scores of one answer."""

    id: str
    """The question's id, the same in all files of a set."""
    type: str
    history: str
    """The history that it asks about: answers about one history resemble each other."""
    scores: Mapping[str, float]
    """From 0 to 1, by column; columns that do not apply to this answer are missing."""
    unanswerable: bool = False
    """Whether the right answer is an abstention, if the type does not say so."""
    wrong_key: bool = False
    """Whether the published key is known to be wrong."""
    asked: str = ""
    """What tells the question from another with the same id; empty if it is unknown."""


class Sheet(NamedTuple):
    """The marks of a file."""

    path: Path
    columns: tuple[str, ...]
    """The columns, the published scorer's first."""
    marks: tuple[AnswerMark, ...]
    missing: tuple[str, ...] = ()
    """Questions of the data that the file does not answer."""
    apart: frozenset[str] = frozenset()
    """Types that the published overall figure leaves out."""
    judge: str | None = None
    """The judge behind the column `judge`, if known."""

    @property
    def overall(self) -> tuple[AnswerMark, ...]:
        """The marks of the published overall figure; all marks if it would leave out every one."""
        kept = tuple(mark for mark in self.marks if mark.type not in self.apart)
        return kept or self.marks
