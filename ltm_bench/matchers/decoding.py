"""`decodes`: the reply says in plain words what several coded messages mean."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.listening import Listener
from ltm_bench.matchers.reading import DENIAL, abstains, plain, words

Groups = tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]

_CANDIDATES = 2
"""Maximum meanings of a group that may be named, the right one included."""

_CLAUSE = re.compile(r"[.!?,;()\n]+|\b(?<!anything )but\b")
_HALF_OF_DAY = re.compile(r"\b([ap])\.\s?m\b\.?")


def _asserted(reply: str) -> list[str]:
    """Return the words of a reply without those that its clauses deny: `not at noon but at dusk`."""
    clauses = _CLAUSE.split(_HALF_OF_DAY.sub(r"\1m", plain(reply)))
    return [word for clause in clauses for word in words(DENIAL.split(clause, maxsplit=1)[0])]


@lru_cache(maxsize=64)
def _listener(groups: Groups) -> Listener[tuple[str, str]]:
    """Return a listener for the keywords, which may have several words, and what they mean."""
    return Listener(
        (keyword.split(), (group, meaning))
        for group, meanings in groups
        for meaning, keywords in meanings
        for keyword in keywords
    )


@dataclass(frozen=True, slots=True)
class Decodes(Matcher):
    """An equal share for every meaning that is named, and one share less, once, if others are named: guessing costs.

    A group of which everything is named, or three meanings and more, has not been decoded.
    """

    version: ClassVar[int] = 2

    expected: tuple[tuple[str, str], ...]
    """Group and meaning, e.g. `("when", "midnight")`."""
    groups: Groups
    """Each group's meanings with the words that express them."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the keywords in the reply, in any case and number."""
        heard = {meant for *_, meant in _listener(self.groups).hear(_asserted(reply))}
        hits: list[float] = []
        notes: list[str] = []
        guessed = False
        for group, meaning in self.expected:
            named = self._named(heard, group)
            most = min(_CANDIDATES, len(dict(self.groups)[group]) - 1)
            hits.append(float(meaning in named and len(named) <= max(1, most)))
            if named == [meaning]:
                continue
            guessed = guessed or bool(named)
            notes.append(f"{group}: {meaning} expected, {' and '.join(named) or 'nothing'} named")
        score = max(0.0, (sum(hits) - guessed) / len(hits))
        parts = tuple(hits)
        if not notes:
            return Verdict(Outcome.CORRECT, 1.0, "everything is decoded", parts)
        reason = "; ".join(notes)
        if score > 0:
            return Verdict(Outcome.PARTIAL, round(score, 6), reason, parts)
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty", parts)
        if not any(self._named(heard, group) for group, _ in self.expected) and abstains(reply):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know", parts)
        return Verdict(Outcome.WRONG, 0.0, reason, parts)

    def _named(self, heard: Set[tuple[str, str]], group: str) -> list[str]:
        return [meaning for meaning, _ in dict(self.groups)[group] if (group, meaning) in heard]

    def right(self) -> Sequence[str]:
        """Return the first keyword of every meaning, as a list and as prose."""
        said = [(group, dict(dict(self.groups)[group])[meaning][0]) for group, meaning in self.expected]
        return (
            "; ".join(f"{group}: {keyword}" for group, keyword in said),
            " ".join(f"As for {group}, it is {keyword.upper()}." for group, keyword in said),
        )

    def wrong(self) -> Sequence[str]:
        """Return every meaning, something else, and an abstention."""
        everything = [k for _, meanings in self.groups for _, keywords in meanings for k in keywords]
        chosen = dict(self.expected)
        other = [
            next(keywords[0] for meaning, keywords in meanings if meaning != chosen[group])
            for group, meanings in self.groups
            if group in chosen
        ]
        return (", ".join(everything), ", ".join(other), "I do not know.", "")


def decodes(expected: Mapping[str, str], groups: Mapping[str, Mapping[str, Sequence[str]]]) -> Decodes:
    """Expect one meaning per group; `groups` maps group to meaning to the words that express it."""
    return Decodes(
        tuple(expected.items()),
        tuple(
            (group, tuple((meaning, tuple(keywords)) for meaning, keywords in meanings.items()))
            for group, meanings in groups.items()
        ),
    )


EXAMPLES: tuple[Matcher, ...] = (
    decodes(
        {"when": "noon", "what": "rope"},
        {"when": {"noon": ("noon",), "dusk": ("dusk",)}, "what": {"rope": ("rope",), "lamp": ("lamp",)}},
    ),
)
"""What the tests that guard every matcher are run with."""
