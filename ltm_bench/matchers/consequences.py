"""What a reply makes of a change: `follows`, `no_longer`, `corrects`.

A change reaches some things and not others, so holding on to the old value is an outcome of its own (stale), and so is
a new one where nothing has changed (over-updated).
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from ltm_bench.core.messages import Outcome, Turn, Verdict
from ltm_bench.core.words import alternatives
from ltm_bench.matchers.names import NamesOnly, around
from ltm_bench.matchers.reading import Mention, Time, gives_up, lexicon, mentions, plain, read
from ltm_bench.matchers.reading.abstaining import in_own_words
from ltm_bench.matchers.reading.doubting import asked
from ltm_bench.matchers.restraint import NeverSaid

_DOUBTS = "doubts what nothing has changed"
_OVER = (Time.PAST, Time.REPLACED)
_HELD = (Outcome.WRONG, Outcome.STALE)
_GONE = re.compile(rf"\b(?:{alternatives('not there')})\b")
"""Says of what the question takes for granted that it does not hold, without naming it."""
_MAYBE = re.compile(r"(?:\bno longer|\bnot|n't)\b[^.;!?\n]{0,30}\b(?:there|any ?(?:more|longer))\b")
"""May say so, or anything else: `don't leave it there`."""
_AWAY = re.compile(rf"\b(?:until|used to|(?<!you )(?:{alternatives('leaving')})(?! (?:it|them|your)\b))\b")
"""May say that something has left."""
_STAYS = re.compile(rf"(?i)\b(?:{alternatives('never')})(?: been)? (?:{alternatives('leaving')})\b(?: from)?")
_STILL = "is still in"
"""Put for a leaving that is denied: `it never left Ghent` asserts Ghent."""
_NEAR = 40
"""Characters before a value in which it is said to have been left."""
_LEAVES = re.compile(rf"\b(?:left|(?:{alternatives('leaving')})\b[^.,;\n]{{0,20}} from)(?: the| your)?\W*$")
_UNTIL = re.compile(r"\b(?:until(?! further)|used to|no longer)\b")
_IF = re.compile(rf"\b(?:{alternatives('conditions')})\b(?! (?:i|my|memory|we|you|anything)\b)")
"""Makes what a sentence says depend on something; politeness does not: `if I remember`, `if you need more`."""
_ASIDE = re.compile(r"\bi(?:'ve| have|'d| had)? \w+|\bleaves? (?:me|us) with\b")
"""Tells how the reply came about, not of what has left: `I took that from …`, `I have gone back over …`."""
_BOTH = re.compile(r"[^\w❌✗✘✖]*(?:(?:and|also|as well as|too|in|at|now|it's|is)\b[^\w❌✗✘✖]*)*")
"""What joins two values that are both said to hold."""
_NOBODY = re.compile(rf"(?i)\b(?:{alternatives('nobody knows')})\b")
_WAS = re.compile(r"(?i)\b(?:was|were|had|last|left|until|before|earlier|once|moved)\b")
"""Tells of what was, beside a value that no longer holds."""


def _over(found: Sequence[Mention], reply: str) -> bool:
    """Whether all that is named is told of as what was."""
    return all(m.time in _OVER or _WAS.search(around(m, reply)) for m in found)


def _left(m: Mention, reply: str) -> bool:
    """Whether a value is said to have been left, or to have held until something."""
    before = plain(read(reply).text[max(0, m.start - _NEAR) : max(0, m.start)])
    return bool(_LEAVES.search(before) or _UNTIL.search(plain(around(m, reply))))


def _beside(now: Sequence[Mention], reply: str) -> bool:
    """Whether two values are said side by side to hold."""
    text, pairs = plain(read(reply).text), pairwise(m for m in now if m.time not in _OVER)
    return any(a.value != b.value and _BOTH.fullmatch(text[a.end : b.start]) for a, b in pairs)


def _governed(m: Mention, reply: str) -> bool:
    """Whether a sentence makes what it says depend on something, and does not conclude with it."""
    return not m.final and bool(_IF.search(plain(around(m, reply))))


@dataclass(frozen=True, slots=True)
class Follows(NamesOnly):
    """`NamesOnly`; over-updated if the reply says what would only hold if something else had happened."""

    version: ClassVar[int] = 1

    over: tuple[str, ...] = ()
    premise: str = ""
    """What the question takes for granted, and may: a reply that takes it back is over-updated, too."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply gives as its answer, and what it takes back."""
        reply = _STAYS.sub(_STILL, reply)
        verdict = NamesOnly.verdict(self, reply, turns)
        read_so = verdict.outcome in (Outcome.WRONG, Outcome.CORRECT)
        if not read_so and not (self.premise and verdict.outcome is Outcome.UNDECIDED):
            return verdict
        reading, asking = read(reply), asked(turns)
        back = [m for m in mentions(reading, lexicon((self.premise,)), asking) if m.denied or m.time in _OVER]
        said = [m for m in mentions(reading, lexicon(self.over), asking) if m.asserted]
        if self.premise and (back or _GONE.search(plain(reply))):
            reason = f"the reply takes back {self.premise}, which nothing has changed"
            return Verdict(Outcome.OVERDONE, 0.0, reason)
        named = mentions(reading, self.candidates(), asking)
        if said and not verdict.score and not (self.premise and named):
            return Verdict(Outcome.OVERDONE, 0.0, f"the reply says {said[0].value}; nothing has changed that")
        given = [m for m in named if m.value == self.value and m.asserted]
        if said and self.premise:  # of something else, it may be true
            but = f"mentions {said[0].value}"
        else:
            but = self._but(reply, asking, given) if verdict.score and given else ""
        if but == _DOUBTS:
            return Verdict(Outcome.OVERDONE, 0.0, f"the reply {but}")
        reason = f"{verdict.reason}, and {but}"
        return replace(verdict, outcome=Outcome.UNDECIDED, score=0.0, reason=reason) if but else verdict

    def _but(self, reply: str, asking: str, given: Sequence[Mention]) -> str:
        """Return how a reply may take back the answer that it gives; nothing if it does not."""
        held, text = mentions(read(reply), lexicon((self.premise,)), asking), _ASIDE.sub(" ", plain(reply))
        if gives_up(in_own_words(self._beside_stale(reply, asking, given))):
            return "does not know" if self.stale or not _over(given, reply) else _DOUBTS
        if all(_left(m, reply) for m in given):
            return "may say that this is over"
        if all(_governed(m, reply) for m in given) or any(_governed(m, reply) for m in held):
            return "makes it depend on something"
        away = self.premise and (_AWAY.search(text) or (not held and _MAYBE.search(text)))
        return f"may take back {self.premise}" if away else ""

    def _beside_stale(self, reply: str, asking: str, given: Sequence[Mention]) -> str:
        """Return a reply without the clauses that name only what held before, such as `it cannot be Ghent any more`."""
        answers = {around(m, reply) for m in given}
        before = {around(m, reply) for m in mentions(read(reply), lexicon(self.stale), asking)}
        text = read(reply).text
        for clause in before - answers:
            text = text.replace(clause, " ")
        return text

    def wrong(self) -> Sequence[str]:
        """Return what would hold if something else had happened, and what is wrong of every value."""
        taken_back = f"It is no longer {self.premise}."
        return (
            *(f"It is {each}." for each in self.over),
            *([taken_back] if self.premise else []),
            f"It was {self.value}, but I don't know where it is now.",
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
        reply = _STAYS.sub(_STILL, reply)
        verdict = NamesOnly.judge(self, reply, turns)
        text, found = plain(reply), mentions(read(reply), self.candidates(), asked(turns))
        old, now = self.stale[-1], [m for m in found if m.asserted]
        if verdict.score and _beside(now, reply):
            return Verdict(Outcome.UNDECIDED, 0.0, f"{verdict.reason}, and {old} beside it")
        if verdict.outcome is Outcome.UNDECIDED and now and all(m.value == self.value for m in now):
            return Verdict(Outcome.CORRECT, 1.0, f"the reply says {self.value}, and not {old}")
        if any(m.value != old for m in found) or verdict.outcome not in (*_HELD, Outcome.ABSTAINED):
            return verdict
        gone = [m.denied or m.time in _OVER or _left(m, reply) for m in found]
        if all(gone) if found else _GONE.search(text):
            return Verdict(Outcome.CORRECT, 1.0, f"the reply says that it is no longer {old}")
        if verdict.outcome in _HELD and (_AWAY.search(text) or (not found and _MAYBE.search(text))):
            return Verdict(Outcome.UNDECIDED, 0.0, f"the reply may say that it is no longer {old}")
        taken = Verdict(Outcome.STALE, 0.0, f"the reply takes {old} for granted")
        return taken if not found and verdict.outcome is Outcome.WRONG else verdict

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
        said = _NOBODY.sub("I don't know", _STAYS.sub(_STILL, reply))
        verdict = NeverSaid.judge(self, said, turns)
        found = [m for m in mentions(read(said), self.candidates(), asked(turns)) if not m.denied]
        if verdict.score or not found or any(m.value not in self.near for m in found):
            return verdict
        told = _over(found, said)
        if gives_up(in_own_words(said)):
            reason = f"the reply says that it is no longer known, and mentions {self.near[0]}"
            return Verdict(Outcome.CORRECT if told else Outcome.UNDECIDED, float(told), reason)
        reason = f"the reply says {self.near[0]}, which is no longer known"
        return Verdict(Outcome.UNDECIDED if told else Outcome.STALE, 0.0, reason)

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
