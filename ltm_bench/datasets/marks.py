"""The scores of a reply to a question of a public set, whether a run of ours asked it or a file of others holds it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from ltm_bench.datasets.errata import Erratum, error_of, question_digest, wrong_keys
from ltm_bench.datasets.matching import SetMatcher


class SetQuestion(BaseModel, frozen=True):
    """A question of a public set, and its scores for the reply."""

    id: str
    """As in prediction files."""
    asked: str = ""
    """A hash of its words and of what is expected: files of one's own may have the same ids."""
    type: str
    named: str = ""
    """A description of the type, if its name is not enough."""
    unanswerable: bool = False
    apart: bool = False
    """Whether the published overall figure leaves it out."""
    wrong_key: str = ""
    """Why its key is known to be wrong; empty if it is not."""
    scores: dict[str, float] = {}
    """From 0 to 1, the published scorer first; without scores that need a judge, if none was asked."""


class SetReplies(NamedTuple):
    """The replies of a run or of a file to questions of one public set."""

    file: str
    """The run, or the path of the file."""
    columns: Sequence[str]
    """The columns, the published scorer's first."""
    asked: Sequence[tuple[str, SetQuestion]]
    """Each with what tells its history from others: replies about one history resemble each other."""
    missing: Sequence[str] = ()
    """Questions without a reply that could be scored."""
    judge: str | None = None
    """The judge behind the scores that text cannot tell, if known."""

    @property
    def overall(self) -> Sequence[tuple[str, SetQuestion]]:
        """Those of the published overall figure; all if it would leave out every one."""
        return [each for each in self.asked if not each[1].apart] or self.asked


def set_question(
    expect: SetMatcher,
    asked: str,
    expected: str,
    reply: str | None,
    judged: Sequence[Mapping[str, float]],
    known: Mapping[str, Erratum] | None = None,
) -> SetQuestion:
    """Return a public set's scores for a reply; nothing for a missing one.

    Args:
        expect: The question's matcher.
        asked: The question's own words; empty if they are unknown.
        expected: What is expected.
        reply: The reply.
        judged: Scores that judges gave; the mean of several counts.
        known: Known errors in keys; those of the set by default.
    """
    known = wrong_keys(expect.dataset) if known is None else known
    error = error_of(known, expect.id, asked)
    text = {} if reply is None else expect.scores(reply)
    scores: dict[str, float] = {}
    for column in expect.columns:
        given = [each[column] for each in judged if column in each]
        if given:
            scores[column] = sum(given) / len(given)
        elif column in text:
            scores[column] = text[column]
    contradicts = "its gold answer contradicts its own rubric" if expect.contradicts_itself else ""
    return SetQuestion(
        id=expect.id,
        asked=question_digest(f"{asked}\n{expected}"),
        type=expect.kind,
        named=expect.kinds.get(expect.kind, ""),
        unanswerable=expect.cannot_be_answered,
        apart=expect.kind in expect.apart,
        wrong_key=error.why if error else contradicts,
        scores=scores,
    )
