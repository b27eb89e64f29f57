"""Table: which replies say what held before, when that is what was asked."""

from datetime import UTC, datetime

import pytest

from ltm_bench import Message, Reply, Turn, formerly
from ltm_bench.core.messages import Outcome

CORRECT, WRONG, UNDECIDED = Outcome.CORRECT, Outcome.WRONG, Outcome.UNDECIDED
QUESTION = "Where was the flower show originally to be, before any change? Just name the place."
EXPECT = formerly("town hall", among=("town hall", "boathouse", "lido", "old dairy"))

TABLE = [
    ("The town hall.", CORRECT, "the place alone"),
    ("Originally it was going to be in the town hall.", CORRECT, "originally"),
    ("Initially the town hall", CORRECT, "initially"),
    ("The original venue was the town hall.", CORRECT, "the original one"),
    ("Previously: the town hall", CORRECT, "a label"),
    ("First the town hall, then the boathouse, then the lido.", CORRECT, "the history, in order"),
    ("It was planned for the town hall, before it moved to the boathouse.", CORRECT, "what it moved to"),
    ("It was in the town hall until you moved it to the lido.", CORRECT, "until"),
    ("Before the lido, it was the town hall.", CORRECT, "before what"),
    ("It is the lido now; it used to be the town hall.", CORRECT, "what holds now first"),
    (
        "At first the town hall, then the boathouse, later the lido, and finally the old dairy.",
        CORRECT,
        "the history of all four",
    ),
    ("The lido.", WRONG, "another one"),
    ("Originally the lido.", WRONG, "another one, as what held before"),
    ("First the boathouse, then the town hall.", WRONG, "the wrong way round"),
    ("It is the town hall now; it used to be the lido.", WRONG, "taken for what holds now"),
    ("The town hall, the boathouse, the lido, the old dairy", WRONG, "all of them"),
    ("It was never the town hall.", WRONG, "denied"),
    ("The town hall or the lido.", UNDECIDED, "not decided"),
    ("I don't remember.", Outcome.ABSTAINED, "does not know"),
    (QUESTION, WRONG, "an echo of the question"),
    ("", Outcome.MALFORMED, "nothing"),
]


@pytest.mark.parametrize(("reply", "outcome", "why"), TABLE, ids=[why for *_, why in TABLE])
def test_the_earlier_value_is_the_answer(reply: str, outcome: Outcome, why: str) -> None:
    turn = Turn(Message(QUESTION, datetime(2026, 1, 5, tzinfo=UTC), 0), Reply(reply))
    verdict = EXPECT.verdict(reply, [turn])
    assert verdict.outcome is outcome, verdict.reason
    assert verdict.score == (1.0 if outcome is CORRECT else 0.0)
