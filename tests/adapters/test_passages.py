"""Turns are cut into passages."""

from ltm_bench.adapters.passages import split, split_turn
from tests.memories import record


def test_long_lines_are_cut_between_sentences():
    line = " ".join(f"This is the sentence with the number {i} in it." for i in range(20))
    passages = list(split(line))
    assert " ".join(passages) == line
    assert all(passage.endswith("in it.") and len(passage) <= 240 for passage in passages)
    assert len(passages) > 3


def test_a_record_is_split_by_its_speakers_who_are_named_in_every_passage() -> None:
    told = (
        "[Monday, 5 January 2026, 09:00]\nMelanie: Any news?\nCaroline: I moved to Ribe.\nIt rained.",
        "[Sunday, 7 May 2023, 13:56]\nUser: What shall I eat?\nAssistant: Try herring.\nOr cod.",
        "3. The mayor is Ann.\n4. The baker is Bo.",
    )
    assert [(each.speaker, each.text) for turn in record(*told) for each in split_turn(turn)] == [
        ("user", "Melanie: Any news?"),
        ("user", "Caroline: I moved to Ribe."),
        ("user", "Caroline: It rained."),
        ("user", "[Sunday, 7 May 2023, 13:56] What shall I eat?"),
        ("agent", "[Sunday, 7 May 2023, 13:56] Try herring."),
        ("agent", "[Sunday, 7 May 2023, 13:56] Or cod."),
        ("user", "3. The mayor is Ann."),
        ("user", "4. The baker is Bo."),
    ]
