"""`Published`: a score that somebody else gave stands, since text alone cannot say what is right."""

from collections.abc import Sequence
from dataclasses import dataclass

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict


@dataclass(frozen=True, slots=True)
class Published(Matcher):
    """Gives the score that was published of a reply, whatever the reply."""

    score: float
    """From 0 to 1."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Pass the published score on."""
        outcome = Outcome.CORRECT if self.score == 1 else Outcome.PARTIAL if self.score > 0 else Outcome.WRONG
        return Verdict(outcome, self.score, "the score that was published; a model judged there")

    def right(self) -> Sequence[str]:
        """Nothing is known to be right."""
        return ("(what was published does not say)",)

    def wrong(self) -> Sequence[str]:
        """Nothing is known to be wrong."""
        return ()


EXAMPLES: tuple[Matcher, ...] = (Published(1.0),)
"""What the guards over all matchers are run with."""
