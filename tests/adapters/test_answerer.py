from datetime import UTC, datetime, timedelta

from ltm_bench.adapters.memories.answerer import Core
from ltm_bench.adapters.passages import Passage
from ltm_bench.core.agent import Memory
from ltm_bench.core.messages import Message, Reply, Turn

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
MESSAGE = Message("Where do I live?", NOW, 9)


def core(window: int = 1024) -> Core:
    return Core("goldfish", {}, window)


def test_memories_are_shown_with_their_age_the_oldest_first_and_those_without_a_time_before_them() -> None:
    memories = [
        Memory("The user lives in Ribe.", NOW - timedelta(hours=1), 3),
        Memory("The user will move.", NOW + timedelta(hours=1)),
        Memory("The user is tall."),
        Memory("The user lived in Aarhus.", NOW - timedelta(hours=3)),
    ]
    shown = core().prompt(MESSAGE, memories, []).partition("# What your memory holds\n")[2].splitlines()
    assert shown[:4] == [
        "The user is tall.",
        "[Monday, 5 January 2026, 09:00, 3 hours ago] The user lived in Aarhus.",
        "[Monday, 5 January 2026, 11:00, 1 hour ago] The user lives in Ribe.",
        "[Monday, 5 January 2026, 13:00] The user will move.",
    ]


def test_passages_that_the_latest_turns_show_are_left_out_and_memories_are_not() -> None:
    turn = Turn(Message("I live in Ribe.", NOW, 3), Reply("Noted."))
    passage = Passage(3, 0, "user", NOW, "I live in Ribe.")
    assert core().prompt(MESSAGE, [passage], [turn]).count("I live in Ribe.") == 1
    assert core().prompt(MESSAGE, [Memory("I live in Ribe.", NOW, 3)], [turn]).count("I live in Ribe.") == 2


def test_the_least_relevant_memories_are_left_out_when_not_all_fit() -> None:
    memories = [
        Memory(f"Fact number {n}: " + "the mill went round. " * 20, NOW - timedelta(hours=n))
        for n in range(20)
    ]
    prompt = core(512).prompt(MESSAGE, memories, [])
    assert "Fact number 0" in prompt
    assert "Fact number 19" not in prompt
    assert "Where do I live?" in prompt
