"""Memory servers behind MCP: one of our own, and the reference server from npm where it is installed."""

import asyncio
import json
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Calls, Provider
from ltm_bench.adapters.testing.remembering import facts_in
from ltm_bench.core.errors import AgentError, CannotResume, ConfigError
from ltm_bench.core.messages import Turn
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import Conversation, Open, answer, conversations, turn
else:
    from memories import Conversation, Open, answer, conversations, turn

SERVER = f"{shlex.quote(sys.executable)} {shlex.quote(str(Path(__file__).parent / 'mcp_memory_server.py'))}"
NAMED = {
    "store": "add_memory",
    "store_arguments": '{"content": "{message}"}',
    "search": "search_memory",
    "search_arguments": '{"query": "{query}", "limit": "{limit}"}',
}
LISTED = {
    "listing": "list_memories",
    "forgetting": "delete_memory",
    "forgetting_arguments": '{"content": "{item}"}',
}
TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]

pytestmark = pytest.mark.skipif(
    find_spec("mcp") is None, reason="needs the extra: pip install ltm-bench[mcp]"
)


def keeper(messages: Sequence[dict[str, str]]) -> str:
    """Store what the user says, and search before answering; or answer from the contents of a prompt."""
    if "# The new message" in messages[-1]["content"]:
        return answer(messages[-1]["content"])
    last = max(n for n, each in enumerate(messages) if each["role"] == "user")
    asked, results = messages[last]["content"], [m for m in messages[last:] if m["role"] == "tool"]
    if results:
        return results[-1]["content"] or "I do not know."
    if "?" in asked:
        return Calls(json.dumps([{"name": "search_memory", "arguments": {"query": asked, "limit": 3}}]))
    calls = [{"name": "add_memory", "arguments": {"content": fact}} for fact in facts_in(asked)]
    return Calls(json.dumps(calls)) if calls else "Noted."


@pytest.fixture
def open_in(tmp_path: Path, server: Provider, key: str) -> Iterator[Open]:
    server.answer = keeper
    usual = {
        "core": "openai:some-model",
        "base_url": server.openai_url,
        "command": f"{SERVER} {{home}}/lines.jsonl",
        "timeout": 60.0,
        **LISTED,
    }
    with conversations(tmp_path, "mcp", **usual) as start:
        yield start


def held(talk: Conversation) -> list[str]:
    return [memory.text for memory in talk.memories()]


def by(user: str, number: int, text: str) -> Turn:
    told = turn(number, text)
    return Turn(replace(told.message, user=user), told.reply)


def beside(talk: Conversation, number: int, text: str) -> Any:
    call = talk.runner.run(talk.agent.fork(turn(number, text).message))

    async def answered() -> str:
        return (await call()).text

    return lambda: talk.runner.run(answered())


@pytest.mark.parametrize("core", ["openai_chat", "openai_responses", "anthropic_chat"])
def test_a_model_that_calls_tools_uses_them_as_it_likes(open_in: Open, server: Provider, core: str) -> None:
    url = server.url if core == "anthropic_chat" else server.openai_url
    talk = open_in(core=f"{core}:some-model", base_url=url)
    usage = talk.say(0, TOLD[0]).reply.usage
    assert "Zebedee" in talk.say(1, "What is my parrot called?").reply.text
    assert held(talk) == [TOLD[0]]
    assert len(server.chats) == 4
    assert usage is not None
    assert usage.prompt > 100
    assert server.chats[0].tools == ["add_memory", "search_memory", "list_memories", "delete_memory"]


@pytest.mark.parametrize("named", [{}, NAMED], ids=["its own choice", "named tools"])
def test_a_resumed_run_has_what_its_log_says_and_no_more(open_in: Open, named: dict[str, str]) -> None:
    talk = open_in(**named)
    turns = [talk.say(0, TOLD[0]), talk.fill(1, "A filler.")]
    before = held(talk)
    assert TOLD[0] in before
    talk.say(2, "My parrot is called Archibald now.")  # not in the log
    talk.close()
    again = open_in(**named)
    again.restore(*turns)
    assert held(again) == before
    again.say(2, TOLD[1])
    assert set(held(again)) == {*before, TOLD[1]}
    again.close()
    other = open_in(**named)  # a new conversation in the same folder
    other.say(0, "Hello!")
    assert TOLD[0] not in held(other)


def test_each_user_has_a_server_and_forgetting_is_permanent(open_in: Open) -> None:
    talk = open_in()
    assert talk.agent.keeps_users
    ada, bob = by("Ada", 0, TOLD[0]), by("Bob", 1, "My parrot is called Archibald.")
    said = [Turn(t.message, talk.runner.run(talk.agent.reply(t.message))) for t in (ada, bob)]
    reply = talk.runner.run(talk.agent.reply(by("Ada", 2, "What is my parrot called?").message))
    assert ("Zebedee" in reply.text, "Archibald" in reply.text) == (True, False)
    assert {(m.user, m.text) for m in talk.memories()} == {("Ada", TOLD[0]), ("Bob", bob.message.text)}
    assert talk.runner.run(talk.agent.forget("parrot")) == 2
    assert held(talk) == []
    talk.close()
    again = open_in()
    again.restore(*said, Turn(by("Ada", 2, "What is my parrot called?").message, reply))
    assert held(again) == []


@pytest.mark.parametrize("named", [{}, NAMED], ids=["its own choice", "named tools"])
def test_a_question_beside_the_conversation_writes_nothing(open_in: Open, named: dict[str, str]) -> None:
    talk = open_in(**named)
    talk.say(0, TOLD[0])
    asked = beside(talk, 1, "What is my parrot called?")
    told = beside(talk, 1, "My parrot is called Archibald now.")
    talk.say(1, "My parrot moved out.")
    assert "Zebedee" in (said := asked())
    assert "moved out" not in said
    told()
    assert "Archibald" not in "".join(held(talk))
    assert not list(talk.home.glob("fork-*"))


def test_a_reply_that_failed_stores_nothing(open_in: Open, server: Provider) -> None:
    talk = open_in()

    def fails_after_storing(messages: Any) -> str:
        server.fail(status=400)
        return keeper(messages)

    server.answer = fails_after_storing
    with pytest.raises(AgentError, match="HTTP 400"):
        talk.say(0, TOLD[0])
    server.answer = keeper
    assert held(talk) == []


def test_what_the_named_tools_find_is_put_before_the_core(open_in: Open, server: Provider) -> None:
    talk = open_in(**NAMED, recent=0)
    talk.observe(*(turn(n, text) for n, text in enumerate(TOLD)))
    assert [text for text, _ in talk.recall("parrot called", 5)] == [TOLD[0]]
    assert talk.say(3, "What is my parrot called?").reply.text == "I do not know."  # a memory has no date
    assert f"\n{TOLD[0]}\n" in server.chats[-1].messages[-1]["content"]
    with pytest.raises(AgentError, match="search_memory was refused"):
        talk.recall("fail")


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"core": "openai:m"}, "either command, which starts a server, or url"),
        ({"core": "openai:m", "command": "x", "url": "http://127.0.0.1/mcp"}, "either command"),
        ({"core": "openai:m", "command": "x", "store": "a"}, "both store and search"),
        ({"core": "openai:m", "command": "x", "variables": "[1]"}, "not a JSON object"),
        ({"core": "openai:m", "command": "x", "rounds": 0}, "rounds = 0"),
    ],
)
def test_a_wrong_setting_is_named(key: str, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        make_agent("mcp", settings)


@pytest.mark.parametrize(
    ("settings", "kind", "complaint"),
    [
        (
            {**NAMED, "search": "find", "command": f"{SERVER} {{home}}/lines.jsonl"},
            ConfigError,
            "mcp: search = 'find': the server has no such tool",
        ),
        ({"command": "no-such-program"}, AgentError, "mcp server no-such-program: cannot be reached"),
    ],
)
def test_missing_tools_and_missing_servers_are_reported_in_one_line(
    tmp_path: Path, key: str, settings: dict[str, Any], kind: type[Exception], complaint: str
) -> None:
    async def opened() -> None:
        agent = make_agent("mcp", {"core": "openai:some-model", **settings})
        try:
            await agent.open(tmp_path)
        finally:
            await agent.close()

    with pytest.raises(kind, match=complaint):
        asyncio.run(opened())


@pytest.fixture
def at_a_url(tmp_path: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*shlex.split(SERVER), str(tmp_path / "shared.jsonl"), str(port)], stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def test_a_server_at_a_url_is_not_reset(open_in: Open, at_a_url: str) -> None:
    talk = open_in(command="", url=at_a_url, **NAMED)
    assert not talk.agent.keeps_users
    told = talk.say(0, TOLD[0])
    assert "Zebedee" in beside(talk, 1, "What is my parrot called?")()
    talk.close()
    again = open_in(command="", url=at_a_url, **NAMED)
    again.restore(told)
    assert held(again)[0] == TOLD[0]
    again.say(1, TOLD[1])
    again.close()
    third = open_in(command="", url=at_a_url, **NAMED)
    with pytest.raises(CannotResume, match="has heard more than the log"):
        third.restore(told)


def test_a_server_that_does_not_answer_is_given_up_on(open_in: Open) -> None:
    talk = open_in(timeout=3.0, **NAMED)
    talk.observe(turn(0, "Hang."))
    with pytest.raises(AgentError, match=r"search_memory failed: no answer within 3 seconds"):
        talk.recall("hang")
