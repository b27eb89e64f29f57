"""The same replies under every published rubric: means, ranks that turn, and agreement with people.

Replies come from prediction files of LoCoMo and LongMemEval. Verdicts that a file stores and scores by text cost
nothing; the rubrics of judges (`texts.toml`) are put to a model, if one is named.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.answers import Answer, majority, read_answers, type_of
from ltm_bench.datasets.dialogue import HistoryQuestion, OnBad
from ltm_bench.datasets.errata import question_digest
from ltm_bench.datasets.judging import Ask, together
from ltm_bench.datasets.locomo.scorer import f1, official
from ltm_bench.datasets.locomo.scorer import strict as locomo_strict
from ltm_bench.datasets.longmemeval.files import ABSTENTION, TYPES
from ltm_bench.datasets.longmemeval.scorer import prompt, verdict_of
from ltm_bench.datasets.longmemeval.scorer import strict as longmemeval_strict
from ltm_bench.datasets.marks import AnswerMark, Sheet
from ltm_bench.judge.texts import TEXTS
from ltm_bench.score.audits.raters import Agreement, agreement
from ltm_bench.score.statistics.published import Figure, compare_files, file_figures

STORED, F1, STRICT, OFFICIAL = "stored", "F1", "strict text", "LongMemEval's own"

RUBRICS: Mapping[str, Mapping[str, str]] = {each["name"]: each for each in TEXTS["panel"]["rubrics"]}
"""Rubrics of judges, with source and rule."""

FEW = 5
"""Replies of a class, by people's verdict, below which κ tells nothing."""

_CATEGORIES = {"multi-hop": "1", "temporal": "2", "open-domain": "3", "single-hop": "4", "adversarial": "5"}


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

    rubrics: tuple[str, ...]
    files: Mapping[str, Mapping[str, Figure]]
    wrong: Mapping[str, Figure]
    """Acceptance of deliberately wrong answers; {} if none were given."""
    turned: tuple[Turned, ...]
    people: tuple[Rated, ...]
    ranks: Mapping[str, Mapping[str, int]]
    """Of files, by rubric, among those that answer the same questions; no ranks for the only one."""


class _Reply:
    """A reply of a file, ready for every rubric."""

    def __init__(self, answer: Answer) -> None:
        number = "".join(
            filter(
                str.isdigit, (answer.id or "").split("_")[1] if _is_locomo(answer) else answer.history or ""
            )
        )
        self.answer, self.text, self.gold = answer, answer.question or "", _gold(answer.gold)
        kind = answer.type or type_of(answer.row) or ""
        self.type = _CATEGORIES.get(kind, kind)
        self.history = number or answer.id or ""
        self.id = answer.id or ""
        if self.text and self.type not in TYPES:
            self.id = question_digest(number, self.text)  # some files name questions by their text alone

    @property
    def own(self) -> Sequence[str]:
        """The rubric of its set's own judge; LoCoMo has none."""
        return (OFFICIAL,) if self.type in TYPES else ()

    def by_text(self) -> Iterator[tuple[str, float]]:
        """Yield the verdicts that need no judge."""
        said, row = self.answer.said, self.answer.row
        if (stored := majority(self.answer.votes)) is not None:
            yield STORED, stored
        if "golden_v2" in row:
            yield "golden-v2", float(row["golden_v2"] == "CORRECT")
        if self.gold is None:
            return
        if self.type in TYPES:
            found = longmemeval_strict(said, (self.gold,), self.type, unanswerable=ABSTENTION in self.id)
            yield F1, f1(said, self.gold)
        else:
            found = locomo_strict(said, self.gold, self.type)
            yield F1, official(said, self.gold, self.type)
        if found is not None:
            yield STRICT, found

    async def judged(self, name: str, ask: Ask) -> tuple[str, str, float] | None:
        """Ask a judge by a rubric; None if it fails, or says neither."""
        if name == OFFICIAL:
            asked = HistoryQuestion(
                self.id, self.type, self.text, (self.gold or "",), unanswerable=ABSTENTION in self.id
            )
            said = await ask(prompt(asked, self.answer.said))
            return None if said is None else (self.id, name, float(verdict_of(said)))
        filled = {
            "rule": RUBRICS[name]["rule"].strip(),
            "question": self.text,
            "gold": self.gold,
            "reply": self.answer.said,
        }
        said = (await ask(TEXTS["panel"]["task"].strip().format(**filled)) or "").upper()
        right, wrong = "CORRECT" in said.replace("INCORRECT", "WRONG"), "WRONG" in said or "INCORRECT" in said
        return None if right == wrong else (self.id, name, float(right))


def _is_locomo(answer: Answer) -> bool:
    return (answer.id or "").startswith("locomo_")


def _gold(gold: Any) -> str | None:
    first = gold[0] if isinstance(gold, list) and gold else gold
    return None if first is None else str(first)


def replies_of(path: Path, questions: Mapping[str, Mapping[str, Any]], on_bad: OnBad) -> list[_Reply]:
    """Return the replies of a file. Raises ConfigError if it holds none.

    Args:
        path: The file.
        questions: What is known of questions that the file only names, by id.
        on_bad: Called with each row that is skipped.
    """
    found = []
    for answer in read_answers(path, on_bad):
        asked = questions.get(answer.id or "", {})
        gold = asked.get("answer") if answer.gold is None else answer.gold
        text, kind = answer.question or asked.get("question"), answer.type or type_of(asked)
        found.append(_Reply(answer._replace(question=text, gold=gold, type=kind)))
    twice = Counter(each.id for each in found)
    for place, each in enumerate(found):
        if twice[each.id] > 1:  # LoCoMo asks some questions twice
            each.id = f"{each.id} #{sum(other.id.split(' #')[0] == each.id for other in found[:place])}"
    return found


def sheet_of(path: Path, replies: Sequence[_Reply], heard: Mapping[tuple[str, str], float]) -> Sheet:
    """Return the marks of a file by every rubric that has a verdict on it. Raises ConfigError if none has."""
    marks = []
    for each in replies:
        scores = dict(each.by_text()) | {
            name: score for (id_, name), score in heard.items() if id_ == each.id
        }
        marks.append(AnswerMark(each.id, each.type, each.history, scores))
    columns = tuple(dict.fromkeys(name for mark in marks for name in mark.scores))
    if not columns:
        raise ConfigError(f"{path}: it has neither verdicts nor gold answers; name a judge with --judge")
    return Sheet(path, columns, tuple(marks))


async def ask_all(
    replies: Sequence[_Reply], rubrics: Sequence[str], ask: Ask
) -> dict[tuple[str, str], float]:
    """Return a judge's verdicts by reply and rubric; replies without a question or a gold answer are left out."""
    fit = [each for each in replies if each.text and each.gold is not None]
    found = await together(each.judged(name, ask) for each in fit for name in (*rubrics, *each.own))
    return {(id_, name): score for each in found if each is not None for id_, name, score in [each]}


def people_of(replies: Sequence[_Reply]) -> dict[str, bool]:
    """Return what people say of replies by id, where a majority decides; {} for files without people."""
    said = {each.id: each.answer.row.get("majority") for each in replies}
    return {name: verdict == "CORRECT" for name, verdict in said.items() if verdict in ("CORRECT", "WRONG")}


def panel(
    sheets: Sequence[Sheet], wrong: Sheet | None, people: Sequence[tuple[Sheet, Mapping[str, bool]]]
) -> Panel:
    """Return all files under all rubrics.

    Args:
        sheets: The files' marks.
        wrong: Those of deliberately wrong answers, if given.
        people: Files with replies that people rated, and what these say of them, by id.
    """
    everything = [*sheets, *([wrong] if wrong else []), *(sheet for sheet, _ in people)]
    rubrics = dict.fromkeys(name for sheet in everything for name in sheet.columns)
    rated = [_rated(name, *each) for each in people for name in each[0].columns]
    return Panel(
        rubrics=tuple(rubrics),
        files={
            str(sheet.path): file_figures(sheet).lines[0].figures
            for sheet in (*sheets, *(each for each, _ in people))
        },
        wrong=file_figures(wrong).lines[0].figures if wrong else {},
        turned=tuple(_turned(sheets)),
        people=tuple(rated),
        ranks=_ranks(sheets),
    )


def _ranks(sheets: Sequence[Sheet]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for sheet in sheets:
        asked = {mark.id for mark in sheet.marks}
        rivals = [
            file_figures(each).lines[0].figures
            for each in sheets
            if {mark.id for mark in each.marks} == asked
        ]
        for name, own in file_figures(sheet).lines[0].figures.items() if len(rivals) > 1 else ():
            above = sum(each[name].mean > own.mean for each in rivals if name in each)
            found.setdefault(str(sheet.path), {})[name] = 1 + above
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
