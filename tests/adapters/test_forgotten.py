"""What was forgotten stays so: in a file, part by part."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters.ledger import fingerprint
from ltm_bench.adapters.memories.forgotten import Forgotten, halves_about

if TYPE_CHECKING:
    from tests.memories import turn
else:
    from memories import turn


def test_forgotten_parts_are_known_again_in_a_resumed_run(tmp_path: Path) -> None:
    path = tmp_path / "forgotten.json"
    forgotten = Forgotten(path)
    assert ("a", 1) not in forgotten
    forgotten.add([("b", 0), ("a", 1)])
    forgotten.add([("a", 1)])
    assert json.loads(path.read_text()) == [["a", 1], ["b", 0]]
    assert ("a", 1) in Forgotten(path)
    assert ("a", 0) not in Forgotten(path)


def test_only_the_forgotten_half_of_a_turn_is_left_out(tmp_path: Path) -> None:
    forgotten, said = Forgotten(tmp_path / "forgotten.json"), turn(0, "My boat is Undine.")
    forgotten.add([(fingerprint(said), 0)])
    assert forgotten.left(said, ["User: …", "Assistant: …"]) == ["", "Assistant: …"]
    assert forgotten.left(turn(1, "My boat is Undine."), ["User: …"]) == ["User: …"]


@pytest.mark.parametrize(
    ("message", "reply", "halves"),
    [
        ("My parrot sings.", "Parrots do.", (0, 1)),
        ("My parrot sings.", "", (0, 1)),
        ("It sings.", "Your parrot?", (1,)),
        ("It sings.", "Fine.", ()),
        ("", "Your parrot?", (1,)),
    ],
)
def test_a_reply_is_forgotten_with_its_message_and_a_message_stays_without_its_reply(
    message: str, reply: str, halves: tuple[int, ...]
) -> None:
    assert halves_about([message, reply], "parrot") == halves
