"""An agent's store is checked after an example's last question; if an interruption prevents that, on resumption."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

AGENT = '''"""An agent that keeps what it is told, and breaks off once when its store is listed for the nth time."""
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from ltm_bench import Agent, Memory, Message, Reply, Turn


class Breaks(Agent):
    free = True
    forks = "snapshot"

    def __init__(self, look: int = 0) -> None:
        """Break off at this look; 0 is never."""
        self.look = look

    async def open(self, home: Path) -> None:
        self.store, self.listed, self.broken = home / "store.json", home / "listed", home / "broken"
        self.told = []

    async def observe(self, turn: Turn) -> None:
        self.told.append(turn.message.text)
        self.store.write_text(json.dumps(self.told))

    async def reply(self, message: Message) -> Reply:
        await self.observe(Turn(message, Reply("Noted.")))
        return Reply("Noted.")

    async def fork(self, message: Message):
        async def answer() -> Reply:
            return Reply("I do not know.")
        return answer

    async def memories(self) -> AsyncIterator[Memory]:
        looks = int(self.listed.read_text()) if self.listed.exists() else 0
        if looks + 1 == self.look and not self.broken.exists():
            self.broken.touch()
            raise KeyboardInterrupt
        self.listed.write_text(str(looks + 1))
        for text in self.told:
            yield Memory(text)
'''
KEEPS = """
    async def restore(self, turns: Iterable[Turn]) -> None:
        known = json.loads(self.store.read_text()) if self.store.exists() else []
        self.told = known[: sum(1 for _ in turns)]
"""

Looked = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command") -> Looked:
    """Hold a run to its end, resuming it if it was interrupted; return the records of all looks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "rehears.py").write_text(AGENT, "utf-8")
    (tmp_path / "agents" / "keeps.py").write_text(AGENT + KEEPS, "utf-8")

    def hold(agent: str, questions: str, look: int = 0) -> list[dict[str, Any]]:
        what = ("--suite", "abilities", "--scenario", "forget_me", "--examples", "2", "--span", "2k")
        name = f"{agent}-{look}"
        run = ("run", *what, "--agent", agent, "-A", f"look={look}", "--questions", questions, "--name", name)
        done = command(*run)
        assert done.exit_code == (3 if look else 0), done.output
        if look:
            assert command("resume", name).exit_code == 0
        records = [path.read_text("utf-8") for path in (tmp_path / "reports" / name).rglob("events.written")]
        return [json.loads(line) for text in records for line in text.splitlines()]

    return hold


@pytest.mark.parametrize("agent", ["rehears", "keeps"])
@pytest.mark.parametrize("questions", ["in-line", "forked"])
def test_a_resumed_run_looks_where_it_was_interrupted(looked: Looked, agent: str, questions: str) -> None:
    whole = looked(agent, questions)
    assert [sorted({"before", "facts"} & set(each)) for each in whole] == [["before"], ["facts"]] * 2
    for look in (
        1,
        2,
        3,
        4,
    ):  # before a deletion, or after a question; the last is the last thing that happens
        assert looked(agent, questions, look) == whole


def test_a_look_that_was_recorded_is_not_repeated(looked: Looked, tmp_path: Path) -> None:
    looked("rehears", "in-line", 4)
    (times,) = tmp_path.rglob("listed")
    assert times.read_text() == "4"
