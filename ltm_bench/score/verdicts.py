"""A matcher's verdict on a reply, and the words of the reply that decided it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ltm_bench.core.messages import Finish, Matcher, Outcome, Reply, Turn, Verdict


def verdict_on(expect: Matcher, reply: Reply, turns: Sequence[Turn]) -> Verdict:
    """Return the verdict on a reply. Never raises: a matcher that fails is a `judge_error`, not a wrong answer."""
    if reply.finish is Finish.OVERFLOW:
        return Verdict(Outcome.OVERFLOW, 0.0, "the conversation did not fit into the agent's window")
    if reply.finish is Finish.REFUSAL:
        return Verdict(Outcome.ABSTAINED, 0.0, "the provider or the model declined to answer")
    try:
        return expect.verdict(reply.text, turns)
    except Exception as error:  # a matcher can raise anything
        return Verdict(
            Outcome.JUDGE_ERROR, None, f"{type(expect).__name__} failed: {type(error).__name__}: {error}"
        )


_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+){0,8}")

MOST_WORDS = 80
"""Maximum number of distinct words of a reply that are tested for deciding the verdict."""

MOST_CHARACTERS = 4000
"""Maximum length of a reply for that test, in characters."""


def decisive(
    expect: Matcher, reply: Reply, turns: Sequence[Turn], verdict: Verdict
) -> tuple[tuple[int, int], ...]:
    """Return the places of the words in a reply without which its verdict would differ.

    Each word is left out in turn, in all its places, and the rest is judged. That works for any matcher; if two
    different words say the same thing, neither is decisive. Places are character offsets, first and last plus one.
    Replies of more than MOST_WORDS distinct words, or MOST_CHARACTERS, have none.
    """
    if verdict.outcome.infrastructure or len(reply.text) > MOST_CHARACTERS:
        return ()
    places: dict[str, list[tuple[int, int]]] = {}
    for match in _WORD.finditer(reply.text):
        places.setdefault(match[0].casefold(), []).append(match.span())
        if len(places) > MOST_WORDS:
            return ()
    found: list[tuple[int, int]] = []
    for spans in places.values():
        rest, end = [], 0
        for start, stop in spans:
            rest.append(reply.text[end:start])
            end = stop
        without = replace(reply, text="".join([*rest, reply.text[end:]]))
        if verdict_on(expect, without, [*turns[:-1], replace(turns[-1], reply=without)]) != verdict:
            found += spans
    return tuple(sorted(found))
