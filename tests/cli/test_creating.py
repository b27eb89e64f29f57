"""`new agent` and `new scenario`: what they write passes the check and runs."""

import os
from errno import ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))


HOOKS = "usage reserve usage_model settle observe_session recall memories fork forget".split()


@pytest.mark.unkept
def test_a_memory_is_written_with_every_hook_and_the_check_says_what_each_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("new", "agent", "my_product", "--memory").exit_code == 0
    done = command("check", "agents/my_product.py")
    assert done.exit_code == 0, done.output
    said = {line.split()[1].rstrip(":"): line for line in done.out.splitlines()}
    assert set(HOOKS) <= set(said)
    assert "5 memories" in said["recall"]
    assert "snapshot; beside the conversation it says" in said["fork"]
    assert "deleted 1 memory" in said["forget"]
    assert not [
        line for hook, line in said.items() if hook in HOOKS and "missing" in line and hook != "usage_model"
    ]
    for more in ((), ("--quick",)):
        run = command(
            "run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--agent", "my_product", *more
        )
        assert run.exit_code == 0, run.output


def test_the_check_says_what_is_missing_without_a_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "plain.py").write_text(
        '"""Plain."""\nfrom ltm_bench import Agent, Reply\n\n\nclass Plain(Agent):\n'
        "    async def reply(self, message):\n        return Reply(message.text)\n",
        "utf-8",
    )
    out = command("check", "agents/plain.py").out
    assert "reserve: missing, so --max-cost cannot hold" in out
    assert "usage: missing, so costs show as unknown" in out
    assert "recall: missing, so there is no telling where an answer was lost" in out
    assert "fork: missing, so --questions forked and --quick are refused" in out


@pytest.mark.parametrize(
    ("hook", "complaint"),
    [
        (
            "async def recall(self, query, limit):\n        return [query]",
            "recall: it returned str among its memories",
        ),
        ("async def recall(self, query, limit):\n        return 1 / 0", "recall: failed: ZeroDivisionError"),
        ("def reserve(self, message):\n        return 3", "reserve: it returned int, not a Usage"),
        (
            "async def forget(self, query):\n        return None",
            "forget: it returned NoneType, not the number",
        ),
        (
            "def memories(self):\n        return []",
            "memories: it returned list, not an asynchronous iterator",
        ),
    ],
)
def test_a_hook_that_breaks_its_promise_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command", hook: str, complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "odd.py").write_text(
        '"""Odd."""\nfrom ltm_bench import Agent, Reply\n\n\nclass Odd(Agent):\n'
        f"    async def reply(self, message):\n        return Reply(message.text)\n\n    {hook}\n",
        "utf-8",
    )
    done = command("check", "agents/odd.py")
    assert done.exit_code == 1
    assert complaint in " ".join(done.out.split())


@pytest.mark.usefixtures("quick_check")
@pytest.mark.parametrize("kind", ["agent", "scenario"])
def test_the_new_file_passes_the_check_and_runs(
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
    assert "this name is taken by" in command("new", kind, "my_own").err


@pytest.mark.parametrize("name", ["My-Agent", "class", "../x", "3d", ""])
def test_an_invalid_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command", name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("new", "agent", name)
    assert done.exit_code == 1
    assert "a name consists of lower-case letters" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_empty_file_that_takes_the_name(
    tmp_path: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def full(path: Path, *_: object) -> None:
        path.touch()
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        done = command("new", "agent", "mine")
    assert done.exit_code == 1
    assert f"{Path('agents', 'mine.py')}: cannot be written: {os.strerror(ENOSPC)}" in done.err
    assert command("new", "agent", "mine").exit_code == 0
