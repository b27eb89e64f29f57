"""`names_only`: the reply names one value of a known set, and no other as the answer."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import (
    Force,
    Lexicon,
    gives_up,
    last_readable,
    mentions,
    read,
    resolve,
)
from ltm_bench.matchers.reading.surplus import recites
from ltm_bench.matchers.unanswered import unanswered

_SHORT = 60
_PAIR = 2
"""Maximum number of candidates between which a reply may leave the choice open."""
_FEW = 3
"""Maximum number of candidates side by side among which a reply may mean one; more is a recital."""


@lru_cache(maxsize=64)
def _lexicon(among: tuple[str, ...], also: tuple[tuple[str, ...], ...] = ()) -> Lexicon:
    others = {value: names for value, *names in also}
    return Lexicon({value: (value, *others.get(value, ())) for value in among})


@dataclass(frozen=True, slots=True)
class NamesOnly(Matcher):
    """Right if the reply gives `value` as the answer; earlier values may be named as earlier ones."""

    version: ClassVar[int] = 2

    value: str
    among: tuple[str, ...]
    """Every value that could have been the answer, including this one."""
    stale: tuple[str, ...] = ()
    """Values that were right once."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply gives as its answer."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        stated = last_readable(reply, _single)
        if stated is not None:  # JSON was asked for, or given: the surrounding text only explains
            reply = stated
        found = mentions(read(reply), self._lexicon(), turns[-1].message.text if turns else "")
        if not found:
            return unanswered(reply, Outcome.WRONG, f"{self.value} is not named")
        named = list(dict.fromkeys(m.value for m in found))
        if recites(reply, turns, [(m.start, m.end) for m in found]):
            return Verdict(Outcome.WRONG, 0.0, "the reply recites what it was told")
        if gives_up(reply) and not any(m.asserted and m.force is Force.FLAT for m in found):
            return Verdict(
                Outcome.ABSTAINED, 0.0, f"the reply does not know, and guesses: {', '.join(named)}"
            )
        decision = resolve(found)
        if not decision.values:
            return Verdict(Outcome.WRONG, 0.0, f"the reply says what it is not: {', '.join(named)}")
        if len(decision.values) > (_PAIR if decision.sure else _FEW) or (
            len(decision.values) > 1 and self.value not in decision.values
        ):
            return Verdict(Outcome.WRONG, 0.0, f"several values are named: {', '.join(decision.values)}")
        if self.value in decision.values and (not decision.sure or len(decision.values) > 1):
            guess = decision.values[0]
            return Verdict(Outcome.UNDECIDED, 0.0, f"{decision.reason}; the best guess is {guess}")
        if all(m.attached for m in decision.evidence) and decision.evidence:
            return Verdict(Outcome.WRONG, 0.0, f"{self.value} is not named")
        answer = decision.values[0]
        if answer != self.value:
            outcome = Outcome.STALE if answer in self.stale else Outcome.WRONG
            return Verdict(outcome, 0.0, f"the reply says {answer}, expected {self.value}")
        return Verdict(Outcome.CORRECT, 1.0, f"the reply says {self.value}")

    def _lexicon(self) -> Lexicon:
        return _lexicon(self.among)

    def right(self) -> Sequence[str]:
        """Return the value alone, in a sentence, and with its history."""
        history = f"{self.value}. Before that it was {self.stale[-1]}." if self.stale else f"{self.value}."
        return (f"It is {self.value}.", self.value, f"You told me that it is {history}")

    def wrong(self) -> Sequence[str]:
        """Return another value, the stale ones, all values, none, and an abstention."""
        others = [v for v in self.among if v != self.value]
        return (
            *(f"It is {v}." for v in (*others[:1], *self.stale[-1:])),
            "It is " + ", ".join(self.among) + ".",
            f"It is not {self.value}.",
            "I do not know.",
            "",
        )

    @property
    def chance(self) -> float:
        """One over the number of candidates."""
        return 1 / max(1, len(self.among))


@dataclass(frozen=True, slots=True)
class NamesAlso(NamesOnly):
    """`NamesOnly` for values with other names, or values that must not be named beside the answer at all."""

    version: ClassVar[int] = 1

    also: tuple[tuple[str, ...], ...] = ()
    """Values, each with its other names after it: `("hat maker", "milliner", "hatter")`."""
    without: tuple[str, ...] = ()
    """Values that the reply must not even mention."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply gives as its answer, unless it mentions what it must not."""
        question = turns[-1].message.text if turns else ""
        if self.without and (found := mentions(read(reply), _lexicon(self.without), question)):
            return Verdict(Outcome.WRONG, 0.0, f"the reply mentions {found[0].value}")
        return NamesOnly.verdict(self, reply, turns)

    def _lexicon(self) -> Lexicon:
        return _lexicon(self.among, self.also)


def _single(value: Any) -> str | None:
    """Read `{"answer": "red"}`: an object that holds one short text, and nothing else."""
    held = list(value.values()) if isinstance(value, Mapping) else []
    return held[0] if len(held) == 1 and isinstance(held[0], str) and len(held[0]) <= _SHORT else None


def names_only(
    value: str,
    *,
    among: Collection[str],
    stale: Sequence[str] = (),
    also: Mapping[str, Sequence[str]] | None = None,
    without: Sequence[str] = (),
) -> NamesOnly:
    """Expect `value` and no other of `among`.

    Args:
        value: The answer.
        among: Every value that could have been the answer, this one included.
        stale: Earlier values; the value itself is never stale.
        also: Other names of values, such as `{"hat maker": ("milliner", "hatter")}`.
        without: Values that the reply must not mention at all, as a recital of the conversation would.

    Raises:
        ValueError: `among` lacks the value.
    """
    if value not in among:
        raise ValueError(
            f"names_only({value!r:.60}): among lacks this value; name every value, this one included"
        )
    earlier = tuple(v for v in dict.fromkeys(stale) if v != value)
    if not also and not without:
        return NamesOnly(value, tuple(among), earlier)
    named = also or {}
    others = tuple((name, *named[name]) for name in among if named.get(name))
    return NamesAlso(value, tuple(among), earlier, others, tuple(without))


EXAMPLES: tuple[Matcher, ...] = (
    names_only("red", among=("red", "blue", "light blue"), stale=("blue",)),
    names_only("red", among=("red", "blue", "green")),
    names_only(
        "hat maker", among=("hat maker", "cobbler", "tailor"), also={"hat maker": ("milliner", "hatter")}
    ),
)
"""Examples for the tests that guard every matcher."""
