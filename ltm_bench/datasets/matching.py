"""What the matchers of public sets share: they know which question of which set they belong to.

Where a published scorer asks a judge, its matcher has an inquiry. Whoever else is asked about a reply is asked by one.
"""

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from ltm_bench.core.messages import Matcher, Outcome, Verdict
from ltm_bench.matchers.reading.doubting import unanswered


class Judged(NamedTuple):
    """The verdict on a reply, derived from a judge's answers."""

    outcome: Outcome
    score: float | None
    """From 0 to 1, as the run is scored; None if the rubric gives no more than right or wrong."""
    reason: str
    scores: Mapping[str, float] = MappingProxyType({})
    """From 0 to 1, by the columns of the published scorer."""


Inquiry = Generator[str, str, Judged | None]
"""Yields prompts to a judge about a reply, receives its answers without their thinking, and returns the verdict.

None if an answer could not be read.
"""

Golds = str | Sequence[str]
"""The accepted answers of a question: one, which old logs hold as a text, or several."""


def kept(golds: Golds) -> Golds:
    """Return accepted answers as a matcher keeps them: a text, or a tuple."""
    return golds if isinstance(golds, str) else golds[0] if len(golds) == 1 else tuple(golds)


def each_of(golds: Golds) -> tuple[str, ...]:
    """Return the accepted answers that a matcher keeps."""
    return (golds,) if isinstance(golds, str) else tuple(golds)


def by_score(score: float, reply: str, scorer: str, of: str = "for") -> Verdict:
    """Return the verdict on a reply that a published scorer gives this score."""
    if score >= 1.0:
        return Verdict(Outcome.CORRECT, 1.0, f"right for {scorer}")
    if score > 0:
        return Verdict(Outcome.PARTIAL, round(score, 6), f"{score:.3f} {of} {scorer}")
    return unanswered(reply, Outcome.WRONG, f"nothing {of} {scorer}")


class SetMatcher(Matcher):
    """A matcher of a question of a public set."""

    as_published: ClassVar[bool] = True
    dataset: ClassVar[str]
    """The set's folder."""
    columns: ClassVar[tuple[str, ...]]
    """The columns of scores, the published scorer's first."""
    judged: ClassVar[frozenset[str]] = frozenset(("judge",))
    """The columns that only a judge can fill, if it has them."""
    kinds: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Descriptions of types whose names do not explain themselves."""
    apart: ClassVar[frozenset[str]] = frozenset()
    """Types that the published overall figure leaves out."""

    id: str
    """The question's id, as in prediction files; empty if it has none."""

    @classmethod
    def of_run(cls, expect: Matcher, name: str, span: int, parts: Sequence[float]) -> "SetMatcher | None":
        """Return the matcher by which a run's question is scored as a prediction; None if it is none of this set.

        Args:
            expect: The question's own.
            name: The question's name: its example, and its turn.
            span: Its example's span.
            parts: The scores of the reply's parts in the run.
        """
        return expect if isinstance(expect, cls) else None

    @property
    @abstractmethod
    def kind(self) -> str:
        """The question's type."""

    @property
    def cannot_be_answered(self) -> bool:
        """Whether the right answer is an abstention, if the type does not say so."""
        return False

    @property
    def contradicts_itself(self) -> bool:
        """Whether the key contradicts itself."""
        return False

    def scores(self, reply: str) -> Mapping[str, float]:
        """Return a reply's scores from text alone, from 0 to 1 by column; columns that text cannot tell are missing."""
        return {}

    def inquiry(self, question: str, reply: str) -> Inquiry | None:
        """Return the published scorer's prompts to a judge about a reply; None if it needs no judge."""
        return None
