"""A sweep on a Ray cluster gives the same bytes as here, whatever is killed. Skipped if Ray is not installed."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core.errors import ConfigError, RunIncomplete, RunLocked
from ltm_bench.core.extras import pip
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner.ray import Resources, Shared, driver, read_resources, sharing, worker
from ltm_bench.runner.ray.budget_server import BudgetServer, Spending
from ltm_bench.runner.ray.driver import Terms, shares
from ltm_bench.runner.ray.resources import fits, resources_of
from ltm_bench.runner.ray.sharing import Files
from ltm_bench.runner.ray.worker import MoneyLedger
from ltm_bench.runner.spent import Cost
from ltm_bench.runner.sweep import Job

if TYPE_CHECKING:
    from tests.conftest import Command

SMALL = ("--span", "2k", "--suite", "smoke", "--examples", "1")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("RAY_ADDRESS", "RAY_TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


# What holds without Ray


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("num_cpus=2", {"num_cpus": 2, "num_gpus": 0}),
        ("num_cpus=0.5, num_gpus=0.25", {"num_cpus": 0.5, "num_gpus": 0.25}),
        ("num_gpus=1,memory=1000", {"num_cpus": 1, "num_gpus": 1, "memory": 1000}),
    ],
)
def test_resources_are_read_from_a_flag(text: str, options: dict[str, float]) -> None:
    assert read_resources(text).options() == options


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("num_gpu=1", "did you mean 'num_gpus'"),
        ("num_gpus", "write it as num_cpus=1"),
        ("num_gpus=many", "num_gpus: input should be a valid number"),
        ("num_gpus=-1", "num_gpus: input should be greater than or equal to 0"),
        ("num_gpus=1.5", "above 1, Ray accepts only whole numbers"),
        ("num_cpus=nan", "num_cpus: input should be"),
        ("custom=3", "custom ones go into the file"),
    ],
)
def test_resources_that_cannot_be_read_are_named(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match="--resources") as raised:
        read_resources(text)
    assert complaint.lower() in str(raised.value).lower()


def test_an_agent_takes_its_own_resources_or_else_the_common_ones() -> None:
    tables = {
        "*": Resources(num_cpus=4, num_gpus=0.5),
        "large": Resources(num_gpus=2, custom={"fast": 1}),
    }
    assert resources_of("small", tables) == tables["*"]
    assert resources_of("large", tables).options() == {
        "num_cpus": 4,
        "num_gpus": 2,
        "resources": {"fast": 1},
    }
    assert resources_of("any", {}).options() == {"num_cpus": 1, "num_gpus": 0}


def test_a_node_is_checked_for_its_size() -> None:
    nodes = [
        {"Alive": True, "Resources": {"CPU": 8.0}},
        {"Alive": True, "Resources": {"CPU": 2.0, "GPU": 1.0}},
        {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}},
    ]
    assert fits(Resources(num_cpus=8), nodes)
    assert fits(Resources(num_cpus=2, num_gpus=1), nodes)
    assert not fits(Resources(num_cpus=8, num_gpus=1), nodes)
    assert not fits(Resources(custom={"fast": 1}), nodes)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (
            "[resources.perfekt]\nnum_gpus = 1",
            "resources.perfekt: this sweep has no such agent; did you",
        ),
        ("[resources.perfect]\nnum_gpu = 1", "unknown key 'resources.perfect.num_gpu'"),
        ("[resources.perfect]\nnum_gpus = 'x'", "resources.perfect.num_gpus = 'x'"),
        ("[resources]\nnum_gpus = 1", "resources.num_gpus = 1"),
    ],
)
def test_a_bad_table_of_resources_is_named(
    place: Path, command: "Command", content: str, complaint: str
) -> None:
    Path("sweep.toml").write_text(f"agents = ['perfect']\n{content}\n")
    done = command("sweep", "sweep.toml")
    assert done.exit_code == 1
    assert complaint in done.err
    assert len(done.err.splitlines()) == 1
    assert not Path("reports").exists()


def test_resources_in_the_file_do_not_disturb_a_sweep_on_this_machine(
    place: Path, command: "Command"
) -> None:
    Path("sweep.toml").write_text("agents = ['perfect']\n[resources.perfect]\nnum_gpus = 8\n")
    assert command("sweep", "sweep.toml", *SMALL).exit_code == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--on", "dask"), "--executor dask: use ray"),
        (
            ("--resources", "num_cpus=1"),
            "--resources num_cpus=1: this only applies to a cluster; add --executor ray",
        ),
        (("--shared", "s3://b/r"), "--shared s3://b/r: this only applies to a cluster; add --executor ray"),
        (("--on", "ray", "--checkpoint", "0"), "--checkpoint 0: write a number of seconds"),
        (("--on", "ray", "--shared", "nosuch://b/r"), "nosuch"),
    ],
)
def test_flags_that_cannot_be_used_are_named_and_nothing_is_written(
    place: Path, command: "Command", words: tuple[str, ...], complaint: str
) -> None:
    done = command("sweep", "--agent", "perfect", *SMALL, *words)
    assert done.exit_code == 1
    assert complaint in done.err
    assert len(done.err.splitlines()) == 1
    assert not Path("reports").exists()


def test_a_missing_ray_is_reported_with_what_to_install(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    done = command("sweep", "--agent", "perfect", *SMALL, "--on", "ray")
    assert done.exit_code == 1
    assert done.err == f"ltm-bench: --executor ray: ray is not installed; get it with {pip('ray')}\n"
    assert not Path("reports").exists()


class NotJoined:
    """Ray before it is connected to a cluster."""

    def is_initialized(self) -> bool:
        return False

    def init(self, **_: Any) -> None:
        raise ConnectionError("Could not find any running Ray instance.\nPlease specify one.")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", None])
def test_a_missing_cluster_is_reported_at_once(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch, address: str | None
) -> None:
    monkeypatch.setitem(sys.modules, "ray", NotJoined())
    monkeypatch.setenv("RAY_TMPDIR", str(place))
    if address is not None:
        monkeypatch.setenv("RAY_ADDRESS", address)
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("it waits"))
    done = command("sweep", "--agent", "perfect", *SMALL, "--on", "ray")
    assert done.exit_code == 1
    assert done.err.startswith("ltm-bench: --executor ray: no cluster ")
    assert len(done.err.splitlines()) == 1
    assert not Path("reports").exists()


def test_the_money_of_a_lost_attempt_stays_spent_and_its_log_is_not_counted_twice() -> None:
    server = BudgetServer(Decimal(10), [Cost()] * 2)
    server.open(0, "first", Decimal(), already=False)
    assert server.take(0, "first", Decimal(2), Decimal(), unknown=False) == 2
    server.give(0, "first", Decimal(2), Decimal(2), unknown=False)
    assert server.take(0, "first", Decimal(3), Decimal(2), unknown=False) == 3  # killed in this call
    # A copy from before the first call: both calls may have been billed.
    server.open(0, "second", Decimal(), already=False)
    assert server.spent() == 5
    assert "could exceed" in str(server.take(0, "second", Decimal(6), Decimal(), unknown=False))
    assert server.take(0, "second", Decimal(4), Decimal(), unknown=False) == 4
    assert "taken this run over" in str(server.take(0, "first", Decimal(1), Decimal(2), unknown=False))
    server.give(
        0, "first", Decimal(1), Decimal(9), unknown=False
    )  # presumed lost, so its messages are ignored
    server.give(0, "second", Decimal(4), Decimal(4), unknown=False)
    # Killed again, with a log that holds everything paid for.
    server.open(0, "third", Decimal(4), already=True)
    assert server.spent() == 9
    assert server.take(1, "", Decimal(1), Decimal(), unknown=False) == 1


def test_a_lost_call_that_the_next_attempt_counts_is_not_carried_over_as_well() -> None:
    server = BudgetServer(Decimal(10), [Cost()] * 1)
    server.open(0, "first", Decimal(), already=False)
    assert server.take(0, "first", Decimal(3), Decimal(), unknown=False) == 3  # killed in this call
    server.open(0, "second", Decimal(), already=False)
    server.lose(0, "second", Decimal(3))
    assert server.spent() == 3
    assert server.take(0, "second", Decimal(2), Decimal(3), unknown=False) == 2  # killed in this call too
    server.open(0, "third", Decimal(), already=False)
    server.lose(0, "third", Decimal(3))
    server.lose(0, "third", Decimal(2))
    server.lose(0, "second", Decimal(2))  # presumed lost, so its messages are ignored
    assert server.spent() == 5


def test_a_reserved_call_that_was_never_made_is_not_counted() -> None:
    server = BudgetServer(Decimal(10), [Cost()] * 1)
    server.open(0, "first", Decimal(), already=False, unsettled=Decimal())
    assert server.take(0, "first", Decimal(2), Decimal(), unknown=False) == 2
    server.give(0, "first", Decimal(2), Decimal(2), unknown=False)
    assert (
        server.take(0, "first", Decimal(3), Decimal(2), unknown=False) == 3
    )  # killed before the call went out
    server.open(0, "second", Decimal(2), already=False, unsettled=Decimal())
    assert server.spent() == 2
    assert server.take(0, "second", Decimal(3), Decimal(2), unknown=False) == 3  # killed in the call
    server.open(0, "third", Decimal(2), already=False, unsettled=Decimal(3))
    assert server.spent() == 5
    server.lose(0, "third", Decimal(3))
    assert server.spent() == 5


def test_files_that_lost_a_payment_are_not_trusted_about_the_last_call() -> None:
    server = BudgetServer(Decimal(10), [Cost()] * 1)
    server.open(0, "first", Decimal(), already=False, unsettled=Decimal())
    server.take(0, "first", Decimal(2), Decimal(), unknown=False)
    server.give(0, "first", Decimal(2), Decimal(2), unknown=False)
    server.take(0, "first", Decimal(3), Decimal(2), unknown=False)
    server.open(
        0, "second", Decimal(), already=False, unsettled=Decimal()
    )  # the node went down with unwritten data
    assert server.spent() == 5


def test_earlier_costs_of_all_runs_are_known_before_the_first_spends_more() -> None:
    server = BudgetServer(Decimal(10), [Cost(Decimal(4), Decimal(1)), Cost(Decimal(2), Decimal(1))])
    server.open(0, "first", Decimal(4), already=False)
    assert server.spent() == 8
    server.lose(0, "first", Decimal(1))  # as a run does with its side file
    assert server.spent() == 8
    assert "could exceed" in str(server.take(0, "first", Decimal(3), Decimal(5), unknown=False))
    assert server.take(0, "first", Decimal(2), Decimal(5), unknown=False) == 2


def test_the_ledger_counts_when_the_account_is_gone_and_the_account_while_it_lives() -> None:
    server = BudgetServer(Decimal(10), [Cost(charged=Decimal(6)), Cost(charged=Decimal(1))])
    assert server.spent() == 7  # before any run begins
    lost = server.open(0, "first", Decimal(4), already=False, ledger=Decimal(6))
    assert lost == 2
    assert server.spent() == 7
    assert server.take(0, "first", Decimal(3), Decimal(4), unknown=False) == 3
    assert "could exceed" in str(server.take(0, "first", Decimal(1), Decimal(4), unknown=False))
    # The worker is lost in this call, with an entry for three more that it did not make.
    assert server.open(0, "second", Decimal(4), already=False, ledger=Decimal(18)) == 5
    assert server.spent() == 10
    assert (
        server.open(1, "first", Decimal(2), already=False, ledger=Decimal(1)) == 0
    )  # an entry that is too old
    assert server.spent() == 11


CALLS = st.lists(
    st.tuples(st.sampled_from("take settle release charge lose crash".split()), st.integers(1, 5))
)


@given(CALLS)
def test_the_ledger_never_says_less_than_may_be_billed(calls: list[tuple[str, int]]) -> None:
    entries = [Decimal()]
    ledger, billed, open_calls, lost = (
        MoneyLedger(entries.append, Decimal(), Decimal()),
        Decimal(),
        [],
        Decimal(),
    )
    for kind, cents in calls:
        price = Decimal(cents)
        if kind == "take":
            ledger.add(price)
            open_calls.append(price)
        elif kind == "lose" and lost:
            ledger.lose(lost)
            lost = Decimal()
        elif kind == "crash":  # every call under way may be billed, and the log is empty
            billed, lost, open_calls = billed + sum(open_calls), sum(open_calls, Decimal()), []
            ledger = MoneyLedger(entries.append, Decimal(), entries[-1])
        elif open_calls:
            held = open_calls.pop()
            cost = Decimal() if kind == "release" else min(price, held)
            ledger.settle(held, cost)
            billed += cost
        assert entries[-1] >= billed + sum(open_calls)
    if not open_calls:
        ledger.close()
        assert entries[-1] >= billed


def test_few_calls_wait_for_the_ledger_and_at_the_end_it_is_exact() -> None:
    entries: list[Decimal] = []
    ledger = MoneyLedger(entries.append, Decimal(2), Decimal(1))
    for _ in range(100):
        ledger.add(Decimal(1))
        ledger.settle(Decimal(1), Decimal(1))
    ledger.close()
    assert len(entries) == 25
    assert entries[-1] == 103


def test_ledgers_lie_beside_the_runs_and_are_no_files_of_them(place: Path) -> None:
    pytest.importorskip("fsspec")
    url = f"memory://{place.name}/ledgers"
    one = Shared(f"{url}/one")
    assert one.ledger() is None
    one.write_ledger(Decimal("1.25"))
    Shared(f"{url}/two").claim()
    assert (one.ledger(), one.files()) == (Decimal("1.25"), {})
    assert Shared.ledgers(url) == {"one": Decimal("1.25")}
    one._write(".ledger", b"much")
    with pytest.raises(RunIncomplete, match="b'much' is no amount of dollars"):
        Shared.ledgers(url)


def test_the_price_of_a_reply_that_is_unknown_to_one_run_is_unknown_to_the_sweep() -> None:
    server = BudgetServer(None, [Cost()] * 2)
    server.open(1, "first", Decimal(), already=False)
    assert not server.look().unknown
    server.give(1, "first", Decimal(), Decimal(), unknown=True)
    assert server.look().unknown


def test_runs_finished_before_a_sweep_do_not_count_towards_its_budget() -> None:
    server = BudgetServer(None, [Cost()] * 1)
    server.open(0, "only", Decimal(7), already=True)
    assert server.spent() == 0
    assert server.look().begun == {0: (1, True)}
    assert Spending().held == 0


def test_a_worker_uses_the_shared_files_or_else_copies(place: Path) -> None:
    (place / "agents").mkdir()
    (place / "agents" / "mine.py").write_text("first")
    (place / "agents" / "__pycache__").mkdir()
    (place / "agents" / "__pycache__" / "mine.pyc").write_text("compiled")
    (place / "reports").mkdir()
    (place / "reports" / "large").write_text("not of the doors")
    files = Files.of(place)
    assert dict(files.content) == {"agents/mine.py": b"first"}
    scratch = place / "scratch"
    scratch.mkdir()
    assert files.stand(scratch) == place
    (place / "agents" / "mine.py").write_text("second")
    assert files.stand(scratch) == scratch
    assert (scratch / "agents" / "mine.py").read_text() == "first"


def test_files_too_large_to_be_sent_to_workers_are_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "agents").mkdir()
    (place / "agents" / "weights.bin").write_bytes(b"x" * 2000)
    monkeypatch.setattr(sharing, "_LARGEST", 1000)
    with pytest.raises(ConfigError, match=r"weights\.bin"):
        Files.of(place)


def a_run(folder: Path, command: "Command") -> Path:
    """Make a finished run, with files of an agent's own."""
    assert command("run", "--agent", "perfect", *SMALL, "--name", "r").exit_code == 0
    (folder / "reports" / "r" / "agent" / "memory").mkdir(parents=True)
    (folder / "reports" / "r" / "agent" / "memory" / "a").write_text("1")
    (folder / "reports" / "r" / "agent" / "memory" / "journal").write_text("2")
    return folder / "reports" / "r"


@pytest.mark.parametrize("protocol", ["file", "memory"])
def test_a_run_goes_to_a_url_and_comes_back(place: Path, command: "Command", protocol: str) -> None:
    pytest.importorskip("fsspec")
    run = a_run(place, command)
    url = f"file://{place}/far/r" if protocol == "file" else f"memory://{place.name}/far/r"
    assert Shared(url).files() == {}
    there = Shared(url)
    there.claim()
    there.push(run, whole=False)
    (run / "agent" / "memory" / "journal").unlink()
    (run / "agent" / "memory" / "a").write_text("more")
    there.push(run, whole=True)
    back = place / "back"
    Shared(url).fetch(back)
    assert {p.relative_to(back).as_posix() for p in back.rglob("*") if p.is_file()} == {
        p.relative_to(run).as_posix() for p in run.rglob("*") if p.is_file() and p.name != ".lock"
    }
    assert (back / "events.jsonl").read_bytes() == (run / "events.jsonl").read_bytes()
    assert (back / "agent" / "memory" / "a").read_text() == "more"
    other = Shared(url)
    other.claim()
    with pytest.raises(RunLocked, match="taken this run over"):
        there.push(run, whole=True)


def test_what_is_here_already_is_not_fetched_again(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    run = a_run(place, command)
    there = Shared(f"file://{place}/far/r")
    there.claim()
    there.push(run, whole=True)
    back, fetched = place / "back", list[str]()
    get = Shared.get

    def noted(self: Shared, name: str, path: Path) -> None:
        fetched.append(name)
        get(self, name, path)

    monkeypatch.setattr(Shared, "get", noted)
    Shared(there.url).fetch(back)
    assert "events.jsonl" in fetched
    fetched.clear()
    Shared(there.url).fetch(back)
    assert fetched == []
    (run / "agent" / "memory" / "journal").write_text("3")  # as long as before, and newer
    later = (run / "events.jsonl").stat().st_mtime + 3600
    os.utime(run / "agent" / "memory" / "journal", (later, later))
    there.push(run, whole=True)
    far = place / "far" / "r" / "agent" / "memory" / "journal"
    os.utime(far, (later, later))
    Shared(there.url).fetch(back)
    assert fetched == ["agent/memory/journal"]
    assert (back / "agent" / "memory" / "journal").read_text() == "3"


def test_in_the_middle_of_an_isolated_run_only_examples_that_are_over_are_copied(
    place: Path, command: "Command"
) -> None:
    pytest.importorskip("fsspec")
    words = ("--suite", "smoke", "--examples", "1", "--isolated", "--name", "r")
    assert command("run", "--agent", "perfect", *words).exit_code == 0
    run = place / "reports" / "r"
    first, *others = sorted((run / "isolated").glob("*.jsonl"))
    first.write_bytes(b"".join(first.read_bytes().splitlines(keepends=True)[:-1]))
    there = Shared(f"file://{place}/far")
    there.claim()
    there.push(run, whole=False)
    assert {name for name in there.files() if "/" in name} == {f"isolated/{p.name}" for p in others}
    there.push(run, whole=True)
    assert f"isolated/{first.name}" in there.files()


def test_a_url_that_cannot_be_written_to_is_an_error_of_ours(place: Path) -> None:
    pytest.importorskip("fsspec")
    (place / "far").write_text("a file in the way")
    with pytest.raises(RunIncomplete, match="far/r"):
        Shared(f"file://{place}/far/r").claim()


def test_a_folder_that_a_worker_does_not_see_is_named() -> None:
    with pytest.raises(RunIncomplete, match="set --shared to a folder that all nodes see, or to a URL"):
        worker.wait_for(Path("/nowhere/events.jsonl"), 0.1)


@pytest.mark.parametrize(
    ("connections", "cpus", "share"),
    [(8, 64, (3, 2)), (2, 64, (2, 1)), (8, 2, (2, 4)), (8, 0, (1, 8)), (1, 64, (1, 1))],
)
def test_runs_of_a_provider_share_its_connections_and_free_ones_take_what_there_is(
    connections: int, cpus: int, share: tuple[int, int]
) -> None:
    def job(free: bool) -> Any:
        manifest = SimpleNamespace(agent=SimpleNamespace(name="one", free=free))
        return SimpleNamespace(
            connections="free" if free else "paid", plan=SimpleNamespace(manifest=manifest)
        )

    terms = Terms(remake=lambda folder: job(free=True), connections=connections)
    nodes = [{"Alive": True, "Resources": {"CPU": cpus}}, {"Alive": False, "Resources": {"CPU": 99}}]
    jobs = [job(free) for free in (False, True) * 3]
    assert shares(jobs, terms, nodes) == {"paid": share, "free": (3, connections)}


def test_a_run_is_copied_when_that_is_due_and_there_are_new_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    now, copied = [0.0], list[float]()
    monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=lambda: now[0]))
    watcher = worker._Watcher(lambda turns, examples: None, lambda: copied.append(now[0]), 30.0)
    turn = Turn(Message("Hello!", datetime(2026, 1, 5, tzinfo=UTC), 0), Reply("Hello."))
    for at, replayed in ((29, False), (40, True), (41, False), (50, False), (70, True), (71, False)):
        now[0] = at
        watcher.turn(turn, 9, 0, replayed=replayed)
    assert copied == [41, 71]


def test_a_run_that_all_nodes_see_is_begun_where_it_is(place: Path) -> None:
    plan = make_plan(Request("parrot", "2k", scenarios=("colours",), examples=1))
    assert driver._prepare(Job(plan, place / "r"), None) is False
    assert read_manifest(place / "r") == plan.manifest


@pytest.mark.parametrize("before", [False, True])
def test_only_a_cluster_that_was_joined_here_is_left(monkeypatch: pytest.MonkeyPatch, before: bool) -> None:
    done: list[str] = []
    ray = SimpleNamespace(
        is_initialized=lambda: before,
        init=lambda **options: done.append(options["address"]),
        shutdown=lambda: done.append("left"),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(driver, "_address", lambda: "here")
    with driver.connected() as joined:
        assert joined is ray
        assert done == ([] if before else ["here"])
    assert done == ([] if before else ["here", "left"])


# What holds with Ray

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")

CLUSTER = """
    import sys
    from ray.cluster_utils import Cluster
    small = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    cluster.add_node(**small, env_vars={"PYTHONPATH": sys.argv[1]} if sys.argv[1:] else {})
    print(cluster.address, flush=True)
    sys.stdin.read()
    cluster.shutdown()
"""

DIARY = '''
"""Diary: answers from everything that it was told, writes down every call, and is slow enough to be killed."""

import os, signal, time
from ltm_bench import Agent, Message, Reply, Turn, Usage


class Diary(Agent):
    free = {free}

    def __init__(self, *, calls: str = "", nap: float = 0.0, dies_at: int = 0) -> None:
        self.calls, self.nap, self.dies_at = calls, nap, dies_at
        self.heard: list[str] = []

    async def reply(self, message: Message) -> Reply:
        if self.calls:
            with open(self.calls, "ab", buffering=0) as file:
                file.write(b"%d %d\\n" % (os.getpid(), message.turn))
        if self.dies_at and message.turn >= self.dies_at:  # once, in the middle of a call
            try:
                open(self.calls + ".died", "x").close()
                os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass
        time.sleep(self.nap)
        answer = f"{{len(self.heard)}} turns, {{sum(map(len, self.heard))}} letters, {{self.heard[-1:]}}"[:300]
        self.heard.append(message.text + answer)
        return Reply(answer, {usage})

    async def observe(self, turn: Turn) -> None:
        self.heard.append(turn.message.text + turn.reply.text)

    def reserve(self, message: Message) -> Usage | None:
        return {usage}
'''


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Two nodes with one processor each, on this machine."""
    with two_nodes() as address:
        yield address


@contextmanager
def two_nodes(*path: str) -> Iterator[str]:
    """Start a cluster, whose second node may have a PYTHONPATH; yield its address."""
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    environment.pop("RAY_ADDRESS", None)
    for _ in range(3):  # Ray gives a node 30 seconds to start, which may be too short on a busy machine
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(CLUSTER), *path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        ) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            address = next((line.strip() for line in process.stdout if ":" in line), "")
            if address:
                yield address
                process.stdin.close()
                process.wait(timeout=60)
                return
    pytest.fail("no cluster could be started, three times over")


def sweep(folder: Path, *words: str, address: str | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    if address is not None:
        environment["RAY_ADDRESS"] = address
        words += ("--on", "ray")
    return subprocess.Popen(
        [sys.executable, "-m", "ltm_bench", "sweep", *SMALL, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=240)
    return process.returncode, out + err


def door(folder: Path, *, usage: str = "None") -> Path:
    (folder / "agents").mkdir(parents=True)
    (folder / "agents" / "diary.py").write_text(DIARY.format(free=usage == "None", usage=usage), "utf-8")
    return folder


def wait_for(path: Path, lines: int) -> list[list[int]]:
    """Wait for this many calls; return who made each, and at which turn."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if path.exists() and len(found := path.read_text().splitlines()) >= lines:
            return [[int(word) for word in line.split()] for line in found]
        time.sleep(0.02)
    raise AssertionError(f"{path} never had {lines} lines")


def logs(folder: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in folder.glob("*/events.jsonl")}


@needs_ray
@pytest.mark.parametrize("shared", ["here", "url"])
def test_a_killed_worker_is_replaced_and_the_bytes_are_the_same(
    tmp_path: Path, cluster: str, shared: str
) -> None:
    calls = tmp_path / "calls"
    words = ["--agent", "diary", "-A", f"calls={calls}", "-A", "nap=0.05", "--seed", "0", "--seed", "1"]
    alone, far = door(tmp_path / "alone"), door(tmp_path / "far")
    code, said = finish(sweep(alone, *words))
    assert code == 0, said
    asked = len(calls.read_text().splitlines())
    calls.unlink()
    place = far / "reports"
    if shared == "url":
        place = tmp_path / "shared"
        words += ["--shared", f"file://{place}", "--checkpoint", "0.3"]
    process = sweep(far, *words, address=cluster)
    killed = []
    for lines in (30, 60):
        killed.append(wait_for(calls, lines)[-1][0])
        os.kill(killed[-1], signal.SIGKILL)
        wait_for(calls, len(calls.read_text().splitlines()) + 5)
    code, said = finish(process)
    assert code == 0, said
    assert "2/2 runs done" in said
    assert len(re.findall(r"its worker was lost \(\w+: .+\); another continues from its log", said)) == 2
    assert all((log.parent / "environment.json").exists() for log in place.glob("*/events.jsonl"))
    assert len(logs(alone / "reports")) == 2
    assert logs(place) == logs(alone / "reports")
    seen = [line.split() for line in calls.read_text().splitlines()]
    # Another process continues: a new one, or that of the other run, if it has ended by then.
    assert int(seen[-1][0]) not in killed
    assert len({pid for pid, _ in seen}) in (3, 4)
    again = len(seen) - asked
    # On disk, the log is complete to its last line; a URL gets a copy every 0.3 s.
    assert 0 <= again <= (2 if shared == "here" else 2 * (0.3 / 0.05 + 4))
    before = Counter(pid for pid, _ in seen)
    code, said = finish(sweep(far, *words, address=cluster))
    assert code == 0, said
    assert "2/2 runs done" in said
    assert Counter(line.split()[0] for line in calls.read_text().splitlines()) == before
    if shared == "url":
        assert logs(far / "reports") == logs(place)
        assert list(place.glob("smoke-2k-diary-seed0-*/report.html"))


@needs_ray
def test_a_run_that_fails_stops_no_other_and_a_shared_folder_holds_everything(
    tmp_path: Path, cluster: str
) -> None:
    place = door(tmp_path / "place")
    (place / "agents" / "broken.py").write_text(
        '"""Broken: leaves without a word, at its first message."""\n'
        "from ltm_bench import Agent, Message, Reply\n\n\n"
        "class Broken(Agent):\n    free = True\n\n"
        "    async def reply(self, message: Message) -> Reply:\n"
        '        raise SystemError("of its own")\n'
    )
    words = ("--agent", "broken", "--agent", "diary", "--shared", str(tmp_path / "shared"))
    code, said = finish(sweep(place, *words, address=cluster))
    assert code == 3, said
    assert "smoke-2k-broken-seed0: the agent failed at turn 0: SystemError: of its own" in said
    assert "1/2 runs done, 1 failed" in said
    assert (tmp_path / "shared" / "smoke-2k-diary-seed0" / "results.json").exists()
    assert not (place / "reports").exists()


@needs_ray
def test_the_budget_is_one_for_all_workers_and_never_exceeded(tmp_path: Path, cluster: str) -> None:
    # A cent a call, by the price of gpt-4o.
    place = door(tmp_path / "place", usage="Usage(output=1000, model='gpt-4o', provider='openai')")
    calls = tmp_path / "calls"
    words = ("--agent", "diary", "-A", f"calls={calls}", "--seed", "0", "--seed", "1", "--seed", "2")
    code, said = finish(sweep(place, *words, "-A", "dies_at=15", "--max-cost", "1.00", address=cluster))
    assert (tmp_path / "calls.died").exists()
    made = len(calls.read_text().splitlines())
    assert code == 4, said
    assert "--max-cost 1.00 is reached" in said
    # The killed call may have been billed, so it stays counted.
    assert made == 100, said
    assert "$1.0000" in said or "$0.9900" in said


@needs_ray
def test_no_worker_starts_once_the_money_is_gone(tmp_path: Path, cluster: str) -> None:
    place = door(tmp_path / "place", usage="Usage(output=1000, model='gpt-4o', provider='openai')")
    calls = tmp_path / "calls"
    seeds = [word for seed in range(6) for word in ("--seed", str(seed))]
    words = ("--agent", "diary", "-A", f"calls={calls}", *seeds, "--max-cost", "0.10")
    code, said = finish(sweep(place, *words, address=cluster))
    assert code == 4, said
    made = wait_for(calls, 10)
    assert len(made) == 10
    begun = len(list((place / "reports").glob("*/events.jsonl")))
    assert len({pid for pid, _ in made}) <= begun <= 3, "two at a time, and one handed over meanwhile"
    assert said.count("not started: $0.1000 of --max-cost 0.10 is spent") == 6 - begun
    assert said.count("not begun") == 6 - begun


PICKY = '''
"""Picky: the first node that runs it lacks something, and the second may fail or block, once."""

import os, sys, time
from ltm_bench import Agent, Message, Reply, Turn
from ltm_bench.adapters import ConfigError


class Picky(Agent):
    free = True

    def __init__(self, *, marks: str, fails: bool = False, blocks: bool = False) -> None:
        self.marks, self.fails, self.blocks = marks, fails, blocks
        ray = sys.modules.get("ray")
        if ray is None or not ray.is_initialized() or ray._private.worker.global_worker.mode != 1:
            return  # the driver plans
        self.node = ray.get_runtime_context().get_node_id()
        self.mark(self.node)
        bad = open(self.marks + "/first").read() if not self.mark("first", self.node) else self.node
        if bad == self.node and not self.fails:
            raise ConfigError("PICKY_KEY is not set")

    def mark(self, name: str, text: str = "") -> bool:
        try:
            with open(f"{self.marks}/{name}", "x") as file:
                file.write(text)
        except FileExistsError:
            return False
        return True

    async def reply(self, message: Message) -> Reply:
        if self.fails and self.mark("failed", self.node):
            raise RuntimeError("once")
        if self.blocks and message.turn >= 3 and self.mark("blocked"):
            time.sleep(1000)
        return Reply("Okay.")

    async def observe(self, turn: Turn) -> None:
        return
'''


@pytest.fixture
def picky(tmp_path: Path) -> Path:
    place = door(tmp_path / "place")
    (place / "agents" / "picky.py").write_text(PICKY)
    (place / "marks").mkdir()
    return place


def picked(place: Path, *words: str) -> tuple[str, ...]:
    return "--agent", "picky", "-A", f"marks={place / 'marks'}", "--seed", "0..3", *words


@needs_ray
def test_a_node_that_lacks_what_runs_need_is_said_once_and_its_runs_go_elsewhere(
    picky: Path, cluster: str
) -> None:
    code, said = finish(sweep(picky, *picked(picky), address=cluster))
    assert code == 0, said
    assert "4/4 runs done" in said
    assert said.count("PICKY_KEY is not set; picky does not run on") == 1


@needs_ray
def test_a_node_without_ltm_bench_is_said_once_and_runs_go_elsewhere(tmp_path: Path) -> None:
    place, bare = door(tmp_path / "place"), tmp_path / "bare"
    bare.mkdir()
    (bare / "ltm_bench.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'ltm_bench'\")\n", "utf-8"
    )
    with two_nodes(str(bare)) as address:
        code, said = finish(sweep(place, "--agent", "diary", "--seed", "0..3", address=address))
    assert code == 0, said
    assert "4/4 runs done" in said
    assert said.count("cannot run ltm-bench; install it there (No module named 'ltm_bench')") == 1


@needs_ray
def test_a_run_that_fails_is_continued_on_another_node(picky: Path, cluster: str) -> None:
    words = picked(picky, "-A", "fails=true", "--retries", "1")
    code, said = finish(sweep(picky, *words, address=cluster))
    assert code == 0, said
    assert said.count("RuntimeError: once") == 1
    assert "; retry 1 of 1" in said
    nodes = {path.name for path in (picky / "marks").iterdir()} - {"first", "failed"}
    assert len(nodes) == 2


@needs_ray
def test_a_run_whose_agent_blocks_is_stopped_when_its_time_is_over(picky: Path, cluster: str) -> None:
    words = picked(picky, "-A", "blocks=true", "--run-timeout", "20")
    code, said = finish(sweep(picky, *words, address=cluster))
    assert code == 3, said
    assert "3/4 runs done, 1 failed" in said
    assert "stopped after 20 seconds (--run-timeout), in a call of its agent that does not end" in said
    code, said = finish(sweep(picky, *words, address=cluster))
    assert code == 0, said


@needs_ray
def test_an_interrupted_sweep_says_what_it_waits_for_and_does_not_wait_for_an_agent_that_blocks(
    picky: Path, cluster: str
) -> None:
    process = sweep(picky, *picked(picky, "-A", "blocks=true"), address=cluster)
    until = time.monotonic() + 120
    while not (picky / "marks" / "blocked").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    code, said = finish(process)
    assert code == 3, said
    assert "interrupted: waiting 10 seconds at most for the logs of " in said
    assert "interrupted; nothing is lost: the same command continues" in said


@needs_ray
def test_an_interrupted_sweep_loses_no_call_of_any_run(tmp_path: Path, cluster: str) -> None:
    made = dict[str, Counter[int]]()
    for name, stops in (("whole", 0), ("interrupted", 2)):
        place = door(tmp_path / name)
        calls = place / "calls.txt"
        words = ("--agent", "diary", "-A", f"calls={calls}", "-A", "nap=0.2", "--seed", "0..3", "--name", "s")
        for stop in range(stops):
            process = sweep(place, *words, address=cluster)
            wait_for(calls, 12 + 30 * stop)
            process.send_signal(signal.SIGINT)
            code, said = finish(process)
            assert code == 3, said
        code, said = finish(sweep(place, *words, address=cluster))
        assert code == 0, said
        turns = Counter(int(line.split()[1]) for line in calls.read_text("utf-8").splitlines())
        assert len(logs(place / "reports")) == 4
        made[name] = turns
    assert made["interrupted"] == made["whole"]


MODULE = 'def only(message: str) -> str:\n    return "Okay."\n'


@needs_ray
def test_a_module_that_only_the_driver_has_is_named_with_the_node(
    tmp_path: Path, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = door(tmp_path / "place")
    (place / "mine").mkdir()
    (place / "mine" / "mine_alone.py").write_text(MODULE, "utf-8")
    monkeypatch.setenv("PYTHONPATH", "/proc/self/cwd/mine")  # a place that no worker has
    code, said = finish(sweep(place, "--agent", "python:mine_alone:only", "--seed", "0..1", address=cluster))
    assert code == 3, said
    assert "'mine_alone:only' cannot be imported here: its module is missing" in said
    assert "does not run on" in said
    assert "other files" not in said
    assert "--fresh" not in said


def test_a_run_whose_module_is_gone_names_it(place: Path, command: "Command") -> None:
    (place / "mine_gone.py").write_text(MODULE, "utf-8")
    words = (*SMALL, "--agent", "python:mine_gone:only", "--name", "r")
    assert command("run", *words).exit_code == 0
    log = place / "reports" / "r" / "events.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:9]))
    (place / "mine_gone.py").unlink()
    done = command("resume", "r")
    assert done.exit_code == 1
    assert "'mine_gone:only' cannot be imported here: its module is missing" in done.output
    assert "other files" not in done.output
