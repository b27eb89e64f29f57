"""`picks`: the reply picks one of several numbered options."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import (
    Lexicon,
    Mention,
    Reading,
    abstains,
    json_values,
    mentions,
    plain,
    read,
    resolve,
    words,
)  # fmt: skip

_NUMBERS = "one two three four five six seven eight nine ten".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_NOUNS = ("option", "number", "choice", "beginning", "answer", "no", "candidate", "alternative")
_DECIDES = re.compile(
    r"\b(?:answer|choose|choosing|chose|pick|select|go with|going with|conclude|conclusion|therefore|final|"
    r"believe|think|"
    r"correct|right|true|best|likely|doubt|sure|fits|matches|so|only)\b|选|答案"
)
_BRIEF = 4
"""Maximum words, besides figures, in a sentence that is little more than a number."""
_FEW = 3
_MOST = 400
"""Maximum characters of a sentence searched for the deciding words."""

_OPTION = re.compile(rf"\b(?:{'|'.join(_NOUNS)})\s*\W{{0,4}}(\d{{1,3}}|{'|'.join(_NUMBERS)})\b")


@lru_cache(maxsize=64)
def _named(of: int) -> Lexicon:
    """Return the ways to name an option as such: `option 3`, `the third one`."""
    return Lexicon({str(n): tuple(_names(n)) for n in range(1, of + 1)}, shortened=False)


@lru_cache(maxsize=64)
def _figures(of: int) -> Lexicon:
    """Return the numbers alone, which may also count something else."""
    return Lexicon(
        {str(n): (str(n), *_NUMBERS[1:][n - 2 : n - 1]) for n in range(1, of + 1)}, shortened=False
    )


def _names(n: int) -> list[str]:
    figures = [str(n), *_NUMBERS[n - 1 : n]]
    ordinal = _ORDINALS[n - 1] if n <= len(_ORDINALS) else f"{n}th"
    return [f"{noun} {figure}" for noun in _NOUNS for figure in figures] + [
        f"{ordinal} {noun}" for noun in ("option", "one", "choice", "beginning", "of")
    ]


@dataclass(frozen=True, slots=True)
class Picks(Matcher):
    """Right if the reply settles on this option, whatever it says about the others."""

    version: ClassVar[int] = 2

    option: int
    """From 1."""
    of: int
    """How many options there are."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the option that the reply settles on."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        picked, sure = self._picked(reply)
        if picked == [self.option]:
            return Verdict(Outcome.CORRECT, 1.0, f"option {self.option} is picked")
        if len(picked) > 1 and not sure and self.option in picked and len(picked) <= _FEW:
            return Verdict(Outcome.UNDECIDED, 0.0, f"the reply may pick any of {', '.join(map(str, picked))}")
        if len(picked) > 1:
            return Verdict(Outcome.WRONG, 0.0, f"several options are picked: {', '.join(map(str, picked))}")
        if picked:
            return Verdict(Outcome.WRONG, 0.0, f"option {picked[0]} is picked, expected {self.option}")
        if {"none", "neither", "nothing"} & set(words(reply)) and len(words(reply)) > 1:
            return Verdict(Outcome.WRONG, 0.0, "the reply picks none of them")
        if abstains(reply):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        if any(True for _ in mentions(read(reply), _named(self.of))):
            return Verdict(Outcome.WRONG, 0.0, "the reply only says which option is wrong")
        return Verdict(Outcome.MALFORMED, 0.0, "no option is picked")

    def _picked(self, reply: str) -> tuple[list[int], bool]:
        """Return the options that the reply settles on, and whether that is certain."""
        for value in json_values(reply):
            held = list(value.values())[-1:] if isinstance(value, Mapping) else [value]
            found = _whole(held[0]) if held else None
            if found is not None:
                return ([found] if 1 <= found <= self.of else []), True
        reading = read(reply)
        named = list(mentions(reading, _named(self.of)))
        alone = [m for m in mentions(reading, _figures(self.of)) if _may_decide(m, reading)]
        strong = [m for m in alone if m.lead or m.final]
        decision = resolve(named + strong) if named or strong else resolve(alone)
        if not decision.values and alone:
            decision = resolve([*named, *alone])
        return [int(value) for value in decision.values], decision.sure

    def right(self) -> Sequence[str]:
        """Return the number alone, in a sentence, and after another option that is ruled out."""
        other = self.option % self.of + 1
        return (
            str(self.option),
            f"I think that it is option {self.option}.",
            f"Option {other} contradicts the story. My answer is {self.option}.",
        )

    def wrong(self) -> Sequence[str]:
        """Return another number, all numbers, none, and an abstention."""
        other = self.option % self.of + 1
        return (
            str(other),
            " ".join(str(i + 1) for i in range(self.of)),
            f"It is not option {self.option}.",
            "I cannot tell.",
            "",
        )

    @property
    def chance(self) -> float:
        """One over the number of options."""
        return 1 / self.of


def _may_decide(mention: Mention, reading: Reading) -> bool:
    """Whether a number can be the choice; a story is full of other numbers."""
    block = reading.blocks[mention.block]
    if mention.start < 0:
        return True
    sentence = block.text[mention.within[0] : mention.within[1]][:_MOST]
    if block.text[mention.end - block.start :][:2].lstrip()[:1] == "%":
        return False
    brief = sum(any(map(str.isalpha, word)) for word in sentence.split()) <= _BRIEF
    return brief or mention.lead or mention.final or mention.denied or _DECIDES.search(sentence) is not None


def _alone(sentence: str) -> int | None:
    """Read a sentence that is a number and nothing else: `3`, `3.`, `#3`, `three`."""
    bare = sentence.strip(" .#():\"'")
    return (
        int(bare)
        if bare.isdecimal() and len(bare) < 4
        else _NUMBERS.index(bare) + 1
        if bare in _NUMBERS
        else None
    )


def _whole(value: Any) -> int | None:
    """Read a choice from JSON: a whole number, or a text that is one, or that names an option and nothing else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    if isinstance(value, int):
        return value
    text = plain(value).strip()
    option = _OPTION.fullmatch(text.rstrip("."))
    return _alone(option.group(1)) if option else _alone(text)


def picks(option: int, *, of: int) -> Picks:
    """Expect option number `option` of `of`, counted from 1."""
    return Picks(option, of)


EXAMPLES: tuple[Matcher, ...] = (picks(3, of=6),)
"""Examples for the tests that guard every matcher."""
