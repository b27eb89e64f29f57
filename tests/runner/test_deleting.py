"""What an agent was asked to delete stays deleted, wherever a run is interrupted."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

AGENT = '''"""An agent that notes what it is told, and what it deletes."""
import json
from collections.abc import Iterable
from pathlib import Path
from ltm_bench import Agent, AgentError, Message, Reply, Turn


class Notes(Agent):
    free = True

    def __init__(self, breaks: str = "") -> None:
        """Break off once: `within` a deletion, at the turn `after` one, or never."""
        self.breaks, self.deleted = breaks, False

    async def open(self, home: Path) -> None:
        self.notes = home / "notes.json"
        self.noted = []

    def note(self, *what: object) -> None:
        self.noted.append(what)
        self.notes.write_text(json.dumps(self.noted))

    def stop(self, when: str) -> None:
        if self.breaks == when and not Path("broken").exists():
            Path("broken").touch()
            raise AgentError("broken off")

    async def observe(self, turn: Turn) -> None:
        self.note("told", turn.message.turn)

    async def reply(self, message: Message) -> Reply:
        if self.deleted:
            self.stop("after")
        self.note("told", message.turn)
        return Reply("Noted.")

    async def forget(self, query: str) -> int:
        self.stop("within")
        self.deleted = True
        self.note("deleted", query)
        return 1
'''
KEEPS = """
    async def restore(self, turns: Iterable[Turn]) -> None:
        self.noted = json.loads(self.notes.read_text())
        assert [turn.message.turn for turn in turns] == [at for what, at in self.noted if what == "told"]
"""
"""An agent whose notes are durable, so it need not be told again."""

Held = Callable[..., list[list[object]]]


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command") -> Held:
    """Hold a run to its end, resuming it if it was interrupted; return what the agent noted."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "rehears.py").write_text(AGENT, "utf-8")
    (tmp_path / "agents" / "keeps.py").write_text(AGENT + KEEPS, "utf-8")

    def hold(agent: str, breaks: str) -> list[list[object]]:
        what = ("--suite", "abilities", "--scenario", "forget_me", "--examples", "1", "--span", "2k")
        name = f"{agent}-{breaks}"
        done = command("run", *what, "--agent", agent, "-A", f"breaks={breaks}", "--name", name)
        if breaks != "never":
            assert "broken off" in done.output
            assert command("resume", name).exit_code == 0
        else:
            assert done.exit_code == 0
        (notes,) = (tmp_path / "reports" / name).rglob("notes.json")
        noted: list[list[object]] = json.loads(notes.read_text("utf-8"))
        return noted

    return hold


@pytest.mark.parametrize("agent", ["rehears", "keeps"])
@pytest.mark.parametrize("breaks", ["within", "after"])
def test_a_resumed_run_deletes_where_the_log_asks_for_it(held: Held, agent: str, breaks: str) -> None:
    whole = held(agent, "never")
    (asked,) = [number for number, (what, _) in enumerate(whole) if what == "deleted"]
    assert 0 < asked < len(whole) - 1
    assert held(agent, breaks) == whole
