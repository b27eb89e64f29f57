"""How much of a reply is not its answer: a heap of everything contains the right answer too, and earns nothing."""

from collections.abc import Sequence

from ltm_bench.core.messages import Turn
from ltm_bench.matchers.reading.text import answer, flat, message_words, sentences, words

Span = tuple[int, int]

GENEROUS = 600
"""Maximum words of a reply besides its answer; models explain themselves at length."""

TIMES = 12
"""Maximum ratio of a longer reply's length to its answer's."""

_WHOLLY = 0.95
"""Minimum share of the user's words in a reply for it to be nothing else. `You told me: …` answers with a quotation."""

_MOSTLY = 0.8
"""Minimum share of the user's sentences in a reply with several candidates for it to recite them."""

_OWN = 4
"""Minimum words of a message besides the answer for a mere repetition of it to count as reciting."""


def recites(reply: str, turns: Sequence[Turn], used: Sequence[Span] = ()) -> bool:
    """Whether a reply is a heap, or merely repeats the user's own messages.

    Args:
        reply: The reply.
        turns: The example's turns up to and including the question.
        used: The offsets of the answer in the reply.
    """
    said, rest = words(reply), list(answer(reply))
    for start, end in used:
        rest[start:end] = " " * (end - start) if start >= 0 else rest[start:end]
    inside = len(said) - len(words("".join(rest)))
    if len(said) - inside > max(GENEROUS, TIMES * inside):
        return True
    least = inside + _OWN  # many right replies are shorter, and what was told need not be read
    return len(said) >= least and _repeated(said, told_words(turns), least) >= _WHOLLY


def may_recite(reply: str, turns: Sequence[Turn]) -> bool:
    """Whether a reply could recite, wherever its answer stands, which takes longer to find out."""
    said = words(reply)
    return len(said) > GENEROUS or _repeated(said, told_words(turns), _OWN) >= _WHOLLY


def told_words(turns: Sequence[Turn]) -> list[list[str]]:
    """Return the words of each message of an example; every reply, and many a part of one, is compared with them."""
    return [message_words(turn.message.text) for turn in turns]


def hardly_adds(reply: str, turns: Sequence[Turn]) -> bool:
    """Whether a reply holds little but sentences of the user, which leaves it to its reader to find the answer."""
    told = [turn.message.text for turn in turns]
    each = [words(text[start:end]) for text in told for start, end in sentences(flat(text))]
    return _repeated(words(reply), each, _OWN) >= _MOSTLY


def _repeated(said: Sequence[str], told: Sequence[Sequence[str]], least: int) -> float:
    """Return the share of a reply's words that repeat whole texts that were told, one of so many words at least."""
    joined = f" {' '.join(said)} "
    some = (each for each in told if _OWN <= len(each) <= len(said))
    whole = [len(each) for each in some if f" {' '.join(each)} " in joined]
    return sum(whole) / len(said) if max(whole, default=0) >= least else 0.0
