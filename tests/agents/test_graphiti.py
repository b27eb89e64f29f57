"""Graphiti itself, on FalkorDB Lite, against a model on this machine."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import SESSION, Open, conversations, model, record, turn
else:
    from memories import SESSION, Open, conversations, model, record, turn

REASON = "needs the extra: pip install ltm-bench[graphiti]"
TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]
FACTS = [("User says: I moved to Ribe.", 1), ("User says: My parrot is called Zebedee.", 0)]


def test_a_python_that_is_too_old_is_reported_in_one_line(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "graphiti_core", ModuleType("graphiti_core"))
    monkeypatch.setattr(sys, "version_info", (3, 11, 7))
    agent = make_agent("graphiti", {"model": "some-model", "embedder": "local"})
    with pytest.raises(ConfigError, match=r"^graphiti: FalkorDB Lite needs Python 3\.12 or later"):
        asyncio.run(agent.open(tmp_path))


@pytest.fixture
def open_in(tmp_path: Path, server: Provider, key: str) -> Iterator[Open]:
    pytest.importorskip("graphiti_core", reason=REASON)
    server.answer = model
    usual = {"model": "some-model", "base_url": server.openai_url, "embedder": "local", "max_retries": 0}
    with conversations(tmp_path, "graphiti", **usual) as start:
        yield start


def test_a_missing_package_is_reported_in_one_line(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "graphiti_core", None)
    agent = make_agent("graphiti", {"model": "some-model", "embedder": "local"})
    with pytest.raises(ConfigError, match=r"^agent graphiti: .* is not installed; .*\[graphiti\]'$"):
        asyncio.run(agent.open(tmp_path))
    asyncio.run(agent.close())


def test_nothing_is_written_into_the_users_home(
    open_in: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = tmp_path / "user"
    users.mkdir()
    monkeypatch.setenv("HOME", str(users))
    talk = open_in()
    talk.say(0, "My boat is called Zebedee.")
    talk.close()
    assert [path.relative_to(users) for path in users.rglob("*")] == []


def test_it_answers_from_the_facts_of_its_graph(open_in: Open, server: Provider, key: str) -> None:
    talk = open_in(recent=0, embedder="some-embedder")
    talk.observe(*(turn(n, text) for n, text in enumerate(TOLD)))
    reply = talk.say(3, "What is my parrot called?").reply
    assert reply.text.endswith("User says: My parrot is called Zebedee.")
    assert sorted(talk.known()) == FACTS
    assert reply.usage is not None
    assert [each.model for each in reply.usage.besides] == ["some-embedder"]
    assert not any("temperature" in request.body for request in server.chats)
    assert key not in repr(vars(talk.agent))


def test_a_resumed_run_has_the_facts_of_its_log_and_no_others(open_in: Open, server: Provider) -> None:
    talk = open_in()
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns)
    talk.say(3, "My parrot is called Archibald now.")  # not in the log
    assert len(talk.known()) == 3
    talk.close()
    before = len(server.chats)
    again = open_in()
    again.restore(*turns)
    assert again.known() == FACTS
    assert len(server.chats) == before  # nothing was extracted again
    again.close()
    earlier = open_in()
    earlier.restore(turns[0])  # that state is no longer kept, so the turns are sent again
    assert earlier.known() == FACTS[1:]


def test_a_superseded_fact_says_when_it_ended(open_in: Open, server: Provider) -> None:
    def dating(messages: Any) -> str:
        said = model(messages)
        if '"edges": [' in said:
            told = json.loads(said)
            for edge in told["edges"]:
                edge |= {"valid_at": "2026-01-02T08:00:00Z", "invalid_at": "2026-01-04T08:00:00Z"}
            return json.dumps(told)
        return said

    server.answer = dating
    talk = open_in()
    talk.observe(turn(0, TOLD[0]))
    (memory,) = talk.runner.run(talk.agent.recall("parrot", 3))
    assert memory.text == "User says: My parrot is called Zebedee. (until 04 January 2026, 08:00)"
    assert memory.at == datetime(2026, 1, 2, 8, tzinfo=UTC)


def test_it_recalls_entities_besides_facts(open_in: Open) -> None:
    talk = open_in()
    talk.observe(turn(0, TOLD[0]))
    assert talk.recall("parrot", 4) == [FACTS[1], ("User: User says: My parrot is called Zebedee.", None)]


def test_a_session_is_told_by_its_speakers_at_its_date(open_in: Open, server: Provider) -> None:
    talk = open_in()
    talk.observe_session(record(*SESSION))
    asked = [request.messages[-1]["content"] for request in server.chats]
    assert any("Melanie: Any news?\nCaroline: I moved to Ribe.\nIt rained.\n" in text for text in asked)
    assert not any("Noted." in text for text in asked)
    assert any("2023-05-07" in text for text in asked)


def test_its_cross_encoder_asks_the_model_about_every_fact_and_entity(
    open_in: Open, server: Provider
) -> None:
    talk = open_in(rerank="cross_encoder")
    talk.observe(turn(0, TOLD[0]))
    before = len(server.chats)
    with pytest.raises(AgentError):  # the model on this machine gives no log probabilities
        talk.recall("parrot", 4)
    asked = server.chats[before:]
    assert asked
    assert all(each.body["logprobs"] and "PASSAGE" in each.messages[-1]["content"] for each in asked)


def test_a_killed_run_resumes(open_in: Open, server: Provider) -> None:
    talk = open_in()
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns[:2])
    server.fail(status=500)
    with pytest.raises(AgentError, match="HTTP 500"):
        talk.observe(turns[2])  # its database outlives it
    again = open_in()
    again.restore(*turns)
    assert again.known() == FACTS


def test_an_entity_may_be_called_by_a_word_that_searches_skip(open_in: Open) -> None:
    told = [turn(n, f"I {verb} these.") for n, verb in enumerate(("see", "keep", "like"))]
    talk = open_in()
    talk.observe(*told[:2])
    talk.close()
    again = open_in()
    again.restore(*told)
    assert {memory.turn for memory in again.memories()} == {0, 1, 2}
    assert again.recall("Which do I keep?", 1) == [("User says: I keep these.", 1)]


def test_a_database_that_dies_is_named_and_a_resumed_run_has_its_facts(open_in: Open) -> None:
    talk = open_in()
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns[:2])
    agent: Any = talk.agent
    os.kill(agent._server.pid, signal.SIGKILL)
    with pytest.raises(AgentError, match=r"^graphiti: FalkorDB Lite has died; .*live/log says why\. Resume"):
        talk.observe(turns[2])
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert again.known() == FACTS


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (
            {"status": 401, "message": "Incorrect API key provided: sk-not*****6789"},
            "the key in OPENAI_API_KEY",
        ),
        ({"status": 429, "message": "slow down"}, "HTTP 429, rate limit"),
    ],
)
def test_failures_are_one_line_without_the_key(
    open_in: Open, server: Provider, fault: dict[str, Any], complaint: str
) -> None:
    talk = open_in()
    server.fail(**fault)
    with pytest.raises(AgentError, match=complaint) as caught:
        talk.observe(turn(0, TOLD[0]))
    assert "sk-not" not in str(caught.value)


def test_a_model_that_writes_no_json_is_named(open_in: Open, server: Provider) -> None:
    server.answer = lambda _: "I would rather not."
    talk = open_in()
    with pytest.raises(AgentError, match="wrote no JSON in 3 tries"):
        talk.observe(turn(0, TOLD[0]))


def test_what_is_forgotten_is_nowhere_in_the_graph(open_in: Open, server: Provider) -> None:
    def parts(agent: Any) -> str:
        """Return all properties of all entities, episodes and facts."""
        asked = "MATCH (n) OPTIONAL MATCH (n)-[e]->() RETURN properties(n), collect(properties(e))"
        return str(talk.runner.run(agent._graphs[None].driver.execute_query(asked)))

    talk = open_in(recent=0)
    talk.observe(*(turn(n, text) for n, text in enumerate(TOLD)))
    assert all(word in parts(talk.agent) for word in ("parrot", "Zebedee", "Ribe"))
    assert talk.runner.run(talk.agent.forget("What is my parrot called?")) == 1
    left = parts(talk.agent)
    assert ("parrot" in left, "Zebedee" in left) == (False, False)
    assert "'summary': 'User says: I moved to Ribe.'" in left
    assert talk.known() == FACTS[:1]
    assert talk.runner.run(talk.agent.forget("What is my parrot called?")) == 0

    before = len(server.chats)
    talk.observe(turn(3, "I have a cat."))
    shown = json.dumps([request.body for request in server.chats[before:]])
    assert ("parrot" in shown, "Zebedee" in shown, "Ribe" in shown) == (False, False, True)


def test_what_was_forgotten_stays_forgotten_when_everything_is_retold(open_in: Open) -> None:
    talk = open_in()
    turns = [turn(n, text) for n, text in enumerate([*TOLD, *["I have a cat."] * 4])]
    talk.observe(*turns[:3])
    assert talk.runner.run(talk.agent.forget("What is my parrot called?")) == 1
    talk.observe(turn(3, "My parrot is called Archibald now."), *turns[4:])
    assert talk.runner.run(talk.agent.forget("What is my cat called?")) > 0
    talk.close()
    again = open_in()
    again.restore(*turns[:4])  # none of the last three states has turn 3 as the log has it
    assert again.known() == [("User says: I have a cat.", 3), *FACTS[:1]]
    again.close()
    once_more = open_in()
    once_more.restore(*turns[:2])  # the later request to forget is not in this log
    assert once_more.known() == FACTS


def test_forgetting_an_entity_removes_its_name_too(open_in: Open) -> None:
    talk = open_in()
    talk.observe(turn(0, "I visited Hildesheim."), turn(1, "I love Marrakesh."))
    agent: Any = talk.agent

    async def reword() -> None:
        """Have the fact say less than its entity."""
        for edge in await agent._facts(None):
            edge.fact = edge.fact.replace("Hildesheim", "the town")
            edge.fact_embedding = await agent._graphs[None].embedder.create(edge.fact)
            await edge.save(agent._graphs[None].driver)

    talk.runner.run(reword())
    assert talk.runner.run(agent.forget("Hildesheim")) == 1
    assert [memory.text for memory in talk.memories()] == ["User says: I love Marrakesh."]
