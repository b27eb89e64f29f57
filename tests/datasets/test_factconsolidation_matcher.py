"""`newest_fact`, reply by reply."""

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.factconsolidation.matcher import newest_fact

TABLE = [
    ("official", "Bo", Outcome.CORRECT),
    ("official", "Bolivia", Outcome.CORRECT),  # as the published program has it
    ("strict", "Bolivia", Outcome.WRONG),
    ("strict", "It was Bo, since then.", Outcome.CORRECT),
    ("strict", "Bo " * 50, Outcome.WRONG),
    ("official", "I don't know.", Outcome.ABSTAINED),
    ("official", "Ann", Outcome.WRONG),
    ("official", "", Outcome.MALFORMED),
]


@pytest.mark.parametrize(("mode", "reply", "outcome"), TABLE)
def test_the_newest_fact_is_what_counts(mode: str, reply: str, outcome: Outcome) -> None:
    assert newest_fact(["Bo"], mode=mode).verdict(reply, ()).outcome is outcome
