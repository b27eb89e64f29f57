"""The same replies under every published rubric: means, ranks that turn, and agreement with people."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from pydantic import BaseModel

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.judging import Ask, together
from ltm_bench.datasets.marks import AnswerMark, Sheet
from ltm_bench.judge.rubrics import RUBRICS, PanelReply, RubricPrompt
from ltm_bench.score.audits.raters import Agreement, agreement
from ltm_bench.score.statistics.published import Figure, compare_files, file_figures

FEW = 5
"""Replies of a class, by people's verdict, below which κ tells nothing."""


class Rated(BaseModel, frozen=True):
    """How far a rubric agrees with people."""

    rubric: str
    right: int
    """Replies that people call right."""
    wrong: int
    agreement: Agreement
    tells: bool
    """Whether both classes are large enough for κ to tell something."""

    @property
    def headline(self) -> str:
        """The agreement in one line."""
        said = self.agreement.headline.partition("; ")[2]
        counts = f"{self.right} that they call right, {self.wrong} wrong"
        end = "" if self.tells else f"; with fewer than {FEW} of a class κ tells nothing"
        alike = f"{self.agreement.alike} of {self.agreement.read} alike"
        return f"{self.rubric} and people: {alike} ({counts}); {said}{end}"


class Turned(BaseModel, frozen=True):
    """Two files that change places."""

    first: str
    second: str
    above: tuple[str, ...]
    """Rubrics by which the first is above the second."""
    below: tuple[str, ...]
    shown: bool
    """Whether the data shows a difference both ways."""


class Panel(BaseModel, frozen=True):
    """Files by rubrics."""

    rubrics: Mapping[str, str]
    """Where each comes from."""
    files: Mapping[str, Mapping[str, Figure]]
    wrong: Mapping[str, Figure]
    """Acceptance of deliberately wrong answers; {} if none were given."""
    turned: tuple[Turned, ...]
    people: tuple[Rated, ...]
    ranks: Mapping[str, Mapping[str, int]]
    """Of files, by rubric, among those that answer the same questions; no ranks for the only one."""


def sheet_of(path: Path, replies: Sequence[PanelReply], heard: Mapping[tuple[str, str], float]) -> Sheet:
    """Return the marks of a file by every rubric that has a verdict on it. Raises ConfigError if none has."""
    marks = []
    for each in replies:
        asked = {name: heard[each.id, name] for name in RUBRICS if (each.id, name) in heard}
        marks.append(AnswerMark(each.id, each.type, each.history, dict(each.by_text()) | asked))
    columns = tuple(name for name in RUBRICS if any(name in mark.scores for mark in marks))
    if not columns:
        raise ConfigError(f"{path}: it has neither verdicts nor gold answers; name a judge with --judge")
    return Sheet(path, columns, tuple(marks))


async def ask_all(inquiries: Sequence[RubricPrompt], ask: Ask) -> dict[tuple[str, str], float]:
    """Return a model's verdicts by reply and rubric; those that it fails to give are left out."""
    answers = await together(ask(each.text) for each in inquiries)
    read = [(each, each.read(answer)) for each, answer in zip(inquiries, answers, strict=True) if answer]
    return {(each.reply, each.rubric): verdict for each, verdict in read if verdict is not None}


def people_of(replies: Sequence[PanelReply]) -> dict[str, bool]:
    """Return what people say of replies by id, where a majority decides; {} for files without people."""
    said = {each.id: each.answer.row.get("majority") for each in replies}
    return {name: verdict == "CORRECT" for name, verdict in said.items() if verdict in ("CORRECT", "WRONG")}


def panel(sheets: Sequence[Sheet], wrong: Sheet | None, people: Mapping[Path, Mapping[str, bool]]) -> Panel:
    """Return all files under all rubrics.

    Args:
        sheets: The files' marks.
        wrong: Those of deliberately wrong answers, if given.
        people: What people say of the replies of files that they rated, by id.
    """
    files = {str(sheet.path): file_figures(sheet).lines[0].figures for sheet in sheets}
    accepted = file_figures(wrong).lines[0].figures if wrong else {}
    rivals = [sheet for sheet in sheets if sheet.path not in people]
    return Panel(
        rubrics={
            name: f"{each['of']}: {each['source']}"
            for name, each in RUBRICS.items()
            if any(name in figures for figures in (*files.values(), accepted))
        },
        files=files,
        wrong=accepted,
        turned=tuple(_turned(rivals)),
        people=tuple(
            _rated(name, sheet, people[sheet.path])
            for sheet in sheets
            if sheet.path in people
            for name in sheet.columns
        ),
        ranks=_ranks(rivals, files),
    )


def _ranks(sheets: Sequence[Sheet], files: Mapping[str, Mapping[str, Figure]]) -> dict[str, dict[str, int]]:
    """Return the place of each file among those that answer the same questions."""
    found = {}
    asked = {str(sheet.path): frozenset(mark.id for mark in sheet.marks) for sheet in sheets}
    for path, ids in asked.items():
        alike = [files[other] for other, theirs in asked.items() if theirs == ids]
        if len(alike) > 1:
            found[path] = {
                name: 1 + sum(each[name].mean > own.mean for each in alike if name in each)
                for name, own in files[path].items()
            }
    return found


def _rated(name: str, sheet: Sheet, people: Mapping[str, bool]) -> Rated:
    ours = {(mark.id, 0, ""): mark.scores[name] >= 0.5 for mark in sheet.marks if name in mark.scores}
    theirs = {(id_, 0, ""): right for id_, right in people.items() if (id_, 0, "") in ours}
    right = sum(theirs.values())
    wrong = len(theirs) - right
    found = agreement("audit", (name, ours), ("people", theirs))
    return Rated(rubric=name, right=right, wrong=wrong, agreement=found, tells=min(right, wrong) >= FEW)


def _turned(sheets: Sequence[Sheet]) -> Iterator[Turned]:
    """Yield the pairs of files that some rubrics put one way and some the other, on the questions of both."""
    compared = compare_files(sheets)
    for first, second in combinations([str(sheet.path) for sheet in sheets], 2):
        of = {
            each.column: each.difference for each in compared if (each.first, each.second) == (first, second)
        }
        above = tuple(name for name, each in of.items() if each.difference > 0)
        below = tuple(name for name, each in of.items() if each.difference < 0)
        if above and below:
            shown = all(any(of[name].shown for name in side) for side in (above, below))
            yield Turned(first=first, second=second, above=above, below=below, shown=shown)
