"""`decodes`: the reply says in plain words what several coded messages mean."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import (
    Lexicon,
    Mention,
    Reading,
    abstains,
    answer,
    is_foreign,
    mentions,
    read,
    resolve,
    words,
)  # fmt: skip
from ltm_bench.matchers.reading.surplus import recites
from ltm_bench.matchers.thesaurus import OTHER_THINGS, ways

Groups = tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]

_MANY = 4
"""Minimum number of meanings of a group for naming them to count as listing them."""

_HALF_OF_DAY = re.compile(r"\b([ap])\.\s?m\b\.?")
_NIGHT = r"(?:at night|in the night|am|midnight|uhr nachts)"
_TWELVE = (
    (re.compile(r"\b(?:24[:.h]?(?:00)?|0?0[:.h]00)\b(?:\s*(?:h|hours|hrs|uhr|am|o'clock))?"), " midnight "),
    (re.compile(rf"\b(?:12(?:[:.]00)?|twelve)\s*(?:o'clock)?,?\s*{_NIGHT}\b"), " midnight "),
    (
        re.compile(
            r"\b12(?:[:.]00)?\s*(?:pm|noon|h|hrs|hours|uhr|o'clock)\b|\b(?:12[:.]00|1200)\b|\btwelve o'clock\b"
        ),
        " noon ",
    ),
)
"""The hours that have names."""


def _named_hours(reply: str) -> str:
    """Return a reply in which the two hours with names are called by them, however the clock is written."""
    text = _HALF_OF_DAY.sub(r"\1m", reply.replace("’", "'"))
    for written, name in _TWELVE:
        text = written.sub(name, text) if any(map(str.isdigit, text)) or "twelve" in text else text
    return text


@lru_cache(maxsize=64)
def _lexicon(groups: Groups, group: str) -> Lexicon:
    """Return a lexicon of a group's meanings, with the words that always mean the same."""
    return Lexicon(
        {meaning: ways(meaning, keywords) for meaning, keywords in dict(groups)[group]}, shortened=False
    )


def _another(mention: Mention, reading: Reading) -> bool:
    """Whether the word is part of another thing's name: a police station, a rope ladder."""
    text = reading.blocks[mention.block].text
    if mention.start < 0:
        return False
    at = reading.blocks[mention.block].start
    before = words(text[max(0, mention.start - at - 30) : mention.start - at])[-1:]
    after = words(text[mention.end - at : mention.end - at + 30])[:1]
    name = words(text[mention.start - at : mention.end - at])
    return any((*before, *name) == other or (*name, *after) == other for other in OTHER_THINGS)


@dataclass(frozen=True, slots=True)
class Decodes(Matcher):
    """An equal share for every meaning that is given, and one share less, once, if others are: guessing costs."""

    version: ClassVar[int] = 3

    expected: tuple[tuple[str, str], ...]
    """Group and meaning, e.g. `("when", "midnight")`."""
    groups: Groups
    """Each group's meanings with the words that express them."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply gives as the meaning of each group."""
        if not reply.strip():
            none = tuple(0.0 for _ in self.expected)
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty", none)
        reading = read(_named_hours(answer(reply).lower()))
        hits: list[float] = []
        notes: list[str] = []
        used: list[tuple[int, int]] = []
        guessed = named_any = False
        for group, meaning in self.expected:
            found = [m for m in mentions(reading, _lexicon(self.groups, group)) if not _another(m, reading)]
            used += [(m.start, m.end) for m in found]
            named_any = named_any or bool(found)
            decision = resolve(found)
            given = decision.values
            if any(m.value == meaning for m in found) and len({m.value for m in found}) >= _MANY:
                given = tuple(dict.fromkeys(m.value for m in found))
            beside = len(given) == 2 < len(dict(self.groups)[group]) and not all(
                m.choice for m in decision.evidence
            )
            hits.append(float(given == (meaning,) or (beside and meaning in given)))
            if given == (meaning,):
                continue
            guessed = guessed or bool(given)
            notes.append(f"{group}: {meaning} expected, {' and '.join(given) or 'nothing'} named")
        parts = tuple(hits)
        if named_any and recites(reply, turns, used):
            return Verdict(Outcome.WRONG, 0.0, "the reply recites what it was told", tuple(0.0 for _ in hits))
        score = max(0.0, (sum(hits) - guessed) / len(hits))
        if not notes:
            return Verdict(Outcome.CORRECT, 1.0, "everything is decoded", parts)
        reason = "; ".join(notes)
        if is_foreign(reply) and not (not named_any and abstains(reply)):
            return Verdict(Outcome.UNDECIDED, 0.0, "the reply is in a language that no matcher reads", parts)
        if score > 0:
            return Verdict(Outcome.PARTIAL, round(score, 6), reason, parts)
        if not named_any and abstains(reply):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know", parts)
        return Verdict(Outcome.WRONG, 0.0, reason, parts)

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
"""Examples for the tests that guard every matcher."""
