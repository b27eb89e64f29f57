"""The published scores of public sets, for single replies and for a run."""

from collections.abc import Sequence

from pydantic import BaseModel

from ltm_bench.datasets.errata import error_of, question_digest, wrong_keys
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.score.audits.judgements import Opinion
from ltm_bench.score.statistics.published import FileFigures


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


class SetFigures(FileFigures, frozen=True):
    """The published figures of a public set in a run."""

    scenario: str
    types: dict[str, str]
    """Descriptions of types whose names are not enough."""
    wrong: dict[str, str]
    """Why keys are known to be wrong, by the ids of the questions that were asked."""


def set_question(
    expect: SetMatcher, asked: str, expected: str, reply: str | None, opinions: Sequence[Opinion]
) -> SetQuestion:
    """Return a public set's scores for a reply; nothing for a missing one.

    Args:
        expect: The question's matcher.
        asked: The question's own words.
        expected: What is expected.
        reply: The reply.
        opinions: Judges' opinions; the mean of several counts.
    """
    known = error_of(wrong_keys(expect.dataset), expect.id, asked)
    text = {} if reply is None else expect.scores(reply)
    judged = [opinion.scores for opinion in opinions if opinion.scores]
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
        wrong_key=known.why if known else contradicts,
        scores=scores,
    )
