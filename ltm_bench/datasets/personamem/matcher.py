"""`fitting_reply`: the reply names the letter of the right option, as PersonaMem's program reads it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.matchers.reading import READ
from ltm_bench.matchers.reading.doubting import unanswered

_BRACKETS = re.compile(r"\(([a-d])\)")
_BARE = re.compile(r"\b([a-d])\b")
_END = "<final_answer>"


def letters(text: str) -> frozenset[str]:
    """Return the letters that a text names as the program reads it: those in brackets, or else those alone."""
    said = text.lower()
    return frozenset(_BRACKETS.findall(said) or _BARE.findall(said))


def official(reply: str, letter: str) -> float:
    """Return 1 if the final answer, or else the whole reply, names this letter and no other."""
    end = reply.strip().split(_END)[-1].strip().removesuffix("</final_answer>")
    return float({letter} in (letters(end), letters(reply)))


def strict(reply: str, letter: str) -> float:
    """Return 1 if the end of the reply names this letter and no other; a bare `a` in a sentence is an article."""
    end = reply.strip().split(_END)[-1].lower()
    named = _BRACKETS.findall(end) or re.findall(r"(?:^|answer\W+(?:is\W+)?)([a-d])\W*(?:$|</)", end)
    return float(set(named) == {letter})


@dataclass(frozen=True, slots=True)
class FittingReply(SetMatcher):
    """Right if the reply names the letter of the right option, and no other."""

    dataset: ClassVar[str] = "personamem"
    columns: ClassVar[tuple[str, ...]] = ("official", "strict")

    letter: str
    type: str
    id: str = ""
    """The question's id, for comparing runs with prediction files."""
    mode: str = "official"
    """`official` or `strict`."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge as the published program does, or strictly."""
        said = reply[:READ]
        if (strict if self.mode == "strict" else official)(said, self.letter):
            return Verdict(Outcome.CORRECT, 1.0, f"({self.letter}) is chosen ({self.mode})")
        if letters(said):
            chosen = ", ".join(sorted(letters(said)))
            return Verdict(Outcome.WRONG, 0.0, f"{chosen} is named, expected ({self.letter})")
        return unanswered(said, Outcome.MALFORMED, "no letter is named")

    @property
    def chance(self) -> float:
        """One of four."""
        return 0.25

    @property
    def kind(self) -> str:
        """The type."""
        return self.type

    def scores(self, reply: str) -> dict[str, float]:
        """Return both scores."""
        said = reply[:READ]
        return {"official": official(said, self.letter), "strict": strict(said, self.letter)}

    def right(self) -> Sequence[str]:
        """Return the letter in brackets, alone and at the end."""
        return (f"({self.letter})", f"They both fit. {_END} ({self.letter})")

    def wrong(self) -> Sequence[str]:
        """Return another letter, all of them, an abstention, and an empty reply."""
        return ("(a)" if self.letter != "a" else "(b)", "(a) (b) (c) (d)", "I do not know.", "")


def fitting_reply(letter: str, type: str, *, id: str = "", mode: str = "official") -> FittingReply:
    """Expect the letter of an option, `a` to `d`, of a question of PersonaMem.

    Args:
        letter: The right one.
        type: The question's kind.
        id: The question's id.
        mode: `official` or `strict`.
    """
    return FittingReply(letter.strip("() "), type, id, mode)


EXAMPLES: tuple[Matcher, ...] = (
    fitting_reply("c", "suggest_new_ideas"),
    fitting_reply("(a)", "recall_user_shared_facts", mode="strict"),
)
"""Examples for the tests that guard every matcher."""
