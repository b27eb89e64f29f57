"""`Published`: keeps a published score, since text alone cannot tell what is right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict


@dataclass(frozen=True, slots=True)
class Published(Matcher):
    """Gives the published score of a reply, whatever it says."""

    as_published: ClassVar[bool] = True

    score: float
    """From 0 to 1."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Return the published score."""
        outcome = Outcome.CORRECT if self.score == 1 else Outcome.PARTIAL if self.score > 0 else Outcome.WRONG
        return Verdict(outcome, self.score, "the published score, which a model gave")

    def right(self) -> Sequence[str]:
        """Return a placeholder: no reply is known to be right."""
        return ("(what was published does not say)",)

    def wrong(self) -> Sequence[str]:
        """Return nothing: no reply is known to be wrong."""
        return ()


EXAMPLES: tuple[Matcher, ...] = (Published(1.0),)
"""Examples for the tests that guard every matcher."""
