"""Killed at any moment and resumed, a run ends as if nothing had happened. With the real command, in real processes."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

AGENT = '''
"""Diary: answers from everything that it was told, writes down every call, and is slow enough to be killed."""

import os, time
from ltm_bench import Agent, Message, Reply, Turn


class Diary(Agent):
    free = True

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def reply(self, message: Message) -> Reply:
        with open("calls.txt", "ab", buffering=0) as file:
            file.write(b"%d\\n" % message.turn)
        time.sleep(0.001)
        answer = f"{len(self.heard)} turns, {sum(map(len, self.heard))} letters, {self.heard[-1:]}"[:300]
        self.heard.append(message.text + answer)
        return Reply(answer)

    async def observe(self, turn: Turn) -> None:
        self.heard.append(turn.message.text + turn.reply.text)
'''
RUN = [sys.executable, "-m", "ltm_bench", "run", "--name", "r", "--span", "2k"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "diary.py").write_text(AGENT, "utf-8")
    return tmp_path


def run(folder: Path, *more: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(
        [*RUN, *more], cwd=folder, env=environment, capture_output=True, text=True, timeout=200
    )


def whole(folder: Path, *more: str, seed: str = "0") -> dict[str, bytes]:
    """Run to the end; return every file that must not differ."""
    done = run(folder, *more, seed=seed)
    assert done.returncode == 0, done.stderr
    home = folder / "reports" / "r"
    names = [
        "events.jsonl",
        "verdicts.jsonl",
        *(f"isolated/{p.name}" for p in sorted(home.glob("isolated/*"))),
    ]
    return {name: (home / name).read_bytes() for name in names}


def events(path: Path) -> list[dict[str, Any]]:
    """Read the whole lines of a log."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in lines]


def killed(folder: Path, when: int, *more: str) -> bool:
    """Start the run and kill it without warning as soon as its log has so many bytes; False if it ended before."""
    path = folder / "reports" / "r" / "events.jsonl"
    process = subprocess.Popen(
        [*RUN, *more], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 100
    while process.poll() is None and time.monotonic() < deadline:
        if path.exists() and path.stat().st_size >= when:
            process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def test_killed_twenty_times_a_run_ends_as_if_nothing_had_happened(place: Path) -> None:
    more = ("--agent", "diary")
    expected = whole(place, *more)
    size = len(expected["events.jsonl"])
    moments = sorted(random.Random(7).sample(range(3000, size - 200), 20))
    (place / "reports" / "r").rename(place / "reports" / "uninterrupted")
    (place / "calls.txt").unlink()
    path, kills, answered = place / "reports" / "r" / "events.jsonl", 0, set[int]()
    for moment in moments:
        before = len((place / "calls.txt").read_text().split()) if (place / "calls.txt").exists() else 0
        kills += killed(place, moment, *more)
        called = [int(turn) for turn in (place / "calls.txt").read_text().split()[before:]]
        assert answered.isdisjoint(called), "a turn that had been answered was asked again"
        answered = {event["turn"] for event in events(path) if event["event"] == "replied"}
    assert kills >= 18
    assert whole(place, *more) == expected


def test_killed_while_it_remembers_in_a_vector_store_a_run_ends_the_same(tmp_path: Path) -> None:
    more = ("--agent", "vector_memory", "--suite", "smoke")
    expected = whole(tmp_path / "a", *more)
    (tmp_path / "b").mkdir()
    size = len(expected["events.jsonl"])
    assert [killed(tmp_path / "b", share * size // 100, *more) for share in (30, 55, 80)] == [True] * 3
    assert whole(tmp_path / "b", *more) == expected


def test_killed_in_isolated_mode_a_run_ends_the_same(place: Path) -> None:
    more = ("--agent", "diary", "--isolated")
    expected = whole(place, *more)
    (place / "reports" / "r").rename(place / "reports" / "uninterrupted")
    process = subprocess.Popen([*RUN, *more], cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    logs = place / "reports" / "r" / "isolated"
    while process.poll() is None and (
        not logs.exists() or sum(p.stat().st_size for p in logs.iterdir()) < 9000
    ):
        pass
    process.kill()
    process.wait()
    assert whole(place, *more) == expected


def test_the_same_seed_gives_the_same_bytes_under_any_hash_seed(place: Path, tmp_path: Path) -> None:
    one = whole(place, "--agent", "diary", "--span", "3000", seed="1")
    (place / "reports" / "r").rename(place / "reports" / "one")
    assert whole(place, "--agent", "diary", "--span", "3000", seed="2") == one
    assert whole(tmp_path / "v", seed="1") == whole(tmp_path / "w", seed="2"), "the default agent"


def test_another_seed_gives_another_conversation(tmp_path: Path) -> None:
    one = whole(tmp_path / "a", "--agent", "perfect")
    assert whole(tmp_path / "b", "--agent", "perfect", "--seed", "1") != one


def test_a_second_process_is_refused_and_a_dead_one_holds_nothing(place: Path) -> None:
    home = place / "reports" / "r"
    hold = textwrap.dedent("""
        import pathlib, sys, time
        from ltm_bench.log import locked
        with locked(pathlib.Path(sys.argv[1])):
            print("held", flush=True)
            time.sleep(60)
    """)
    whole(place, "--agent", "diary")
    with (home / "events.jsonl").open("rb+") as file:  # unfinished again
        file.truncate(len((home / "events.jsonl").read_bytes()) * 2 // 3)
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(home)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        refused = run(place, "--agent", "diary")
        assert refused.returncode == 1
        assert "another process is working on this run" in refused.stderr
        holder.kill()
    assert run(place, "--agent", "diary").returncode == 0
