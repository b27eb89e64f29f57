"""`picks`: the reply picks one of several numbered options."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.core.words import listed
from ltm_bench.matchers.reading import Decision, Lexicon, Mention, Reading, mentions, read, resolve
from ltm_bench.matchers.reading.doubting import RECITAL, DoubtingMatcher, unanswered
from ltm_bench.matchers.reading.json_values import last_readable
from ltm_bench.matchers.reading.numbers import ONES

_ORDINALS = listed("ordinals")
_NOUNS = ("option", "number", "choice", "beginning", "answer", "no", "candidate", "alternative")
_COUNTED = ("option", "one", "choice", "beginning", "passage", "excerpt", "text", "opening", "of")
_BRIEF = 4
"""Maximum words, besides figures, in a sentence that is little more than a number."""
_FEW = 3
_MOST = 400
"""Maximum characters of a sentence whose words are counted."""

_NONE = re.compile(r"(?:none|neither)\b.{0,40}", re.IGNORECASE)
_NUMBERED = re.compile(r"^(\W{0,4}\d{1,2})[.)](?=\s)", re.MULTILINE)


@lru_cache(maxsize=64)
def _named(of: int) -> Lexicon:
    """Return the ways to name an option as such: `option 3`, `the third one`."""
    return Lexicon({str(n): tuple(_names(n, of)) for n in range(1, of + 1)}, shortened=False)


@lru_cache(maxsize=64)
def _figures(of: int) -> Lexicon:
    """Return the numbers alone, which may also count something else."""
    ways = {str(n): [str(n), *ONES[max(2, n) : n + 1]] for n in range(1, of + 1)}  # `one` is a pronoun
    for n, said in ways.items():
        said += [each if " " in each else f"the {each}" for each in _places(int(n), of)]
    return Lexicon(ways, shortened=False)


def _names(n: int, of: int) -> list[str]:
    counted = [f"{each} {noun}" for noun in _COUNTED for each in _places(n, of)]
    return counted + [f"{noun} {figure}" for noun in _NOUNS for figure in (str(n), *ONES[n : n + 1])]


def _places(n: int, of: int) -> list[str]:
    """Return the words for the place of an option, from the first or to the last."""
    from_last = {0: ["last"], 1: ["second to last", "next to last", "penultimate"]}.get(of - n, [])
    return [*_ORDINALS[n - 1 : n], f"{n}th", *from_last]


@dataclass(frozen=True, slots=True)
class Picks(DoubtingMatcher):
    """Right if the reply settles on this option, whatever it says about the others."""

    version: ClassVar[int] = 4

    option: int
    """From 1."""
    of: int
    """How many options there are."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the option that the reply settles on."""
        decision = self._decided(reply)
        picked, said = [int(value) for value in decision.values], ", ".join(decision.values)
        if picked == [self.option]:
            return Verdict(Outcome.CORRECT, 1.0, f"option {self.option} is picked")
        if len(picked) > max(_FEW, self.of // 2):
            return RECITAL
        if len(picked) > 1 and not decision.sure and self.option in picked and len(picked) <= _FEW:
            return Verdict(Outcome.UNDECIDED, 0.0, f"the reply may pick any of {said}")
        if picked:
            return Verdict(Outcome.WRONG, 0.0, f"option {said} is picked, expected option {self.option}")
        if _NONE.fullmatch(reply.strip()):
            return Verdict(Outcome.WRONG, 0.0, "the reply picks none of them")
        if mentions(read(reply), _named(self.of)):
            return Verdict(Outcome.WRONG, 0.0, "the reply only says which option is wrong")
        return unanswered(reply, Outcome.MALFORMED, "no option is picked")

    def _decided(self, reply: str) -> Decision:
        """Return the options that the reply settles on."""
        if (stated := last_readable(reply, _last)) is not None:
            reply = stated
        if len(_NUMBERED.findall(reply)) == 1:  # `6. Option 2 would be …` is not a list
            reply = _NUMBERED.sub(r"\1 -", reply)
        reading = read(reply)
        named = mentions(reading, _named(self.of))
        taken = {m.end for m in named}
        figures = [m for m in mentions(reading, _figures(self.of)) if m.end not in taken or m.start < 0]
        alone = [m for m in figures if _may_decide(m, reading)]
        strong = [m for m in alone if m.lead or m.final]
        decision = resolve([*named, *strong] if named or strong else alone)
        return decision if decision.values else resolve([*named, *alone])

    def right(self) -> Sequence[str]:
        """Return the number alone, in a sentence, and after another option that is ruled out."""
        other, mine = self.option % self.of + 1, str(self.option)
        ruled_out = f"Option {other} contradicts the story. My answer is {mine}."
        return (mine, f"I think that it is option {mine}.", ruled_out)

    def wrong(self) -> Sequence[str]:
        """Return another number, all numbers, none, and an abstention."""
        other, every = str(self.option % self.of + 1), " ".join(str(i + 1) for i in range(self.of))
        return (other, every, f"It is not option {self.option}.", "I cannot tell.", "")

    @property
    def chance(self) -> float:
        """One over the number of options."""
        return 1 / self.of


def _may_decide(mention: Mention, reading: Reading) -> bool:
    """Whether a number can be the choice; a story is full of other numbers."""
    block = reading.blocks[mention.block]
    sentence = block.text[mention.within[0] : mention.within[1]][:_MOST]
    brief = sum(any(map(str.isalpha, word)) for word in sentence.split()) <= _BRIEF
    return brief or reading.announces(mention.start) or mention.lead or mention.final


def _last(value: Any) -> str | None:
    """Read a choice from JSON: its last field, after any reasoning."""
    held = list(value.values())[-1:] if isinstance(value, Mapping) else [value]
    return str(held[0]) if held and isinstance(held[0], int | str) and not isinstance(held[0], bool) else None


def picks(option: int, *, of: int) -> Picks:
    """Expect option number `option` of `of`, counted from 1."""
    return Picks(option, of)


EXAMPLES: tuple[Matcher, ...] = (picks(3, of=6),)
"""Examples for the tests that guard every matcher."""
