"""The opening of a suite is the first message of every conversation, whoever is asked, however it is run."""

from pathlib import Path

import pytest

from ltm_bench import run
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.reader import conversations, read_events

SUITE = """opening = "This is a test. Understood?"
isolated = {isolated}
[scenarios.colours]
[scenarios.name_list]
"""
DEAF = '''"""Deaf: hears only what it is asked."""
from ltm_bench import Agent, Message, Reply


class Deaf(Agent):
    free = True
    observes = False

    async def reply(self, message: Message) -> Reply:
        return Reply("Say: " + message.text)
'''


@pytest.mark.parametrize("agent", ["deaf", "parrot", "perfect"])
@pytest.mark.parametrize("isolated", ["false", "true"])
def test_the_opening_comes_first_in_every_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, isolated: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, name, text in (("agents", "deaf.py", DEAF), ("configs", "opened.toml", SUITE)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text.replace("{isolated}", isolated), "utf-8")
    done = run(agent=agent, suite="opened", span="2k", examples=2)
    logs = conversations(done.folder)
    assert len(logs) == (4 if isolated == "true" else 1)
    for log in logs:
        sent = [event for event in read_events(log) if isinstance(event, Sent)]
        replied = next(event for event in read_events(log) if isinstance(event, Replied))
        opening = [each.kind for each in sent if each.message == "This is a test. Understood?"]
        assert opening == [sent[0].kind] == ["fill"]
        assert replied.reply.startswith("Say: This is a test." if agent == "deaf" else "Understood.")


def test_a_run_with_an_opening_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "opened.toml").write_text(SUITE.replace("{isolated}", "false"), "utf-8")
    done = run(agent="parrot", suite="opened", span="2k")
    log = done.folder / "events.jsonl"
    whole = log.read_bytes().splitlines(keepends=True)
    for kept in (1, 2, 3, 9):
        log.write_bytes(b"".join(whole[:kept]))
        run(agent="parrot", suite="opened", span="2k")
        assert log.read_bytes() == b"".join(whole)
