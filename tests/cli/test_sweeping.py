"""Many runs at the same time: all are made, a failing one stops no other, and the same command resumes them."""

import json
import threading
import time
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters.testing import Said, provider, quote
from ltm_bench.runner.sweep import OPEN

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "configs").mkdir()
    few = "examples = 1\n" + "".join(
        f"[scenarios.{name}]\n" for name in ("colours", "jokes", "shopping_list")
    )
    (tmp_path / "configs" / "few.toml").write_text(few, "utf-8")
    return tmp_path


SMALL = ("--span", "2k", "--suite", "few")


def scores() -> dict[str, float | None]:
    paths = sorted(Path("reports").glob("*/results.json"))
    return {path.parent.name: json.loads(path.read_text())["score"] for path in paths}


def test_each_agent_span_and_seed_has_a_run_and_the_page_shows_them_all(command: "Command") -> None:
    words = (
        "sweep",
        "--agent",
        "perfect",
        "--agent",
        "goldfish",
        *SMALL,
        "--span",
        "4k",
        "--seed",
        "0",
        "--seed",
        "1",
    )
    done = command(*words)
    assert done.exit_code == 0, done.err
    assert "8/8 runs done" in done.err
    assert done.err.count(": done, score so far ") == 8
    assert "few-4k-goldfish-seed1: done, score so far 0.00/3\n" in done.err
    assert len(scores()) == 8
    assert {score for name, score in scores().items() if "goldfish" in name} == {0.0}
    assert Path("reports/sweep.html").exists()
    before = {path: path.read_bytes() for path in Path("reports").glob("*/events.jsonl")}
    again = command(*words)
    assert "0 turns" in again.err
    assert ": done" not in again.err
    assert {path: path.read_bytes() for path in Path("reports").glob("*/events.jsonl")} == before


def test_the_cost_of_asking_everything_is_announced_once_for_all_seeds(command: "Command") -> None:
    Path("agents").mkdir()
    Path("agents/deaf.py").write_text(
        '"""Deaf."""\n\n\ndef agent(message: str) -> str:\n    return "Okay."\n'
    )
    words = ("sweep", "--agent", "deaf", "--agent", "goldfish", *SMALL, "--seed", "0", "--seed", "1")
    said = " ".join(command(*words).err.split())
    assert said.count("does not observe, so it is asked everything") == 1
    assert "price unknown, in each of 2 runs" in said
    assert "asked everything" not in command(*words).err, "nothing remains to be asked"


def test_an_unknown_cost_is_not_shown_as_a_number(command: "Command") -> None:
    Path("agents").mkdir()
    Path("agents/deaf.py").write_text(
        '"""Deaf."""\n\n\ndef agent(message: str) -> str:\n    return "Okay."\n'
    )
    words = ("sweep", "--agent", "deaf", *SMALL)
    for said, expected in ((command(*words).err, "cost unknown"), (command(*words).err, "nothing spent")):
        [line] = [line for line in said.splitlines() if "1/1 runs done" in line]
        assert expected in line
        assert "$" not in line


def test_expected_usage_is_announced_for_each_run_and_in_total(command: "Command") -> None:
    Path("agents").mkdir()
    Path("agents/paid.py").write_text(
        '"""Paid."""\n\nfrom ltm_bench import Agent, Message, Reply, Turn\n\n\nclass Paid(Agent):\n'
        "    async def reply(self, message: Message) -> Reply:\n        return Reply('Okay.')\n\n"
        "    async def observe(self, turn: Turn) -> None:\n        return\n"
    )
    words = ("sweep", "--agent", "perfect", *SMALL, "--span", "4k", "--seed", "0", "--seed", "1")
    said = command(*words).err
    before = said.partition("runs done")[0]
    lines = [line for line in before.splitlines() if "tokens of conversation" in line]
    assert [line.partition(":")[0] for line in lines] == [
        "few at 2k, perfect",
        "few at 4k, perfect",
        "in all",
    ]
    assert all("calls, free" in line for line in lines)
    assert all(", in each of 2 runs" in line for line in lines[:2])
    each, all_of_it = (
        [int(line.partition(" calls")[0].rpartition(" ")[2].replace(",", "")) for line in part]
        for part in (lines[:2], lines[2:])
    )
    assert all_of_it == [2 * sum(each)]
    assert "tokens of conversation" not in command(*words).err, "nothing remains to be asked"
    unknown = command("sweep", "--agent", "paid", "--agent", "perfect", *SMALL, "--seed", "2").err
    assert "in all: about" in unknown
    assert unknown.count("price unknown") == 2


def test_a_run_alone_and_in_a_sweep_are_equal_byte_for_byte(command: "Command") -> None:
    command("run", "--agent", "vector_memory", *SMALL)
    log = Path("reports/few-2k-vector_memory-seed0/events.jsonl")
    alone = log.read_bytes()
    log.unlink()
    assert command("sweep", "--agent", "vector_memory", "--agent", "parrot", *SMALL).exit_code == 0
    assert log.read_bytes() == alone


def test_a_run_that_fails_stops_no_other_and_continues_later(command: "Command") -> None:
    with provider() as server:
        server.fail(status=400, message="no", times=1)
        grid = ("sweep", "--agent", "openai_chat", "--agent", "goldfish", *SMALL)
        # Settings are for all agents; goldfish has none.
        assert "no setting" in command(*grid, "-A", "model=some-model", "--base-url", server.openai_url).err
        Path("configs/agents.toml").write_text(
            f'[model]\nadapter = "openai_chat"\nmodel = "some-model"\nbase_url = "{server.openai_url}"\n'
        )
        words: tuple[str, ...] = (
            "sweep",
            "--agent",
            "model",
            "--agent",
            "goldfish",
            *SMALL,
            "--seed",
            "0",
            "--seed",
            "1",
        )
        done = command(*words)
        assert done.exit_code == 3
        assert "1 of 4 runs are not finished; the same command continues with them" in done.err
        assert done.out.count("unfinished") == 1
        asked = len(server.chats)
        assert command(*words).exit_code == 0
        assert all(score is not None for score in scores().values())
        texts = [request.messages[-1]["content"] for request in server.chats]
        assert len(server.chats) > asked
        assert len(texts) == len(set(enumerate(texts)))


def test_the_budget_is_shared_and_never_exceeded(command: "Command", monkeypatch: pytest.MonkeyPatch) -> None:
    with provider() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setattr("ltm_bench.adapters.endpoint.Endpoint.is_list_priced", True, raising=False)
        words = ("sweep", "--agent", "openai_chat", "-A", "model=gpt-4o", *SMALL)
        seeds = [word for seed in range(4) for word in ("--seed", str(seed))]
        done = command(*words, *seeds, "--max-cost", "0.05")
    # A server on this machine has no known price, and unknown costs cannot be limited.
    assert done.exit_code == 4
    assert "what the next call could cost is unknown" in done.err


METERED = '''
"""Metered: costs a cent a call, and says when it is opened."""

from pathlib import Path

from ltm_bench import Agent, Message, Reply, Usage

CENT = Usage(output=1000, model="gpt-4o", provider="openai")


class Metered(Agent):
    async def open(self, home: Path) -> None:
        with open("opened.txt", "a") as file:
            file.write("x")

    async def reply(self, message: Message) -> Reply:
        return Reply("Noted.", CENT)

    def reserve(self, message: Message) -> Usage:
        return CENT
'''


def test_a_run_whose_first_call_cannot_be_paid_for_does_not_start(command: "Command", place: Path) -> None:
    (place / "agents").mkdir()
    (place / "agents" / "metered.py").write_text(METERED, "utf-8")
    words = ("sweep", "--agent", "metered", "--agent", "goldfish", *SMALL, "--max-cost", "0.30")
    assert command(*words, "--seed", "0", "--seed", "1").exit_code == 4
    assert Path("opened.txt").read_text() == "xx"
    more = command(*words, "--seed", "0", "--seed", "1", "--seed", "2")
    assert more.exit_code == 4
    assert Path("opened.txt").read_text() == "xx", "no agent was opened that could not be paid for"
    assert more.err.count(": not started: $0.3000 of --max-cost 0.30 is spent, and its first call") == 1
    assert more.err.count(": not continued: $0.3000 of --max-cost 0.30 is spent, and its ") == 2
    assert "3/6 runs done, 3 stopped by --max-cost" in more.err
    assert more.out.count("unfinished") == 2
    assert more.out.count("not begun") == 1
    assert not Path("reports/few-2k-metered-seed2").exists()
    assert len([score for score in scores().values() if score is not None]) == 3, "free agents continue"


def test_what_finished_runs_have_cost_counts_towards_the_limit(command: "Command", place: Path) -> None:
    (place / "agents").mkdir()
    (place / "agents" / "metered.py").write_text(METERED, "utf-8")
    words = ("sweep", "--agent", "metered", *SMALL)
    assert command(*words, "--seed", "0", "--max-cost", "50").exit_code == 0

    def spent() -> Decimal:
        logs = Path("reports").glob("*/events.jsonl")
        return Decimal("0.01") * sum(log.read_text("utf-8").count('"event":"replied"') for log in logs)

    limit = spent() + Decimal("0.05")
    more = command(*words, "--seed", "0", "--seed", "1", "--max-cost", str(limit))
    assert more.exit_code == 4, more.output
    assert spent() == limit, "the second run had five cents, not the whole limit"
    assert command(*words, "--seed", "0", "--max-cost", "0.01").exit_code == 0, (
        "what is finished costs nothing"
    )


class Counting:
    """Counts how many requests are answered at the same time."""

    def __init__(self, expected: int) -> None:
        self.now = self.most = 0
        self.expected, self.reached = expected, threading.Event()
        self.lock = threading.Lock()

    def __call__(self, messages: Sequence[Said]) -> str:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.most >= self.expected:
                self.reached.set()
        self.reached.wait(60)  # for the others, however slow the machine is
        self.reached.set()
        time.sleep(0.02)
        with self.lock:
            self.now -= 1
        return quote(messages)


@pytest.mark.long
@pytest.mark.parametrize("connections", [1, 3])
@pytest.mark.parametrize("suite", ["smoke", "isolated"])
def test_a_provider_is_called_no_more_often_at_a_time_than_allowed(
    command: "Command", connections: int, suite: str
) -> None:
    counting = Counting(connections)
    with provider(counting) as server:
        done = command(
            *("sweep", "--agent", "openai_chat", "-A", "model=some-model", "--base-url", server.openai_url),
            *("--span", "2k", "--suite", suite, "--examples", "1", "-P", "colours.changes=1"),
            *(word for seed in range(4) for word in ("--seed", str(seed))),
            *("--max-connections", str(connections)),
        )
    assert done.exit_code == 0, done.err
    assert counting.most == connections


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("agnts = ['a']", "sweep.toml: unknown key 'agnts'; did you mean 'agents'"),
        ("runs = 3", "max_drop, again, otel, yes)"),  # every known key once
        ("agents = 'perfect'", "agents = 'perfect': write a list, such as ['perfect'], as for --agent"),
        ("seeds = ['x']", "--seed x: write a whole number"),
        ("seeds = ['9..0']", "--seed 9..0: write a range as 0..99, the smaller seed first"),
        ("seeds = ['0..x']", "--seed x: write a whole number"),
        ("seeds = ['0..999999999999']", "for at most 100,000 seeds"),
        (
            "agents = ['perfect']\nshard = '3/2'",
            "--shard 3/2: write N/M, such as 3/16 for the third of sixteen parts",
        ),
        (
            "agents = ['perfect']\nshard = '2/2'",
            "--shard 2/2: the sweep has 1 runs; use at most that many parts",
        ),
        ("examples = 0", "--examples 0: write a whole number, 1 or more"),
        ("[resources.'*']\nnum_cpu = 1", "sweep.toml: unknown key 'resources.*.num_cpu'"),
        ("agents = []", "no agent is named"),
        *(
            (f"agents = ['perfect']\n{key}s = []", f"sweep.toml: {key}s = []: no {key} is named")
            for key in ("seed", "span", "suite", "scenario", "judge")
        ),
        ("agents = ['perfekt']", "did you mean 'perfect'"),
        ("agents = ['perfect']\nspans = ['2q']", "--span 2q"),
        ("agents = [", "not valid TOML"),
    ],
)
def test_a_bad_file_is_named_and_nothing_is_written(command: "Command", content: str, complaint: str) -> None:
    Path("sweep.toml").write_text(content)
    done = command("sweep", "sweep.toml")
    assert done.exit_code == 1
    assert complaint in done.err
    assert not Path("reports").exists()


def test_flags_override_the_file(command: "Command") -> None:
    Path("sweep.toml").write_text(
        'agents = ["perfect"]\nspans = ["2k", "4k"]\nsuites = ["few"]\nexamples = 1\n'
    )
    assert command("sweep", "sweep.toml", "--span", "8k").exit_code == 0
    assert list(scores()) == ["few-8k-perfect-seed0"]


def test_a_file_takes_every_option_of_a_run_by_its_name_in_python_or_on_the_command_line(
    command: "Command",
) -> None:
    Path("sweep.toml").write_text(
        'agents = ["perfect"]\nspans = ["2k"]\nscenarios = ["colours"]\nexamples = 1\nname = "n"\n'
        'isolated = true\ntag = ["a=b"]\n[parameters.colours]\nchanges = 4\n[resources."*"]\nnum_cpus = 2\n'
    )
    done = command("sweep", "sweep.toml", "--repeats", "2")
    assert done.exit_code == 0, done.err
    assert [name.partition("-")[0] for name in scores()] == ["n", "n"]
    assert '"a": "b"' in next(Path("reports").glob("n-*/environment.json")).read_text()


def test_a_combination_that_cannot_run_is_skipped_by_name_and_the_rest_runs(command: "Command") -> None:
    words = ("sweep", "--agent", "perfect", "--scenario", "colours", "--span", "100")
    done = command(*words, "--span", "2k")
    assert done.exit_code == 0, done.err
    assert "standard at 100, perfect, seed 0: skipped: a span of 100 tokens is too small for" in done.err
    assert list(scores()) == ["colours-2k-perfect-seed0"]
    alone = command(*words)
    assert (alone.exit_code, alone.err.startswith("ltm-bench: a span of 100 tokens is too small")) == (
        1,
        True,
    )


def test_a_run_whose_folder_cannot_be_made_stops_no_other(command: "Command") -> None:
    Path("reports").mkdir()
    Path("reports/few-2k-perfect-seed0").write_text("in the way")
    done = command("sweep", "--agent", "perfect", "--agent", "goldfish", *SMALL)
    assert done.exit_code == 3
    assert "reports/few-2k-perfect-seed0: File exists" in done.err
    assert scores() == {"few-2k-goldfish-seed0": 0.0}


def test_an_isolated_sweep_holds_every_example_alone_from_the_same_pool(command: "Command") -> None:
    assert command("sweep", "--agent", "perfect", "--agent", "goldfish", *SMALL, "--isolated").exit_code == 0
    folders = [path.parent for path in Path("reports").glob("*/results.json")]
    assert len(folders) == 2
    for folder in folders:
        examples = json.loads((folder / "results.json").read_text())["examples"]
        assert len(list((folder / "isolated").glob("*.jsonl"))) == len(examples)
    assert {score for name, score in scores().items() if "goldfish" in name} == {0.0}


def test_calls_can_be_tuned_and_answers_cached(command: "Command") -> None:
    with provider() as server:
        server.fail(status=500, message="no", times=1)
        where = ("-A", "model=some-model", "--base-url", server.openai_url)
        calls = ("--max-retries", "1", "--timeout", "9", "--cache")
        grid = ("sweep", "--agent", "openai_chat", *SMALL, *where, *calls)
        assert command(*grid).exit_code == 0
        asked = len(server.requests)
        for path in Path("reports").glob("*/events.jsonl"):
            path.unlink()
        assert command(*grid).exit_code == 0
        assert len(server.requests) == asked
    refused = command("sweep", "--agent", "goldfish", *SMALL, "--timeout", "9")
    assert (refused.exit_code, "no setting 'timeout'" in refused.err) == (1, True)
    refused = command("sweep", "--agent", "goldfish", *SMALL, "--cache", "--on", "ray")
    assert (refused.exit_code, "--cache and --gateway work on this machine alone" in refused.err) == (1, True)


def test_the_parts_of_a_sweep_are_disjoint_alike_and_together_the_whole(command: "Command") -> None:
    agents = ("--agent", "perfect", "--agent", "goldfish")
    words = ("sweep", *agents, "--span", "2k", "--scenario", "colours", "--examples", "1", "--seed", "0..2")
    parts = []
    for number in (1, 2, 3, 4):
        before = set(scores())
        done = command(*words, "--shard", f"{number}/4")
        assert done.exit_code == 0, done.err
        parts.append(set(scores()) - before)
    assert [len(part) for part in parts] == [2, 2, 1, 1]
    assert Path("reports/sweep-1-of-4.html").exists()
    assert not Path("reports/sweep.html").exists()
    logs = {path: path.read_bytes() for path in Path("reports").glob("*/events.jsonl")}
    assert len(logs) == 6
    done = command(*words)
    assert done.exit_code == 0, done.err
    assert {path: path.read_bytes() for path in Path("reports").glob("*/events.jsonl")} == logs
    assert command("compare", "--json").out == command("compare", "reports", "--json").out


def test_a_range_of_seeds_stands_for_all_of_them(command: "Command") -> None:
    one = ("sweep", "--agent", "goldfish", "--span", "2k", "--scenario", "colours", "--examples", "1")
    assert command(*one, "--seed", "5", "--seed", "0..1", "--seed", "train:7..8").exit_code == 0
    seeds = {json.loads(path.read_text())["seed"] for path in Path("reports").glob("*/results.json")}
    assert seeds == {0, 1, 5, "train:7", "train:8"}


OPENED = '''
"""Opened: notes how many of its kind are open at a time."""

import asyncio
from pathlib import Path

from ltm_bench import Agent, Message, Reply, Turn

now = []


class Opened(Agent):
    async def open(self, home: Path) -> None:
        now.append(home)
        with open("most", "a") as most:
            print(len(now), file=most)

    async def close(self) -> None:
        now.pop()

    async def reply(self, message: Message) -> Reply:
        await asyncio.sleep(0)
        return Reply("Okay.")

    async def observe(self, turn: Turn) -> None:
        return
'''


def test_few_more_runs_are_open_than_calls_may_go_out(command: "Command") -> None:
    Path("agents").mkdir()
    Path("agents/opened.py").write_text(OPENED)
    done = command("sweep", "--agent", "opened", *SMALL, "--seed", "0..14", "--max-connections", "2")
    assert done.exit_code == 0, done.err
    opened = [int(line) for line in Path("most").read_text().split()]
    assert len(opened) == 15
    assert max(opened) == 2 + OPEN


SHY = '''
"""Shy: hangs or fails in the middle of some conversations."""

import asyncio
from pathlib import Path

from ltm_bench import Agent, Message, Reply, Turn


class Shy(Agent):
    free = True

    def __init__(self, *, fails: int = 0, hangs: bool = False) -> None:
        self.fails, self.hangs = fails, hangs

    async def reply(self, message: Message) -> Reply:
        if message.turn >= 4 and self.hangs:
            await asyncio.Event().wait()
        failures = Path("failures")
        if message.turn >= 4 and (before := len(failures.read_text()) if failures.exists() else 0) < self.fails:
            failures.write_text("x" * (before + 1))
            raise RuntimeError("not now")
        return Reply("Okay.")

    async def observe(self, turn: Turn) -> None:
        return
'''


@pytest.fixture
def shy() -> tuple[str, ...]:
    Path("agents").mkdir()
    Path("agents/shy.py").write_text(SHY)
    return "sweep", "--agent", "shy", *SMALL


def test_a_run_that_hangs_ends_with_its_time_and_can_be_continued(
    command: "Command", shy: tuple[str, ...]
) -> None:
    done = command(*shy, "-A", "hangs=true", "--run-timeout", "0.5")
    assert done.exit_code == 3
    assert ": stopped after 0.5 seconds (--run-timeout)\n" in done.err
    assert "0/1 runs done, 1 failed" in done.err


def test_a_run_that_fails_is_continued_as_often_as_asked(
    command: "Command", shy: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltm_bench.runner.sweep.pause", lambda tries: 0.0)
    done = command(*shy, "-A", "fails=3", "--retries", "2")
    assert done.exit_code == 3
    assert done.err.count("RuntimeError: not now") == 3
    assert "; retry 2 of 2\n" in done.err
    done = command(*shy, "-A", "fails=3")
    assert done.exit_code == 0, done.err
    [run] = Path("reports").glob("few-2k-shy-*")
    log = (run / "events.jsonl").read_bytes()
    Path("failures").unlink()
    run.rename("one")
    assert command(*shy, "-A", "fails=3", "--retries", "3").exit_code == 0
    assert (run / "events.jsonl").read_bytes() == log


def test_pages_that_cannot_be_written_cost_no_other_run_its_own(command: "Command") -> None:
    words = ("sweep", "--agent", "goldfish", *SMALL, "--seed", "0..2")
    Path("reports/few-2k-goldfish-seed1/report.html").mkdir(parents=True)  # as if the disk were full
    Path("reports/sweep.html").mkdir()
    done = command(*words)
    assert done.exit_code == 3
    assert (
        "few-2k-goldfish-seed1: reports/few-2k-goldfish-seed1/report.html: it is not an ordinary file"
        in " ".join(done.err.split("\n"))
    )
    assert "1 of 3 runs are not finished" in done.err
    assert done.out.count("few-2k-goldfish-seed") == 3
    assert all(Path(f"reports/few-2k-goldfish-seed{seed}/report.html").is_file() for seed in (0, 2))
    done = command(*words, "--quiet")
    assert done.exit_code == 3
    assert "1 of 3 runs are not finished (few-2k-goldfish-seed1: reports/" in done.err, "errors stay"
    assert "it is not an ordinary file" in done.err
    Path("reports/few-2k-goldfish-seed1/report.html").rmdir()
    done = command(*words)
    assert done.exit_code == 1, "only the page of all is missing now"
    assert "reports/sweep.html: it is not an ordinary file" in done.err


def test_what_runs_cost_at_most_holds_for_every_seed_and_every_length_of_message(command: "Command") -> None:
    Path("agents").mkdir()
    Path("agents/wordy.py").write_text(
        METERED.replace(
            "return CENT", "return Usage(output=9 * len(message.text), model='gpt-4o', provider='openai')"
        )
        .replace('Reply("Noted.", CENT)', "Reply('No.', self.reserve(message))")
        .replace("class Metered", "class Wordy")
        .replace("Metered:", "Wordy:")
    )
    done = command("sweep", "--agent", "wordy", *SMALL, "--seed", "0..5")
    assert done.exit_code == 0, done.err
    [line] = [line for line in done.err.splitlines() if line.startswith("in all: ")]
    most = float(line.partition("at most $")[2].split(",")[0])
    each = float(done.err.partition(" calls, at most $")[2].split(",")[0])
    spent = [
        json.loads(path.read_text())["costs"]["dollars"] for path in Path("reports").glob("*/results.json")
    ]
    assert len(spent) == 6
    assert max(spent) <= each
    assert sum(spent) <= most
