"""The guard against heaps: a reply that recites what other examples said is not right for what lies in it.

A matcher sees the turns of its own example alone, so only the score can tell where the rest of a reply comes from.
Filler belongs to no example. A reply that is little but messages answers nothing either, whoever they are from: it
leaves it to its reader to find the answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading.text import words

HEAD = 8
"""Words by which a message is found in a reply; shorter messages, such as `OK, thanks`, are said by chance."""

LONGEST = 10_000
"""Maximum characters of a message that is looked for; to recite a longer one is a heap for any matcher."""

FEW = 3
"""Number of whole messages from which a reply recites, whatever else it says."""

LITTLE = 0.2
"""Maximum share of a reply's own words beside whole messages for it to be little but messages."""

SMALL = 60
"""Minimum words of a reply of which one or two messages can make up most; a brief one may quote them as its reason."""


class Recited(NamedTuple):
    """A whole message in a reply: its words, each with a space after it, and their places there."""

    text: str
    begin: int
    end: int


class Guard:
    """Knows what all examples of a conversation have said so far."""

    def __init__(self) -> None:
        # Most right replies are too short to recite anything, and then no message need be read.
        self._unread: list[str] = []
        self._known: dict[str, dict[str, int]] = {}  # by its head, each message with its number of words

    def hear(self, message: str) -> None:
        """Take a message of any example."""
        if len(message) <= LONGEST:
            self._unread.append(message)

    def checked(self, verdict: Verdict, expect: Matcher, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Return a matcher's verdict, or one without credit if the reply recites other examples.

        It is undecided, since an answer may stand before or after what is recited; wrong, if nothing does.

        Args:
            verdict: What the matcher says.
            expect: The matcher.
            reply: The reply.
            turns: The example's turns up to and including the question; what is said there is its own.
        """
        if not verdict.score or expect.as_published:
            return verdict
        said = words(reply)
        found = list(self._recited(said)) if len(said) >= FEW * HEAD else []
        own = "\n".join(map(_spaced, (words(turn.message.text) for turn in turns))) if found else ""
        foreign = [each for each in found if f" {each.text}" not in own]
        many, whole = (len({each.text for each in some}) for some in (foreign, found))
        mostly = 2 * _covered(foreign) >= len(said)
        # An answer that stands before them is one, with its reasons.
        merely = whole >= FEW and not found[0].begin and _covered(found) >= (1 - LITTLE) * len(said)
        if not (many >= FEW or merely or (mostly and len(said) >= SMALL)):
            return verdict
        nothing_else = (mostly or merely) and found[0].begin == 0 and found[-1].end == len(said)
        reason = f"the reply recites {many} messages of other examples"
        if merely and many < FEW:
            reason = f"the reply is little but {whole} messages that it was told"
        elif many == 1:
            reason = "most of the reply is a message of another example"
        return replace(
            verdict,
            outcome=Outcome.WRONG if nothing_else else Outcome.UNDECIDED,
            score=0.0,
            reason=reason,
            parts=tuple(0.0 for _ in verdict.parts),
        )

    def _recited(self, said: Sequence[str]) -> Iterator[Recited]:
        """Yield the whole messages in the words of a reply, from left to right; of several, the longest."""
        self._read()
        text, at, after = _spaced(said), 1, 0
        for i, word in enumerate(said):
            if i >= after:
                known = self._known.get("".join(f"{each} " for each in said[i : i + HEAD]), {})
                if here := max((each for each in known if text.startswith(each, at)), key=len, default=None):
                    after = i + known[here]
                    yield Recited(here, i, after)
            at += len(word) + 1

    def _read(self) -> None:
        for message in self._unread:
            told = words(message)
            if len(told) >= HEAD:
                text, head = _spaced(told)[1:], _spaced(told[:HEAD])[1:]
                self._known.setdefault(head, {})[text] = len(told)
        self._unread.clear()


def _covered(found: Sequence[Recited]) -> int:
    return sum(each.end - each.begin for each in found)


def _spaced(told: Sequence[str]) -> str:
    """Join words so that each has a space before and after it."""
    return f" {' '.join(told)} "
