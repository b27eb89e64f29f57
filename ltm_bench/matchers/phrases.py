"""`says`: the reply says a phrase, nearly word for word. `said_in`: one particular reply of several said it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import abstains, known_words, words

_CLOSE = 88.0
"""Minimum partial ratio (rapidfuzz) of a phrase that is said; it allows for a typo or a changed little word."""


_NEAR = 66.0
"""Minimum closeness of a phrase that may have been said in other words."""


def closeness(reply: str, phrase: str) -> float:
    """Return the share, from 0 to 100, of a phrase's words that occur close together in a reply, in any order."""
    from rapidfuzz import fuzz

    said, meant = words(reply), " ".join(sorted(known_words(phrase)))
    size = len(meant.split()) + 2
    windows = (" ".join(sorted(said[i : i + size])) for i in range(max(1, min(len(said), 2000) - size + 1)))
    return max((fuzz.ratio(window, meant) for window in windows), default=0.0)


def contains(said: str, phrase: str) -> bool:
    """Whether the words of a reply, joined by blanks, contain a phrase nearly word for word."""
    from rapidfuzz import fuzz

    meant = " ".join(known_words(phrase))
    if len(said) < len(meant) * 0.8:
        return False
    return f" {meant} " in f" {said} " or fuzz.partial_ratio(meant, said, score_cutoff=_CLOSE) > 0


@dataclass(frozen=True, slots=True)
class Says(Matcher):
    """Right if the reply says `phrase`, and none of the others."""

    phrase: str
    others: tuple[str, ...] = ()

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge which of the phrases the reply says."""
        heard = " ".join(words(reply))
        said = [phrase for phrase in (self.phrase, *self.others) if contains(heard, phrase)]
        if said == [self.phrase]:
            return Verdict(Outcome.CORRECT, 1.0, "the reply says it")
        if self.phrase in said:
            return Verdict(Outcome.WRONG, 0.0, f"the reply says {len(said)} of the phrases, not one")
        if said:
            return Verdict(Outcome.WRONG, 0.0, f"the reply says another phrase: {said[0]}")
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        if abstains(reply):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        if (
            closeness(reply, self.phrase)
            >= _NEAR
            > max((closeness(reply, o) for o in self.others), default=0.0)
        ):
            return Verdict(Outcome.UNDECIDED, 0.0, "the reply may be saying it in other words")
        return Verdict(Outcome.WRONG, 0.0, "the reply does not say it")

    def right(self) -> Sequence[str]:
        """Return the phrase alone, within a reply, and without its punctuation."""
        return (self.phrase, f"Of course! {self.phrase} Anything else?", " ".join(words(self.phrase)))

    def wrong(self) -> Sequence[str]:
        """Return another phrase, all phrases, a friendly reply, and nothing."""
        return (
            *self.others[:1],
            " ".join((self.phrase, *self.others, "…")) if self.others else "…",
            "Okay.",
            "",
        )


def says(phrase: str, *, among: Collection[str] = ()) -> Says:
    """Expect `phrase` to be said, and no other of `among`."""
    return Says(phrase, tuple(other for other in among if other != phrase))


@dataclass(frozen=True, slots=True)
class SaidIn(Matcher):
    """Right if the `nth` reply of the last `nth + beyond` says `phrase`, and no other one does.

    The first of them may say it too: it answers the request, and repeating the request is no mistake.
    """

    phrase: str
    nth: int
    beyond: int = 1
    """Number of replies after the nth one that are read; the last of them is the one that is judged."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge which of the replies say the phrase."""
        counted = [" ".join(words(turn.reply.text)) for turn in turns[-self.nth - self.beyond :]]
        said = [i for i, text in enumerate(counted, start=1) if contains(text, self.phrase)]
        if said == [self.nth] or said == [1, self.nth]:
            return Verdict(Outcome.CORRECT, 1.0, f"reply {self.nth} says it")
        elsewhere = [i for i in said if i not in (1, self.nth)]
        if self.nth in said:
            return Verdict(Outcome.WRONG, 0.0, f"reply {self.nth} says it, but so does reply {elsewhere[0]}")
        if not elsewhere:
            return Verdict(Outcome.WRONG, 0.0, f"forgotten: it was due in reply {self.nth}")
        how = "one off" if abs(elsewhere[0] - self.nth) == 1 else "miscounted"
        return Verdict(Outcome.WRONG, 0.0, f"{how}: reply {elsewhere[0]} says it instead of reply {self.nth}")

    def in_words(self) -> str:
        """Say which reply had to say the phrase."""
        return (
            f"Of the agent's last {self.nth + self.beyond} replies, this one included, number {self.nth} says "
            f"“{self.phrase}”, and no later one does. The first of them may say it too."
        )

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
"""What the tests that guard every matcher are run with."""
