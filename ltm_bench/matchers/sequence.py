"""`in_order`: the reply names several things from the first to the last; Kendall's tau-b times F1, as in BEAM.

Unlike in BEAM, an order that is no better than chance earns nothing: tau below 0 counts as 0.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from math import sqrt
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.lists import read_strings
from ltm_bench.matchers.reading import Form, last_readable, lexicon, mentions, read
from ltm_bench.matchers.reading.doubting import DoubtingMatcher, unanswered

_TURNED_ROUND = re.compile(r"\b(?:after|before|followed|preceded|prior|previous|until|last)\b")
"""Words that let a sentence name the later thing first."""

_SURELY = 7
"""Maximum number of things for which all orders are tried."""


def tau_b(gold: Sequence[str], said: Sequence[str]) -> float:
    """Return Kendall's tau-b of two orders; things missing from one come last in it, tied."""
    union = list(dict.fromkeys([*gold, *said]))
    last = len(union) + 1
    places = [{v: order.index(v) if v in order else last for v in union} for order in (gold, said)]
    agree = ours = theirs = 0
    for a, b in combinations(union, 2):
        one, other = (places[i][a] - places[i][b] for i in (0, 1))
        ours += one != 0
        theirs += other != 0
        agree += (one * other > 0) - (one * other < 0)
    return agree / sqrt(ours * theirs) if ours and theirs else 0.0


def f1(gold: Sequence[str], said: Sequence[str]) -> float:
    """Return F1 of the named things, in any order; each thing counts once."""
    hits = len(set(gold) & set(said))
    return 2 * hits / (len(gold) + len(said)) if hits else 0.0


@lru_cache(maxsize=16)
def _by_luck(many: int) -> float:
    """Return the average score of a random order of the right things."""
    gold = [str(i) for i in range(min(many, _SURELY))]
    scores = [max(0.0, tau_b(gold, said)) for said in permutations(gold)]
    return sum(scores) / len(scores)


@dataclass(frozen=True, slots=True)
class InOrder(DoubtingMatcher):
    """`max(0, tau_b) * F1` of the order that the reply gives."""

    version: ClassVar[int] = 4
    concludes: ClassVar[bool] = True

    values: tuple[str, ...]
    """The values, earliest first."""
    among: tuple[str, ...]
    """Every value that could have been told."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the order in which a list, or else the text, names things."""
        listed = last_readable(reply, read_strings)
        said = self._listed(listed) if listed is not None else self._named(reply)
        if not said:
            return unanswered(reply, Outcome.MALFORMED, "no order can be read from the reply")
        tau, found = max(0.0, tau_b(self.values, said)), f1(self.values, said)
        score = min(round(tau * found, 6), 0.999)  # 1 is for the order alone
        reason = f"{', '.join(said[:12])}: tau-b {tau:.2f}, F1 {found:.2f}"
        if tuple(said) == self.values:
            return Verdict(Outcome.CORRECT, 1.0, reason)
        prose = (block.text for block in read(reply).blocks if block.form is Form.PROSE)
        if listed is None and any(map(_TURNED_ROUND.search, prose)):
            return Verdict(Outcome.UNDECIDED, 0.0, "the reply gives the order in sentences")
        if unknown := [each for each in said if each[0] == "“"][: len({*self.values}.difference(said))]:
            return Verdict(Outcome.UNDECIDED, 0.0, f"{unknown[0]} may be another word for what is missing")
        return Verdict(Outcome.PARTIAL if score else Outcome.WRONG, score, reason)

    def _listed(self, listed: Sequence[str]) -> list[str]:
        """Return the values that the entries of a list name; an entry that names none is an extra."""
        heard = [(entry, mentions(read(entry), lexicon(self.among))) for entry in listed[:200]]
        return list(dict.fromkeys(named[0].value if named else f"“{entry[:40]}”" for entry, named in heard))

    def _named(self, reply: str) -> list[str]:
        found = mentions(read(reply), lexicon(self.among))
        return list(dict.fromkeys(m.value for m in found if not m.denied))

    def right(self) -> Sequence[str]:
        """Return the order as JSON, as a numbered list, and with arrows."""
        numbered = "\n".join(f"{i}. {value}" for i, value in enumerate(self.values, start=1))
        return (json.dumps(self.values), numbered, " → ".join(self.values))

    def wrong(self) -> Sequence[str]:
        """Return the order reversed, with two neighbours swapped, all candidates, an abstention, and an empty reply."""
        first, second, *rest = self.values
        turned, swapped = json.dumps([*reversed(self.values)]), ", ".join([second, first, *rest])
        return (turned, swapped, ", ".join(sorted(self.among)), "I do not know.", "")

    @property
    def chance(self) -> float:
        """An upper bound for as many random candidates in random order."""
        return _by_luck(len(self.values)) * len(self.values) / max(len(self.among), len(self.values))


def in_order(values: Sequence[str], *, among: Collection[str]) -> InOrder:
    """Expect these values, earliest first; `among` is every value that could have been told."""
    return InOrder(tuple(values), tuple(among))


_WORKS = ("roof", "stove", "well", "gate", "fence", "attic")
EXAMPLES: tuple[Matcher, ...] = (in_order(["well", "roof", "stove", "gate"], among=_WORKS),)
"""Examples for the tests that guard every matcher."""
