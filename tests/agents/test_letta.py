"""The adapter for Letta, through its real client, against a fake server."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.errors import AgentError, CannotResume, ConfigError
from ltm_bench.core.messages import Finish, Usage
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import Command
    from tests.memories import Open, conversations, turn
    from tests.products import Letta, serving
else:
    from memories import Open, conversations, turn
    from products import Letta, serving

REASON = "needs the extra: pip install ltm-bench[letta]"
KEY = "sk-let-not-a-key-0123456789"


@pytest.fixture
def letta(monkeypatch: pytest.MonkeyPatch) -> Iterator[Letta]:
    pytest.importorskip("letta_client", reason=REASON)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("LETTA_API_KEY", KEY)
    monkeypatch.delenv("LETTA_BASE_URL", raising=False)
    product = Letta()
    with serving(product):
        yield product


@pytest.fixture
def open_in(tmp_path: Path, letta: Letta) -> Iterator[Open]:
    usual = {"model": "openai/some-model", "base_url": letta.url, "max_retries": 0}
    with conversations(tmp_path, "letta", **usual) as start:
        yield start


def test_a_missing_package_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "letta_client", None)
    agent = make_agent("letta", {"model": "openai/m", "base_url": "http://127.0.0.1:1"})
    with pytest.raises(ConfigError, match=r"^agent letta: .* is not installed; .*\[letta\]'$"):
        asyncio.run(agent.open(tmp_path))
    asyncio.run(agent.close())


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LETTA_API_KEY", raising=False)
    monkeypatch.delenv("LETTA_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match="LETTA_API_KEY is not set"):
        make_agent("letta", {"model": "openai/m"})
    with pytest.raises(ConfigError, match="write it as provider/name"):
        make_agent("letta", {"model": "m", "base_url": "http://127.0.0.1:1"})


def test_each_run_has_its_own_agent(open_in: Open, letta: Letta) -> None:
    one, other = open_in("one", embedding="openai/some-embedder"), open_in("other")
    one.say(0, "My parrot is called Zebedee.")
    assert one.say(1, "What is my parrot called?").reply.text == "My parrot is called Zebedee."
    assert other.say(0, "What is my parrot called?").reply.text == "Noted."
    first, second = (made["asked"] for made in letta.agents.values())
    assert first["model"] == "openai/some-model"
    assert first["embedding"] == "openai/some-embedder"
    assert "embedding" not in second
    assert first["tags"][0] == "ltm-bench"
    assert first["name"] != second["name"]
    assert "[Monday, 5 January 2026, 09:00]\nMy parrot" in next(
        iter(letta.agents["agent-1"]["heard"].values())
    )
    one.close()
    open_in("one")
    assert len(letta.agents) == 2


def test_its_usage_is_that_of_the_agent(open_in: Open) -> None:
    assert open_in().say(0, "Hello!").reply.usage == Usage(
        uncached=200, cache_read=1000, output=30, reasoning=10, model="some-model", provider="openai"
    )


def test_a_turn_that_was_answered_elsewhere_is_archived(open_in: Open, letta: Letta) -> None:
    talk = open_in()
    talk.fill(0, "My parrot is called Zebedee.")
    talk.fill(1, "One line of filler that is long enough.\n" * 300)
    passages = list(letta.agents["agent-1"]["passages"].values())
    assert passages[0] == (
        "[Monday, 5 January 2026, 09:00]\nUser: My parrot is called Zebedee.\nYou: Noted.",
        ["turn-0"],
    )
    assert len(passages) == 5
    assert "/v1/agents/agent-1/messages" not in letta.paths()
    found = talk.runner.run(talk.agent.recall("parrot", 3))
    assert [(memory.turn, "Zebedee" in memory.text) for memory in found] == [(0, True)]


def test_a_resumed_run_finds_its_agent_as_it_was(open_in: Open, letta: Letta) -> None:
    talk = open_in()
    turns = [talk.say(0, "Hello!"), talk.fill(1, "My parrot is called Zebedee.")]
    letta.inserts = "The user moved to Ribe."
    turns.append(talk.say(2, "I moved to Ribe."))
    before = {key: letta.agents["agent-1"][key] for key in ("context", "blocks", "passages")}
    before = {key: type(value)(value) for key, value in before.items()}
    letta.inserts = "The parrot is Archibald."
    talk.say(3, "My parrot is called Archibald now.")  # not in the log
    talk.fill(4, "Nor of that.")
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert {key: letta.agents["agent-1"][key] for key in before} == before
    again.close()
    calls = len(letta.calls)
    exact = open_in()
    exact.restore(*turns)
    assert {call.method for call in letta.calls[calls:]} == {"GET"}
    exact.close()
    nothing = open_in()
    nothing.restore()
    assert letta.agents["agent-1"]["context"] == []
    assert letta.agents["agent-1"]["passages"] == {}
    assert letta.agents["agent-1"]["blocks"]["human"] == "Nothing is known yet about the person."


def test_a_logged_turn_that_it_never_heard_cannot_be_made_up(open_in: Open, letta: Letta) -> None:
    talk = open_in()
    with pytest.raises(CannotResume, match=r"has not heard turn 0 as the log has it.*--fresh"):
        talk.restore(turn(0, "My parrot is called Zebedee."))
    unheard = replace(turn(0, "It rains."), kind="tell", answered="script")
    talk.restore(unheard)  # logged before it was observed
    assert len(letta.agents["agent-1"]["passages"]) == 1


def test_a_message_that_is_sent_again_was_heard_once(
    open_in: Open, letta: Letta, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = open_in(max_retries=2)
    monkeypatch.setattr(sys.modules[type(talk.agent).__module__], "_PAUSE", 0.0)
    letta.fails = lambda call: call.path.endswith("/messages")
    letta.faults = [(503, {"detail": "busy"}), (429, {"detail": "slow down"})]
    talk.say(0, "My parrot is called Zebedee.")
    assert len(letta.agents["agent-1"]["context"]) == 1
    assert letta.paths().count("/v1/agents/agent-1/messages") == 3
    assert letta.paths("PATCH").count("/v1/agents/agent-1/reset-messages") == 2


@pytest.mark.parametrize(
    ("status", "complaint"),
    [(401, "the key in LETTA_API_KEY"), (404, "HTTP 404"), (429, "rate limit"), (500, "provider failed")],
)
def test_failures_are_one_line_without_the_key(
    open_in: Open, letta: Letta, status: int, complaint: str
) -> None:
    talk = open_in()
    letta.faults = [(status, {"detail": f"no good: {KEY}"})]
    letta.fails = lambda call: call.method == "POST"
    with pytest.raises(AgentError, match=complaint) as caught:
        talk.say(0, "Hello!")
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert KEY not in repr(talk.agent) + repr(vars(talk.agent))


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("no_tool_call", Finish.STOP),
        ("max_steps", Finish.LENGTH),
        ("context_window_overflow_in_system_prompt", Finish.OVERFLOW),
    ],
)
def test_why_the_agent_stopped_is_reported(open_in: Open, letta: Letta, stop: str, finish: Finish) -> None:
    letta.stop = stop
    reply = open_in().say(0, "Hello!").reply
    assert (reply.text, reply.finish) == ("", finish)


def test_an_agent_that_breaks_down_has_not_given_a_wrong_answer(open_in: Open, letta: Letta) -> None:
    letta.stop = "llm_api_error"
    with pytest.raises(AgentError, match="stopped with 'llm_api_error'"):
        open_in().say(0, "Hello!")


def test_the_doctor_asks_the_server(letta: Letta) -> None:
    agent = make_agent("letta", {"model": "openai/m", "base_url": letta.url})
    assert [(f.ok, f.text) for f in asyncio.run(agent.examine())][-1] == (True, "the server is Letta 0.16.9")
    letta.faults = [(401, {"detail": KEY})]
    ok, text = [(f.ok, f.text) for f in asyncio.run(agent.examine())][-1]
    assert not ok
    assert KEY not in text


def test_the_doctor_leaves_no_agent_on_the_server(letta: Letta, command: "Command") -> None:
    done = command("doctor", "--agent", "letta", "-A", "model=openai/m", "--base-url", letta.url)
    assert done.exit_code == 0, done.output
    assert "GET" in {call.method for call in letta.calls}
    assert letta.agents == {}
