"""`tallies`: the reply gives a number; one close to the right one earns a part, as in OOLONG (Bertsch et al. 2025)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.core.words import alternatives
from ltm_bench.matchers.reading.doubting import DoubtingMatcher, unanswered
from ltm_bench.matchers.reading.figures import given_number, in_figures, told_numbers
from ltm_bench.matchers.reading.text import flat

CREDIT = 0.75
"""The factor by which each one too many or too few reduces the score."""

_LEAST = 0.05
"""A lower score counts as 0."""

_PARTS = 2
"""Numbers that are too few to be a total and its parts."""

_MOST = 200
"""Maximum numbers of a reply that are added up."""


def credit(error: int) -> float:
    """Return the score of a count that is this much too high or too low."""
    score = CREDIT ** min(abs(error), 100)
    return score if score >= _LEAST else 0.0


_RANGE = re.compile(alternatives("range"))
"""A range or a bound, which is not a number."""
_ROUGH = re.compile(alternatives("rough"))
"""An estimate, which counts nothing: it earns no part."""
_AMONG = re.compile(r"\b(?:over|on|across|in|from|out of)(?: the| all| these| those)? \d+ (?!of\b)[^\W\d]+")
"""Among how many of something else it was counted: `on 13 pages`."""
_OF = re.compile(r"(?<=\d )(?:out )?of(?: the)? \d+\b|(?:^|(?<=[.:;] ))[Oo]f(?: the)? \d+ [^\W\d]+,")
"""Of how many it is a part: `5 of 13`, `Of 13 pages, …`."""


def _total(reply: str) -> int | None:
    """Return the number that the reply gives: its first or last, if the others add up to it (`18: 11 and 7`)."""
    said = _OF.sub(" ", _RANGE.sub(" ", in_figures(flat(reply))))
    alone = _AMONG.sub(" ", said)
    reply = alone if any(map(str.isdigit, alone)) else said
    told = list(told_numbers(reply))[:_MOST]
    sums = [n for n in (*told[:1], *told[-1:]) if len(told) > _PARTS and 2 * n == sum(told)]
    return sums[0] if sums else given_number(reply)


@dataclass(frozen=True, slots=True)
class Tallies(DoubtingMatcher):
    """The score is `0.75 ** error`; for an error of more than ten it is 0."""

    version: ClassVar[int] = 4

    count: int

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the number that the reply gives."""
        said = _total(reply)
        if said is None:
            outcome = Outcome.WRONG if _RANGE.search(in_figures(flat(reply))) else Outcome.MALFORMED
            return unanswered(reply, outcome, "no single number can be read from the reply")
        rough = " only roughly" * (_ROUGH.search(in_figures(flat(reply))) is not None)
        score = 0.0 if rough else credit(said - self.count)
        reason = f"the reply says {said}{rough}, expected {self.count}"
        if said == self.count:
            return Verdict(Outcome.CORRECT, 1.0, f"the reply says {said}")
        return Verdict(Outcome.PARTIAL if score else Outcome.WRONG, round(score, 6), reason)

    def right(self) -> Sequence[str]:
        """Return the number in a sentence, and alone."""
        return (str(self.count), f"You have told me of {self.count} of them.", f"**{self.count}**")

    def wrong(self) -> Sequence[str]:
        """Return numbers nearby and far off, an abstention, and an empty reply."""
        return (str(self.count + 1), f"There were {self.count + 50}.", "I have lost count.", "")

    @property
    def chance(self) -> float:
        """The average score of a guess between 0 and twice the number."""
        guesses = 2 * self.count + 1
        return sum(credit(guess - self.count) for guess in range(guesses)) / guesses


def tallies(count: int) -> Tallies:
    """Expect this number; each one too many or too few takes a quarter of what is left."""
    return Tallies(count)


EXAMPLES: tuple[Matcher, ...] = (tallies(12),)
"""Examples for the tests that guard every matcher."""
