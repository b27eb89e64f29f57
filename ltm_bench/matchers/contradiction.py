"""`both_said`: two statements contradict each other, and the reply names both instead of picking one."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import Lexicon, Mention, Reading, Time, lexicon, mentions, read, words
from ltm_bench.matchers.reading.abstaining import notices_conflict
from ltm_bench.matchers.reading.cues import Effect, cues
from ltm_bench.matchers.reading.doubting import RECITAL, RECITES, DoubtingMatcher, asked, unanswered

_FEW = 3
_SETTLED = "both are named, but the reply settles on"
_ORDER = {("latest",), ("recent*",), ("last",)}
"""Words that tell when something was said rather than what holds: `most recently Ghent, before that Porto`."""
_YOU = re.compile(r"\byou(?:'\w+)?\b")


def _settled(reading: Reading, found: Sequence[Mention]) -> set[str]:
    """Return the values that the reply concludes with, or says hold now, unless the other one is beside them.

    A value that merely comes next (`Ghent, then Porto`) tells the order in which both were said, unless the reply
    speaks of a change.
    """
    found_cues = cues(tuple(words(reading.text)))
    change = any(cue.effect is Effect.CHANGES for cue in found_cues)
    holds = change or not _ORDER.issuperset(cue.words for cue in found_cues if cue.effect is Effect.NOW)
    return {m.value for m in found if m.final or (m.time is Time.NOW and holds and (change or not m.next))}


def _is_reported(mention: Mention, reading: Reading) -> bool:
    """Whether the sentence that names something says that the user did: `… Earlier you said Porto`."""
    return _YOU.search(reading.blocks[mention.block].text[slice(*mention.within)]) is not None


@dataclass(frozen=True, slots=True)
class BothSaid(DoubtingMatcher):
    """Right if the reply says both values and settles on neither; half right if it names both and settles on one."""

    version: ClassVar[int] = 3
    concludes: ClassVar[bool] = True
    certain: ClassVar[Collection[str]] = (RECITES, _SETTLED)

    one: str
    other: str
    among: tuple[str, ...]
    """Every value that could have been told."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge which of the two values the reply says, and whether it settles on one."""
        reading = read(reply)
        found = mentions(reading, self.candidates(), asked(turns))
        if not found:
            return unanswered(reply, Outcome.WRONG, "neither of the two is named")
        named = list(dict.fromkeys(m.value for m in found))
        if len(named) > max(_FEW, len(self.among) // 2):
            return RECITAL
        if strange := [value for value in named if value not in (self.one, self.other)]:
            return Verdict(Outcome.WRONG, 0.0, f"the reply says {', '.join(strange)}, not told of it")
        if len(named) == 1:
            return Verdict(Outcome.WRONG, 0.0, f"the reply says {named[0]}, as though that had been all")
        return self._weighed(reading, found, conflict=notices_conflict(reply))

    def _weighed(self, reading: Reading, found: Sequence[Mention], *, conflict: bool) -> Verdict:
        """Judge whether a reply that names both settles on one of them."""
        settled = set[str]() if conflict else _settled(reading, found)
        given_up = {m.value for m in found if m.denied}
        if len(settled) == 1 or len(given_up) == 1:
            value = next(iter(settled)) if len(settled) == 1 else ({self.one, self.other} - given_up).pop()
            return Verdict(Outcome.PARTIAL, 0.5, f"{_SETTLED} {value}")
        lead = next((m for m in found if m.lead and not conflict), None)
        rest = [m for m in found if lead and m.value != lead.value]
        if lead and not any(m.sentence == lead.sentence or _is_reported(m, reading) for m in rest):
            reason = f"the reply says {lead.value}, and may only name the other"
            return Verdict(Outcome.UNDECIDED, 0.0, reason)
        return Verdict(Outcome.CORRECT, 1.0, f"the reply says both {self.one} and {self.other}")

    def candidates(self) -> Lexicon:
        """Return every value that could have been told."""
        return lexicon(self.among)

    def sought(self) -> Collection[str]:
        """Return both values."""
        return (self.one, self.other)

    def in_words(self) -> str:
        """Say that both were told."""
        both = f"Both {self.one} and {self.other} were told, and they cannot both be right. A good reply says both, or "
        return f"{both}asks which; half is given for naming both and settling on one."

    def right(self) -> Sequence[str]:
        """Return both, with and without a remark, and a question back."""
        asked = f"That is not clear. Is it {self.one} or {self.other}? You have said both."
        return (f"{self.one} and {self.other}: you have told me both.", asked)

    def wrong(self) -> Sequence[str]:
        """Return each alone, all values, an abstention, and nothing."""
        every, change = ", ".join(self.among), f"It used to be {self.one}, but now it is {self.other}."
        return (f"It is {self.one}.", f"It is {self.other}.", f"{every}.", change, "I do not know.", "")

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
