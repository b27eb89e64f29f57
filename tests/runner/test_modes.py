"""Scripted acknowledgements: needles are observed, and everything else is asked as usual."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command, Done

Run = Callable[..., "Done"]

AGENTS = {
    "listens": '''"""Listens: writes down what it is asked, and what it only hears."""

from ltm_bench import Agent, Message, Reply, Turn


class Listens(Agent):
    free = True

    def __init__(self) -> None:
        self.heard = 0

    def note(self, how: str, turn: int) -> None:
        self.heard += 1
        with open("heard", "a") as file:
            file.write(f"{how} {turn}\\n")

    async def reply(self, message: Message) -> Reply:
        self.note("asked", message.turn)
        return Reply(f"This was message {self.heard}.")

    async def observe(self, turn: Turn) -> None:
        self.note(f"observed-{turn.answered}", turn.message.turn)
''',
    "deaf": '''"""Deaf."""

from ltm_bench import Agent, Message, Reply


class Deaf(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        return Reply("Okay.")
''',
    "notes": '''"""Notes."""

from ltm_bench import Agent, Message, Reply, Turn


class Notes(Agent):
    free = True
    writes_in_reply = True

    async def reply(self, message: Message) -> Reply:
        return Reply("Okay.")

    async def observe(self, turn: Turn) -> None:
        pass
''',
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    for name, code in AGENTS.items():
        (tmp_path / "agents" / f"{name}.py").write_text(code, "utf-8")
    return tmp_path


@pytest.fixture
def run(command: "Command") -> Run:
    def call(agent: str, *more: str) -> "Done":
        return command("run", "--span", "2k", "--suite", "smoke", "--agent", agent, "--name", "r", *more)

    return call


def events(place: Path, name: str = "r") -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (place / "reports" / name / "events.jsonl").read_text("utf-8").splitlines()
    ]


def results(place: Path, name: str = "r") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "reports" / name / "results.json").read_text("utf-8"))
    return found


def test_needles_are_observed_and_all_else_is_asked(place: Path, run: Run) -> None:
    assert run("listens", "--acknowledge", "scripted").exit_code == 0
    kinds = {each["turn"]: each["kind"] for each in events(place) if each["event"] == "sent"}
    heard = dict(line.split()[::-1] for line in (place / "heard").read_text().splitlines())
    for turn, kind in kinds.items():
        expected = "asked" if kind in ("ask", "chat") else "observed-script"
        assert heard[str(turn)] == expected, (turn, kind)
    assert {"tell", "ask", "chat", "fill"} <= set(kinds.values())


def test_the_log_says_which_replies_a_script_gave_and_they_cost_no_call(place: Path, run: Run) -> None:
    run("listens", "--acknowledge", "scripted")
    kinds = {each["turn"]: each["kind"] for each in events(place) if each["event"] == "sent"}
    scripted = {each["turn"] for each in events(place) if each.get("answered") == "script"}
    assert scripted == {turn for turn, kind in kinds.items() if kind == "tell"}
    assert results(place)["costs"]["calls"] == sum(kind in ("ask", "chat") for kind in kinds.values())


def test_acknowledgements_are_seeded_and_differ(place: Path, run: Run) -> None:
    run("listens", "--acknowledge", "scripted")
    said = [each["reply"] for each in events(place) if each.get("answered") == "script"]
    first = (place / "reports" / "r" / "events.jsonl").read_bytes()
    run("listens", "--acknowledge", "scripted", "--fresh")
    assert (place / "reports" / "r-2" / "events.jsonl").read_bytes() == first
    assert len(set(said)) > 3


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_an_interrupted_run_ends_with_the_same_bytes(
    place: Path, run: Run, command: "Command", share: float
) -> None:
    run("listens", "--acknowledge", "scripted")
    log = place / "reports" / "r" / "events.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole[: int(len(whole) * share)])
    assert command("resume", "r").exit_code == 0
    assert log.read_bytes() == whole


def test_perfect_still_scores_full_marks(place: Path, run: Run) -> None:
    run("perfect", "--acknowledge", "scripted")
    assert results(place)["score"] == results(place)["out_of"]


def test_an_agent_nobody_can_acknowledge_for_is_refused_in_one_line(place: Path, run: Run) -> None:
    for agent, why in (("deaf", "does not observe"), ("notes", "decides what to remember while it replies")):
        done = run(agent, "--acknowledge", "scripted")
        assert done.exit_code == 1
        assert why in done.err
        assert len(done.err.strip().splitlines()) == 1
        assert not (place / "reports" / "r").exists()


def test_an_unknown_mode_is_named(place: Path, run: Run) -> None:
    assert "--acknowledge scriptd: must be live or scripted" in run("perfect", "--acknowledge", "scriptd").err
    assert "--questions fork: must be in-line or forked" in run("perfect", "--questions", "fork").err
    assert "--quick" in run("perfect", "--quick", "--filler", "live").err


def test_scores_of_different_modes_are_compared_only_with_a_warning(
    place: Path, run: Run, command: "Command"
) -> None:
    run("perfect")
    run("perfect", "--acknowledge", "scripted", "--fresh")
    done = command("compare", "r", "r-2", "--json")
    entrants = json.loads(done.out)["entrants"]
    assert entrants == ["perfect · in-line", "perfect · in-line, scripted acknowledgements"]
    assert "in-line, scripted acknowledgements" in (place / "reports" / "r-2" / "report.html").read_text(
        "utf-8"
    )
