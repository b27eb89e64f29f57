"""What a run may owe after a crash, and which turns are then in doubt."""

from pathlib import Path
from typing import Any

import pytest

from ltm_bench.log.calls import Place, read_calls, spent_on
from ltm_bench.log.doubts import Doubt, doubt_about
from ltm_bench.log.lines import records, to_line

SENDING = {"sending": True}
REFUSED = {"failed_after": 1.0, "attempts": [{"status": 500}]}
CUT = {"failed_after": 1.0, "attempts": [{"error": "ReadError"}]}
LOST = {"lost": True, "dollars": 0.25}


@pytest.mark.parametrize(
    ("said", "asked", "unpaid"),
    [
        ([], False, False),  # stopped before the message went out
        ([SENDING], True, True),
        ([SENDING, {"refused": True}], False, False),
        ([SENDING, {"failed": True}, {"refused": True}], True, False),  # a server may fail after hearing it
        ([SENDING, {"refused": True}, SENDING], True, True),
        ([SENDING, LOST], True, False),
        ([SENDING, LOST, {"refused": True}, REFUSED], True, False),
        ([SENDING, LOST, SENDING], True, True),
        ([SENDING, REFUSED], False, False),
        ([{"failed_after": 1.0, "attempts": [{"error": "ConnectError", "unsent": True}]}], False, False),
        ([SENDING, CUT], True, True),
        ([SENDING, {"seconds": 1.0}], True, True),  # the reply had arrived, but the log lost it
        ([SENDING, {"seconds": 1.0}, {"doubtful": True, "dollars": 0.25}], True, False),
        ([SENDING, {"doubtful": True, "dollars": "many"}], True, True),
        ([SENDING, {"lost": True, "dollars": 0}], True, True),  # nothing is charged as zero
        ([SENDING, {"doubtful": True, "dollars": "many"}, {"refused": True}], True, False),
        ([SENDING, {"seconds": 1.0}, {"refused": True}], True, False),  # the agent had already heard it
        ([SENDING, {"failed": True}, SENDING, {"refused": True}], True, False),
        ([SENDING, {"failed_after": 1.0, "attempts": [{"status": 400}]}], False, False),
        ([SENDING, {"failed_after": 1.0, "attempts": []}], True, True),
        ([SENDING, {"failed_after": 1.0, "attempts": 3}], True, True),
        ([SENDING, {"attempts": [{"status": 500}]}], True, True),  # no call has ended yet
        ([SENDING, {"ending": "stop", "dollars": None}], True, False),
        ([SENDING, {"ending": "lost", "dollars": 0.0}, SENDING], True, True),
    ],
)
def test_a_lost_call_leaves_in_doubt_what_its_own_records_leave_open(
    tmp_path: Path, said: list[dict[str, Any]], asked: bool, unpaid: bool
) -> None:
    timings = tmp_path / "timings.jsonl"
    with timings.open("ab") as file:
        for name, noted in (("a-0", said), ("b-0", [SENDING])):
            here = {"turn": 3, "conversation": name}
            for record in [{"begun": True} | here | {"turn": 0}, *({**here, **each} for each in noted)]:
                file.write(to_line(record))
    assert doubt_about(records(timings), {"turn": 3, "conversation": "a-0"}) == Doubt(asked, unpaid)
    nobody_knows = doubt_about(records(timings), {"turn": 3, "conversation": "c-0"})
    assert nobody_knows == Doubt(True, True)


RESERVED = {"sending": True, "reserved": 0.25}
ENDED = {"role": "agent", "ending": "lost", "usage": None, "dollars": 0.25}
REPLIED = ENDED | {"ending": "stop"}


def owed(folder: Path, replied: set[Place]) -> float:
    """Return what a folder's calls may have cost, besides what the log says of replies."""
    found = read_calls(folder)
    for place in replied:
        found.take_reply(place, None)
    return float(spent_on(found.every))


@pytest.mark.parametrize(
    ("said", "replied", "dollars"),
    [
        ([SENDING], False, 0),  # without --max-cost nothing is reserved
        ([RESERVED], False, 0.25),
        ([RESERVED], True, 0),  # killed after the reply was logged
        ([RESERVED, RESERVED], False, 0.25),  # two requests of one reply
        ([RESERVED, {"refused": True}], False, 0),
        ([RESERVED, {"failed": True}], False, 0),
        ([RESERVED, LOST], False, 0.25),
        ([RESERVED, LOST, RESERVED], False, 0.5),
        ([RESERVED, LOST, RESERVED], True, 0.25),
        ([RESERVED, REFUSED], False, 0),
        ([RESERVED, CUT], False, 0.25),
        ([RESERVED, {"doubtful": True, "dollars": 0.25}, RESERVED, {"seconds": 1.0}], True, 0.25),
        ([{"sending": True, "reserved": "much"}], False, 0),
        ([RESERVED, ENDED, RESERVED], False, 0.5),
        ([RESERVED, ENDED, RESERVED, REPLIED], True, 0.5),
        ([RESERVED, REPLIED], False, 0.25),  # the log has lost the reply
    ],
)
@pytest.mark.parametrize("name", ["timings.jsonl", "calls.jsonl"])
def test_what_a_killed_run_may_owe_is_known_before_it_resumes(
    tmp_path: Path, name: str, said: list[dict[str, Any]], replied: bool, dollars: float
) -> None:
    timings = tmp_path / name
    here = {"turn": 3, "conversation": "a-0"}
    timings.write_bytes(b"".join(to_line({**here, **each}) for each in said))
    known: set[Place] = {("a-0", 3)} if replied else {("b-0", 3), ("a-0", 2)}
    assert owed(tmp_path, known) == dollars


def test_replies_charged_for_want_of_usage_are_named(tmp_path: Path) -> None:
    timings = tmp_path / "timings.jsonl"
    said: list[dict[str, object]] = [
        {"turn": 3, "conversation": "a-0", "seconds": 1.0, "dollars": 0.25},
        {"turn": 4, "conversation": "a-0", "seconds": 1.0},
        {"turn": 5, "conversation": "a-0", "lost": True, "dollars": 0.5},
        {"turn": 6, "seconds": 1.0, "dollars": 0.25},
    ]
    timings.write_bytes(b"".join(to_line(line) for line in said))
    assert owed(tmp_path, set()) == 1
    kept = [each for each in read_calls(tmp_path).calls if not each.lost]
    assert [(each.conversation, each.turn) for each in kept] == [("a-0", 3), (None, 6)]


def test_without_a_side_file_everything_is_in_doubt(tmp_path: Path) -> None:
    assert owed(tmp_path, set()) == 0
    assert doubt_about(records(tmp_path / "timings.jsonl"), {"turn": 3}) == Doubt(True, True)
