"""Chroma's process: whatever holds it, a run ends with one line, or at once when it is told to."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ltm_bench.adapters import hashing
from ltm_bench.adapters.memories import chroma_store
from ltm_bench.adapters.memories.chroma_store import ChromaStore, _worker
from ltm_bench.adapters.passages import Passage
from ltm_bench.core.errors import AgentError, CannotResume

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


def passages(count: int, since: int = 0) -> list[Passage]:
    return [Passage(turn, 0, "user", AT, f"Line {turn}.") for turn in range(since, since + count)]


def add(store: ChromaStore, said: list[Passage]) -> None:
    store.add(said, hashing.embed([each.text for each in said]))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChromaStore]:
    monkeypatch.setattr(ChromaStore, "batch", 4)
    made = ChromaStore(hashing.NAME)
    made.open(tmp_path)
    add(made, passages(4))
    yield made
    made.close()


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the worker stop before its next request."""
    worker = _worker(os.getpid())
    exchange = worker._exchange

    def stop(request: object) -> object:
        worker._process.send_signal(signal.SIGSTOP)
        return exchange(request)

    monkeypatch.setattr(worker, "_exchange", stop)
    monkeypatch.setattr(chroma_store, "_PATIENCE", 0.1)


def again(path: Path) -> ChromaStore:
    made = ChromaStore(hashing.NAME)
    made.open(path)
    return made


def test_a_store_that_another_program_has_locked_is_named_in_one_line(
    store: ChromaStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma_store, "_PATIENCE", 0.1)
    with closing(sqlite3.connect(store.path / "chroma.sqlite3")) as other:
        other.execute("BEGIN EXCLUSIVE")
        said = f"the vector store {store.path} is in use by another program; end that, and resume the run"
        for _ in range(2):  # nothing more is asked, and nobody waits again
            with pytest.raises(AgentError) as raised:
                add(store, passages(4, 4))
            assert str(raised.value) == said
        store.close()
    monkeypatch.undo()
    assert list(again(store.path.parent).load()) == [each.key for each in passages(4)]


@pytest.mark.parametrize("failure", ["silent", "said"])
def test_a_full_disk_is_named_in_one_line(
    store: ChromaStore, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, failure: str
) -> None:
    if failure == "silent":
        request.getfixturevalue("stuck")
    else:
        answer = (None, "InternalError: database or disk is full")
        monkeypatch.setattr(_worker(os.getpid()), "ask", lambda *_: answer)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    with pytest.raises(AgentError) as raised:
        add(store, passages(4, 4))
    assert (
        str(raised.value)
        == f"the vector store {store.path} has no room on its disk; make some, and resume the run"
    )


def test_a_store_that_does_not_answer_is_given_up_and_its_process_ended(
    store: ChromaStore, stuck: None
) -> None:
    held = _worker(os.getpid())._process
    with pytest.raises(
        AgentError, match=r"did not answer within 0\.1 s; see whether its disk works, and resume"
    ):
        add(store, passages(4, 4))
    assert held.returncode == -signal.SIGKILL
    assert _worker(os.getpid())._process.pid != held.pid


def test_when_the_process_is_killed_what_it_answered_is_there(store: ChromaStore) -> None:
    _worker(os.getpid())._process.kill()
    with pytest.raises(Exception, match=r"Chroma.s process ended"):
        add(store, passages(4, 4))
    other = again(store.path.parent)
    assert list(other.load()) == [each.key for each in passages(4)]
    other.close()


def test_of_two_passages_with_one_key_the_later_is_there(store: ChromaStore) -> None:
    again_said = Passage(7, 0, "user", AT, "Line 7, said again.")
    add(store, [*passages(3, 5), again_said])
    assert {key: each.text for key, each in store.load().items()}["00000007.0000"] == again_said.text


def test_a_damaged_file_is_named_in_one_line(store: ChromaStore) -> None:
    store.close()
    (store.path / "chroma.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(CannotResume, match=rf"{store.path} cannot be read \(.*delete that folder and resume"):
        again(store.path.parent).load()


def test_numbers_are_held_in_two_bytes_and_ranked_as_if_in_four(tmp_path: Path) -> None:
    store, said = again(tmp_path), passages(1100)
    vectors = hashing.embed([f"{each.text} {'boat ' * (each.turn % 3)}" for each in said])
    store._append(said, vectors)
    before = store.now()
    store._append(passages(50, 1100), vectors[:50])
    asked = hashing.embed(["Which line has a boat?"])[0]
    scores = vectors @ asked
    exact = sorted(range(1100), key=lambda row: (-scores[row], row))[:40]
    assert [(p.turn, score) for p, score in before.nearest(asked, 40)] == [
        (r, float(scores[r])) for r in exact
    ]
    assert sum(block.nbytes for block in store._blocks) == 3 * 512 * 2 * hashing.DIMENSIONS
    assert before.nearest(np.zeros_like(asked), 3) == [(each, 0.0) for each in said[:3]]


WAITS = """
import asyncio, os, signal, sys
from pathlib import Path
from ltm_bench.adapters import hashing
from ltm_bench.adapters.memories import chroma_store
from ltm_bench.cli.main import _interrupt
signal.signal(signal.SIGINT, signal.default_int_handler)  # which the shell may have taken away
signal.signal(signal.SIGTERM, _interrupt)
store = chroma_store.ChromaStore(hashing.NAME)
store.open(Path(sys.argv[1]))
chroma_store._PATIENCE = 1e6
exchange = chroma_store._Worker._exchange

def asked(worker, request):
    print("waits", flush=True)
    return exchange(worker, request)

async def main():
    chroma_store._Worker._exchange = asked
    store.connect()

try:
    asyncio.run(main())
except KeyboardInterrupt:
    store.close()
    print("ended", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_waits_for_a_locked_store_ends_when_it_is_told_to(tmp_path: Path, number: int) -> None:
    store = again(tmp_path)
    add(store, passages(4))
    store.close()
    with closing(sqlite3.connect(store.path / "chroma.sqlite3")) as other:
        other.execute("BEGIN EXCLUSIVE")
        words = [sys.executable, "-c", WAITS, str(tmp_path)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "waits\n"
            process.send_signal(number)
            assert process.stdout.read() == "ended\n"
        assert process.returncode == 0
