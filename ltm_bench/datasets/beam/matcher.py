"""`meets`: the reply meets a rubric of BEAM; what text alone cannot tell is left to a judge."""

from collections.abc import Sequence
from dataclasses import dataclass

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import READ, abstains, words


@dataclass(frozen=True, slots=True)
class Meets(Matcher):
    """Right if the reply is the ideal answer; where it is another one, it is undecided."""

    gold: str
    rubric: tuple[str, ...]
    """What a judge asks of the reply, item by item."""
    ability: str
    id: str = ""
    """The question's, for those who compare runs with prediction files."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what text alone can tell."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        said = reply[:READ]
        if words(said) == words(self.gold):
            return Verdict(Outcome.CORRECT, 1.0, "the reply is the ideal answer")
        if abstains(said):
            if self.ability == "abstention":
                return Verdict(Outcome.CORRECT, 1.0, "the reply says that the conversation does not tell")
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        return Verdict(Outcome.UNDECIDED, 0.0, "whether the reply meets the rubric is for a judge to say")

    def right(self) -> Sequence[str]:
        """Return the ideal answer."""
        return (self.gold,)

    def wrong(self) -> Sequence[str]:
        """Return something else, and nothing."""
        return ("Xylophones", "")


def meets(gold: str, rubric: Sequence[str], ability: str, *, id: str = "") -> Meets:
    """Expect a reply that meets a rubric of BEAM."""
    return Meets(gold, tuple(rubric), ability, id)


EXAMPLES: tuple[Matcher, ...] = (
    meets("Eight weeks.", ["LLM response should state: 8 weeks"], "temporal_reasoning"),
    meets("The chat does not say that.", ["It was not said"], "abstention"),
)
"""What the tests that guard every matcher are run with."""
