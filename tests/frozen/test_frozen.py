"""Code for version 0.1.0 still works: an adapter and a scenario from its README, unchanged."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

HERE = Path(__file__).parent


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a user has put both files."""
    for folder in ("agents", "scenarios"):
        shutil.copytree(HERE / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_adapter_of_0_1_0_runs_the_scenario_of_0_1_0(place: Path, command: "Command") -> None:
    done = command("run", "--span", "2k", "--agent", "notebook", "-A", "pages=50", "--scenario", "parking")
    assert done.exit_code == 0, done.output
    (results,) = place.glob("reports/*/results.json")
    assert json.loads(results.read_text("utf-8"))["score"] is not None


def test_the_adapter_from_0_1_0_runs_todays_scenarios(place: Path, command: "Command") -> None:
    done = command("run", "--span", "2k", "--agent", "notebook")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("file", ["agents/notebook.py", "scenarios/parking.py"])
def test_both_keep_todays_rules(place: Path, command: "Command", file: str) -> None:
    done = command("check", file)
    assert done.exit_code == 0, done.output
    assert "FAIL" not in done.out
