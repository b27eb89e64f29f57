"""`locomo_answer`: the reply gets the score that LoCoMo's program gives it, or a strict one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.datasets.locomo.files import ADVERSARIAL, CATEGORIES, NOT_MENTIONED
from ltm_bench.datasets.locomo.scorer import official, strict
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.matchers.reading import READ, abstains


@dataclass(frozen=True, slots=True)
class LocomoAnswer(SetMatcher):
    """Scores as LoCoMo does: F1 over stems by category, or whether the reply says that the answer is not known."""

    dataset: ClassVar[str] = "locomo"
    columns: ClassVar[tuple[str, ...]] = ("official", "strict")
    kinds: ClassVar[Mapping[str, str]] = CATEGORIES
    apart: ClassVar[frozenset[str]] = frozenset((ADVERSARIAL,))

    gold: str
    category: str
    """1 to 5; in category 5 the dialogue does not contain the answer."""
    id: str = ""
    """The question's id, for comparing runs with prediction files."""
    mode: str = "official"
    """`official` or `strict`."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Return the published score, or the strict one."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        score = (strict if self.mode == "strict" else official)(reply[:READ], self.gold, self.category)
        scorer = f"LoCoMo's category {self.category} ({self.mode})"
        if score >= 1.0:
            return Verdict(Outcome.CORRECT, 1.0, f"right for {scorer}")
        if score > 0:
            return Verdict(Outcome.PARTIAL, round(score, 6), f"{score:.3f} for {scorer}")
        if abstains(reply):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        return Verdict(Outcome.WRONG, 0.0, f"nothing for {scorer}")

    @property
    def kind(self) -> str:
        """The category."""
        return self.category

    def scores(self, reply: str) -> Mapping[str, float]:
        """Return both scores."""
        said = reply[:READ]
        return {
            "official": official(said, self.gold, self.category),
            "strict": strict(said, self.gold, self.category),
        }

    def right(self) -> Sequence[str]:
        """Return the gold answer as the program reads it."""
        if self.category == "5":
            return (NOT_MENTIONED,)
        return (self.gold.split(";")[0].strip() if self.category == "3" else self.gold,)

    def wrong(self) -> Sequence[str]:
        """Return a different answer, and an empty one."""
        return ("Xylophones", "")


def locomo_answer(gold: str, category: str, *, id: str = "", mode: str = "official") -> LocomoAnswer:
    """Expect the gold answer of a question of LoCoMo."""
    return LocomoAnswer(gold, category, id, mode)


EXAMPLES: tuple[Matcher, ...] = (
    locomo_answer("7 May 2023", "2"),
    locomo_answer("pears, two plums", "1", mode="strict"),
    locomo_answer("Likely yes; she said so", "3"),
    locomo_answer(NOT_MENTIONED, "5"),
)
"""Examples for the tests that guard every matcher."""
