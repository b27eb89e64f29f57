"""Which needles an agent's own retrieval finds for a question, and how high it ranks them. Pure; knows no files."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from pydantic import BaseModel

CUTS = (1, 3, 5, 10, 50)
"""The k of hit@k and recall@k, besides the agent's own; the last one is the depth that is looked into."""


class NeedleTrace(BaseModel, frozen=True):
    """What retrieval found of one needle when its question came."""

    turn: int
    stored: bool | None
    """Whether a search for its own words found a memory of it that has the answer's words; None if the reply was right,
    so no search was made."""
    rank: int | None
    """Its rank among the memories found for the question, from 1; None if it was not among them."""
    used: bool | None = None
    """Whether it was among those that the agent uses; None if the agent does not say how many these are."""
    empty: bool = False
    """Whether there are memories of its turn, but without the answer's words, so that it counts as not stored."""

    @property
    def retrieved(self) -> bool:
        """Whether it was among the memories that the agent uses, or found at all if these are not known."""
        return self.rank is not None if self.used is None else self.used

    @property
    def lost(self) -> bool:
        """Whether it did not reach the model, if known."""
        return self.stored is False or not self.retrieved


class Retrieved(BaseModel, frozen=True):
    """A memory found for a question that is not one of its needles."""

    rank: int
    text: str
    turn: int | None = None
    """The turn that it came from; None if the agent does not say."""
    relevance: float | None = None
    """Higher is nearer, on the agent's own scale; None if it does not say."""


class Retrieval(BaseModel, frozen=True):
    """Where an answer was lost, according to the agent's own retrieval."""

    PLACES: ClassVar[tuple[str, str, str]] = ("not stored", "not retrieved", "retrieved, but not used")
    needles: int
    """Number of the example's needles."""
    stored: int | None
    """Needles that a search for their own words found; None if the reply was right, so no search was made, or got a
    share of full marks from a public set's scorer, so that nothing need have been lost."""
    retrieved: int
    """Needles among the memories that the agent uses for the question."""
    k: int | None = None
    """How many memories these are; None if the agent does not say, and all that were found count."""
    traces: tuple[NeedleTrace, ...] = ()
    """Needle by needle; empty in runs of version 0.1.0."""
    instead: tuple[Retrieved, ...] = ()
    """The first memories found for the question that are not its needles."""

    @property
    def lost(self) -> str | None:
        """Return it in brief. Not every question needs every needle, so this shows where to look; it is not a verdict.

        None if the reply was right.
        """
        if self.stored is None:
            return None
        if self.stored < self.needles:
            return self.PLACES[0]
        return self.PLACES[1 if self.retrieved < self.needles else 2]


class Ranking(BaseModel, frozen=True):
    """How well an agent's retrieval finds needles: means over all questions."""

    questions: int
    needles: int
    hit: dict[int, float]
    """For each k, the share of questions with at least one needle among the first k memories."""
    recall: dict[int, float]
    """For each k, the mean share of a question's needles that are among the first k memories."""
    k: int | None = None
    """How many memories the agent uses; None if it does not say."""
    mrr: float
    """Mean reciprocal rank of a question's first needle; 0 if none was found."""

    @property
    def cut(self) -> str:
        """Which memories count as retrieved, in a sentence."""
        if self.k is None:
            return (
                f"The agent does not say how many memories it uses (Agent.uses), so all of the first {CUTS[-1]} count "
                "as retrieved, which may be more than reach its model."
            )
        return (
            f"The agent uses {self.k}: what lies beyond counts as not retrieved; {CUTS[-1]} is only a depth."
        )


def lost(found: Sequence[Retrieval]) -> dict[str, int]:
    """Count where retrieval lost answers, in the order of the pipeline."""
    places = Counter(each.lost for each in found)
    return {place: places[place] for place in Retrieval.PLACES if places[place]}


def ranking(found: Sequence[Retrieval]) -> Ranking | None:
    """Return how well needles are ranked; None if no ranks are known."""
    traced = [each for each in found if each.traces]
    if not traced:
        return None
    ranks = [[trace.rank for trace in each.traces] for each in traced]
    within = {k: [sum(r is not None and r <= k for r in each) for each in ranks] for k in CUTS}
    own = next((each.k for each in traced if each.k is not None), None)
    if own is not None:
        within = dict(sorted({**within, own: [each.retrieved for each in traced]}.items()))
    first = [min((r for r in each if r is not None), default=None) for each in ranks]
    return Ranking(
        questions=len(ranks),
        needles=sum(map(len, ranks)),
        hit={k: sum(n > 0 for n in counts) / len(ranks) for k, counts in within.items()},
        recall={
            k: sum(n / len(each) for n, each in zip(counts, ranks, strict=True)) / len(ranks)
            for k, counts in within.items()
        },
        k=own,
        mrr=sum(0.0 if rank is None else 1 / rank for rank in first) / len(ranks),
    )
