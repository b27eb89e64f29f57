"""`new agent` and `new scenario`: what they write passes the check and runs."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command


@pytest.mark.parametrize("kind", ["agent", "scenario"])
def test_what_is_written_passes_the_check_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command", kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("new", kind, "my_own")
    assert done.exit_code == 0, done.output
    file = f"{kind}s/my_own.py"
    assert f"ltm-bench check {file}" in done.out
    assert max(map(len, (tmp_path / file).read_text("utf-8").splitlines())) <= 120
    checked = command("check", file)
    assert checked.exit_code == 0, checked.output
    words = ("--agent", "my_own", "--scenario", "colours") if kind == "agent" else ("--scenario", "my_own")
    assert command("run", "--span", "2k", "--examples", "1", *words).exit_code == 0
    assert "there is one of that name already" in command("new", kind, "my_own").err


@pytest.mark.parametrize("name", ["My-Agent", "class", "../x", "3d", ""])
def test_a_name_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command", name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("new", "agent", name)
    assert done.exit_code == 1
    assert "a name is of small letters" in done.err
    assert list(tmp_path.iterdir()) == []
