"""Replies, the official score of each, and what our matcher adds."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ltm_bench import Message, Outcome, Reply, Turn, benchmarked
from ltm_bench.datasets.infinitebench.scorer import SCORERS

TABLE = [
    ("passkey", ["71432"], "The pass key is 71432.", Outcome.CORRECT, "in a sentence"),
    ("passkey", ["71432"], "It is 71432 or 71433.", Outcome.WRONG, "two keys"),
    ("math_calc", [[4, 14, 6]], "4, 14, 7", Outcome.PARTIAL, "right up to the last value"),
    ("code_debug", ["parse_header", "B"], "B. parse_header", Outcome.CORRECT, "letter and name"),
    ("code_debug", ["parse_header", "B"], "It is A or B.", Outcome.WRONG, "two letters"),
    ("longbook_qa_eng", ["in the lighthouse"], "I do not know.", Outcome.ABSTAINED, "an abstention"),
    ("longbook_qa_eng", ["in the lighthouse"], "", Outcome.MALFORMED, "nothing"),
]


@pytest.mark.parametrize(("task", "label", "reply", "outcome", "why"), TABLE, ids=[row[-1] for row in TABLE])
def test_a_reply_gets_what_its_task_gives_it(
    task: str, label: Any, reply: str, outcome: Outcome, why: str
) -> None:
    assert benchmarked(task, label).verdict(reply, ()).outcome is outcome


@pytest.mark.parametrize("task", SCORERS)
def test_an_answer_after_reasoning_is_scored_by_its_last_line(task: str) -> None:
    label: Any = {
        "code_debug": ["mend", "B"],
        "longbook_choice_eng": ["the bell", "B"],
        "math_calc": [[4, 5, 6]],
        "kv_retrieval": ["0f9b1de7-8f55-4d24-8e54-6d0a1a5f2a11"],
    }.get(task, ["12345"])
    expect = benchmarked(task, label, final=True)
    said = expect.right()[0]
    assert said.startswith("It comes down to this.")
    thinking = "First it may be 99999, or A, or 00000000-0000-0000-0000-000000000000.\n"
    assert expect.verdict(thinking + said, ()).score == 1
    assert expect.verdict(thinking + said.replace("\nAnswer:", "\n**Final answer:**"), ()).score == 1


@pytest.mark.parametrize(
    ("mode", "reply", "score"),
    [
        ("strict", "<think>12345</think> I do not know.", 0),
        ("strict", "<think>12345, or 99999?</think> 99999", 0),
        ("strict", "<think>99999?</think> 12345", 1),
        ("official-newest", "<think>12345</think> I do not know.", 1),
    ],
)
def test_an_answer_only_in_the_reasoning_counts_for_the_published_scorers_alone(
    mode: str, reply: str, score: float
) -> None:
    assert benchmarked("passkey", ["12345"], mode=mode).verdict(reply, ()).score == score


def test_a_question_repeated_only_in_the_reasoning_is_not_an_echo() -> None:
    turn = Turn(Message("What is the pass key?", datetime(2026, 1, 5, tzinfo=UTC), 0), Reply(""), "ask")
    expect, thought = benchmarked("passkey", ["12345"]), "<think>What is the pass key? It was 12345.</think>"
    assert expect.verdict(thought + "12345", [turn]).score == 1
    assert expect.verdict("What is the pass key? It was 12345.", [turn]).score == 0
