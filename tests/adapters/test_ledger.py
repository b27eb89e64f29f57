import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_bench.adapters.ledger import Ledger, Tally, name_in
from ltm_bench.core.errors import CannotResume
from ltm_bench.core.messages import Message, Reply, Turn, Usage

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def turn(number: int, text: str = "Hello!") -> Turn:
    return Turn(Message(text, START + timedelta(minutes=number), number), Reply("Noted."))


TURNS = [turn(0), turn(1), turn(2)]


def heard(path: Path, *turns: Turn) -> Ledger:
    ledger = Ledger(path)
    for each in turns:
        ledger.begin(each.message.turn)
        ledger.finish(each, {"n": each.message.turn})
    return ledger


def test_what_is_heard_together_is_written_together_with_its_data_on_the_last_turn(tmp_path: Path) -> None:
    path = tmp_path / "heard.jsonl"
    ledger = Ledger(path)
    ledger.begin(0)
    ledger.finish(TURNS[2], ["all of it"], with_it=TURNS[:2])
    again = Ledger(path)
    assert [each.data for each in again.heard] == [None, None, ["all of it"]]
    assert again.agreed(TURNS) == 3
    assert again.clean(3)


def test_it_recognises_what_was_heard(tmp_path: Path) -> None:
    path = tmp_path / "heard.jsonl"
    heard(path, *TURNS)
    ledger = Ledger(path)
    assert [each.data for each in ledger.heard] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert ledger.agreed(TURNS) == 3
    assert ledger.clean(3)
    assert not ledger.clean(2)
    assert ledger.agreed([TURNS[0], turn(1, "Hallo!"), TURNS[2]]) == 1
    assert ledger.agreed(TURNS[:2]) == 2


def test_a_turn_that_broke_off_is_unclean_until_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "heard.jsonl"
    heard(path, *TURNS[:2]).begin(2)
    ledger = Ledger(path)
    assert ledger.begun == 2
    assert not ledger.clean(2)
    ledger.cut(1)
    assert Ledger(path).clean(1)
    assert len(Ledger(path).heard) == 1


@pytest.mark.parametrize("length", range(1, 40))
def test_a_line_torn_by_a_crash_counts_as_missing(tmp_path: Path, length: int) -> None:
    path = tmp_path / "heard.jsonl"
    heard(path, *TURNS)
    whole = path.read_bytes()
    last = whole.rindex(b"[2, ")
    path.write_bytes(whole[: last + min(length, len(whole) - last - 2)])
    ledger = Ledger(path)
    assert ledger.begun == 2
    assert ledger.agreed(TURNS) == 2
    ledger.begin(2)
    ledger.finish(TURNS[2])
    assert Ledger(path).clean(3)


def test_a_torn_first_line_counts_as_no_beginning(tmp_path: Path) -> None:
    path = tmp_path / "heard.jsonl"
    heard(path, *TURNS[:2])
    path.write_bytes(path.read_bytes() + b"[2")
    ledger = Ledger(path)
    assert ledger.clean(2)
    ledger.begin(2)
    assert Ledger(path).begun == 2


def test_damage_is_named(tmp_path: Path) -> None:
    (tmp_path / "heard.jsonl").write_text('{"turn": 1}\n', "utf-8")
    with pytest.raises(CannotResume, match=r"is damaged: .*--fresh"):
        Ledger(tmp_path / "heard.jsonl")


def test_a_run_keeps_its_name_and_no_other_run_has_it(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert name_in(tmp_path) == name_in(tmp_path)
    assert name_in(tmp_path) != name_in(tmp_path / "other")


def test_usage_is_counted_once_with_the_next_reply() -> None:
    tally = Tally()
    tally.add(Usage(uncached=1, model="m"))
    noted = [tally.turn(), tally.turn()]
    assert noted == [[{"uncached": 1, "model": "m"}], []]
    tally.add(Usage(uncached=2, model="m"))
    tally.turn()
    assert tally.settle(Usage(output=4, model="m")) == Usage(uncached=3, output=4, model="m")
    assert tally.settle(Usage(output=4)) == Usage(output=4)
    tally.add(None)
    assert tally.settle(Usage(output=4)) is None


def test_the_usage_of_observed_turns_is_still_owed_when_a_run_resumes() -> None:
    filler = [Turn(each.message, each.reply, "fill") for each in TURNS]
    asked = turn(3)
    spent: list[list[dict[str, Any] | None]] = [[{"uncached": 1}], [{"uncached": 2}], [None]]
    tally = Tally()
    tally.owe(filler[:2], spent[:2])
    assert tally.settle(Usage()) == Usage(uncached=3)
    tally.owe([*filler[:1], asked, filler[1]], [*spent[:1], [{"uncached": 9}], spent[1]])
    assert tally.settle(Usage()) == Usage(uncached=2)
    tally.owe(filler, spent)
    assert tally.settle(Usage()) is None
    tally.owe([], [])
    assert tally.settle(Usage()) == Usage()


def test_what_another_model_embedded_is_counted_apart_from_what_was_written() -> None:
    tally = Tally()
    for usage in (
        Usage(uncached=5, model="e"),
        Usage(uncached=2, output=1, model="m"),
        Usage(uncached=6, model="e"),
    ):
        tally.add(usage)
    beside = (Usage(uncached=11, model="e"),)
    assert tally.settle(Usage(output=4, model="m")) == Usage(uncached=2, output=5, model="m", besides=beside)
    assert tally.settle(Usage(output=4, model="m")) == Usage(output=4, model="m")


def test_a_call_that_is_billed_later_keeps_its_own_time_on_disk_too() -> None:
    written = Usage(uncached=1, model="m", at=START)
    tally, resumed = Tally(), Tally()
    tally.add(written)
    noted = json.loads(json.dumps(tally.turn()))
    resumed.owe([Turn(TURNS[0].message, TURNS[0].reply, "fill")], [noted])
    for each in (tally, resumed):
        settled = each.settle(Usage(output=4, model="m", at=START + timedelta(days=1)))
        assert settled is not None
        assert sorted(part.at for part in settled.parts if part.at) == [START, START + timedelta(days=1)]
