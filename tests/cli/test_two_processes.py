"""Two processes on one run, on one cache of answers, on one store of judgements: the bytes of one alone, n of N."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters.testing import Provider, provider

if TYPE_CHECKING:
    from tests import undecided, zygote
else:
    import undecided
    import zygote

SMALL = ("run", "--span", "2k", "--scenario", "colours", "--scenario", "jokes", "--examples", "2")


class Place:
    """A folder in which two commands are given at nearly the same time."""

    def __init__(self, home: Path, server: Provider) -> None:
        for name in ("agents", "scenarios"):
            (home / name).mkdir(parents=True)
        (home / "agents" / "vague.py").write_text(undecided.VAGUE, "utf-8")
        (home / "agents" / "letters.py").write_text(undecided.JUDGE, "utf-8")
        (home / "scenarios" / "joke.py").write_text(undecided.SCENARIO, "utf-8")
        self.home, self.server = home, server

    def begin(self, *words: str) -> "zygote.Forked":
        program = [sys.executable, "-m", "ltm_bench", *words]
        return zygote.Forked(program, cwd=self.home, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def alone(self, *words: str) -> None:
        with self.begin(*words) as process:
            err = process.communicate(timeout=200)[1].decode()
        assert process.returncode == 0, err

    def both(self, one: tuple[str, ...], two: tuple[str, ...], pause: float) -> list[tuple[int, str]]:
        with self.begin(*one) as first:
            time.sleep(pause)
            with self.begin(*two) as second:
                ended = [(each, each.communicate(timeout=200)[1].decode()) for each in (second, first)]
        return [(each.returncode, err) for each, err in reversed(ended)]

    def log(self, name: str) -> bytes:
        return (self.home / "reports" / name / "events.jsonl").read_bytes()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    for name, value in {"OPENAI_API_KEY": "sk-planted-0123456789abcdefgh", "NO_PROXY": "127.0.0.1"}.items():
        monkeypatch.setenv(name, value)
    with provider() as running:
        running.cache_minimum = 10**9
        yield Place(tmp_path / "place", running)


def pauses(count: int) -> Iterator[float]:
    """Yield how long the second process waits for the first: not at all, until the first is at work, or longer."""
    dice = random.Random("two processes")
    yield from (dice.choice((0.0, 0.01, 0.1, 0.3, 0.6)) for _ in range(count))


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [3, pytest.param(20, marks=pytest.mark.long)])
def test_two_processes_on_one_run_leave_the_log_of_one(place: Place, pairs: int) -> None:
    words = (*SMALL, "--agent", "vector_memory", "--name")
    place.alone(*words, "whole")
    for number, pause in enumerate(pauses(pairs)):
        name = f"r{number}"
        second = (*words, name) if number % 2 else ("resume", name)
        ended = place.both((*words, name), second, pause)
        codes = [code for code, _ in ended]
        assert 0 in codes, ended
        for code, err in ended:
            assert (
                code == 0 or "another process is working on this run" in err or "no run is called" in err
            ), err
        assert place.log(name) == place.log("whole")


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [2, pytest.param(20, marks=pytest.mark.long)])
def test_two_processes_on_one_cache_get_right_answers_and_lose_none(place: Place, pairs: int) -> None:
    agent = ("--agent", "openai_chat", "-A", "model=some-model", "--base-url", place.server.openai_url)
    words = (*SMALL, *agent, "--cache", "--name")
    place.alone(*SMALL, *agent, "--name", "whole")
    alone = len(place.server.chats)
    for number, pause in enumerate(pauses(pairs)):
        (place.home / "reports" / "answers.sqlite").unlink(missing_ok=True)
        before = len(place.server.chats)
        names = (f"a{number}", f"b{number}")
        ended = place.both((*words, names[0]), (*words, names[1]), pause)
        assert [code for code, _ in ended] == [0, 0], ended
        assert {place.log(name) for name in names} == {place.log("whole")}
        assert alone <= len(place.server.chats) - before <= 2 * alone
        before = len(place.server.chats)
        place.alone(*words, f"c{number}")
        assert len(place.server.chats) == before  # all of it was kept


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [2, pytest.param(20, marks=pytest.mark.long)])
def test_two_processes_on_one_store_of_judgements_lose_none(place: Place, pairs: int) -> None:
    words = (
        *SMALL[:3],
        "--scenario",
        "joke",
        "--examples",
        "6",
        "--agent",
        "vague",
        "--judge",
        "letters",
        "--name",
    )
    asked = place.home / "asked.txt"
    place.alone(*words, "whole")
    alone = len(asked.read_text("utf-8").split())
    assert alone > 0
    whole = place.home / "reports" / "whole" / "verdicts.jsonl"
    for number, pause in enumerate(pauses(pairs)):
        for each in (place.home / "reports").glob("*.sqlite*"):
            each.unlink()
        asked.unlink()
        names = (f"a{number}", f"b{number}")
        ended = place.both((*words, names[0]), (*words, names[1]), pause)
        assert [code for code, _ in ended] == [0, 0], ended
        assert alone <= len(asked.read_text("utf-8").split()) <= 2 * alone
        for name in names:
            assert place.log(name) == place.log("whole")
            assert (place.home / "reports" / name / "verdicts.jsonl").read_bytes() == whole.read_bytes()
        asked.write_text("", "utf-8")
        place.alone(*words, f"c{number}")
        assert asked.read_text("utf-8") == ""


SLOW = '''"""Waits before each reply."""

import time
from ltm_bench import Agent, Message, Reply, Turn


class Slow(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        time.sleep(0.1)
        return Reply("Okay.")

    async def observe(self, turn: Turn) -> None:
        return
'''


@pytest.mark.slow
@pytest.mark.parametrize("what", ["reports", "reports/r"])
def test_a_folder_that_is_moved_while_a_run_is_under_way_is_named_and_moved_back_it_is_whole(
    place: Place, what: str
) -> None:
    (place.home / "agents" / "slow.py").write_text(SLOW, "utf-8")
    words = ("run", "--span", "2k", "--suite", "smoke", "--examples", "1", "--agent", "slow", "--name", "r")
    log = place.home / "reports" / "r" / "events.jsonl"
    with place.begin(*words) as process:
        until = time.monotonic() + 100
        while not log.exists() or len(log.read_bytes()) < 8000:
            assert time.monotonic() < until
            time.sleep(0.01)
        (place.home / what).rename(place.home / "elsewhere")
        err = process.communicate(timeout=200)[1].decode()
    assert process.returncode == 1
    last = err.strip().rpartition("\n")[2]
    assert "events.jsonl: No such file or directory; if its folder was moved, move it back" in last
    (place.home / "elsewhere").rename(place.home / what)
    place.alone("resume", "r")
    assert b'"ended"' in place.log("r").splitlines()[-1] + place.log("r").splitlines()[-2]
