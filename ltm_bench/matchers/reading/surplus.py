"""How much of a reply is not its answer: a heap of everything contains the right answer too, and earns nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_bench.core.messages import Turn
from ltm_bench.matchers.reading.text import answer, words

Span = tuple[int, int]

GENEROUS = 600
"""Maximum words of a reply besides its answer; models explain themselves at length."""

TIMES = 12
"""Maximum ratio of a longer reply's length to its answer's."""

_WHOLLY = 0.95
"""Minimum share of the user's words in a reply for it to be nothing else. `You told me: …` answers with a quotation."""

_OWN = 4
"""Minimum words of a message besides the answer for a mere repetition of it to count as reciting."""


def surplus(reply: str, used: Sequence[Span]) -> float:
    """Return the share, from 0 to 1, of a reply's words outside the parts that were used as its answer."""
    every = len(words(reply))
    if not every:
        return 0.0
    text = answer(reply)
    inside = sum(len(words(text[start:end])) for start, end in _merged(used))
    return max(0.0, (every - inside) / every)


def recites(reply: str, turns: Sequence[Turn], used: Sequence[Span] = ()) -> bool:
    """Whether a reply is a heap, or merely repeats the user's own messages.

    Args:
        reply: The reply.
        turns: The example's turns up to and including the question.
        used: The offsets of the answer in the reply.
    """
    said = words(reply)
    text = answer(reply)
    inside = sum(len(words(text[start:end])) for start, end in _merged(used))
    outside = len(said) - inside
    if outside > max(GENEROUS, TIMES * inside):
        return True
    return repeats(said, inside, turns)


def repeats(said: Sequence[str], inside: int, turns: Sequence[Turn]) -> bool:
    """Whether a reply holds little but whole messages of the user, word for word."""
    joined = f" {' '.join(said)} "
    repeated = 0
    for turn in turns:
        told = words(turn.message.text)
        if len(told) >= inside + _OWN and f" {' '.join(told)} " in joined:
            repeated += len(told)
    return repeated > 0 and repeated >= _WHOLLY * len(said)


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] >= 0):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
