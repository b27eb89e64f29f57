"""`meets`, reply by reply."""

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.beam.matcher import meets

TABLE = [
    ("Eight weeks.", "temporal_reasoning", "eight weeks", Outcome.CORRECT),
    ("Eight weeks.", "temporal_reasoning", "About two months", Outcome.UNDECIDED),
    ("Eight weeks.", "temporal_reasoning", "I don't know.", Outcome.ABSTAINED),
    ("Eight weeks.", "temporal_reasoning", "", Outcome.MALFORMED),
    ("The chat does not say.", "abstention", "I don't know.", Outcome.CORRECT),
]


@pytest.mark.parametrize(("gold", "ability", "reply", "outcome"), TABLE)
def test_what_text_cannot_decide_is_left_to_a_judge(
    gold: str, ability: str, reply: str, outcome: Outcome
) -> None:
    assert meets(gold, ["an item"], ability).verdict(reply, ()).outcome is outcome


def test_an_order_of_events_has_the_chance_that_tau_gives_to_a_foreign_line() -> None:
    assert meets("x", "ABCDEFG", "event_ordering").chance == pytest.approx(0.25)
    assert meets("x", "ABCDEFG", "event_ordering", mode="strict").chance == 0
    assert meets("x", "ABCDEFG", "summarization").chance == 0
