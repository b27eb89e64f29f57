"""Deliberately vague and wrong replies: a judge that passes them passes anything that sounds like an answer."""

import re
from collections.abc import Iterable, Iterator, Sequence
from statistics import mean
from typing import NamedTuple, TypeVar

from ltm_bench.core.messages import Matcher
from ltm_bench.datasets.matching import Inquiry, Judged, SetMatcher
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


def inquiries(asked: Iterable[tuple[Matcher, str]]) -> Iterator[tuple[int, Inquiry | None]]:
    """Yield what a judge is asked about vague wrong replies to some questions, given by matcher and text."""
    for place, (expect, question) in enumerate(sampled([*asked])):
        if isinstance(expect, SetMatcher):
            yield place, expect.inquiry(question, vague_reply(question, place))


def false_accepts(heard: Iterable[Judged]) -> FalseAccepts | None:
    """Return how often a judge passed vague wrong replies; None if it said nothing about any."""
    scores = [each.score or 0.0 for each in heard]
    return FalseAccepts(len(scores), mean(scores), "made to be vague and wrong") if scores else None
