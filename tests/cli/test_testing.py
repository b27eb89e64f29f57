"""The plug-in for pytest, in a project that is not this one: what is green, what is red, and what a failure prints."""

import asyncio
import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from ltm_bench import Agent, Message, Reply, Turn
from ltm_bench.adapters.testing.rules import RULES
from ltm_bench.api.playing import play
from ltm_bench.core.errors import AgentError, ConfigError, SpanTooSmall

PROJECT = '''
import sys
import pytest


def test_nothing_is_imported_for_a_test_that_asks_for_nothing():
    assert not {"ltm_bench.api", "typer", "pydantic"} & {*sys.modules}


@pytest.mark.memory(scenarios=["colours"], examples=2)
def test_green(memory_run):
    assert memory_run("perfect").score == 1.0


@pytest.mark.memory(scenarios=["colours"], examples=2)
def test_red(memory_run):
    assert memory_run(lambda message: "It is \\x1b[31mmauve.", examples=1).score == 1.0


@pytest.mark.memory(scenarios=["colours"])
def test_that_asks_for_the_impossible(memory_run):
    memory_run(7)


@pytest.mark.memory(scenarios=["colours"], examples=1)
def test_that_breaks(memory_run):
    heard = []

    def breaks(message):
        heard.append(message)
        if len(heard) == 3:
            raise OSError("no power")
        return "Okay."

    memory_run(breaks)


class Quiet:
    """An agent that is none."""


def test_rules(conforms):
    from ltm_bench import Agent, Reply

    class Mute(Agent):
        free = True

        async def reply(self, message):
            return Reply("Okay.")

    conforms(Mute)


def test_broken(conforms):
    conforms(Quiet)
'''


def printed_by(folder: Path, *arguments: str) -> str:
    """Run pytest in another folder, and return what it prints."""
    (folder / "test_foreign.py").write_text(PROJECT)
    command = [sys.executable, "-m", "pytest", "-p", "ltm_bench.cli.testing", "--strict-markers", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_foreign_project_has_green_and_red_tests_and_sees_what_was_missed(tmp_path: Path) -> None:
    printed = printed_by(tmp_path, "-v", "-k", "not broken")
    for name in ("nothing_is_imported_for_a_test_that_asks_for_nothing", "green", "rules[answers]"):
        assert f"test_{name} PASSED" in printed
    assert "test_red FAILED" in printed
    assert "test_rules[users] SKIPPED" in printed
    assert sum(f"test_rules[{rule}]" in printed for rule in RULES) == len(RULES)
    assert "score 0.00 of 1; 1 of 1 questions missed" in printed
    assert "where 0.0 = <Run run: 0.00 of 1>.score" in printed
    assert "colours/0: " in printed
    for word in ("told", "asked", "expected", "replied"):
        assert f"\n  {word} " in printed
    assert "replied   It is ␛[31mmauve." in printed
    assert "7 is no agent: pass a name" in printed
    broken = printed.partition("test_that_breaks ____")[2].partition("\n____")[0]
    assert "AgentError: the agent failed at turn" in broken
    assert "OSError: no power" in broken
    assert "score incomplete; " in broken
    assert len(broken.splitlines()) < 40
    assert {each.name for each in tmp_path.iterdir()} <= {"test_foreign.py", "__pycache__", ".pytest_cache"}


@pytest.mark.slow
def test_it_works_side_by_side_and_a_broken_rule_is_red(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    printed = printed_by(tmp_path, "-n", "2", "-q", "-k", "red or broken and (answers or usage)")
    assert "score 0.00 of 1; 1 of 1 questions missed" in printed
    assert "3 failed" in printed
    assert "is no agent: pass a name" in printed


def test_the_package_tells_pytest_of_it() -> None:
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    [(name, module)] = declared["project"]["entry-points"]["pytest11"].items()
    assert name == module  # so that naming it with -p as well loads it once
    assert import_module(module).memory_run


class Diary(Agent):
    """Knows what it heard, and in which way."""

    free = True

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def reply(self, message: Message) -> Reply:
        self.heard.append(f"asked {message.turn}")
        return Reply("Okay.")

    async def observe(self, turn: Turn) -> None:
        self.heard.append(f"told {turn.message.turn}")

    async def settle(self) -> None:
        self.heard.append("settle")

    async def close(self) -> None:
        self.heard.append("closed")


def test_an_agent_at_hand_hears_every_turn_once_in_order_and_is_closed(tmp_path: Path) -> None:
    diary = Diary()
    result = play(diary, tmp_path / "run", scenarios=["colours"], examples=1)
    turns = [int(each.split()[1]) for each in diary.heard if " " in each]
    assert turns == list(range(result.results.turns))
    assert diary.heard[-1] == "closed"
    assert {each.split()[0] for each in diary.heard} == {"asked", "told", "settle", "closed"}
    assert (result.score, result.complete, result.results.seed) == (0.0, True, 0)


def test_a_function_is_asked_everything_since_it_observes_nothing(tmp_path: Path) -> None:
    heard: list[str] = []
    result = play(
        lambda message: heard.append(message) or "Okay.",  # type: ignore[func-returns-value]  # that is its use
        tmp_path / "run",
        scenarios=["colours"],
        examples=1,
    )
    assert len(heard) == result.results.turns


def test_what_is_no_agent_and_what_fails_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="7 is no agent"):
        play(7, tmp_path / "a", scenarios=["colours"])
    with pytest.raises(ConfigError, match="make it take"):
        play(lambda: "Okay.", tmp_path / "b", scenarios=["colours"])
    with pytest.raises(SpanTooSmall):
        play(Diary, tmp_path / "c", scenarios=["colours"], span=30)

    def breaks(message: str) -> str:
        raise OSError("no power")

    with pytest.raises(AgentError, match="failed at turn 0: OSError: no power"):
        play(breaks, tmp_path / "d", scenarios=["colours"])
    assert (tmp_path / "d" / "events.jsonl").exists()


class Hanging(Agent):
    """Never replies to its second message."""

    free = observes = True
    asked = 0

    async def reply(self, message: Message) -> Reply:
        self.asked += 1
        await asyncio.sleep(0 if self.asked == 1 else 3600)
        return Reply("Okay.")

    async def observe(self, turn: Turn) -> None:
        """Hear it."""


def test_an_agent_that_hangs_is_given_up_and_its_log_is_kept(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"took more than 0\.5 s at turn [1-9]\d*; raise it with timeout="):
        play(Hanging, tmp_path / "run", scenarios=["colours"], examples=1, timeout=0.5)
    assert len((tmp_path / "run" / "events.jsonl").read_bytes().splitlines()) > 2
