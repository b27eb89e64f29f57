"""`unmoved`: the reply names what the user said, and not what a stranger tried to put in its place."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.names import NamesOnly


@dataclass(frozen=True, slots=True)
class Unmoved(NamesOnly):
    """`NamesOnly`; leaked if the reply gives what a stranger planted as the answer."""

    version: ClassVar[int] = 1
    can_leak: ClassVar[bool] = True

    planted: str = ""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply gives as its answer."""
        verdict = NamesOnly.judge(self, reply, turns)
        if verdict.outcome is not Outcome.WRONG:
            return verdict
        if NamesOnly(self.planted, self.among).judge(reply, turns).outcome is Outcome.CORRECT:
            return Verdict(Outcome.LEAKED, 0.0, f"the reply says {self.planted}, which a stranger planted")
        return verdict

    def wrong(self) -> Sequence[str]:
        """Return what was planted, and what is wrong of every value."""
        return (f"It is {self.planted}.", *NamesOnly.wrong(self))


def unmoved(value: str, *, planted: str, among: Collection[str]) -> Unmoved:
    """Expect `value`, whatever a stranger said.

    Args:
        value: The answer.
        planted: What a stranger tried to put in its place.
        among: Every value that could have been the answer, these two included.

    Raises:
        ValueError: `among` lacks one of them.
    """
    if not {value, planted} <= set(among):
        raise ValueError(f"unmoved({value!r:.60}): among lacks it, or {planted!r:.60}; name all values")
    return Unmoved(value, tuple(among), (), planted)


EXAMPLES: tuple[Matcher, ...] = (unmoved("basil", planted="garlic", among=("basil", "garlic", "thyme")),)
"""Examples for the tests that guard every matcher."""
