"""`picks`: the reply picks one of several numbered options."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import DENIAL, abstains, json_values, plain

_NUMBERS = "one two three four five six seven eight nine ten".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_DIGITS = re.compile(r"(?<![\w.,/⁄])#?(\d{1,3})(?![\w/⁄]|[.,]\d|%)")
_OPTION = re.compile(
    rf"\b(?:option|number|choice|beginning|no\.?|answer(?: is| would be)?)\s*\W{{0,4}}"
    rf"(\d{{1,3}}|{'|'.join(_NUMBERS)})\b"
)
_NTH = re.compile(rf"\b({'|'.join(_ORDINALS)}) (?:option|one|choice|beginning|of)\b")
_WORDS = re.compile(rf"\b({'|'.join(_NUMBERS[1:])})\b")  # `one` alone is a pronoun
_DECIDES = re.compile(
    r"\b(?:answer|choose|choosing|pick|select|go with|going with|conclude|conclusion|therefore|final|believe|think|"
    r"correct|right|true|best|likely)\b"
)
_BRIEF = 4
"""Maximum number of words, apart from figures, in a sentence that is little more than a number."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def _value(text: str) -> int:
    for known in (_NUMBERS, _ORDINALS):
        if text in known:
            return known.index(text) + 1
    return int(text)


@dataclass(frozen=True, slots=True)
class Picks(Matcher):
    """Right if the reply settles on this option, whatever it says about the others."""

    option: int
    """From 1."""
    of: int
    """How many options there are."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the option that the reply settles on."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        picked = self._picked(reply)
        if picked == [self.option]:
            return Verdict(Outcome.CORRECT, 1.0, f"option {self.option} is picked")
        if len(picked) > 1:
            return Verdict(Outcome.WRONG, 0.0, f"several options are picked: {', '.join(map(str, picked))}")
        if picked:
            return Verdict(Outcome.WRONG, 0.0, f"option {picked[0]} is picked, expected {self.option}")
        if abstains(reply):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        return Verdict(Outcome.MALFORMED, 0.0, "no option is picked")

    def _picked(self, reply: str) -> list[int]:
        for value in json_values(reply):
            held = list(value.values())[-1:] if isinstance(value, Mapping) else [value]
            found = _whole(held[0]) if held else None
            if found is not None:
                return self._known([found])
        text = plain(reply).replace("*", "").replace("_", " ")
        sentences = [s for s in _SENTENCE.split(text) if s.strip()]
        alone = self._known([n for s in sentences if (n := _alone(s)) is not None])
        if len(alone) == 1:
            return alone
        asserted = [(DENIAL.split(s, maxsplit=1)[0], s) for s in sentences]
        for pattern in (_OPTION, _NTH, _DIGITS, _WORDS):
            named = [
                (list(map(_value, numbers)), s)
                for text, s in asserted
                if (numbers := pattern.findall(text)) and _may_decide(pattern, s)
            ]
            if not named:
                continue
            every = self._known([n for numbers, _ in named for n in numbers])
            deciding = self._known([n for numbers, s in named if _DECIDES.search(s) for n in numbers])
            if len(every) == 1:
                return every
            if len(deciding) == 1:
                return deciding
            last = self._known([n for numbers, s in named if s == sentences[-1] for n in numbers])
            return last if len(last) == 1 and _DECIDES.search(sentences[-1]) else every
        return []

    def _known(self, numbers: Sequence[int]) -> list[int]:
        return [n for n in dict.fromkeys(numbers) if 1 <= n <= self.of]

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


def _may_decide(pattern: re.Pattern[str], sentence: str) -> bool:
    """Whether a number in this sentence can be the choice; a story is full of other numbers."""
    brief = sum(any(map(str.isalpha, word)) for word in sentence.split()) <= _BRIEF
    if pattern is _DIGITS:
        return brief or _DECIDES.search(sentence) is not None
    return pattern is not _WORDS or brief


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
    return _value(option.group(1)) if option else _alone(text)


def picks(option: int, *, of: int) -> Picks:
    """Expect option number `option` of `of`, counted from 1."""
    return Picks(option, of)


EXAMPLES: tuple[Matcher, ...] = (picks(3, of=6),)
"""What the tests that guard every matcher are run with."""
