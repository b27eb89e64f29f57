"""`formerly`: the reply says what held before. Here the words that usually set a value aside point to the answer."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import (
    Force,
    Lexicon,
    Mention,
    Time,
    gives_up,
    mentions,
    read,
)
from ltm_bench.matchers.reading.surplus import recites
from ltm_bench.matchers.unanswered import unanswered

_FEW = 3
"""Maximum number of values among which a reply may mean one; more is a recital."""


@lru_cache(maxsize=64)
def _lexicon(among: tuple[str, ...]) -> Lexicon:
    return Lexicon.of(among)


def _before(found: Sequence[Mention]) -> list[str]:
    """Return what a reply says held before, not what it says holds now or came next.

    If nothing came later, the replaced value is the one that something else preceded: `before the lido, it was the
    hall`.
    """
    named = list(dict.fromkeys(m.value for m in found))
    if len(named) == 1:
        return named
    later = {m.value for m in found if m.time is Time.NOW or m.next}
    set_aside = later or {m.value for m in found if m.time is Time.REPLACED}
    return [value for value in named if value not in set_aside]


@dataclass(frozen=True, slots=True)
class Formerly(Matcher):
    """Right if the reply gives `value` as its answer, or says that it, and no other, held before."""

    value: str
    among: tuple[str, ...]
    """Every value that could have been the answer, including this one."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply says held before; the question's words are cues here like any others."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        found = mentions(read(reply), _lexicon(self.among))
        if not found:
            return unanswered(reply, Outcome.WRONG, f"{self.value} is not named")
        if recites(reply, turns, [(m.start, m.end) for m in found]):
            return Verdict(Outcome.WRONG, 0.0, "the reply recites what it was told")
        if gives_up(reply) and not any(m.force is Force.FLAT and not m.denied for m in found):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply does not know, and guesses")
        before = _before([m for m in found if not m.denied])
        if before == [self.value]:
            return Verdict(Outcome.CORRECT, 1.0, f"the reply says {self.value}")
        said = ", ".join(before[:_FEW]) or "what it was not, or what came later"
        if self.value in before and len(before) <= _FEW:
            return Verdict(Outcome.UNDECIDED, 0.0, f"several values are given: {said}")
        return Verdict(Outcome.WRONG, 0.0, f"the reply says {said}, expected {self.value}")

    def in_words(self) -> str:
        """Say what held before."""
        return f"It was {self.value} before. A good reply says so, whatever it says of what came later."

    def right(self) -> Sequence[str]:
        """Return the value alone, as a former value, and with its successor."""
        other = next((value for value in self.among if value != self.value), "")
        return (
            f"{self.value}.",
            f"Originally it was {self.value}.",
            f"It was {self.value} at first, and then {other}." if other else f"It was {self.value} at first.",
        )

    def wrong(self) -> Sequence[str]:
        """Return another value, alone and as a former value, all of them, none, and an abstention."""
        others = [value for value in self.among if value != self.value][:1]
        return (
            *(f"{value}." for value in others),
            *(f"Originally it was {value}." for value in others),
            "It was " + ", ".join(self.among) + ".",
            f"It was never {self.value}.",
            "I do not know.",
            "",
        )

    @property
    def chance(self) -> float:
        """One over the number of candidates."""
        return 1 / max(1, len(self.among))


def formerly(value: str, *, among: Collection[str]) -> Formerly:
    """Expect `value` as what held before, and no other of `among`."""
    return Formerly(value, tuple(among))


EXAMPLES: tuple[Matcher, ...] = (
    formerly("town hall", among=("town hall", "boathouse", "lido", "old dairy")),
)
"""Examples for the tests that guard every matcher."""
