"""`says`: the reply says a phrase, nearly word for word. `said_in`: one particular reply of several said it."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.core.words import alternatives
from ltm_bench.matchers.reading import words
from ltm_bench.matchers.reading.doubting import RECITAL, RECITES, DoubtingMatcher, asked, unanswered
from ltm_bench.matchers.reading.surplus import Span, recites
from ltm_bench.matchers.reading.verbatim import Match, says_exactly
from ltm_bench.matchers.reading.verbatim import says as how_said

_NEAR = 80
_REPORTED = re.compile(alternatives("reported"))
_CUE = 3
"""Minimum words of a cue that is known again in a reply."""
_QUOTED = "the reply says the cue as well"
_RETOLD = "the reply reports that it is to be said, or was said before"
_ORDER = re.compile(alternatives("order"), re.IGNORECASE)
"""Words of the order to say a phrase at a cue."""
_CHANGED = "the reply says it with a word changed"
_REFUSED = "the reply refuses to say it"


@dataclass(frozen=True, slots=True)
class Says(DoubtingMatcher):
    """Right if the reply says `phrase`, and none of the others."""

    version: ClassVar[int] = 4
    certain: ClassVar[Collection[str]] = (RECITES, _CHANGED, _REFUSED, _QUOTED)

    phrase: str
    others: tuple[str, ...] = ()

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge which of the phrases the reply says."""
        found = how_said(reply, self.phrase)
        others = [other for other in self.others if says_exactly(reply, other)]
        if found.match is Match.SAID and _REPORTED.search(reply, max(0, found.start - _NEAR), found.start):
            return Verdict(Outcome.UNDECIDED, 0.0, _RETOLD)
        if found.match is Match.SAID and _holds_cue(reply, asked(turns), self.phrase):
            # without words of the order, it may only repeat the cue first
            return Verdict(Outcome.WRONG if _ORDER.search(reply) else Outcome.UNDECIDED, 0.0, _QUOTED)
        if found.match is Match.SAID:
            return RECITAL if others else Verdict(Outcome.CORRECT, 1.0, "the reply says it")
        if others:
            return Verdict(Outcome.WRONG, 0.0, f"the reply says another phrase: {others[0]}")
        if found.match in (Match.REFUSED, Match.CHANGED):
            return Verdict(Outcome.WRONG, 0.0, _REFUSED if found.match is Match.REFUSED else _CHANGED)
        if found.match is Match.REWORDED:
            return Verdict(Outcome.UNDECIDED, 0.0, "the reply may be saying it in other words")
        return unanswered(reply, Outcome.WRONG, "the reply does not say it")

    def used(self, reply: str) -> Sequence[Span]:
        """Return where the phrase is said."""
        return (how_said(reply, self.phrase)[1:],)

    def right(self) -> Sequence[str]:
        """Return the phrase alone, within a reply, and without its punctuation."""
        return (self.phrase, f"Of course! {self.phrase} Anything else?", " ".join(words(self.phrase)))

    def wrong(self) -> Sequence[str]:
        """Return another phrase, all phrases, a friendly reply, and nothing."""
        every = " ".join((self.phrase, *self.others, "…")) if self.others else "…"
        return (*self.others[:1], every, "Okay.", "")


def _holds_cue(reply: str, cue: str, phrase: str) -> bool:
    """Whether a reply holds the message that it answers, which the phrase does not: so it tells of the order."""
    said, within, cued = (f" {' '.join(words(text))} " for text in (reply, phrase, cue))
    return len(cued.split()) >= _CUE and cued in said and cued not in within


def says(phrase: str, *, among: Collection[str] = ()) -> Says:
    """Expect `phrase` to be said, and no other of `among`."""
    return Says(phrase, tuple(other for other in among if other != phrase))


@dataclass(frozen=True, slots=True)
class SaidIn(Matcher):
    """Right if the `nth` reply of the last `nth + beyond` says `phrase`, and no other one does.

    The first of them may say it too: it answers the request, and repeating the request is not a mistake.
    """

    version: ClassVar[int] = 2

    phrase: str
    nth: int
    beyond: int = 1
    """Number of replies after the nth one that are read; the last of them is the one that is judged."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge which of the replies say the phrase."""
        counted = turns[-self.nth - self.beyond :]
        found = [how_said(turn.reply.text, self.phrase) for turn in counted]
        said = [i for i, each in enumerate(found, start=1) if each.match is Match.SAID]
        if self.nth in said:
            i, upto = self.nth - 1, len(turns) - len(counted) + self.nth
            if recites(counted[i].reply.text, turns[:upto], [(found[i].start, found[i].end)]):
                return Verdict(Outcome.WRONG, 0.0, f"reply {self.nth} says it amid much other text")
        if said == [self.nth] or said == [1, self.nth]:
            return Verdict(Outcome.CORRECT, 1.0, f"reply {self.nth} says it")
        elsewhere = [i for i in said if i not in (1, self.nth)]
        if self.nth in said:
            return Verdict(Outcome.WRONG, 0.0, f"reply {self.nth} says it, but so does reply {elsewhere[0]}")
        if not elsewhere:
            reason = f"forgotten or changed: reply {self.nth}, where it was due, does not say it"
            return Verdict(Outcome.WRONG, 0.0, reason)
        how = "one off" if abs(elsewhere[0] - self.nth) == 1 else "miscounted"
        return Verdict(Outcome.WRONG, 0.0, f"{how}: reply {elsewhere[0]} says it instead of reply {self.nth}")

    def in_words(self) -> str:
        """Say which reply had to say the phrase."""
        said = f"Of the agent's last {self.nth + self.beyond} replies, this one included, number {self.nth} says "
        return f"{said}“{self.phrase}”, and no later one does. The first of them may say it too."

    def right(self) -> Sequence[str]:
        """Return a reply that no longer says it."""
        return ("Okay.",) if self.beyond else (self.phrase,)

    def wrong(self) -> Sequence[str]:
        """Return a reply that says it too late or again, or one that does not say it."""
        return (self.phrase,) if self.beyond else ("Okay.",)


def said_in(phrase: str, nth: int, *, beyond: int = 1) -> SaidIn:
    """Expect the `nth` reply since the request to have said `phrase`, and no other up to `beyond` replies later."""
    return SaidIn(phrase, nth, beyond)


EXAMPLES: tuple[Matcher, ...] = (
    says("Look in the fruit bowl first.", among=("Look in the fruit bowl first.", "Bring in the tomatoes.")),
    says("red"),
    said_in("Still waters run deep.", 1, beyond=0),
)
"""Examples for the tests that guard every matcher."""
