"""Users: the speaker's name reaches the agent and the log, and a request to delete reaches an agent that can forget."""

import ast
import json
from pathlib import Path

import pytest

from ltm_bench import run
from ltm_bench.cli.summary import print_run
from ltm_bench.plugins.files import find
from ltm_bench.runner.checking import check_adapter

NOTES = '''
"""Notes: writes down who said what, and what was to be forgotten."""

import json
from pathlib import Path

from ltm_bench import Agent, Message, Reply


class Notes(Agent):
    free = True
    observes = True
    keeps_users = True

    def __init__(self) -> None:
        self.heard, self.gone = [], []

    async def reply(self, message: Message) -> Reply:
        self.heard.append([message.user, message.text])
        self._write()
        return Reply("Noted.")

    async def observe(self, turn) -> None:
        """Hear a turn."""

    async def forget(self, query: str) -> int:
        """Note it."""
        self.gone.append(query)
        self._write()
        return 1

    def _write(self) -> None:
        Path("notes.json").write_text(json.dumps([self.heard, self.gone]))
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "notes.py").write_text(NOTES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_who_speaks_reaches_the_agent_and_the_log(place: Path) -> None:
    result = run(agent="notes", span="2k", scenarios=["two_users"], examples=1)
    heard, _ = json.loads((place / "notes.json").read_text("utf-8"))
    users = {user for user, _ in heard}
    assert len(users) == 2
    assert all(user in text for user, text in heard)
    events = [json.loads(line) for line in (result.folder / "events.jsonl").read_text("utf-8").splitlines()]
    said = [
        [each["user"], each["message"]]
        for each in events
        if each.get("example") == "two_users/0" and "user" in each
    ]
    assert said == heard


def test_a_request_to_delete_reaches_an_agent_that_can_forget(place: Path) -> None:
    run(agent="notes", span="2k", scenarios=["forget_me"], examples=1)
    heard, gone = json.loads((place / "notes.json").read_text("utf-8"))
    assert len(gone) == 1
    assert any(
        gone[0] in text
        and any(word in text.casefold() for word in ("forget", "delete", "remove", "erase", "wipe"))
        for _, text in heard
    )


def test_right_by_silence_does_not_count_where_nothing_was_shown(place: Path) -> None:
    result = run(agent="goldfish", span="2k", scenarios=["forget_me"], examples=1)
    (example,) = result.examples
    shown, other, direct, *_, side = example.questions
    assert (shown.score, direct.score, direct.counts) == (0.0, 1.0, 0.0)
    assert side.counts == 0.0
    assert example.score == 0.0
    assert direct.needs == other.shows
    assert "of its score: the example did not show" in (result.folder / "report.html").read_text("utf-8")


@pytest.mark.parametrize(("agent", "says"), [("notes", True), ("goldfish", False)])
def test_what_the_agent_says_about_users_is_beside_the_leak_rate(
    place: Path, agent: str, says: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(agent=agent, span="2k", scenarios=["two_users"], examples=1)
    told = json.loads((result.folder / "results.json").read_text("utf-8"))
    assert told["leaks"]["keeps_users"] is says
    sentence = f"the agent {'says' if says else 'does not say'} that it keeps users apart"
    assert sentence in (result.folder / "report.html").read_text("utf-8")
    print_run(result)
    assert sentence in " ".join(capsys.readouterr().out.split())


def test_users_are_not_mentioned_when_there_is_only_one(place: Path) -> None:
    result = run(agent="notes", span="2k", scenarios=["forget_me"], examples=1)
    assert result.results.leaks is not None
    assert result.results.leaks.keeps_users is None
    assert "keeps users apart" not in (result.folder / "report.html").read_text("utf-8")


@pytest.mark.parametrize(("agent", "says"), [("notes", "keeps users apart"), ("goldfish", "does not keep")])
def test_check_reports_what_an_adapter_says_about_users(place: Path, agent: str, says: str) -> None:
    path = place / "agents" / "notes.py" if agent == "notes" else find("agents", agent)
    tree = ast.parse(path.read_text("utf-8"))
    assert any(each.text.startswith(says) for each in check_adapter(path, tree, {}))
