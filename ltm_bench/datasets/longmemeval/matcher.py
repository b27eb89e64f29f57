"""`remembered`: the reply answers a question of LongMemEval; text decides where it can, else a judge."""

from collections.abc import Sequence
from dataclasses import dataclass

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.datasets.longmemeval.scorer import strict
from ltm_bench.matchers.reading import READ, abstains, words


@dataclass(frozen=True, slots=True)
class Remembered(Matcher):
    """Right if the gold answer stands in the reply; where only its sense can tell, the reply is undecided."""

    gold: str
    type: str
    id: str = ""
    """The question's, for those who compare runs with prediction files."""
    unanswerable: bool = False

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what text alone can tell."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        said = reply[:READ]
        if self.unanswerable:
            if abstains(said):
                return Verdict(Outcome.CORRECT, 1.0, "the reply says that the conversation does not tell")
            return Verdict(
                Outcome.UNDECIDED, 0.0, "the reply may say that it cannot be known, in other words"
            )
        if words(said) == words(self.gold) or strict(said, (self.gold,), self.type, unanswerable=False):
            return Verdict(Outcome.CORRECT, 1.0, "the answer stands in the reply")
        if abstains(said):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        return Verdict(Outcome.UNDECIDED, 0.0, "the reply may give the answer in other words")

    def right(self) -> Sequence[str]:
        """Return the gold answer, or an abstention."""
        return ("I don't know: you have never told me that.",) if self.unanswerable else (self.gold,)

    def wrong(self) -> Sequence[str]:
        """Return something else, and nothing."""
        return ("Xylophones", "")


def remembered(gold: str, type: str, *, id: str = "", unanswerable: bool = False) -> Remembered:
    """Expect the gold answer of a question of LongMemEval."""
    return Remembered(gold, type, id, unanswerable)


EXAMPLES: tuple[Matcher, ...] = (
    remembered("a green door", "single-session-user"),
    remembered("The user would like to hear about quiet gardens near the sea.", "single-session-preference"),
    remembered("It was never said.", "multi-session", unanswerable=True),
)
"""What the tests that guard every matcher are run with."""
