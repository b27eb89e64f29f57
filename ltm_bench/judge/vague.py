"""Deliberately vague and wrong replies: a judge that passes them passes anything that sounds like an answer."""

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from ltm_bench.datasets.judging import Ask, conduct, together
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.judge.texts import TEXTS

MOST = 40
"""Number of a set's questions with vague replies."""

_SENTENCES: Sequence[str] = TEXTS["vague"]["sentences"]

_SMALL = frozenset(
    "a an the and or of in on at to for from with by as is are was were be been do does did have has had can could "
    "will would should i me my you your it its this that these those what which who whom whose when where why how many "
    "much long old often first last there their they them he she his her we us our not any some about".split()
)

T = TypeVar("T")


def vague_reply(question: str, place: int) -> str:
    """Return a reply without content, in the question's own words.

    Args:
        question: The question; of several lines, the last one counts.
        place: The number of the sentence; the same number gives the same reply.
    """
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", question.strip().rpartition("\n")[2])
    topic = [word for word in words if word.casefold() not in _SMALL and not word.isdigit()]
    return _SENTENCES[place % len(_SENTENCES)].format(topic=" ".join(topic[:3]) or "that")


def sampled(items: Sequence[T]) -> list[T]:
    """Return at most MOST items, evenly spread over all of them."""
    count = min(MOST, len(items))
    return [items[i * len(items) // count] for i in range(count)]


class FalseAccepts(NamedTuple):
    """A judge's verdicts on deliberately wrong answers."""

    n: int
    rate: float
    """The mean, from 0 to 1."""
    of: str
    """What kind of answers they are."""


async def false_accepts(asked: Sequence[tuple[SetMatcher, str]], ask: Ask) -> FalseAccepts | None:
    """Ask a judge about vague wrong replies to some questions; None if none could be asked.

    Args:
        asked: The questions: their matchers, and their texts.
        ask: The judge.
    """
    inquiries = (
        expect.inquiry(question, vague_reply(question, place))
        for place, (expect, question) in enumerate(sampled(asked))
    )
    heard = await together(conduct(inquiry, ask) for inquiry in inquiries if inquiry is not None)
    scores = [each.score for each in heard if each is not None]
    if not scores:
        return None
    return FalseAccepts(len(scores), sum(scores) / len(scores), "made to be vague and wrong")
