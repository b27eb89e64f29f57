"""A vector memory's folder belongs to one process at a time: another is refused in one line, and nothing is lost."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from ltm_bench import Message, Reply
from ltm_bench.adapters import DurableAgent

CHILD = """
import asyncio, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from ltm_bench.core.errors import LtmBenchError
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.plugins.agents import make_agent

home, name, store = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
at = datetime(2026, 1, 5, 9, tzinfo=UTC)


def message(text, n):
    return Message(text, at + timedelta(minutes=n), n)


def wait(word):
    print(word, flush=True)
    sys.stdin.readline()


async def main():
    agent = make_agent("vector_memory", {"store": store})
    await agent.open(home)
    await agent.restore([])
    wait("open")
    for n in range(20):
        await agent.observe(Turn(message(f"My {name} number {n} is {7 * n}.", n), Reply("Okay."), "tell"))
    reply = await agent.reply(message(f"What is my {name} number 3?", 20))
    assert f"{name} number 3 is 21" in reply.text, reply.text
    await agent.close()
    wait("closed")
    print(sum(f"My {name} number" in each.text for each in agent.store.load().values()), flush=True)


try:
    asyncio.run(main())
except LtmBenchError as error:
    print(error, flush=True)
"""


class Child:
    """A process that uses a memory, step by step."""

    def __init__(self, home: Path, name: str, store: str) -> None:
        words = [sys.executable, "-c", CHILD, str(home), name, store]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def said(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go_on(self) -> str:
        into: IO[str] | None = self.process.stdin
        assert into is not None
        into.write("\n")
        into.flush()
        return self.said()


@contextmanager
def child(home: Path, name: str, store: str) -> Iterator[Child]:
    made = Child(home, name, store)
    with made.process as process:
        try:
            yield made
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, pytest.param(20, marks=[pytest.mark.long, pytest.mark.timeout(900)])])
@pytest.mark.parametrize("store", ["chroma", "chroma_index", "sqlite"])
def test_a_second_process_on_a_memory_is_refused_in_one_line_and_nothing_is_lost(
    tmp_path: Path, store: str, pairs: int
) -> None:
    for number in range(pairs):
        home = tmp_path / str(number)
        home.mkdir()
        refusal = f"{home}: the memory there is in use by another process; wait for it, or use another folder"
        with child(home, "cat", store) as first:
            assert first.said() == "open"
            with child(home, "dog", store) as second:
                assert second.said() == refusal
                assert second.said() == ""
            assert first.go_on() == "closed"
            assert first.go_on() == "21"  # with the reply
        with child(home, "dog", store) as killed:
            assert killed.said() == "open"
        with child(home, "dog", store) as again:  # the lock died with its process
            assert again.said() == "open"
            assert again.go_on() == "closed"
            assert again.go_on() == "21"  # with the reply


OTHER = """
import sys
from pathlib import Path
from ltm_bench.adapters import DurableAgent
from ltm_bench.core.errors import CannotResume

class Durable(DurableAgent):
    async def reply(self, message): ...

try:
    Durable()._occupy(Path(sys.argv[1]))
except CannotResume:
    sys.exit(3)
"""


class Durable(DurableAgent):
    async def reply(self, message: Message) -> Reply:
        return Reply("Okay.")


def gets_in(home: Path) -> bool:
    return subprocess.run([sys.executable, "-c", OTHER, str(home)], check=False).returncode == 0


def test_a_folder_is_held_as_long_as_one_agent_of_the_process_uses_it(tmp_path: Path) -> None:
    home, one, other = tmp_path / "memory", Durable(), Durable()
    one._occupy(home)
    other._occupy(home)
    one._vacate()
    one._vacate()  # as when it is closed twice
    assert not gets_in(home)
    other._vacate()
    assert gets_in(home)


def test_a_folder_that_was_made_again_is_another_one(tmp_path: Path) -> None:
    home, gone, new = tmp_path / "memory", Durable(), Durable()
    gone._occupy(home)
    home.rmdir()
    new._occupy(home)
    gone._vacate()
    assert not gets_in(home)
    new._vacate()
    assert gets_in(home)
