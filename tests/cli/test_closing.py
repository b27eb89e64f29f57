"""The end of a run: in at most six lines how good it was, what it did not know, what it took, and what comes next."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench import run
from ltm_bench.cli.summary import _end

if TYPE_CHECKING:
    from tests.conftest import Command

SHORT = {"span": "2k", "scenarios": ["colours", "jokes"], "examples": 2}


def end_of(place: Path, agent: object, **more: object) -> list[str]:
    return list(_end(run(agent, reports=place, **{**SHORT, **more})))  # type: ignore[arg-type]  # of run's own options


@pytest.mark.parametrize(
    ("agent", "more", "next_ones"),
    [
        ("goldfish", {}, ["why: ltm-bench control ", "more certain: "]),
        ("perfect", {}, ["more certain: "]),
        ("vector_memory", {"controls": ["blind", "evidence"]}, ["why: ", "more certain: "]),
        ("vector_memory", {"ladder": True}, ["why: ltm-bench show ", "more certain: "]),
        (lambda message: "It is white.", {}, ["why: ltm-bench show ", "more certain: "]),
    ],
)
def test_the_end_says_in_at_most_six_lines_what_there_is_to_say(
    tmp_path: Path, agent: object, more: dict[str, object], next_ones: list[str]
) -> None:
    lines = end_of(tmp_path, agent, **more)
    assert len(lines) <= 6
    assert all(len(line) <= 160 + len(str(tmp_path)) for line in lines)
    assert [
        line for line in lines if "missed" in line
    ] == []  # a share of the points need not be a loss of memory
    kinds = ["heard: ", "page: ", *next_ones]
    assert [start for start in kinds if any(line.startswith(start) for line in lines)] == kinds
    assert (lines[1].startswith("not right: ")) is (agent != "perfect")
    assert " of 2 (" in lines[0]


def test_ties_for_the_worst_are_all_counted(tmp_path: Path) -> None:
    many = ["colours", "jokes", "name_list", "sally_anne", "shopping_list"]
    [line] = [line for line in end_of(tmp_path, "goldfish", scenarios=many) if line.startswith("not right")]
    assert line.endswith("worst at colours, jokes, name_list and 2 others (0.00)")


def test_the_reason_is_one_command_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("run", "--span", "2k", "--scenario", "colours", "--agent", "vector_memory", "--ladder")
    [why] = [line for line in done.out.splitlines() if line.startswith("why: ltm-bench ")]
    shown = command(*shlex.split(why)[2:])
    assert shown.exit_code == 0
    assert "stale" in shown.out


def test_what_it_kept_comes_first_where_that_is_known(tmp_path: Path) -> None:
    lines = end_of(
        tmp_path, "reference", settings={"loses": 0.5}, controls=["blind", "evidence"], examples=12
    )
    assert lines[0].startswith("kept ")
    assert "of what it could have: " in lines[0]


def test_an_incomplete_run_has_no_reasons_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "stops_bot.py").write_text(
        "said = []\n\n\ndef answer(message):\n    said.append(message)\n    return ['Okay.'][len(said) // 3]\n",
        "utf-8",
    )
    done = command("run", "--span", "2k", "--scenario", "colours", "--agent", "python:stops_bot:answer")
    assert done.exit_code == 3
    assert "incomplete: this is not a result yet" in done.out
    assert "why: " not in done.out
    assert "The run can be resumed: ltm-bench resume" in done.err


def test_what_was_not_asked_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    (tmp_path / "raising.py").write_text("def answer(message):\n    raise ValueError('no')\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    done = command("run", "--span", "2k", "--agent", "python:raising:answer")
    assert done.exit_code == 3
    assert "not right" not in done.out
    assert "more certain" not in done.out, "an incomplete run is resumed first"
