"""Scores prediction files of LoCoMo: the official F1, a strict score, and the votes of a judge that a file holds.

What memories retrieved is scored by the recall of the sessions or turns that hold the evidence.
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.answers import Answer, majority, read_answers
from ltm_bench.datasets.dialogue import HistoryQuestion, OnBad
from ltm_bench.datasets.errata import Erratum, asked_twice, errata, error_of, question_digest, wrong_keys
from ltm_bench.datasets.locomo.files import ADVERSARIAL, CATEGORIES, NOT_MENTIONED, histories
from ltm_bench.datasets.locomo.scorer import best, chosen, official, strict
from ltm_bench.datasets.marks import AnswerMark, Sheet
from ltm_bench.datasets.recounting import counts_of, read_published
from ltm_bench.datasets.shapes import retrieved
from ltm_bench.datasets.streaming import read_value

_BY_TEXT = {"official": official, "strict": strict}
_NUMBERED = re.compile(r"(?:^|[^\d])(\d+)$")


class Keys:
    """The questions of the data, and which of their keys are wrong.

    Args:
        data: `locomo10.json`; None to take categories and gold answers from the prediction files.
        wrong: An audit's list of errors; None for ours (`errata.toml`).
        on_bad: Called with each bad record.
    """

    def __init__(self, data: Path | None, wrong: Path | None, on_bad: OnBad) -> None:
        self.questions: dict[str, HistoryQuestion] = {}
        self._by_text: dict[str, list[str]] = {}
        self._samples: dict[str, str] = {}
        for index, history in enumerate(histories(data, on_bad) if data else ()):
            self._samples[history.id] = str(index)
            for question in history.questions:
                self.questions[question.id] = question
                self._by_text.setdefault(question_digest(question.text), []).append(question.id)
        self.wrong = _audited(wrong) if wrong else wrong_keys("locomo")
        for each in errata("locomo").values():
            if each.id not in self.questions:
                self._by_text.setdefault(each.digest, [each.id])

    def ids_of(self, answer: Answer) -> tuple[str, Sequence[str]]:
        """Return the id of the dialogue, and those of the question: several if it is asked more than once."""
        digest, name = question_digest(answer.question), answer.id or ""
        named: Sequence[str] = self._by_text.get(digest, ())
        if name.startswith("locomo_") and (not named or name in named):
            return name.split("_")[1], (name,)
        history = self._samples.get(answer.history or "", "")
        if not history and (found := _NUMBERED.search(answer.history or "")):
            history = found[1]
        own = f"{answer.history or ''}/{answer.question or name or answer.place}"
        again = (f"{own} #2",) if not self.questions and digest in asked_twice("locomo") else ()
        return history, named or (own, *again)

    def question(self, name: str, asked: str | None) -> HistoryQuestion | None:
        """Return the question of the data with an id, unless what was asked is none of the data."""
        return self.questions.get(name) if not asked or question_digest(asked) in self._by_text else None


def _audited(path: Path) -> dict[str, Erratum]:
    try:
        found = [
            Erratum(each["question_id"], "", str(path), digest=question_digest(each.get("question")))
            for each in read_value(path)
            if each["error_type"] != "WRONG_CITATION"
        ]
    except (LookupError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: not an audit's list of question_id and error_type: {error!r}") from error
    return {each.id: each for each in found}


def score_file(path: Path, keys: Keys, on_bad: OnBad, *, answers: Sequence[Answer] | None = None) -> Sheet:
    """Return the marks of a file. Raises ConfigError if it holds no answer that can be scored.

    Args:
        path: The file.
        keys: The questions, and which of their keys are wrong.
        on_bad: Called with each answer that cannot be scored.
        answers: The file's answers, if they have been read.
    """
    marks: dict[str, AnswerMark] = {}
    asked = Counter[str]()
    judge = None
    for answer in read_answers(path, on_bad) if answers is None else answers:
        history, names = keys.ids_of(answer)
        asked[names[0]] += 1
        name = names[min(asked[names[0]], len(names)) - 1]
        surplus = asked[names[0]] > len(names) and not answer.id
        question = None if surplus else keys.question(name, answer.question)
        category = question.type if question else _category(answer)
        golds = (NOT_MENTIONED,) if category == ADVERSARIAL else question.gold if question else answer.golds
        if category not in CATEGORIES or not golds:
            on_bad(
                f"{path}: {name[:120]}: skipped: its category or gold answer is unknown; name the data with --data"
            )
            continue
        if name in marks or surplus:
            on_bad(f"{path}: {name[:120]}: answered twice; the first answer counts")
            continue
        said = _as_read(answer)
        scores = {column: best(scorer, said, golds, category) for column, scorer in _BY_TEXT.items()}
        if (vote := majority(answer.votes)) is not None:
            scores["judge"] = vote
        judge = judge or answer.judge
        text = question.text if question else answer.question
        wrong, digest = error_of(keys.wrong, name, text) is not None, question_digest(text)
        marks[name] = AnswerMark(name, category, history, scores, wrong_key=wrong, asked=digest)
    if not marks:
        raise ConfigError(f"{path}: it has no answer to LoCoMo")
    judged = any("judge" in mark.scores for mark in marks.values())
    types = {mark.type for mark in marks.values()}
    return Sheet(
        path,
        ("official", "strict", "judge") if judged else ("official", "strict"),
        tuple(marks.values()),
        tuple(each.id for each in keys.questions.values() if each.type in types and each.id not in marks),
        frozenset((ADVERSARIAL,)),
        judge,
    )


def _as_read(answer: Answer) -> str:
    """Return what is scored: the option that a reply of a run of ours chooses, or what was said."""
    options = answer.row.get("options") if "matcher" in answer.row else None
    return chosen(answer.said, options) if options else answer.said


def _category(answer: Answer) -> str:
    found = re.search(r"\d", answer.type or "")
    return found[0] if found else ""


COLUMNS = ("recall", "all found", "none found")


def sheet_of(path: Path) -> Sheet:
    """Return the marks of a file. Raises ConfigError if it cannot be read or holds nothing retrieved.

    Questions without cited evidence count as found, as in the published figures. The evidence of some is known to be
    wrong: their figures stand apart.
    """
    file = read_published(path)
    if file.shape.count is not retrieved:
        raise ConfigError(
            f"{path}: it holds {file.shape.about}; score retrieval reads what was retrieved for LoCoMo"
        )
    wrong = {each.digest for each in errata("locomo").values() if each.kind == "evidence"}
    marks, times = list[AnswerMark](), Counter[str]()
    for row, count in zip(file.rows, counts_of(file, {}), strict=True):
        digest = question_digest(str(row.get("question")))
        times[digest] += 1
        scores = {name: float(count.amounts[name][0]) for name in COLUMNS}
        name, history = f"{digest}/{times[digest]}", str(row["sample_id"])
        marks.append(AnswerMark(name, str(row.get("category")), history, scores, wrong_key=digest in wrong))
    return Sheet(path, COLUMNS, tuple(marks))
