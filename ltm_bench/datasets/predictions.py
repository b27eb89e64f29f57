"""Replies of others to the questions of a public set: as their prediction files hold them, and as our runs would.

`predictions.py` in each dataset's folder says how its files are read. All else is done here: what is named and left
out, which replies count, and what a log of them holds.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.answers import Answer, majority, read_answers
from ltm_bench.datasets.dialogue import Histories, HistoryQuestion, OnBad
from ltm_bench.datasets.errata import Erratum
from ltm_bench.datasets.marks import SetQuestion, SetReplies, set_question
from ltm_bench.datasets.matching import Inquiry, Judged, SetMatcher


class Prediction(NamedTuple):
    """A reply of others to a question."""

    history: str
    """What tells its history from others."""
    question: str
    """The question's own words; empty if they are unknown."""
    expect: SetMatcher
    reply: str | None
    """None if the file holds only what a judge said of it."""
    judged: Mapping[str, float] = MappingProxyType({})
    """The scores that a judge gave, if it was asked."""
    judge: str | None = None
    """The judge's name, if the file has it."""
    asked: bool = False
    """Whether the judge was asked now; else its scores are the file's."""

    @property
    def is_open(self) -> bool:
        """Whether a judge may be asked about it: its question is known, and the file has no verdict."""
        return bool(self.question) and self.reply is not None and not self.judged

    @property
    def inquiry(self) -> tuple[str, Inquiry | None]:
        """What the published scorer asks a judge about it, by the question's id."""
        return self.expect.id, self.expect.inquiry(self.question, self.reply or "")

    def heard(self, judge: str, said: Judged | None) -> "Prediction":
        """Return it with what a judge said of it now, if anything; a stored verdict stays."""
        return (
            self
            if said is None or not self.is_open
            else self._replace(judged=said.scores, judge=judge, asked=True)
        )


Data = Sequence[tuple[str, HistoryQuestion]]
"""The questions of a set's file, each with the name of its history; none if it is not at hand."""

Finder = Callable[[Answer], tuple[str, str, SetMatcher]]
"""Finds the question of an answer: the name of its history, its words and its matcher. Raises ValueError."""


class PredictionFiles(NamedTuple):
    """How prediction files of a set are read."""

    matcher: type[SetMatcher]
    read: Callable[[Path, Data, OnBad], Iterator[Prediction]]
    """Yields the replies of a file. Raises ConfigError."""
    questions: Callable[[Path, OnBad], Iterable[tuple[str, HistoryQuestion]]]
    """Yields the questions of the set's own file, with the names of their histories. Raises ConfigError."""
    nothing: str
    """What to say of a file without a reply that can be scored."""
    rows: Callable[[Mapping[str, Sequence[Prediction]], Data], list[dict[str, Any]]] | None = None
    """The published table of several files, if it has rows of its own."""
    asks: bool = False
    """Whether its program asks a judge."""
    part: Callable[[SetQuestion | HistoryQuestion], Sequence[str]] = lambda each: (each.type,)
    """What a file may cover in part: a question is missing in a file if other questions have all of this."""


def prediction_files(dataset: str) -> PredictionFiles:
    """Return how prediction files of a dataset are read."""
    found: PredictionFiles = import_module(
        f"ltm_bench.datasets.{dataset.replace('-', '_')}.predictions"
    ).FILES
    return found


def all_in_files(path: Path, on_bad: OnBad) -> Iterable[tuple[str, HistoryQuestion]]:
    """Yield nothing: prediction files of some sets hold all that scores them."""
    return ()


def asked_in(
    histories: Callable[[Path, OnBad], Histories],
) -> Callable[[Path, OnBad], Iterator[tuple[str, HistoryQuestion]]]:
    """Return a function that yields the questions of a file's histories."""
    return lambda path, on_bad: (
        (history.id, each) for history in histories(path, on_bad) for each in history.questions
    )


def from_answers(path: Path, find: Finder, on_bad: OnBad) -> Iterator[Prediction]:
    """Yield the replies of a file in one of the usual forms, each with the votes stored beside it."""
    for answer in read_answers(path, on_bad):
        try:
            history, question, expect = find(answer)
        except ValueError as error:
            on_bad(f"{path}: {error}")
            continue
        vote = majority(answer.votes)
        judged = {} if vote is None else {"judge": vote}
        yield Prediction(history, question, expect, answer.said, judged, answer.judge)


def counted(path: Path, predictions: Iterable[Prediction], on_bad: OnBad) -> Iterator[Prediction]:
    """Yield the replies that count: those that can be scored, the first to each question. The others are named."""
    kept = set[str]()
    for each in predictions:
        name = each.expect.id
        if name in kept:
            on_bad(f"{path}: {name[:120]}: answered twice; the first answer counts")
        elif not each.judged and each.expect.judged.issuperset(each.expect.columns):
            on_bad(f"{path}: {name}: skipped: no judge's scores are stored with it")
        else:
            kept.add(name)
            yield each


def replies_of(
    files: PredictionFiles,
    path: Path,
    predictions: Sequence[Prediction],
    data: Data,
    errors: Mapping[str, Erratum] | None = None,
) -> SetReplies:
    """Return the scores of a file's replies. Raises ConfigError if it has none.

    Args:
        files: How it was read.
        path: The file.
        predictions: Its replies that count.
        data: The questions of the set.
        errors: Known errors in keys; those of the set by default.
    """
    asked = [
        (each.history, set_question(each.expect, each.question, "", each.reply, [each.judged], errors))
        for each in predictions
    ]
    columns = [name for name in files.matcher.columns if any(name in of.scores for _, of in asked)]
    if not columns:
        raise ConfigError(f"{path}: {files.nothing}")
    answered, covered = {of.id for _, of in asked}, {part for _, of in asked for part in files.part(of)}
    missing = [
        each.id for _, each in data if each.id not in answered and covered.issuperset(files.part(each))
    ]
    judge = next((each.judge for each in predictions if each.judge), None)
    return SetReplies(str(path), columns, asked, missing, judge)
