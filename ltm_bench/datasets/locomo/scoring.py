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
from ltm_bench.datasets.errata import errata, question_digest, wrong_keys
from ltm_bench.datasets.locomo.files import ADVERSARIAL, CATEGORIES, NOT_MENTIONED, histories
from ltm_bench.datasets.locomo.scorer import chosen, official, strict
from ltm_bench.datasets.marks import AnswerMark, Sheet
from ltm_bench.datasets.recounting import counts_of, read_published
from ltm_bench.datasets.shapes import retrieved
from ltm_bench.datasets.streaming import read_value

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
        self.wrong = frozenset(_audited(wrong) if wrong else wrong_keys("locomo"))
        for each in errata("locomo").values():
            if each.id not in self.questions:
                self._by_text.setdefault(each.digest, []).append(each.id)

    def ids_of(self, answer: Answer) -> tuple[str, Sequence[str]]:
        """Return the id of the dialogue, and those of the question: several if it is asked more than once."""
        if answer.id and answer.id.startswith("locomo_"):
            return answer.id.split("_")[1], (answer.id,)
        history = self._samples.get(answer.history or "", "")
        if not history and (found := _NUMBERED.search(answer.history or "")):
            history = found[1]
        text = answer.question or ""
        named = self._by_text.get(question_digest(text))
        return history, named or (f"{answer.history or ''}/{text or answer.id or answer.place}",)


def _audited(path: Path) -> list[str]:
    try:
        return [each["question_id"] for each in read_value(path) if each["error_type"] != "WRONG_CITATION"]
    except (LookupError, TypeError) as error:
        raise ConfigError(f"{path}: not an audit's list of question_id and error_type: {error!r}") from error


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
        if asked[names[0]] > len(names) and not answer.id:  # the data asks some questions twice
            name = f"{name} #{asked[names[0]]}"
        question = keys.questions.get(name)
        category = question.type if question else _category(answer)
        gold = _gold(question, answer, category)
        if category not in CATEGORIES or gold is None:
            on_bad(
                f"{path}: {name[:120]}: skipped: its category or gold answer is unknown; name the data with --data"
            )
            continue
        if name in marks:
            on_bad(f"{path}: {name[:120]}: answered twice; the first answer counts")
            continue
        options = answer.row.get("options") if "matcher" in answer.row else None  # a run of ours
        said = chosen(answer.said, options) if options else answer.said
        scores = {"official": official(said, gold, category), "strict": strict(said, gold, category)}
        if (vote := majority(answer.votes)) is not None:
            scores["judge"] = vote
        judge = judge or answer.judge
        marks[name] = AnswerMark(name, category, history, scores, wrong_key=name in keys.wrong)
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


def _category(answer: Answer) -> str:
    found = re.search(r"\d", answer.type or "")
    return found[0] if found else ""


def _gold(question: HistoryQuestion | None, answer: Answer, category: str) -> str | None:
    if category == ADVERSARIAL:
        return NOT_MENTIONED
    if question is not None:
        return question.gold[0]
    return None if answer.gold is None else str(answer.gold)


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
