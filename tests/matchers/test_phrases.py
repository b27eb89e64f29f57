"""Tables: which replies say a phrase, and which of several replies did."""

from datetime import UTC, datetime

import pytest

from ltm_bench import Message, Outcome, Reply, Turn, said_in, says

PHRASES = (
    "Look in the fruit bowl before you look anywhere else.",
    "Bring in the tomatoes and let the car look after itself.",
)
TABLE = [
    (PHRASES[0], Outcome.CORRECT, "word by word"),
    ("look in the fruit bowl before you look anywhere else", Outcome.CORRECT, "no capitals, no full stop"),
    (f"Oh dear! “{PHRASES[0]}” Did you find them?", Outcome.CORRECT, "within a reply"),
    ("Look into the fruit bowl before you look anywhere else!", Outcome.CORRECT, "a changed little word"),
    ("Look somewhere else.", Outcome.WRONG, "a few of its words"),
    ("Have you tried the fruit bowl?", Outcome.WRONG, "the idea alone"),
    (PHRASES[1], Outcome.WRONG, "another phrase"),
    (" ".join(PHRASES), Outcome.WRONG, "all of them"),
    ("I have lost my keys once more.", Outcome.WRONG, "an echo of the cue"),
    ("I do not remember what I should say.", Outcome.ABSTAINED, "forgotten"),
    ("", Outcome.MALFORMED, "nothing"),
]


@pytest.mark.parametrize(("reply", "outcome", "why"), TABLE, ids=[why for _, _, why in TABLE])
def test_only_the_phrase_itself_counts(reply: str, outcome: Outcome, why: str) -> None:
    assert says(PHRASES[0], among=PHRASES).verdict(reply, []).outcome is outcome


CUE = "I can't find my keys."
TOLD = [
    (f"You've lost your keys? {PHRASES[0]}", Outcome.CORRECT, "a remark of its own"),
    (f"Here's the line you asked for: {PHRASES[0]}", Outcome.CORRECT, "announced"),
    (
        f"You want me to say “{PHRASES[0]}”, but let me help you instead.",
        Outcome.UNDECIDED,
        "the order is reported",
    ),
    (
        f"You told me to answer with {PHRASES[0]}",
        Outcome.UNDECIDED,
        "the order is reported, and perhaps carried out",
    ),
    (f"I can't find my keys? {PHRASES[0]}", Outcome.UNDECIDED, "the cue repeated, and the order carried out"),
    (
        f"Whenever I send “I can't find my keys.”, I want “{PHRASES[0]}” back.",
        Outcome.WRONG,
        "the order itself",
    ),
    (
        f"The line “{CUE}” always gets the answer “{PHRASES[0]}”, word for word.",
        Outcome.WRONG,
        "the order in other words",
    ),
]


@pytest.mark.parametrize(("reply", "outcome", "why"), TOLD, ids=[why for _, _, why in TOLD])
def test_telling_of_the_order_carries_nothing_out(reply: str, outcome: Outcome, why: str) -> None:
    turn = Turn(Message(CUE, datetime(2026, 1, 5, tzinfo=UTC), 0), Reply(reply))
    verdict = says(PHRASES[0], among=PHRASES).verdict(reply, [turn])
    assert verdict.outcome is outcome, verdict.reason


@pytest.mark.parametrize(
    ("where", "outcome", "reason"),
    [
        ([4], Outcome.CORRECT, "reply 4 says it"),
        ([1, 4], Outcome.CORRECT, "reply 4 says it"),
        ([3], Outcome.WRONG, "one off"),
        ([5], Outcome.WRONG, "one off"),
        ([2], Outcome.WRONG, "miscounted"),
        ([1], Outcome.WRONG, "forgotten"),
        ([], Outcome.WRONG, "forgotten"),
        ([3, 4], Outcome.WRONG, "but so does reply 3"),
        ([1, 2, 3, 4, 5], Outcome.WRONG, "but so does reply 2"),
    ],
)
def test_the_right_reply_said_it(where: list[int], outcome: Outcome, reason: str) -> None:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    earlier = [Turn(Message("A sentence for you.", at, 0), Reply(f"Lovely: {PHRASES[0]}"))]
    counted = [
        Turn(Message("And now?", at, i), Reply(f"Well. {PHRASES[0]}" if i in where else "Well."))
        for i in range(1, 6)
    ]
    verdict = said_in(PHRASES[0], 4).verdict(counted[-1].reply.text, [*earlier, *counted])
    assert verdict.outcome is outcome
    assert reason in verdict.reason
