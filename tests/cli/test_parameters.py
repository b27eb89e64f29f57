"""Rows of suites and `-P`: the same scenario several times, with parameters from the command line."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

SUITE = """
examples = 2
[scenarios.few]
scenario = "counting_stars"
stars = 2
[scenarios.many]
scenario = "counting_stars"
stars = 5
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("configs").mkdir()
    Path("configs/sky.toml").write_text(SUITE)
    return tmp_path


def results(name: str = "sky-2k-perfect-seed0") -> dict[str, int]:
    found = json.loads(Path("reports", name, "results.json").read_text())
    return {e["id"]: len(e["needles"]) for e in found["examples"]}


def test_two_rows_play_the_same_scenario_with_other_dice(command: "Command") -> None:
    assert command("run", "--suite", "sky", "--span", "2k", "--agent", "perfect").exit_code == 0
    assert results() == {"few/0": 2, "few/1": 2, "many/0": 5, "many/1": 5}


def test_two_rows_of_one_scenario_are_told_apart_in_a_log_that_is_scored_again(command: "Command") -> None:
    again = ("run", "--suite", "sky", "--span", "2k", "--agent", "perfect")
    assert command(*again).exit_code == 0
    written = Path("reports/sky-2k-perfect-seed0/results.json")
    first = json.loads(written.read_text("utf-8"))["examples"]
    assert command(*again).err.endswith("is finished already; --fresh starts a new run beside it.\n")
    for words in (("rescore",), ("report",)):
        written.unlink()
        assert command(*words).exit_code == 0
        assert json.loads(written.read_text("utf-8"))["examples"] == first
    done = command("rescore")
    assert "4 verdicts, 0 changed" in done.out
    assert re.findall(r"^ +(few|many|sum) +([\d.]+)", done.out, re.MULTILINE) == [
        ("few", "1.00"),
        ("many", "1.00"),
        ("sum", "2.00"),
    ]


def test_a_parameter_is_set_for_one_row_alone(command: "Command") -> None:
    done = command("run", "--suite", "sky", "--span", "2k", "--agent", "perfect", "-P", "few.stars=3")
    assert done.exit_code == 0
    name = "sky-2k-perfect-seed0-few.stars-3"
    assert results(name) == {"few/0": 3, "few/1": 3, "many/0": 5, "many/1": 5}


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("few.stars", "-P few.stars: write it as SCENARIO.KEY=VALUE"),
        ("stars=3", "-P stars=3: write it as SCENARIO.KEY=VALUE"),
        ("fewer.stars=3", "fewer is not one of the run's scenarios; did you mean 'few'"),
        ("few.star=3", "no parameter 'star'; did you mean 'stars'"),
        ("few.stars=0", "stars = 0"),
        ("few.data=none.txt", "none.txt: No such file"),
        ("few.examples=0", "-P few.examples=0: must be a whole number of at least 1"),
        ("few.late=9", "late = 9: at most as many as there are counts"),
    ],
)
def test_a_wrong_parameter_is_named_before_anything_is_written(
    command: "Command", given: str, complaint: str
) -> None:
    done = command("run", "--suite", "sky", "--span", "2k", "--agent", "perfect", "-P", given)
    assert done.exit_code == 1
    assert complaint in done.err
    assert not Path("reports").exists()


def test_a_users_own_text_becomes_the_sky_and_must_not_change(command: "Command") -> None:
    Path("sky.txt").write_text("Clouds came. Clouds went!\nThe moon rose.")
    words = ("run", "--scenario", "counting_stars", "--agent", "perfect", "--span", "2k", "--isolated")
    own = ("-P", "counting_stars.data=sky.txt", "-P", "counting_stars.delivery=one_shot", "--name", "own")
    assert command(*words, *own).exit_code == 0
    log = Path("reports/own/isolated/counting_stars-0.jsonl").read_text()
    assert "The moon rose." in log
    Path("reports/own/isolated/counting_stars-0.jsonl").write_text(log[:300])
    Path("sky.txt").write_text("Only rain.")
    done = command("resume", "own")
    assert done.exit_code == 1
    assert "was started with other files" in done.err
    assert "the files that the scenario counting_stars reads have changed" in done.err


def test_runs_of_two_spans_are_compared_without_a_warning(command: "Command") -> None:
    for span in ("2k", "4k"):
        assert command("run", "--suite", "sky", "--span", span, "--agent", "perfect").exit_code == 0
    done = command("compare")
    assert done.exit_code == 0
    assert "different" not in done.output
    command("run", "--suite", "sky", "--span", "8k", "--agent", "perfect", "-P", "few.stars=3")
    assert "different parameters of scenario few" in command("compare").output
