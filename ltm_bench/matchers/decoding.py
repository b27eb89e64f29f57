"""`decodes`: the reply says in plain words what several coded messages mean."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.core.words import listed
from ltm_bench.matchers.reading import Lexicon, Mention, Reading, mentions, read, resolve, words
from ltm_bench.matchers.reading.abstaining import abstains, gives_example
from ltm_bench.matchers.reading.doubting import UNKNOWN, DoubtingMatcher
from ltm_bench.matchers.reading.numbers import in_days

Groups = tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]

_NEAR = 400
_LABEL = re.compile(r"(\w{1,40}) {0,4}:[^:]*$")

_SAME = {ways.split("|")[0]: ways.split("|") for ways in listed("meanings", "\n")}
"""What any speaker of English calls an hour, a place or a thing, so that no scenario needs to repeat it."""

_OTHER_THINGS = listed("other things", "|")
"""What is named with a word for a meaning, or was once listed for one, but is something else."""


@lru_cache(maxsize=64)
def _lexicon(meanings: tuple[tuple[str, tuple[str, ...]], ...]) -> Lexicon:
    """Return a lexicon of the meanings of a group, or of all of them; other things, which hide them, have none."""
    own = {way for _, keywords in meanings for way in keywords}  # what a scenario calls otherwise is another
    same = {m: [way for way in _SAME.get(m.lower(), ()) if way not in own] for m, _ in meanings}
    ways = {m: [in_days(way) for way in (*keywords, *same[m])] for m, keywords in meanings}
    return Lexicon({"": _OTHER_THINGS, **ways}, shortened=False)


def _label(mention: Mention, reading: Reading) -> str:
    """Return the last word of the label that stands before what is named: `When: noon`."""
    block = reading.blocks[mention.block]
    end = max(0, mention.start - block.start)
    label = _LABEL.search(block.text, max(0, end - _NEAR), end)
    return label[1] if label else "".join(words(" ".join(block.path[-1:]))[-1:])


@dataclass(frozen=True, slots=True)
class Decodes(DoubtingMatcher):
    """An equal share for every meaning that is given, and one share less, once, if others are: guessing costs."""

    version: ClassVar[int] = 5

    expected: tuple[tuple[str, str], ...]
    """Group and meaning, e.g. `("when", "midnight")`."""
    groups: Groups
    """Each group's meanings with the words that express them."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply gives as the meaning of each group."""
        reading = read(in_days(reply))
        used: list[Mention] = []
        labels = {_label(m, reading) for m in mentions(reading, self.candidates())}
        named: dict[str, tuple[str, ...]] = {}
        hits: list[float] = []
        for group, meaning in self.expected:
            found = [m for m in mentions(reading, _lexicon(dict(self.groups)[group])) if m.value]
            used += found
            if group in labels:
                found = [m for m in found if _label(m, reading) == group]
            named[group], hit = self._given(group, meaning, found)
            hits.append(float(hit))
        missed, parts = [each for each in self.expected if named[each[0]] != each[1:]], tuple(hits)
        if not missed:
            return Verdict(Outcome.CORRECT, 1.0, "everything is decoded", parts)
        said = {group: " and ".join(named[group]) or "none of its words" for group, _ in missed}
        reason = "; ".join(f"{group}: {meaning} expected, {said[group]} named" for group, meaning in missed)
        if abstains(reply) and (not used or gives_example(reply)):
            return replace(UNKNOWN, parts=parts)
        guessed = any(named[group] for group, _ in missed)
        if used and not guessed and (word := self.strange(reply, turns, ())) is not None:
            return Verdict(Outcome.UNDECIDED, 0.0, f"“{word}” may say the rest; {reason}", parts)
        score = max(0.0, (sum(parts) - guessed) / len(parts))
        return Verdict(Outcome.PARTIAL if score else Outcome.WRONG, round(score, 6), reason, parts)

    def candidates(self) -> Lexicon:
        """Return the words for all meanings."""
        return _lexicon(tuple(each for _, meanings in self.groups for each in meanings))

    def _given(self, group: str, meaning: str, found: Sequence[Mention]) -> tuple[tuple[str, ...], bool]:
        """Return what is given for a group, and whether it earns its share: with one other beside it, but no choice."""
        decision = resolve(found)
        given, choice = decision.values, all(m.choice for m in decision.evidence)
        beside = len(given) == 2 < len(dict(self.groups)[group]) and not choice
        return given, meaning in given and (len(given) == 1 or beside)

    def right(self) -> Sequence[str]:
        """Return the first keyword of every meaning, as a list and as prose."""
        said = [(group, dict(dict(self.groups)[group])[meaning][0]) for group, meaning in self.expected]
        listed = "; ".join(f"{group}: {keyword}" for group, keyword in said)
        return (listed, " ".join(f"As for {group}, it is {keyword.upper()}." for group, keyword in said))

    def wrong(self) -> Sequence[str]:
        """Return every meaning, something else, and an abstention."""
        everything = [words[0] for _, meanings in self.groups for _, words in meanings]
        other = [next(w for m, w in dict(self.groups)[g] if m != meaning)[0] for g, meaning in self.expected]
        return (", ".join(everything), ", ".join(other), "I do not know.", "")

    @property
    def chance(self) -> float:
        """The expected score of guessing one meaning alone: guessing more earns less, since a wrong one costs."""
        return max(1 / len(dict(self.groups)[group]) for group, _ in self.expected) / len(self.expected)


def decodes(expected: Mapping[str, str], groups: Mapping[str, Mapping[str, Sequence[str]]]) -> Decodes:
    """Expect one meaning per group; `groups` maps group to meaning to the words that express it."""
    told = {group: tuple((m, tuple(said)) for m, said in each.items()) for group, each in groups.items()}
    return Decodes(tuple(expected.items()), tuple(told.items()))


_KNOWN = {"when": {"noon": ("noon",), "dusk": ("dusk",)}, "what": {"rope": ("rope",), "lamp": ("lamp",)}}
EXAMPLES: tuple[Matcher, ...] = (decodes({"when": "noon", "what": "rope"}, _KNOWN),)
"""Examples for the tests that guard every matcher."""
