"""`remembered`, reply by reply."""

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.longmemeval.matcher import remembered

TABLE = [
    ("green", "multi-session", False, "It is green.", Outcome.CORRECT),
    ("green", "multi-session", False, "It has the colour of grass.", Outcome.UNDECIDED),
    ("green", "multi-session", False, "I don't know.", Outcome.ABSTAINED),
    ("green", "multi-session", False, "Once green, then blue.\nFinal answer: blue", Outcome.UNDECIDED),
    ("green", "multi-session", False, "", Outcome.MALFORMED),
    ("Likes calm, green things.", "single-session-preference", False, "A green room?", Outcome.UNDECIDED),
    ("Likes calm, green things.", "single-session-preference", False, "Likes calm, green things.", Outcome.CORRECT),
    ("never said", "multi-session", True, "I don't know that.", Outcome.CORRECT),
    ("never said", "multi-session", True, "Green.", Outcome.UNDECIDED),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "kind", "unanswerable", "reply", "outcome"), TABLE)
def test_text_decides_where_it_can(
    gold: str, kind: str, unanswerable: bool, reply: str, outcome: Outcome
) -> None:
    assert remembered(gold, kind, unanswerable=unanswerable).verdict(reply, ()).outcome is outcome
