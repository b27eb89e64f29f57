"""A matcher's verdict on a reply, and the words of the reply that decided it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ltm_bench.core.messages import Finish, Matcher, Outcome, Reply, Turn, Verdict


def verdict_on(expect: Matcher, reply: Reply, turns: Sequence[Turn]) -> Verdict:
    """Return the verdict on a reply. Never raises: a matcher that fails is a `judge_error`, not a wrong answer."""
    # Before the matcher: what such a reply says, if anything, was not said with the conversation in view.
    if reply.finish is Finish.OVERFLOW:
        return Verdict(Outcome.OVERFLOW, 0.0, "the conversation did not fit into the agent's window")
    if reply.finish is Finish.REFUSAL:
        return Verdict(Outcome.ABSTAINED, 0.0, "the provider or the model declined to answer")
    try:
        return expect.verdict(reply.text, turns)
    except Exception as error:  # a matcher can raise anything
        reason = f"{type(expect).__name__} failed: {type(error).__name__}: {error}"
        return Verdict(Outcome.JUDGE_ERROR, None, reason)


_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+){0,8}")

MOST_WORDS = 80
"""Maximum number of distinct words of a reply that are tested for deciding the verdict."""

MOST_CHARACTERS = 4000
"""Maximum length of a reply for that test, in characters."""

FEW_WORDS = 20
"""Number of distinct words up to which every word is tested alone."""

RUN = 8
"""Number of words of a longer reply that are tested together first."""

Span = tuple[int, int]
"""Character offsets in a reply: first, and last plus one."""


def decisive(expect: Matcher, reply: Reply, turns: Sequence[Turn], verdict: Verdict) -> tuple[Span, ...]:
    """Return the places of the words in a reply without which its verdict would differ.

    Each word is left out in turn, in all its places, and the rest is judged. That works for any matcher; if two
    different words say the same thing, neither is decisive. In a reply of more than FEW_WORDS distinct words, runs of
    neighbouring words are left out first, and the words of a run are tested only if the verdict differs without all of
    them: a verbose reply has many words that say nothing, and a matcher reads it less often. Replies of more than
    MOST_WORDS distinct words, or MOST_CHARACTERS, have no decisive words.
    """
    if verdict.outcome.infrastructure or len(reply.text) > MOST_CHARACTERS:
        return ()
    places: dict[str, list[Span]] = {}
    for match in _WORD.finditer(reply.text):
        places.setdefault(match[0].casefold(), []).append(match.span())
        if len(places) > MOST_WORDS:
            return ()

    def decides(spans: Sequence[Span]) -> bool:
        without = replace(reply, text=_without(reply.text, spans))
        return verdict_on(expect, without, [*turns[:-1], replace(turns[-1], reply=without)]) != verdict

    words = list(places.values())
    if len(words) > FEW_WORDS:
        runs = [words[i : i + RUN] for i in range(0, len(words), RUN)]
        words = [word for run in runs if decides(sorted(chain.from_iterable(run))) for word in run]
    return tuple(sorted(span for word in words if decides(word) for span in word))


def _without(text: str, spans: Sequence[Span]) -> str:
    """Return a text without the places given, which are in order."""
    edges = [0, *chain.from_iterable(spans), len(text)]
    return "".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
