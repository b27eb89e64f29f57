"""`remembered`: the reply answers a question of LongMemEval; text decides if it can, otherwise a judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.longmemeval.scorer import inquiry, strict
from ltm_bench.datasets.matching import Golds, Inquiry, Judged, SetMatcher, each_of, kept
from ltm_bench.matchers.reading import READ, abstains, words
from ltm_bench.matchers.reading.doubting import unanswered


@dataclass(frozen=True, slots=True)
class Remembered(SetMatcher):
    """Right if the reply contains the gold answer; if only the sense can tell, the reply is undecided.

    If a judge is named, it is asked about every reply, as in the published program, and its answer counts.
    """

    version: ClassVar[int] = 2
    dataset: ClassVar[str] = "longmemeval"
    columns: ClassVar[tuple[str, ...]] = ("judge", "strict")

    gold: Golds
    type: str
    id: str = ""
    """The question's id, for comparing runs with prediction files."""
    unanswerable: bool = False
    mode: str = "official"
    """`official`, or `strict`, which asks a judge only if text alone cannot tell, and by the usual rubric."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what text alone can tell."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        said = reply[:READ]
        if self.unanswerable:
            if abstains(said):
                return Verdict(Outcome.CORRECT, 1.0, "the reply says that this was not mentioned")
            return Verdict(Outcome.UNDECIDED, 0.0, "the reply may say in other words that this was not")
        golds = each_of(self.gold)
        if words(said) in map(words, golds) or strict(said, golds, self.type, unanswerable=False):
            return Verdict(Outcome.CORRECT, 1.0, "the reply gives the answer")
        return unanswered(said, Outcome.UNDECIDED, "the reply may give the answer in other words")

    @property
    def kind(self) -> str:
        """The type."""
        return self.type

    @property
    def cannot_be_answered(self) -> bool:
        """Whether the history does not answer it."""
        return self.unanswerable

    def scores(self, reply: str) -> Mapping[str, float]:
        """Return the strict score, if text alone can tell."""
        score = strict(reply[:READ], each_of(self.gold), self.type, unanswerable=self.unanswerable)
        return {} if score is None else {"strict": score}

    def inquiry(self, question: str, reply: str) -> Inquiry | None:
        """Return the prompt to a judge for this type."""
        return self._inquire(question, reply[:READ]) if self.mode == "official" else None

    def _inquire(self, question: str, reply: str) -> Inquiry:
        if not reply.strip():
            return Judged(Outcome.MALFORMED, 0.0, "the reply is empty", {"judge": 0.0})
        asked = HistoryQuestion(
            self.id, self.type, question, each_of(self.gold), unanswerable=self.unanswerable
        )
        if (yield from inquiry(asked, reply)):
            return Judged(Outcome.CORRECT, 1.0, f"yes, by the rule for {self.type}", {"judge": 1.0})
        outcome = Outcome.WRONG if self.unanswerable or not abstains(reply) else Outcome.ABSTAINED
        return Judged(outcome, 0.0, f"no, by the rule for {self.type}", {"judge": 0.0})

    def right(self) -> Sequence[str]:
        """Return the gold answer, or an abstention."""
        return ("I don't know: you have never told me that.",) if self.unanswerable else each_of(self.gold)

    def wrong(self) -> Sequence[str]:
        """Return a different answer, and an empty one."""
        return ("Xylophones", "")


def remembered(
    gold: Golds, type: str, *, id: str = "", unanswerable: bool = False, mode: str = "official"
) -> Remembered:
    """Expect the gold answer of a question of LongMemEval.

    Args:
        gold: The answer, or several that are accepted; or why there is none.
        type: The question's kind.
        id: The question's id.
        unanswerable: Whether the history does not answer it.
        mode: `official` or `strict`.
    """
    return Remembered(kept(gold), type, id, unanswerable, mode)


EXAMPLES: tuple[Matcher, ...] = (
    remembered("a green door", "single-session-user"),
    remembered("The user would like to hear about quiet gardens near the sea.", "single-session-preference"),
    remembered("It was never said.", "multi-session", unanswerable=True),
)
"""Examples for the tests that guard every matcher."""
