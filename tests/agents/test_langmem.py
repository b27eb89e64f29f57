"""LangMem itself, over LangGraph's in-memory store, against a model on this machine."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Calls, Provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import Open, conversations, model, record, turn
else:
    from memories import Open, conversations, model, record, turn

REASON = "needs the extra: pip install ltm-bench[langmem]"
TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]

pytestmark = pytest.mark.filterwarnings(
    "default::DeprecationWarning"
)  # LangGraph's, of LangMem and of itself


@pytest.fixture
def open_in(tmp_path: Path, server: Provider, key: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    pytest.importorskip("langmem", reason=REASON)
    monkeypatch.setenv("LANGSMITH_TRACING", "true")  # even so, nothing is reported anywhere
    monkeypatch.setenv("LANGSMITH_ENDPOINT", server.url)
    server.answer = model
    usual = {"model": "some-model", "base_url": server.openai_url, "embedder": "local", "max_retries": 0}
    with conversations(tmp_path, "langmem", **usual) as start:
        yield start
    assert {request.path for request in server.requests} <= {"/v1/chat/completions", "/v1/embeddings"}


def test_a_missing_package_is_reported_in_one_line(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "langmem", None)
    agent = make_agent("langmem", {"model": "some-model", "embedder": "local"})
    with pytest.raises(ConfigError, match=r"^agent langmem: .* is not installed; .*\[langmem\]'$"):
        asyncio.run(agent.open(tmp_path))
    asyncio.run(agent.close())


def test_it_answers_from_what_the_manager_keeps(open_in: Open, server: Provider, key: str) -> None:
    talk = open_in(recent=0, embedder="some-embedder", dimensions=512)
    talk.observe(*(turn(n, text) for n, text in enumerate(TOLD)))
    reply = talk.say(3, "What is my parrot called?").reply
    assert (
        reply.text == "[Monday, 5 January 2026, 09:00, 3 minutes ago] User says: My parrot is called Zebedee."
    )
    assert "[Monday, 5 January 2026, 09:00]\nMy parrot" in server.chats[0].messages[-1]["content"]
    assert talk.known() == [
        ("User says: I moved to Ribe.", 1),
        ("User says: My parrot is called Zebedee.", 0),
    ]
    assert key not in repr(vars(talk.agent))


def test_a_resumed_run_has_the_memories_of_its_log_and_no_others(open_in: Open, server: Provider) -> None:
    talk = open_in()
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns[:2])
    memories = talk.known()
    assert len(memories) == 2
    talk.say(2, "My parrot is called Archibald now.")  # not in the log
    assert len(talk.known()) == 3
    talk.close()
    before = len(server.chats)
    again = open_in()
    again.restore(*turns)
    assert again.known() == memories
    calls = [request.messages[0]["content"] for request in server.chats[before:]]
    assert calls  # the last turn had to be managed again
    assert "Archibald" not in "".join(calls)
    again.close()
    before = len(server.chats)
    exact = open_in()
    exact.restore(*turns)
    assert exact.known() == memories
    assert len(server.chats) == before


def test_a_session_is_managed_once_at_its_end_and_whole(open_in: Open, server: Provider) -> None:
    talk = open_in()
    told = record(
        "User: My parrot is called Zebedee.", "User: I moved to Ribe.\nAssistant: Is it nice there?"
    )
    talk.observe_session(told)
    managed = len(server.chats)
    memories = talk.known()
    assert memories == [
        ("User says: I moved to Ribe.", 1),
        ("User says: My parrot is called Zebedee.", 1),
    ]
    assert "Is it nice there?" in server.chats[0].messages[-1]["content"]
    assert "Noted." not in server.chats[0].messages[-1]["content"]
    talk.close()
    again = open_in()
    again.restore(*told)
    assert (again.known(), len(server.chats)) == (memories, managed)
    again.close()
    half = open_in()
    half.restore(told[0])
    assert half.known() == [("User says: My parrot is called Zebedee.", 0)]


def test_an_update_and_a_deletion_survive_a_resume(open_in: Open, server: Provider) -> None:
    talk = open_in(deletes=True)
    turns = [turn(0, TOLD[0]), turn(1, "I moved to Ribe."), turn(2, "Forget it.")]
    talk.observe(*turns[:2])

    def forget(messages: Any) -> str:
        instance = messages[0]["content"].partition("instance id=")[2].split()[0]
        return Calls(f'[{{"name": "RemoveDoc", "arguments": {{"json_doc_id": "{instance}"}}}}]')

    server.answer = forget
    talk.observe(turns[2])
    memories = talk.known()
    assert len(memories) == 1
    talk.close()
    again = open_in(deletes=True)
    again.restore(*turns)
    assert again.known() == memories
    again.close()
    earlier = open_in(deletes=True)
    earlier.restore(*turns[:2])
    assert len(earlier.known()) == 2


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (
            {"status": 401, "message": "Incorrect API key provided: sk-not*****6789"},
            "the key in OPENAI_API_KEY",
        ),
        ({"status": 429, "message": "slow down"}, "HTTP 429, rate limit"),
        ({"status": 500}, "HTTP 500, the provider failed"),
    ],
)
def test_failures_are_one_line_without_the_key_and_no_memory_is_lost(
    open_in: Open,
    server: Provider,
    key: str,
    fault: dict[str, Any],
    complaint: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    talk = open_in()
    server.fail(**fault)
    with pytest.raises(AgentError, match=complaint) as caught:
        talk.observe(turn(0, TOLD[0]))
    assert "sk-not" not in str(caught.value) + "".join(capfd.readouterr())
    talk.close()
    again = open_in()
    again.restore(turn(0, TOLD[0]))
    assert again.known() == [("User says: My parrot is called Zebedee.", 0)]


def test_vectors_of_another_length_are_named(open_in: Open) -> None:
    talk = open_in(embedder="some-embedder", dimensions=7)
    with pytest.raises(ConfigError, match="set dimensions=512"):
        talk.observe(turn(0, TOLD[0]))
