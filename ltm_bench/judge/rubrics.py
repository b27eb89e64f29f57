"""The rubrics by which published figures were judged, each applied to one reply of a prediction file. Pure.

Verdicts that a file stores and scores by text cost nothing; the others are prompts to a model, and readers of its
answers. Names, sources and rules stand in `texts.toml`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.messages import ReplyForm
from ltm_bench.datasets.answers import Answer, majority, read_answers, type_of
from ltm_bench.datasets.dialogue import HistoryQuestion, OnBad
from ltm_bench.datasets.errata import question_digest
from ltm_bench.datasets.locomo.scorer import f1, official
from ltm_bench.datasets.locomo.scorer import strict as locomo_strict
from ltm_bench.datasets.longmemeval.files import ABSTENTION, TYPES
from ltm_bench.datasets.longmemeval.scorer import prompt, verdict_of
from ltm_bench.datasets.longmemeval.scorer import strict as longmemeval_strict
from ltm_bench.judge import blind
from ltm_bench.judge.texts import TEXTS

STORED, F1, STRICT, BY_TYPE, BLIND = "stored", "F1", "strict text", "by type", "blind reading"

RUBRICS: Mapping[str, Mapping[str, str]] = {each["name"]: each for each in TEXTS["panel"]["rubrics"]}
"""All rubrics, with source; and the rule of those that are put to a judge in a sentence."""

_CATEGORIES = {"multi-hop": "1", "temporal": "2", "open-domain": "3", "single-hop": "4", "adversarial": "5"}

_AS_SUPERMEMORY = {"3": "temporal-reasoning"}
"""Supermemory's program names LoCoMo's categories in another order: the rule for times goes to open-domain ones."""


class RubricPrompt(NamedTuple):
    """A question to a model about a reply."""

    reply: str
    """The id of the reply."""
    rubric: str
    text: str
    read: Callable[[str], float | None]
    """The verdict in the model's answer, from 0 to 1; None if it has none."""


class PanelReply(NamedTuple):
    """A reply of a file, ready for every rubric."""

    id: str
    """The same in all files: the question's id or, since some files of LoCoMo have none, a hash of its text."""
    type: str
    history: str
    question: str
    gold: str | None
    answer: Answer

    def by_text(self) -> Iterator[tuple[str, float]]:
        """Yield the verdicts that need no model."""
        said = self.answer.said
        if (stored := majority(self.answer.votes)) is not None:
            yield STORED, stored
        if (judged := self.answer.row.get("golden_v2")) is not None:
            yield STORED, float(judged == "CORRECT")
        if self.gold is not None:
            yield F1, f1(said, self.gold) if self.type in TYPES else official(said, self.gold, self.type)
        if (found := self._strict(said)) is not None:
            yield STRICT, found

    def inquiries(self) -> Iterator[RubricPrompt]:
        """Yield what a model is asked about it, rubric by rubric; nothing without a question or a gold answer."""
        if self.gold is None or not self.question:
            return
        said = self.answer.said
        for name, each in RUBRICS.items():
            if rule := each.get("rule", "").strip():
                filled = {"rule": rule, "question": self.question, "gold": self.gold, "reply": said}
                yield RubricPrompt(self.id, name, TEXTS["panel"]["task"].strip().format(**filled), _verdict)
        kind, unknown = _AS_SUPERMEMORY.get(self.type, self.type), ABSTENTION in self.id or self.type == "5"
        asked = HistoryQuestion(self.id, kind, self.question, (self.gold,), unanswerable=unknown)
        yield RubricPrompt(self.id, BY_TYPE, prompt(asked, said), lambda answer: float(verdict_of(answer)))
        if self._strict("") is not None:  # else no text can be compared with the gold answer
            form = ReplyForm("list" if self.type == "1" else "one of a set")
            (text,) = blind.prompts(self.question, said, form, "panel", whole=False)
            yield RubricPrompt(self.id, BLIND, text, partial(self._read_blind, form))

    def _strict(self, said: str) -> float | None:
        if self.gold is None:
            return None
        if self.type in TYPES:
            unknown = ABSTENTION in self.id
            return longmemeval_strict(said, (self.gold,), self.type, unanswerable=unknown)
        return locomo_strict(said, self.gold, self.type)

    def _read_blind(self, form: ReplyForm, answer: str) -> float | None:
        heard = blind.heard(answer, self.answer.said, form, whole=False)
        if heard.said:
            return self._strict(heard.said)
        return 0.0 if heard.why in blind.UNSETTLED else None


def _verdict(answer: str) -> float | None:
    """Return the verdict in a word; None if an answer has neither, or both."""
    said = answer.upper().replace("INCORRECT", "WRONG")
    right, wrong = "CORRECT" in said, "WRONG" in said
    return None if right == wrong else float(right)


def replies_of(path: Path, questions: Mapping[str, Mapping[str, Any]], on_bad: OnBad) -> list[PanelReply]:
    """Return the replies of a file. Raises ConfigError if it holds none.

    Args:
        path: The file.
        questions: What is known of questions that the file only names, by id.
        on_bad: Called with each row that is skipped.
    """
    found, times = list[PanelReply](), Counter[str]()
    for answer in read_answers(path, on_bad):
        name, asked = answer.id or "", questions.get(answer.id or "", {})
        gold = asked.get("answer") if answer.gold is None else answer.gold
        gold = next(iter(gold), None) if isinstance(gold, list) else gold
        text = answer.question or asked.get("question") or ""
        kind = answer.type or type_of(asked) or type_of(answer.row) or ""
        history = name.split("_")[1] if name.startswith("locomo_") else answer.history or name
        if text and kind not in TYPES:
            name = question_digest(text)
        times[name] += 1
        if times[name] > 1:  # LoCoMo asks some questions twice
            name = f"{name} #{times[name]}"
        said = None if gold is None else str(gold)
        found.append(PanelReply(name, _CATEGORIES.get(kind, kind), history, text, said, answer))
    return found
