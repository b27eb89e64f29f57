"""Table: a published score is kept, whatever the reply."""

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.goodai.matcher import Published


@pytest.mark.parametrize(
    ("score", "outcome"), [(1.0, Outcome.CORRECT), (0.4, Outcome.PARTIAL), (0.0, Outcome.WRONG)]
)
@pytest.mark.parametrize("reply", ["", "The soup, please.", "I do not know."])
def test_a_published_score_is_kept(score: float, outcome: Outcome, reply: str) -> None:
    verdict = Published(score).verdict(reply, ())
    assert (verdict.outcome, verdict.score) == (outcome, score)
