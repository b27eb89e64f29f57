"""`both_said`: two statements contradict each other, and the reply names both instead of picking one."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import (
    Lexicon,
    Mention,
    Reading,
    Time,
    mentions,
    notices_conflict,
    read,
    words,
)
from ltm_bench.matchers.reading.cues import Effect, cues
from ltm_bench.matchers.reading.surplus import recites
from ltm_bench.matchers.unanswered import unanswered

_JOINED = re.compile(r"[\W_]{0,8}(?:and|or)?[\W_]{0,8}")
"""The words between two things that are named side by side."""


@lru_cache(maxsize=64)
def _lexicon(among: tuple[str, ...]) -> Lexicon:
    return Lexicon.of(among)


def _settled(reading: Reading, found: Sequence[Mention]) -> set[str]:
    """Return the values that the reply concludes with, or says hold now, unless the other one is beside them.

    A value that merely comes next (`Ghent, then Porto`) tells the order in which both were said, unless the reply
    speaks of a change.
    """
    beside = {
        each
        for one, other in pairwise(found)
        if one.value != other.value and _JOINED.fullmatch(reading.text[one.end : other.start])
        for each in (one, other)
    }
    change = any(cue.effect in (Effect.CHANGES, Effect.OUSTS) for cue in cues(words(reading.text)))
    now = [m for m in found if m.final or (m.time is Time.NOW and (change or not m.next))]
    return {m.value for m in now if m not in beside}


@dataclass(frozen=True, slots=True)
class BothSaid(Matcher):
    """Right if the reply says both values and settles on neither; half right if it names both and settles on one."""

    one: str
    other: str
    among: tuple[str, ...]
    """Every value that could have been told."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge which of the two values the reply says, and whether it settles on one."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        reading = read(reply)
        found = mentions(reading, _lexicon(self.among), turns[-1].message.text if turns else "")
        if recites(reply, turns, [(m.start, m.end) for m in found]):
            return Verdict(Outcome.WRONG, 0.0, "the reply recites what it was told")
        named = list(dict.fromkeys(m.value for m in found))
        both = (self.one, self.other)
        strange = [value for value in named if value not in both]
        if strange:
            return Verdict(Outcome.WRONG, 0.0, f"the reply says {', '.join(strange[:3])}, which was not told")
        if len(named) == 1:
            return Verdict(
                Outcome.WRONG, 0.0, f"the reply says {named[0]}, as though nothing else had been said"
            )
        if not named:
            return unanswered(reply, Outcome.WRONG, "neither of the two is named")
        settled = set[str]() if notices_conflict(reply) else _settled(reading, found)
        given_up = {m.value for m in found if m.denied}
        if len(settled) == 1 or len(given_up) == 1:
            value = next(iter(settled)) if len(settled) == 1 else next(v for v in both if v not in given_up)
            return Verdict(Outcome.PARTIAL, 0.5, f"both are named, but the reply settles on {value}")
        return Verdict(
            Outcome.CORRECT, 1.0, f"the reply says that both {self.one} and {self.other} were told"
        )

    def in_words(self) -> str:
        """Say that both were told."""
        return (
            f"Both {self.one} and {self.other} were told, and they cannot both be right. A good reply says both, or "
            "asks which; half is given for naming both and settling on one."
        )

    def right(self) -> Sequence[str]:
        """Return both, with and without a remark, and a question back."""
        return (
            f"{self.one} and {self.other}: you have told me both.",
            f"You told me two different things: {self.one} and {self.other}.",
            f"That is not clear. Is it {self.one} or {self.other}? You have said both.",
        )

    def wrong(self) -> Sequence[str]:
        """Return each alone, all values, an abstention, and nothing."""
        return (
            f"It is {self.one}.",
            f"It is {self.other}.",
            ", ".join(self.among) + ".",
            f"It used to be {self.one}, but now it is {self.other}.",
            "I do not know.",
            "",
        )

    @property
    def chance(self) -> float:
        """One over the number of pairs."""
        many = len(self.among)
        return 2 / (many * (many - 1)) if many > 2 else 0.5


def both_said(one: str, other: str, *, among: Collection[str]) -> BothSaid:
    """Expect both values to be named, and no other of `among`."""
    return BothSaid(one, other, tuple(among))


EXAMPLES: tuple[Matcher, ...] = (both_said("Ghent", "Porto", among=("Ghent", "Porto", "Bergen", "Lima")),)
"""Examples for the tests that guard every matcher."""
