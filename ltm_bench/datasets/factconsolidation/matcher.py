"""`newest_fact`: the reply names the newest of contradictory facts, as FactConsolidation's program reads it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.datasets.factconsolidation.scorer import exact, official, strict
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.matchers.reading import READ
from ltm_bench.matchers.reading.doubting import unanswered


@dataclass(frozen=True, slots=True)
class NewestFact(SetMatcher):
    """Right if an accepted answer is part of the reply; strictly, as whole words in a short reply."""

    dataset: ClassVar[str] = "factconsolidation"
    columns: ClassVar[tuple[str, ...]] = ("official", "exact", "strict")

    golds: tuple[str, ...]
    id: str = ""
    """The question's id, for comparing runs with prediction files."""
    mode: str = "official"
    """`official` or `strict`."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge as the published program does, or strictly."""
        if (strict if self.mode == "strict" else official)(reply[:READ], self.golds):
            return Verdict(Outcome.CORRECT, 1.0, f"the reply contains the newest fact ({self.mode})")
        return unanswered(reply, Outcome.WRONG, "the reply does not contain the newest fact")

    @property
    def kind(self) -> str:
        """The set: hops and size."""
        return self.id.partition("/")[0]

    def scores(self, reply: str) -> Mapping[str, float]:
        """Return all three scores."""
        said = reply[:READ]
        return {
            "official": official(said, self.golds),
            "exact": exact(said, self.golds),
            "strict": strict(said, self.golds),
        }

    def right(self) -> Sequence[str]:
        """Return the accepted answers, the first also in a sentence."""
        return (*self.golds, f"It is {self.golds[0]}.")

    def wrong(self) -> Sequence[str]:
        """Return a different answer, an abstention, and an empty reply."""
        return ("Xylophones", "I do not know.", "")


def newest_fact(golds: Sequence[str], *, id: str = "", mode: str = "official") -> NewestFact:
    """Expect one of these answers."""
    return NewestFact(tuple(golds), id, mode)


EXAMPLES: tuple[Matcher, ...] = (
    newest_fact(["Bo Li", "Li"]),
    newest_fact(["Washington, D.C."], mode="strict"),
)
"""Examples for the tests that guard every matcher."""
