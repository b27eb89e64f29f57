"""`answers`: the reply gives an answer word for word. `declines`: it says that there is none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import abstains, plain, words

_ABSENT = re.compile(
    r"\b(?:do|does|did)(?: not|n't) (?:\w+ )?(?:contain|include|specify|state|provide|say|mention|cover)\b"
    r"|\b(?:not|n't) (?:\w+ )?(?:found|contained|included|present|answered|stated|available|covered|in the)\b"
    r"|\bnothing (?:\w+ ){0,3}(?:about|says|said|that says)\b"
)
_ABSENT_CHINESE = re.compile(
    r"不知道|不清楚|没有(?:相关|任何|提供|提到|提及|说明|找到|足够)|未(?:提供|提到|提及|说明|找到)|无法(?:确定|回答|得知|找到|判断)"
)

BRIEF = 60
"""Maximum words of a reply that counts as an answer; longer ones may retell the material."""


def says_absent(reply: str) -> bool:
    """Whether a reply says, in English or Chinese, that the answer is not known or not there."""
    return abstains(reply) or bool(_ABSENT.search(plain(reply)) or _ABSENT_CHINESE.search(reply))


def holds(reply: str, phrase: str) -> bool:
    """Whether a reply contains a phrase as whole words or, in scripts without spaces, as a substring."""
    said, meant = words(reply), words(_bare(phrase))
    if not meant or any(ord(c) > 0x2E7F for c in phrase):
        return bool(phrase.strip()) and phrase.strip().casefold() in reply.casefold()
    return any(said[i : i + len(meant)] == meant for i in range(len(said) - len(meant) + 1))


def _bare(phrase: str) -> str:
    """Return a phrase without its leading article or pronoun and its full stop."""
    return re.sub(r"^(?:the|a|an|his|her|its|their) ", "", phrase.strip().rstrip("."), flags=re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answers(Matcher):
    """Right if the reply contains the answer word for word; a judge decides on other wordings."""

    version: ClassVar[int] = 2
    as_published: ClassVar[bool] = True

    answer: str

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what text alone can tell."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        asked = turns[-1].message.text.strip() if turns else ""
        if asked and asked in reply:
            return Verdict(Outcome.WRONG, 0.0, "the reply repeats everything it was asked about")
        has, absent = holds(reply, self.answer), says_absent(reply)
        if absent and not has:
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        if has and not absent and len(words(reply)) <= BRIEF:
            return Verdict(Outcome.CORRECT, 1.0, "the reply contains the answer")
        doubt = "has the answer among much else" if has else "may be giving the answer in other words"
        return Verdict(Outcome.UNDECIDED, 0.0, f"the reply {doubt}")

    def right(self) -> Sequence[str]:
        """Return the answer alone, and in a sentence."""
        return (self.answer, f"It is this: {self.answer}")

    def wrong(self) -> Sequence[str]:
        """Return a different answer, abstentions, and an empty reply."""
        return ("Something else altogether.", "The documents do not say.", "I do not know.", "")


def answers(answer: str) -> Answers:
    """Expect this answer, in these words or, if a judge says so, in others."""
    return Answers(answer)


@dataclass(frozen=True, slots=True)
class Declines(Matcher):
    """Right if the reply says that there is no answer; it was left out on purpose."""

    version: ClassVar[int] = 2
    as_published: ClassVar[bool] = True

    answer: str
    """The answer that was left out."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge whether the reply admits that it cannot know."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        if says_absent(reply):
            return Verdict(Outcome.CORRECT, 1.0, "the reply says that it is not there")
        if holds(reply, self.answer):
            return Verdict(Outcome.WRONG, 0.0, "the reply knows what was left out: guessed, or known before")
        return Verdict(Outcome.WRONG, 0.0, "the reply gives an answer that stands nowhere: a hallucination")

    def right(self) -> Sequence[str]:
        """Return several ways to say so."""
        return (
            "The documents do not say.",
            "I don't know.",
            "There is no information about that.",
            "文中没有提到。",
        )

    def wrong(self) -> Sequence[str]:
        """Return the answer, another one, and an empty reply."""
        return (self.answer, "It was the other one.", "")


def declines(answer: str) -> Declines:
    """Expect the reply to say that there is no answer; `answer` was left out of the material."""
    return Declines(answer)


EXAMPLES: tuple[Matcher, ...] = (answers("the red suitcase"), declines("the red suitcase"))
"""Examples for the tests that guard every matcher."""
