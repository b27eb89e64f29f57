"""A heap of words earns nothing: what a reply says besides its answer, and what it only repeats."""

from datetime import UTC, datetime

import pytest

from ltm_bench import Message, Reply, Turn
from ltm_bench.matchers.reading.surplus import may_recite, recites

TOLD = "My aunt in Bremen has painted her garden fence in a deep ocean blue this spring."
ASKED = "What colour is the fence?"
TURNS = [
    Turn(Message(text, datetime(2026, 1, 5, tzinfo=UTC), i), Reply("Okay."))
    for i, text in enumerate((TOLD, ASKED))
]


def where(reply: str, answer: str = "blue") -> list[tuple[int, int]]:
    start = reply.find(answer)
    return [(start, start + len(answer))]


REPLIES = [
    ("blue", False, "the answer"),
    ("You told me about your aunt's fence in Bremen, and it is a deep ocean blue.", False, "in a sentence"),
    ("blue. " + "I remember that because it is a rare colour. " * 40, False, "a long and honest explanation"),
    ("blue. " + "Something else that was said at some other time. " * 200, True, "a heap"),
    (TOLD, True, "the user's own message, said again"),
    (f"> {TOLD}", True, "and quoted"),
    (f"You told me: {TOLD}", False, "a quotation that answers"),
    (
        f"{TOLD} So the fence is blue, which is a fine colour for a garden.",
        False,
        "a quotation and a conclusion",
    ),
]


@pytest.mark.parametrize(("reply", "expected", "why"), REPLIES, ids=[why for *_, why in REPLIES])
def test_a_heap_and_a_repeated_message_recite(reply: str, expected: bool, why: str) -> None:
    assert recites(reply, TURNS, where(reply)) is expected


@pytest.mark.parametrize("reply", [TOLD, ASKED, f"{TOLD} {ASKED}", *(reply for reply, *_ in REPLIES)])
def test_what_recites_with_any_answer_may_recite(reply: str) -> None:
    ends = [0, len(reply) // 3, len(reply) // 2, len(reply)]
    answers = [[], *([(start, end)] for start in (-1, 3) for end in ends if end > start)]
    assert any(recites(reply, TURNS, used) for used in answers) <= may_recite(reply, TURNS)
    assert not may_recite(f"Well, {reply[:60]}", TURNS)  # most replies are neither long nor a message again
