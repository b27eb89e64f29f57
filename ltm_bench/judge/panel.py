"""The same replies under every published rubric: means, ranks that turn, and agreement with people.

A rubric by which published figures were judged is applied to one reply of a prediction file. Pure. Verdicts that
a file stores and scores by text cost nothing; the others are prompts to a model, and readers of its answers. Names,
sources and rules stand in `texts.toml`.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import ReplyForm
from ltm_bench.datasets.answers import Answer, majority, read_answers, type_of
from ltm_bench.datasets.dialogue import HistoryQuestion, OnBad
from ltm_bench.datasets.errata import question_digest
from ltm_bench.datasets.locomo.scorer import best, f1, official
from ltm_bench.datasets.locomo.scorer import strict as locomo_strict
from ltm_bench.datasets.longmemeval.files import ABSTENTION, TYPES
from ltm_bench.datasets.longmemeval.scorer import inquiry
from ltm_bench.datasets.longmemeval.scorer import strict as longmemeval_strict
from ltm_bench.datasets.marks import SetQuestion, SetReplies
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.judge import blind
from ltm_bench.judge.reading import BlindCase
from ltm_bench.judge.texts import TEXTS
from ltm_bench.log.reader import read_questions
from ltm_bench.plugins.matchers import load
from ltm_bench.score.audits.judgements import judgements, reply_hash
from ltm_bench.score.audits.raters import Agreement, agreement
from ltm_bench.score.statistics.figures import Figure
from ltm_bench.score.statistics.published import compare_sets, figures_of

STORED, F1, STRICT, BY_TYPE, BLIND = "stored", "F1", "strict text", "by type", "blind reading"

RUBRICS: Mapping[str, Mapping[str, str]] = {each["name"]: each for each in TEXTS["panel"]["rubrics"]}
"""All rubrics, with source; and the rule of those that are put to a judge in a sentence."""

_CATEGORIES = {"multi-hop": "1", "temporal": "2", "open-domain": "3", "single-hop": "4", "adversarial": "5"}

_AS_SUPERMEMORY = {"3": "temporal-reasoning"}
"""Supermemory's program names LoCoMo's categories in another order: the rule for times goes to open-domain ones."""

Verdict = Generator[str, str, float | None]
"""Asks a model about a reply, and reads its verdict, from 0 to 1."""


class PanelReply(NamedTuple):
    """A reply of a file, ready for every rubric."""

    id: str
    """The same in all files: the question's id or, since some files of LoCoMo have none, a hash of its text."""
    type: str
    history: str
    question: str
    golds: tuple[str, ...]
    """All accepted answers; () if none is known."""
    answer: Answer

    def by_text(self) -> Iterator[tuple[str, float]]:
        """Yield the verdicts that need no model."""
        said = self.answer.said
        if (stored := majority(self.answer.votes)) is not None:
            yield STORED, stored
        if (judged := self.answer.row.get("golden_v2")) is not None:
            yield STORED, float(judged == "CORRECT")
        if self.golds:
            plain = max(f1(said, gold) for gold in self.golds)
            yield F1, plain if self.type in TYPES else best(official, said, self.golds, self.type)
        if (found := self._strict(said)) is not None:
            yield STRICT, found

    def inquiries(self) -> Iterator[tuple[tuple[str, str], Verdict]]:
        """Yield what a model is asked about it, by id and rubric; nothing without a question or a gold answer."""
        if not self.golds or not self.question:
            return
        said = self.answer.said
        kind, unknown = _AS_SUPERMEMORY.get(self.type, self.type), ABSTENTION in self.id or self.type == "5"
        asked = HistoryQuestion(self.id, kind, self.question, self.golds, unanswerable=unknown)
        for name, each in RUBRICS.items():
            if rule := each.get("rule", "").strip():
                filled = {"rule": rule, "question": self.question, "gold": asked.reference, "reply": said}
                yield (self.id, name), _by_rule(TEXTS["panel"]["task"].strip().format(**filled))
        yield (self.id, BY_TYPE), inquiry(asked, said)
        if self._strict("") is not None:  # else no text can be compared with the gold answer
            yield (self.id, BLIND), self._read_blind()

    def _strict(self, said: str) -> float | None:
        if not self.golds:
            return None
        if self.type in TYPES:
            unknown = ABSTENTION in self.id
            return longmemeval_strict(said, self.golds, self.type, unanswerable=unknown)
        return best(locomo_strict, said, self.golds, self.type)

    def _read_blind(self) -> Verdict:
        form = ReplyForm("list" if self.type == "1" else "one of a set")
        heard = yield from BlindCase("panel/0", 0, self.question, self.answer.said, form).inquiry()
        if heard.said:
            return self._strict(heard.said)
        return 0.0 if heard.why in blind.UNSETTLED else None


def _by_rule(text: str) -> Verdict:
    """Return the verdict in a word; None if an answer has neither, or both."""
    said = (yield text).upper().replace("INCORRECT", "WRONG")
    right, wrong = "CORRECT" in said, "WRONG" in said
    return None if right == wrong else float(right)


def replies_of(path: Path, questions: Mapping[str, Mapping[str, Any]], on_bad: OnBad) -> list[PanelReply]:
    """Return the replies of a file, or of a run. Raises ConfigError if it holds none.

    Args:
        path: The file, or the run.
        questions: What is known of questions that the file only names, by id.
        on_bad: Called with each row that is skipped.
    """
    found, times = list[PanelReply](), Counter[str]()
    for answer in _answered(path) if path.is_dir() else read_answers(path, on_bad):
        name, asked = answer.id or "", questions.get(answer.id or "", {})
        golds = answer.golds or answer._replace(gold=asked.get("answer")).golds
        text = answer.question or asked.get("question") or ""
        kind = answer.type or type_of(asked) or type_of(answer.row) or ""
        history = name.split("_")[1] if name.startswith("locomo_") else answer.history or name
        if text and kind not in TYPES:
            name = question_digest(text)
        times[name] += 1
        if times[name] > 1:  # LoCoMo asks some questions twice
            name = f"{name} #{times[name]}"
        found.append(PanelReply(name, _CATEGORIES.get(kind, kind), history, text, golds, answer))
    return found


def _answered(run: Path) -> Iterator[Answer]:
    """Yield the replies of a run to the questions of public sets, with what judges said of them."""
    heard = judgements(run)
    for place, (sent, reply) in enumerate(read_questions(run)):
        expect, held = load(sent.expect or {}), sent.expect or {}
        if isinstance(expect, SetMatcher):
            judged = heard.get((sent.example or "", sent.turn))
            opinions = judged.opinions if judged is not None and judged.reply == reply_hash(reply) else ()
            votes = tuple(each.scores["judge"] for each in opinions if "judge" in each.scores)
            gold = held.get("gold", held.get("golds"))
            yield Answer(reply, expect.id, None, sent.asked, expect.kind, gold, votes, None, place, {})


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


def by_rubrics(
    path: Path, replies: Sequence[PanelReply], heard: Mapping[tuple[str, str], float]
) -> SetReplies:
    """Return a file's replies by every rubric that has a verdict on it. Raises ConfigError if none has."""
    asked = list[tuple[str, SetQuestion]]()
    for each in replies:
        judged = {name: heard[each.id, name] for name in RUBRICS if (each.id, name) in heard}
        scores = dict(each.by_text()) | judged
        asked.append((each.history, SetQuestion(id=each.id, type=each.type, scores=scores)))
    columns = [name for name in RUBRICS if any(name in of.scores for _, of in asked)]
    if not columns:
        raise ConfigError(f"{path}: it has neither verdicts nor gold answers; name a judge with --judge")
    return SetReplies(str(path), columns, asked)


def people_of(replies: Sequence[PanelReply]) -> dict[str, bool]:
    """Return what people say of replies by id, where a majority decides; {} for files without people."""
    said = {each.id: each.answer.row.get("majority") for each in replies}
    return {name: verdict == "CORRECT" for name, verdict in said.items() if verdict in ("CORRECT", "WRONG")}


def panel(
    sheets: Sequence[SetReplies], wrong: SetReplies | None, people: Mapping[str, Mapping[str, bool]]
) -> Panel:
    """Return all files under all rubrics.

    Args:
        sheets: The files' replies.
        wrong: Those of deliberately wrong answers, if given.
        people: What people say of the replies of files that they rated, by id.
    """
    files = {each.file: figures_of(each).lines[0].figures for each in sheets}
    accepted = figures_of(wrong).lines[0].figures if wrong else {}
    rivals = [each for each in sheets if each.file not in people]
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
            _rated(name, each, people[each.file])
            for each in sheets
            if each.file in people
            for name in each.columns
        ),
        ranks=_ranks(rivals, files),
    )


def _ranks(
    sheets: Sequence[SetReplies], files: Mapping[str, Mapping[str, Figure]]
) -> dict[str, dict[str, int]]:
    """Return the place of each file among those that answer the same questions."""
    found = {}
    asked = {each.file: frozenset(of.id for _, of in each.asked) for each in sheets}
    for path, ids in asked.items():
        alike = [files[other] for other, theirs in asked.items() if theirs == ids]
        if len(alike) > 1:
            found[path] = {
                name: 1 + sum(each[name].mean > own.mean for each in alike if name in each)
                for name, own in files[path].items()
            }
    return found


def _rated(name: str, sheet: SetReplies, people: Mapping[str, bool]) -> Rated:
    ours = {(of.id, 0, ""): of.scores[name] >= 0.5 for _, of in sheet.asked if name in of.scores}
    theirs = {(id_, 0, ""): right for id_, right in people.items() if (id_, 0, "") in ours}
    right = sum(theirs.values())
    wrong = len(theirs) - right
    found = agreement("audit", (name, ours), ("people", theirs))
    return Rated(rubric=name, right=right, wrong=wrong, agreement=found, tells=min(right, wrong) >= FEW)


def _turned(sheets: Sequence[SetReplies]) -> Iterator[Turned]:
    """Yield the pairs of files that some rubrics put one way and some the other, on the questions of both."""
    compared = compare_sets(sheets)
    for first, second in combinations([each.file for each in sheets], 2):
        of = {
            each.column: each.difference for each in compared if (each.first, each.second) == (first, second)
        }
        above = tuple(name for name, each in of.items() if each.difference > 0)
        below = tuple(name for name, each in of.items() if each.difference < 0)
        if above and below:
            shown = all(any(of[name].shown for name in side) for side in (above, below))
            yield Turned(first=first, second=second, above=above, below=below, shown=shown)
