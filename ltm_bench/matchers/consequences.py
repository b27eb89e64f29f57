"""What a reply makes of a change: `follows`, `no_longer`, `corrects`.

A change reaches some things and not others, so holding on to the old value is an outcome of its own (stale), and so is
a new one where nothing has changed (over-updated).
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ltm_bench.core.messages import Outcome, Turn, Verdict
from ltm_bench.matchers.names import NamesOnly, around
from ltm_bench.matchers.reading import Time, gives_up, lexicon, mentions, read
from ltm_bench.matchers.reading.abstaining import in_own_words
from ltm_bench.matchers.reading.doubting import asked
from ltm_bench.matchers.restraint import NeverSaid

_OVER = (Time.PAST, Time.REPLACED)
_GONE = re.compile(
    r"(?i)(?:\bno longer|\bnot|n't)\b[^.;!?\n]{0,30}\b(?:there|any ?more)\b|\bno longer there\b"
)
"""Says of what the question takes for granted that it does not hold, without naming it."""
_NOBODY = re.compile(r"(?i)\b(?:nobody|no one|there(?:'s| is) no (?:telling|knowing|way))\b")
_WAS = re.compile(r"(?i)\b(?:was|were|had|last|left|until|before|earlier|once|moved)\b")
"""Tells of what was, beside a value that no longer holds."""


@dataclass(frozen=True, slots=True)
class Follows(NamesOnly):
    """`NamesOnly`; over-updated if the reply says what would only hold if something else had happened."""

    version: ClassVar[int] = 1

    over: tuple[str, ...] = ()
    premise: str = ""
    """What the question takes for granted, and may: a reply that takes it back is over-updated, too."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply gives as its answer, and what it takes back."""
        verdict = NamesOnly.verdict(self, reply, turns)
        read_so = verdict.outcome in (Outcome.WRONG, Outcome.CORRECT)
        if not read_so and not (self.premise and verdict.outcome is Outcome.UNDECIDED):
            return verdict
        reading, asking = read(reply), asked(turns)
        back = [m for m in mentions(reading, lexicon((self.premise,)), asking) if m.denied or m.time in _OVER]
        said = [m for m in mentions(reading, lexicon(self.over), asking) if m.asserted]
        if self.premise and (back or _GONE.search(reply)):
            reason = f"the reply takes back {self.premise}, which nothing has changed"
            return Verdict(Outcome.OVERDONE, 0.0, reason)
        named = self.premise and mentions(reading, self.candidates(), asking)
        if said and not verdict.score and not named:
            return Verdict(Outcome.OVERDONE, 0.0, f"the reply says {said[0].value}; nothing has changed that")
        if said and self.premise:  # of something else, it may be true
            reason = f"{verdict.reason}, and mentions {said[0].value}"
            return replace(verdict, outcome=Outcome.UNDECIDED, score=0.0, reason=reason)
        return verdict

    def wrong(self) -> Sequence[str]:
        """Return what would hold if something else had happened, and what is wrong of every value."""
        taken_back = f"It is no longer {self.premise}."
        return (
            *(f"It is {each}." for each in self.over),
            *([taken_back] if self.premise else []),
            *NamesOnly.wrong(self),
        )


def follows(
    value: str,
    *,
    among: Collection[str],
    stale: Sequence[str] = (),
    over: Sequence[str] = (),
    premise: str = "",
) -> Follows:
    """Expect `value`, whatever else has changed.

    Args:
        value: The answer.
        among: Every value that could have been the answer, this one included.
        stale: Values that held before something followed.
        over: Values that would hold if something followed.
        premise: What the question takes for granted, if that still holds.

    Raises:
        ValueError: `among` lacks the value.
    """
    if value not in among:
        raise ValueError(f"follows({value!r:.60}): among lacks this value; name all values, this one too")
    return Follows(value, tuple(among), tuple(stale), tuple(over), premise)


@dataclass(frozen=True, slots=True)
class Corrects(NamesOnly):
    """Right if the reply says that what the question takes for granted, the last of `stale`, holds no longer."""

    version: ClassVar[int] = 1

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge whether the reply corrects the premise; one that only answers goes along with it."""
        verdict = NamesOnly.judge(self, reply, turns)
        found = mentions(read(reply), self.candidates(), asked(turns))
        old, now = self.stale[-1], [m for m in found if m.asserted]
        if verdict.outcome is Outcome.UNDECIDED and now and all(m.value == self.value for m in now):
            return Verdict(Outcome.CORRECT, 1.0, f"the reply says {self.value}, and not {old}")
        if verdict.outcome is not Outcome.WRONG:
            return verdict
        gone = bool(found) and all(m.value == old and (m.denied or m.time in _OVER) for m in found)
        if gone or (not found and _GONE.search(reply)):
            return Verdict(Outcome.CORRECT, 1.0, f"the reply says that it is no longer {old}")
        return verdict if found else Verdict(Outcome.STALE, 0.0, f"the reply takes {old} for granted")

    def right(self) -> Sequence[str]:
        """Return the new value with and without the old one."""
        return (
            f"It is {self.value} now.",
            f"It is no longer {self.stale[-1]}, it is {self.value} now.",
            self.value,
        )

    def in_words(self) -> str:
        """Say what has changed."""
        return (
            f"The question takes {self.stale[-1]} for granted, but it is {self.value}. A good reply says so."
        )

    @property
    def chance(self) -> float:
        """To go along or not."""
        return 0.5


def corrects(value: str, *, premise: str, among: Collection[str]) -> Corrects:
    """Expect the reply to say that it is `value`, or at least no longer `premise`, as the question assumes.

    Args:
        value: What holds.
        premise: What the question takes for granted.
        among: Every value that could hold, these two included.

    Raises:
        ValueError: `among` lacks one of them.
    """
    if not {value, premise} <= set(among):
        raise ValueError(f"corrects({value!r:.60}): among lacks it, or {premise!r:.60}; name all values")
    return Corrects(value, tuple(among), (premise,))


@dataclass(frozen=True, slots=True)
class NoLonger(NeverSaid):
    """Right if the reply says that this is no longer known, and perhaps that it was `near`."""

    version: ClassVar[int] = 1

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge whether the reply admits it; who gives the old value holds on to it."""
        said = _NOBODY.sub("I don't know", reply)
        verdict = NeverSaid.judge(self, said, turns)
        found = [m for m in mentions(read(said), self.candidates(), asked(turns)) if not m.denied]
        if verdict.score or not found or any(m.value not in self.near for m in found):
            return verdict
        if gives_up(in_own_words(said)):
            reason = f"the reply says that it is no longer known, and mentions {self.near[0]}"
            told = all(m.time in _OVER or _WAS.search(around(m, said)) for m in found)
            return Verdict(Outcome.CORRECT if told else Outcome.UNDECIDED, float(told), reason)
        return Verdict(Outcome.STALE, 0.0, f"the reply says {self.near[0]}, which is no longer known")

    def in_words(self) -> str:
        """Say that it is no longer known."""
        return f"It was {self.near[0]}, and has changed; nobody has said to what. A good reply says that."

    def right(self) -> Sequence[str]:
        """Return several ways to say so."""
        was = f"I don't know where it is now. It used to be {self.near[0]}."
        return ("Unknown.", "That is not known any more.", was)


def no_longer(old: str, *, among: Collection[str]) -> NoLonger:
    """Expect the reply to say that it is not known any more; `old` has changed, and nobody has said to what."""
    return NoLonger(tuple(value for value in among if value != old), (old,))


EXAMPLES: tuple[NamesOnly | NeverSaid, ...] = (
    follows("Ghent", among=("Ghent", "Porto", "Lima"), stale=("Porto",)),
    follows("Ghent", among=("Ghent", "Porto", "Lima"), over=("Porto",)),
    follows("tin", among=("tin", "bag", "box"), over=("Porto",), premise="Ghent"),
    corrects("Ghent", premise="Porto", among=("Ghent", "Porto", "Lima")),
    no_longer("Ghent", among=("Ghent", "Porto", "Lima")),
)
"""Examples for the tests that guard every matcher."""
