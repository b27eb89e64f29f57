"""`formerly`: the reply says what held before. Here the words that usually set a value aside point to the answer."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import Force, Mention, Reading, Time, gives_up, mentions, read
from ltm_bench.matchers.reading.doubting import RECITAL, OneOf, unanswered

_FEW = 3
"""Maximum number of values among which a reply may mean one; more is a recital."""


def _before(found: Sequence[Mention], reading: Reading) -> list[str]:
    """Return what a reply says held before, not what it says holds now or came next.

    If nothing came later, the replaced value is the one that something else preceded: `before the lido, it was the
    hall`.
    """
    later = {m.value for m in found if m.time is Time.NOW or m.next}
    named = list(dict.fromkeys(m.value for m in found))
    if len(named) == 1:
        kept = (m.time is not Time.NOW and not m.next for m in found)
        return named if any(kept) or any(reading.announces(m.start) for m in found) else []
    set_aside = later or {m.value for m in found if m.time is Time.REPLACED}
    concluded = list(dict.fromkeys(m.value for m in found if m.final and m.bare))
    return concluded or [value for value in named if value not in set_aside]


@dataclass(frozen=True, slots=True)
class Formerly(OneOf):
    """Right if the reply gives `value` as its answer, or says that it, and no other, held before."""

    version: ClassVar[int] = 3

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply says held before; the question's words are cues here like any others."""
        reading = read(reply)
        found = mentions(reading, self.candidates())
        if not found:
            return unanswered(reply, Outcome.WRONG, f"{self.value} is not named")
        if gives_up(reply) and not any(m.force is Force.FLAT and not m.denied for m in found):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply does not know, and guesses")
        before = _before([m for m in found if not m.denied], reading)
        if before == [self.value]:
            return Verdict(Outcome.CORRECT, 1.0, f"the reply says {self.value}")
        if len(before) > max(_FEW, len(self.among) // 2):
            return RECITAL
        said = ", ".join(before) or "what it was not, or what came later"
        if self.value in before and len(before) <= _FEW:
            return Verdict(Outcome.UNDECIDED, 0.0, f"several values are given: {said}")
        return Verdict(Outcome.WRONG, 0.0, f"the reply says {said}, expected {self.value}")

    def in_words(self) -> str:
        """Say what held before."""
        return f"It was {self.value} before. A good reply says so, whatever it says of what came later."

    def right(self) -> Sequence[str]:
        """Return the value alone, as a former value, and with its successor."""
        first = f"It was {self.value} at first"
        then = next((f", and then {value}" for value in self.among if value != self.value), "")
        return (f"{self.value}.", f"Originally it was {self.value}.", f"{first}{then}.")


def formerly(value: str, *, among: Collection[str]) -> Formerly:
    """Expect `value` as what held before, and no other of `among`."""
    return Formerly(value, tuple(among))


EXAMPLES: tuple[Matcher, ...] = (formerly("town hall", among=("town hall", "boathouse", "lido", "dairy")),)
"""Examples for the tests that guard every matcher."""
