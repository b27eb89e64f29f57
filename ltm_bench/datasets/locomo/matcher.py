"""`locomo_answer`: the reply gets the score that LoCoMo's program gives it, or a strict one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.datasets.locomo.files import ADVERSARIAL, CATEGORIES, NOT_MENTIONED
from ltm_bench.datasets.locomo.scorer import best, chosen, official, stems, strict
from ltm_bench.datasets.matching import Golds, SetMatcher, by_score, each_of, kept
from ltm_bench.matchers.reading import READ

IMPORTED = "imported"
"""The mode for replies of others, which name what they chose in category 5."""


@dataclass(frozen=True, slots=True)
class LocomoAnswer(SetMatcher):
    """Scores as LoCoMo does: F1 over stems by category, or whether the reply says that the answer is not known."""

    dataset: ClassVar[str] = "locomo"
    version: ClassVar[int] = 2
    columns: ClassVar[tuple[str, ...]] = ("official", "open", "strict", "judge")
    kinds: ClassVar[Mapping[str, str]] = CATEGORIES
    apart: ClassVar[frozenset[str]] = frozenset((ADVERSARIAL,))

    gold: Golds
    category: str
    """1 to 5; in category 5 the dialogue does not contain the answer."""
    id: str = ""
    """The question's id, for comparing runs with prediction files."""
    mode: str = "official"
    """`official`, `strict` or `imported`; `open` is `official` for runs that ask category 5 without options."""
    options: tuple[str, ...] = ()
    """The options of category 5, (a) and (b); empty if none were offered."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Return the published score, or the strict one."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        said = self._said(reply)
        score = (
            self._strict(said) if self.mode == "strict" else best(official, said, self.gold, self.category)
        )
        return by_score(score, reply, f"LoCoMo's category {self.category} ({self.mode})")

    def _said(self, reply: str) -> str:
        said = (
            reply if self.mode == IMPORTED else reply[:READ]
        )  # published figures count all of a reply that loops
        return chosen(said, self.options) if self.options else said

    def _strict(self, said: str) -> float:
        """Return the strict score; 0 for both options at once."""
        words = set(stems(said))
        if self.options and all(words > set(stems(each)) for each in self.options):
            return 0.0
        return best(strict, said, self.gold, self.category)

    @property
    def chance(self) -> float:
        """One of two, where there are options."""
        return 0.5 if self.options else 0.0

    @property
    def kind(self) -> str:
        """The category."""
        return self.category

    def scores(self, reply: str) -> Mapping[str, float]:
        """Return both scores. Without options, the one of category 5 is not the published one, but `open`."""
        said = self._said(reply)
        offered = self.options or self.mode == IMPORTED
        as_asked = "official" if offered or self.category != ADVERSARIAL else "open"
        return {
            as_asked: best(official, said, self.gold, self.category),
            "strict": self._strict(said),
        }

    def right(self) -> Sequence[str]:
        """Return the gold answer as the program reads it."""
        if self.category == ADVERSARIAL:
            return (
                NOT_MENTIONED,
                *(f"({'ab'[i]})" for i, each in enumerate(self.options) if official(each, "", "5")),
            )
        golds = each_of(self.gold)
        return tuple(each.split(";")[0].strip() for each in golds) if self.category == "3" else golds

    def wrong(self) -> Sequence[str]:
        """Return a different answer, and an empty one."""
        return ("Xylophones", "")


def locomo_answer(
    gold: Golds, category: str, *, id: str = "", mode: str = "official", options: Sequence[str] = ()
) -> LocomoAnswer:
    """Expect the gold answer of a question of LoCoMo.

    Args:
        gold: The answer in the set, or several that are accepted.
        category: The question's category, `1` to `5`.
        id: The question's id.
        mode: `official`, `open`, `imported` or `strict`.
        options: The two options, (a) first, where the question is a choice.
    """
    return LocomoAnswer(kept(gold), category, id, mode, tuple(options))


EXAMPLES: tuple[Matcher, ...] = (
    locomo_answer("7 May 2023", "2"),
    locomo_answer("pears, two plums", "1", mode="strict"),
    locomo_answer("Likely yes; she said so", "3"),
    locomo_answer(NOT_MENTIONED, "5"),
    locomo_answer(NOT_MENTIONED, "5", options=("the lighthouse", NOT_MENTIONED)),
)
"""Examples for the tests that guard every matcher."""
