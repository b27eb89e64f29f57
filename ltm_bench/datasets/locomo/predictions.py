"""Prediction files of LoCoMo: which question a row answers. Also what memories retrieved, scored by recall."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.answers import Answer
from ltm_bench.datasets.dialogue import HistoryQuestion, OnBad
from ltm_bench.datasets.errata import asked_twice, errata, question_digest
from ltm_bench.datasets.locomo.files import ADVERSARIAL, CATEGORIES, NOT_MENTIONED, histories
from ltm_bench.datasets.locomo.matcher import IMPORTED, LocomoAnswer, locomo_answer
from ltm_bench.datasets.marks import SetQuestion, SetReplies
from ltm_bench.datasets.predictions import Data, Prediction, PredictionFiles, asked_in, from_answers
from ltm_bench.datasets.recounting import counts_of, read_published
from ltm_bench.datasets.shapes import retrieved

_NUMBERED = re.compile(r"(?:^|[^\d])(\d+)$")


class _Keys:
    """Finds the questions of a file's answers, in the data if it is at hand."""

    def __init__(self, data: Data) -> None:
        self._questions = {each.id: each for _, each in data}
        self._samples = {home: each.id.split("_")[1] for home, each in data}
        self._by_text: dict[str, list[str]] = {}
        for name, each in self._questions.items():
            self._by_text.setdefault(question_digest(each.text), []).append(name)
        for known in errata("locomo").values():
            if known.id not in self._questions:
                self._by_text.setdefault(known.digest, [known.id])
        self._times = Counter[str]()

    def find(self, answer: Answer) -> tuple[str, str, LocomoAnswer]:
        """Return dialogue, words and matcher. Raises ValueError if it answers nothing, or nothing else again."""
        history, names = self._ids_of(answer)
        self._times[names[0]] += 1
        name = names[min(self._times[names[0]], len(names)) - 1]
        surplus = self._times[names[0]] > len(names) and not answer.id
        question = None if surplus else self._question(name, answer.question)
        category = question.type if question else _category(answer)
        golds = (NOT_MENTIONED,) if category == ADVERSARIAL else question.gold if question else answer.golds
        if category not in CATEGORIES or not golds:
            raise ValueError(
                f"{name[:120]}: skipped: its category or gold answer is unknown; name the data with --data"
            )
        if surplus:
            raise ValueError(f"{name[:120]}: answered twice; the first answer counts")
        text = question.text if question else answer.question or ""
        return history, text, locomo_answer(golds, category, id=name, mode=IMPORTED)

    def _ids_of(self, answer: Answer) -> tuple[str, Sequence[str]]:
        """Return the id of the dialogue, and those of the question: several if it is asked more than once."""
        digest, name = question_digest(answer.question), answer.id or ""
        named: Sequence[str] = self._by_text.get(digest, ())
        if name.startswith("locomo_") and (not named or name in named):
            return name.split("_")[1], (name,)
        history = self._samples.get(answer.history or "", "")
        if not history and (found := _NUMBERED.search(answer.history or "")):
            history = found[1]
        own = f"{answer.history or ''}/{answer.question or name or answer.place}"
        again = (f"{own} #2",) if not self._questions and digest in asked_twice("locomo") else ()
        return history, named or (own, *again)

    def _question(self, name: str, asked: str | None) -> HistoryQuestion | None:
        """Return the question of the data with an id, unless what was asked is none of the data."""
        return self._questions.get(name) if not asked or question_digest(asked) in self._by_text else None


def _category(answer: Answer) -> str:
    found = re.search(r"\d", answer.type or "")
    return found[0] if found else ""


def _read(path: Path, data: Data, on_bad: OnBad) -> Iterator[Prediction]:
    return from_answers(path, _Keys(data).find, on_bad)


FILES = PredictionFiles(LocomoAnswer, _read, asked_in(histories), "it has no answer to LoCoMo")

COLUMNS = ("recall", "all found", "none found")


def recalled(path: Path) -> SetReplies:
    """Return what a file retrieved. Raises ConfigError if it cannot be read or holds nothing retrieved.

    Questions without cited evidence count as found, as in the published figures. The evidence of some is known to be
    wrong: their figures stand apart.
    """
    file = read_published(path)
    if file.shape.count is not retrieved:
        raise ConfigError(
            f"{path}: it holds {file.shape.about}; score retrieval reads what was retrieved for LoCoMo"
        )
    wrong = {each.digest: each.why for each in errata("locomo").values() if each.kind == "evidence"}
    asked, times = list[tuple[str, SetQuestion]](), Counter[str]()
    for row, count in zip(file.rows, counts_of(file, {}), strict=True):
        digest, kind = question_digest(str(row.get("question"))), str(row.get("category"))
        times[digest] += 1
        found = SetQuestion(
            id=f"{digest}/{times[digest]}",
            type=kind,
            named=CATEGORIES.get(kind, ""),
            wrong_key=wrong.get(digest, ""),
            scores={name: float(count.amounts[name][0]) for name in COLUMNS},
        )
        asked.append((str(row["sample_id"]), found))
    return SetReplies(str(path), COLUMNS, asked)
