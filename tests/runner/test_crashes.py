"""A run that is killed at any moment and resumed ends as if nothing had happened. Real commands, in real processes."""

import asyncio
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from ltm_bench.adapters.testing import Fault, Provider
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import RunLocked
from ltm_bench.log.recorder import locked
from ltm_bench.plan.planning import plan_of
from ltm_bench.runner.conversations import run_conversations as run_plan

if TYPE_CHECKING:
    from tests import zygote
    from tests.conftest import Command
else:
    import zygote

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
HANDLE = signal.signal  # removed, since commands that run inside a test must not set signal handlers
RUN = [sys.executable, "-m", "ltm_bench", "run", "--name", "r", "--span", "2k"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "diary.py").write_text(AGENT, "utf-8")
    return tmp_path


def run(folder: Path, *more: str, seed: str = "") -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONHASHSEED": seed or "random"}
    start: Any = subprocess.run if seed else zygote.run  # a process that was forked has the seed of the tests
    done: subprocess.CompletedProcess[str] = start(
        [*RUN, *more], cwd=folder, env=environment, capture_output=True, text=True, timeout=200
    )
    return done


def whole(folder: Path, *more: str, seed: str = "") -> dict[str, bytes]:
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
    """Start the run, and kill it without warning once its log has this many bytes; return False if it ended first."""
    path = folder / "reports" / "r" / "events.jsonl"
    process = zygote.Forked([*RUN, *more], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 100
    while process.poll() is None and time.monotonic() < deadline:
        if path.exists() and path.stat().st_size >= when:
            process.send_signal(signal.SIGKILL)
        time.sleep(0.001)  # the run itself needs the processor
    return process.wait() == -signal.SIGKILL


@pytest.mark.long
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
        assert answered.isdisjoint(called), "an answered turn was asked again"
        answered = {event["turn"] for event in events(path) if event["event"] == "replied"}
    assert kills >= 18
    assert whole(place, *more) == expected


ASKED = '''
"""Asked: does not observe, so that it is asked filler as well; its memory is a file beside the run."""

import time


def agent(message: str) -> str:
    with open("calls.txt", "ab", buffering=0) as file:
        file.write(message.partition("\\n")[0].encode() + b"\\n")
    time.sleep(0.001)
    return f"{len(message)} letters: {message[:80]}"
'''


@pytest.mark.long
def test_killed_while_it_is_asked_filler_a_run_ends_the_same(place: Path) -> None:
    (place / "agents" / "asked.py").write_text(ASKED, "utf-8")
    more = ("--agent", "asked")
    expected = whole(place, *more)
    calls = (place / "calls.txt").read_text().splitlines()
    (place / "reports" / "r").rename(place / "reports" / "uninterrupted")
    (place / "calls.txt").unlink()
    size = len(expected["events.jsonl"])
    assert [killed(place, share * size // 100, *more) for share in (20, 40, 60, 80)] == [True] * 4
    assert whole(place, *more) == expected
    again = len((place / "calls.txt").read_text().splitlines()) - len(calls)
    assert again <= 4, "no turn is asked twice except for the calls under way"


@pytest.mark.long
@pytest.mark.parametrize(
    "agent",
    [
        "vector_memory",
        "chroma_memory",
    ],
)
def test_killed_while_it_writes_to_a_vector_store_a_run_ends_the_same(tmp_path: Path, agent: str) -> None:
    more = ("--agent", agent, "--suite", "smoke")
    expected = whole(tmp_path / "a", *more)
    (tmp_path / "b").mkdir()
    size = len(expected["events.jsonl"])
    assert [killed(tmp_path / "b", share * size // 100, *more) for share in (30, 55, 80)] == [True] * 3
    assert whole(tmp_path / "b", *more) == expected


@pytest.mark.long
def test_killed_in_isolated_mode_a_run_ends_the_same(place: Path) -> None:
    more = ("--agent", "diary", "--isolated")
    expected = whole(place, *more)
    (place / "reports" / "r").rename(place / "reports" / "uninterrupted")
    process = zygote.Forked([*RUN, *more], cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    logs = place / "reports" / "r" / "isolated"
    while process.poll() is None and (
        not logs.exists() or sum(p.stat().st_size for p in logs.iterdir()) < 9000
    ):
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert whole(place, *more) == expected


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes_under_any_hash_seed(place: Path, tmp_path: Path) -> None:
    one = whole(place, "--agent", "diary", "--span", "3000", seed="1")
    (place / "reports" / "r").rename(place / "reports" / "one")
    assert whole(place, "--agent", "diary", "--span", "3000", seed="2") == one
    assert whole(tmp_path / "v", seed="1") == whole(tmp_path / "w", seed="2"), "the default agent"


def test_another_seed_gives_another_conversation(tmp_path: Path) -> None:
    words = ("--agent", "perfect", "--suite", "smoke")
    one = whole(tmp_path / "a", *words)
    assert whole(tmp_path / "b", *words, "--seed", "1") != one


def test_a_second_process_is_refused_and_a_dead_one_holds_no_lock(place: Path) -> None:
    home = place / "reports" / "r"
    hold = textwrap.dedent("""
        import pathlib, sys, time
        from ltm_bench.log.recorder import locked
        with locked(pathlib.Path(sys.argv[1])):
            print("held", flush=True)
            time.sleep(60)
    """)
    small = ("--agent", "diary", "--suite", "smoke")
    whole(place, *small)
    with (home / "events.jsonl").open("rb+") as file:  # unfinished again
        file.truncate(len((home / "events.jsonl").read_bytes()) * 2 // 3)
    with zygote.Forked([sys.executable, "-c", hold, str(home)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        refused = run(place, *small)
        assert refused.returncode == 1
        assert "another process is working on this run" in refused.stderr
        holder.kill()
    assert run(place, *small).returncode == 0


AT_ONCE = '''
"""Sudden: killed, once, at a turn, with its reply on the way; or deaf to all that happens meanwhile."""

import os, signal, time
from pathlib import Path
from ltm_bench import Agent, Message, Reply


class Sudden(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        if message.turn == 20 and Path("kill").exists():
            Path("kill").unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        if message.turn >= 20 and Path("block").exists():
            Path("here").touch()
            time.sleep(0.5)
        return Reply(f"turn {message.turn}")
'''
TINY = ("--span", "2k", "--scenario", "colours", "--filler", "live", "--name", "r")


@pytest.fixture
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    (place / "agents" / "sudden.py").write_text(AT_ONCE, "utf-8")
    return place


def start(*words: str, **options: Any) -> subprocess.Popen[str]:
    """Start the command here."""
    begin: Any = subprocess.Popen if "preexec_fn" in options else zygote.Forked
    process: subprocess.Popen[str] = begin(
        [sys.executable, "-m", "ltm_bench", "run", *TINY, *words],
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    return process


def undisturbed(command: "Command", *words: str) -> bytes:
    """Run to the end, and move the run aside; return its log."""
    assert command("run", *TINY, *words).exit_code == 0
    Path("reports/r").rename("reports/undisturbed")
    return Path("reports/undisturbed/events.jsonl").read_bytes()


def doubtful() -> list[int]:
    """Return the turns that were reported as possibly sent twice."""
    records = map(json.loads, Path("reports/r/calls.jsonl").read_bytes().splitlines())
    return [record["turn"] for record in records if record.get("doubtful")]


def test_a_turn_whose_reply_was_lost_is_named_and_no_other(here: Path, command: "Command") -> None:
    expected = undisturbed(command, "--agent", "sudden")
    (here / "kill").touch()
    with start("--agent", "sudden") as process:
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    done = command("resume", "r")
    assert done.exit_code == 0
    assert "Turn 20 may have been sent twice: its message was on the way when the run stopped" in done.err
    assert done.err.count("sent twice") == 1
    assert doubtful() == [20]
    assert Path("reports/r/events.jsonl").read_bytes() == expected


def test_in_an_isolated_run_the_conversation_is_named_too(here: Path, command: "Command") -> None:
    words = ("--span", "2k", "--scenario", "colours", "--isolated", "--examples", "1", "--name", "r")
    assert command("run", *words, "--agent", "diary").exit_code == 0
    log = Path("reports/r/isolated/colours-0.jsonl")
    whole = log.read_bytes()
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))
    assert "Turn 1 of colours-0 may have been sent twice" in command("resume", "r").err
    assert log.read_bytes() == whole


def test_cut_at_any_byte_of_two_records_a_log_ends_the_same_and_the_doubtful_turn_is_named(
    here: Path, command: "Command"
) -> None:
    words = ("--span", "2k", "--scenario", "colours", "--isolated", "--examples", "1", "--name", "r")
    assert command("run", *words, "--agent", "diary").exit_code == 0
    home, asked = Path("reports/r"), Path("calls.txt")
    plan, log = plan_of(home), home / "isolated" / "colours-0.jsonl"
    expected = log.read_bytes()
    lines = expected.splitlines(keepends=True)
    first, sent, end = (len(b"".join(lines[:count])) for count in (2, 3, 4))
    for size in range(first, end):
        log.write_bytes(expected[:size])
        (home / "timings.jsonl").unlink()
        (home / "calls.jsonl").unlink()
        asked.unlink()
        talk = run_plan(
            plan,
            plan.agents,
            home,
            budget=Budget(),
            observer=Mock(),
        )
        asyncio.run(talk)
        assert log.read_bytes() == expected
        assert int(asked.read_text().split()[0]) == (1 if size < end - 1 else 2)
        assert doubtful() == ([1] if sent - 1 <= size < end - 1 else [])


def test_cut_after_any_event_a_log_ends_the_same_and_no_logged_turn_is_asked_again(
    here: Path, command: "Command"
) -> None:
    expected = undisturbed(command, "--agent", "diary")
    Path("reports/undisturbed").rename("reports/r")
    home, asked = Path("reports/r"), Path("calls.txt")
    plan, lines = plan_of(home), expected.splitlines(keepends=True)
    for count in range(1, len(lines)):
        (home / "events.jsonl").write_bytes(b"".join(lines[:count]))
        asked.write_bytes(b"")
        asyncio.run(run_plan(plan, plan.agents, home, budget=Budget(), observer=Mock()))
        assert (home / "events.jsonl").read_bytes() == expected
        known = {each["turn"] for each in map(json.loads, lines[:count]) if each["event"] == "replied"}
        called = [int(turn) for turn in asked.read_text().split()]
        assert known.isdisjoint(called)
        assert len(called) == len(set(called))


def test_a_finished_log_that_lacks_its_last_byte_gets_it_back(here: Path, command: "Command") -> None:
    expected = undisturbed(command, "--agent", "diary")
    Path("reports/undisturbed").rename("reports/r")
    log = Path("reports/r/events.jsonl")
    log.write_bytes(expected[:-1])
    Path("calls.txt").unlink()
    assert command("resume", "r").exit_code == 0
    assert log.read_bytes() == expected
    assert not Path("calls.txt").exists(), "nobody is asked"


def test_an_agent_that_never_waits_is_interrupted_after_its_turn(here: Path, command: "Command") -> None:
    expected = undisturbed(command, "--agent", "sudden")
    (here / "block").touch()
    with start("--agent", "sudden", preexec_fn=listen) as process:
        while not (here / "here").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "`ltm-bench resume r` continues from here" in said
    (here / "block").unlink()
    assert command("resume", "r").exit_code == 0
    assert doubtful() == []
    assert Path("reports/r/events.jsonl").read_bytes() == expected


def listen() -> None:
    """Accept SIGINT: a shell makes background processes ignore it, and children inherit that."""
    HANDLE(signal.SIGINT, signal.default_int_handler)


def test_a_full_disk_is_named_and_the_run_resumes_when_there_is_room(here: Path, command: "Command") -> None:
    expected, size = undisturbed(command, "--agent", "diary"), 9000
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
    with start("--agent", "diary", preexec_fn=limit) as process:
        _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    line = "ltm-bench: reports/r/events.jsonl: File too large; `ltm-bench resume r` continues once it can be"
    assert said.splitlines()[-1].startswith(line)
    assert Path("reports/r/events.jsonl").read_bytes() == expected[:size]
    assert command("resume", "r").exit_code == 0
    assert Path("reports/r/events.jsonl").read_bytes() == expected


def test_the_clock_may_be_set_back_between_run_and_resume(
    here: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = undisturbed(command, "--agent", "diary")
    Path("reports/r").mkdir()
    Path("reports/r/events.jsonl").write_bytes(expected[:9000])
    now, counted = time.time, time.perf_counter  # noqa: TID251  # setting the wall clock back has no effect
    monkeypatch.setattr(time, "time", lambda: now() - 3e8)
    monkeypatch.setattr(time, "perf_counter", lambda: counted() - 3e8)
    assert command("resume", "r").exit_code == 0
    assert Path("reports/r/events.jsonl").read_bytes() == expected


def test_a_budget_that_stops_a_run_raises_no_doubt(here: Path, command: "Command", key: str) -> None:
    words = ("--agent", "gpt-4o", "--max-cost", "0")
    assert command("run", *TINY, *words).exit_code == 4
    assert len(Path("reports/r/events.jsonl").read_bytes().splitlines()) == 1, "no message went out"
    done = command("resume", "r", "--max-cost", "0")
    assert "sent twice" not in done.err


def test_a_name_that_no_longer_resolves_stops_the_run_until_it_does(
    here: Path, command: "Command", server: Provider, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    port = server.url.rpartition(":")[2]
    words = ("-A", "model=any", "-A", "max_retries=0", "--base-url", f"http://nowhere.invalid:{port}/v1")
    ask, there = socket.getaddrinfo, [True]

    def getaddrinfo(host: Any, *more: Any, **options: Any) -> Any:
        if host in ("nowhere.invalid", b"nowhere.invalid"):
            if not there[0]:
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            host = "127.0.0.1"
        return ask(host, *more, **options)

    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    server.edit = lambda body: {**body, "usage": {**body["usage"], "prompt_tokens_details": None}}
    expected = undisturbed(command, "--agent", "openai_chat", *words)
    Path("reports/r").mkdir()
    Path("reports/r/events.jsonl").write_bytes(expected[:9000])
    there[0] = False
    done = command("resume", "r")
    assert done.exit_code == 3
    assert "nowhere.invalid" in done.err.splitlines()[-1]
    assert command("resume", "r").exit_code == 3
    there[0] = True
    server.fail(status=429, times=2)
    done = command("resume", "r")
    assert done.exit_code == 3
    assert "429" in done.err.splitlines()[-1]
    server.faults.clear()
    assert command("resume", "r").exit_code == 0
    assert Path("reports/r/events.jsonl").read_bytes() == expected


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault(status=503), "503"),
        (Fault(kind="cut"), "the connection failed"),
        (Fault(kind="hang", seconds=2.0), "0.3 s"),
    ],
    ids=lambda each: each.kind if isinstance(each, Fault) else "",
)
def test_a_provider_that_fails_for_good_stops_the_run_until_it_answers(
    here: Path, command: "Command", server: Provider, key: str, fault: Fault, says: str
) -> None:
    words = ("-A", "model=any", "-A", "max_retries=0", "-A", "timeout=0.3", "--base-url", server.openai_url)
    server.edit = lambda body: {**body, "usage": {**body["usage"], "prompt_tokens_details": None}}
    expected = undisturbed(command, "--agent", "openai_chat", *words)
    Path("reports/r").mkdir()
    Path("reports/r/events.jsonl").write_bytes(expected[:9000])
    server.faults.append(fault)
    done = command("resume", "r")
    assert done.exit_code == 3
    assert says in done.err.splitlines()[-1]
    assert command("resume", "r").exit_code == 0
    assert Path("reports/r/events.jsonl").read_bytes() == expected


@pytest.mark.skipif(sys.platform == "win32", reason="there, no file can be deleted that is in use")
def test_a_run_stays_held_when_the_file_of_its_lock_is_deleted(tmp_path: Path) -> None:
    with locked(tmp_path):
        (tmp_path / ".lock").unlink()
        with pytest.raises(RunLocked), locked(tmp_path):
            pass
        (tmp_path / ".lock").unlink(missing_ok=True)
        with pytest.raises(RunLocked), locked(tmp_path):
            pass
    with locked(tmp_path):
        pass
