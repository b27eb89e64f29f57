"""A gate decides about the agent of today: a finished run counts only if its agent is the same."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.plugins.targets import UNKNOWN, target_of

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("docs/tutorials/ci.md", "agents/*.*", "configs/*.*"))

BOT = '''"""A bot."""

import memory_of_bot


class Bot:
    def __init__(self):
        self.memory = memory_of_bot.Memory()

    def __call__(self, message: str) -> str:
        return self.memory.answer(message)
'''
REMEMBERS = '''"""Remembers what was said last about a favourite colour."""

import re

COLOURS = "red blue green black white purple orange yellow pink brown grey turquoise silver gold beige".split()


class Memory:
    said = "nothing"

    def answer(self, message):
        if "favourite" in message:
            words = re.findall(r"\\w+", message.lower())
            self.said = next((each for each in COLOURS if each in words), self.said)
        return self.said
'''
FORGETS = REMEMBERS.replace("return self.said", 'return "I do not remember."')
SERVICE = """
import sys, json
for line in sys.stdin:
    print(json.dumps({"reply": "I do not remember."}), flush=True)
"""
GATE = ("run", "--span", "2k", "--scenario", "colours", "--fail-under", "0.5", "-q")


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot in the current directory that remembers; its memory is a module of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write(tmp_path / "bot.py", BOT)
    write(tmp_path / "memory_of_bot.py", REMEMBERS)
    return tmp_path


def write(file: Path, text: str) -> None:
    """Write a module, and forget those that were imported, as another process would have."""
    file.write_text(text, "utf-8")
    for name in ("bot", "memory_of_bot"):
        sys.modules.pop(name, None)


def runs(place: Path) -> list[str]:
    return sorted(path.parent.name for path in place.glob("reports/*/events.jsonl"))


def test_an_unchanged_bot_is_not_asked_again_and_standard_error_says_so(
    bot: Path, command: "Command"
) -> None:
    assert command(*GATE, "--agent", "python:bot:Bot", "--name", "r").exit_code == 0
    again = command(*GATE, "--agent", "python:bot:Bot", "--name", "r")
    assert again.exit_code == 0
    assert "nothing was run: reports/r is finished already" in again.err
    assert runs(bot) == ["r"]


@pytest.mark.parametrize("file", ["bot.py", "memory_of_bot.py"])
def test_a_broken_bot_is_asked_again_and_fails(bot: Path, command: "Command", file: str) -> None:
    assert command(*GATE, "--agent", "python:bot:Bot", "--name", "r").exit_code == 0
    broken = BOT.replace("return self.memory.answer(message)", 'return "I do not remember."')
    write(bot / file, broken if file == "bot.py" else FORGETS)
    done = command(*GATE, "--agent", "python:bot:Bot", "--name", "r")
    assert done.exit_code == 2, done.output
    assert "reports/r was run with other code of this agent: it is asked again, in reports/r-2" in done.err
    assert command(*GATE, "--agent", "python:bot:Bot", "--name", "r").exit_code == 2
    assert runs(bot) == ["r", "r-2"]


def test_a_bot_that_is_mended_is_asked_again_too(bot: Path, command: "Command") -> None:
    write(bot / "memory_of_bot.py", FORGETS)
    assert command(*GATE, "--agent", "python:bot:Bot", "--name", "r").exit_code == 2
    write(bot / "memory_of_bot.py", REMEMBERS)
    assert command(*GATE, "--agent", "python:bot:Bot", "--name", "r").exit_code == 0
    assert runs(bot) == ["r", "r-2"]


def test_without_a_gate_a_changed_bot_is_neither_asked_again_nor_taken_for_the_old_one(
    bot: Path, command: "Command"
) -> None:
    plain = ("run", "--span", "2k", "--scenario", "colours", "--agent", "python:bot:Bot", "--name", "r")
    assert command(*plain).exit_code == 0
    write(bot / "memory_of_bot.py", FORGETS)
    done = command(*plain)
    assert done.exit_code == 1
    assert "reports/r holds another run (agent.target" in done.err
    assert runs(bot) == ["r"]


def test_a_program_may_have_changed_so_that_a_gate_runs_it_again(bot: Path, command: "Command") -> None:
    (bot / "service.py").write_text(SERVICE, "utf-8")
    service = ("--agent", "command", "-A", f"command={sys.executable} service.py", "--name", "r")
    assert command(*GATE, *service).exit_code == 2
    again = command(*GATE, *service)
    assert again.exit_code == 2
    assert "what answers may have changed since: it is asked again, in reports/r-2" in again.err
    assert runs(bot) == ["r", "r-2"]


@pytest.mark.parametrize("broken", [False, True])
def test_an_unfinished_run_continues_only_with_the_same_code(
    bot: Path, command: "Command", broken: bool
) -> None:
    assert command(*GATE, "--agent", "python:bot:Bot", "--name", "r").exit_code == 0
    log = bot / "reports" / "r" / "events.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:9]))
    if broken:
        write(bot / "memory_of_bot.py", FORGETS)
    done = command(*GATE, "--agent", "python:bot:Bot", "--name", "r")
    assert done.exit_code == (2 if broken else 0), done.output
    assert runs(bot) == (["r", "r-2"] if broken else ["r"])


def test_a_bot_before_and_after_a_change_are_two_in_a_comparison(bot: Path, command: "Command") -> None:
    words = (*GATE, "--agent", "python:bot:Bot", "--name", "r")
    assert command(*words).exit_code == 0
    write(bot / "memory_of_bot.py", FORGETS)
    assert command(*words).exit_code == 2
    compared = command("compare", "r", "r-2").output
    assert compared.count("python:bot:Bot (code=") >= 2
    assert "2 seeds" not in compared


@pytest.mark.unkept
def test_resume_finds_the_module_in_the_current_folder_as_run_does(bot: Path, command: "Command") -> None:
    assert command(*GATE, "--agent", "python:bot:Bot", "--name", "r").exit_code == 0
    log = bot / "reports" / "r" / "events.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:9]))
    words = [sys.executable, "-m", "ltm_bench", "resume", "r", "-q"]
    path = [each for each in sys.path if each not in ("", str(bot))]
    code = f"import sys; sys.path[:] = {path!r}; from ltm_bench.cli.main import main; sys.argv = {words[2:]!r}; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=bot, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_gate_that_cannot_fail_says_so(bot: Path, command: "Command") -> None:
    small = GATE[:5]
    assert command(*small, "--agent", "goldfish", "--name", "low").exit_code == 0
    done = command(*small, "--agent", "goldfish", "--name", "r", "--baseline", "low")
    assert done.exit_code == 0
    assert "cannot fall by more than --max-drop 0.05: this gate cannot fail" in done.err


def test_the_code_of_an_adapter_is_its_file_and_what_that_imports_beside_it(tmp_path: Path) -> None:
    package = tmp_path / "agents" / "parts"
    package.mkdir(parents=True)
    adapter = tmp_path / "agents" / "mine.py"
    adapter.write_text("from parts import first\nimport json\n", "utf-8")
    (package / "__init__.py").write_text("", "utf-8")
    (package / "first.py").write_text("from . import second\n", "utf-8")
    (package / "second.py").write_text("K = 1\n", "utf-8")
    (package / "unused.py").write_text("K = 1\n", "utf-8")
    before = target_of(adapter, {})
    (package / "unused.py").write_text("K = 2\n", "utf-8")
    assert target_of(adapter, {}) == before
    (package / "second.py").write_text("K = 2\n", "utf-8")
    assert target_of(adapter, {}) not in (before, None, UNKNOWN)
    assert target_of(adapter, {"url": "http://localhost:1"}) == UNKNOWN


def test_the_page_about_gates_word_for_word_with_a_bot_that_breaks_in_between(
    bot: Path, command: "Command"
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "tutorials" / "ci.md").read_text("utf-8")
    typed = page.partition("## A baseline")[2].partition("```console")[2].partition("```")[0]
    release, candidate = [line.removeprefix("$ ltm-bench ").split() for line in typed.strip().splitlines()]
    asks = ("--agent", "python:bot:Bot", "--scenario", "colours", "--examples", "5")
    assert command(*release, *asks).exit_code == 0
    assert command(*candidate, *asks).exit_code == 0
    write(bot / "memory_of_bot.py", FORGETS)
    assert command(*candidate, *asks).exit_code == 2
    assert runs(bot) == ["candidate", "candidate-2", "release"]
