"""The agent's contract: the defaults of an adapter with only a `reply`, and what it may add."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from ltm_bench import Agent, Message, Reply, Turn
from ltm_bench.plugins.agents import make_agent

AT = datetime(2026, 1, 5, tzinfo=UTC)
TURNS = [Turn(Message(text, AT, i), Reply("Noted.")) for i, text in enumerate(("one", "two", "three"))]


class Plain(Agent):
    async def reply(self, message: Message) -> Reply:
        return Reply("Noted.")


class Attentive(Plain):
    def __init__(self, *, deaf: bool = False) -> None:
        self.heard: list[str] = []
        if deaf:
            self.observes = False

    async def observe(self, turn: Turn) -> None:
        self.heard.append(turn.message.text)


def test_an_agent_that_only_replies_promises_nothing() -> None:
    agent = Plain()
    promised = (agent.free, agent.interactive, agent.told_ideal, agent.observes, agent.forks)
    assert promised == (False, False, False, False, "no")
    assert (agent.keeps_users, agent.usage_model(), agent.reserve(TURNS[0].message)) == (False, None, None)


def test_an_agent_that_writes_observe_observes_unless_the_instance_says_otherwise() -> None:
    assert Attentive().observes
    assert not Attentive(deaf=True).observes
    assert type("Heir", (Attentive,), {})().observes

    class Session(Plain):
        async def observe_session(self, turns: object) -> None:
            """Take a whole session."""

    class Silent(Attentive):
        observes = False

    assert (Session().observes, Silent().observes) == (True, False)


def test_an_agent_that_takes_sessions_gets_a_turn_as_a_session_of_one() -> None:
    class Session(Plain):
        def __init__(self) -> None:
            self.heard: list[int] = []

        async def observe_session(self, turns: Sequence[Turn]) -> None:
            self.heard.append(len(turns))

    agent = Session()
    asyncio.run(agent.observe(TURNS[0]))
    asyncio.run(agent.restore(TURNS[1:]))
    assert agent.heard == [1, 1, 1]


@pytest.mark.parametrize(
    ("name", "settings", "observes"),
    [
        ("goldfish", {}, True),
        ("perfect", {}, True),
        ("http", {"url": "http://localhost/"}, False),
        ("http", {"url": "http://localhost/", "observe": "/observe"}, True),
        ("command", {"command": "cat", "observe": True}, True),
        ("command", {"command": "true"}, False),
        ("vector_memory", {}, True),
        ("function", {"target": "builtins:len"}, False),
    ],
)
def test_the_agents_that_ship_say_whether_they_observe(
    name: str, settings: dict[str, object], observes: bool
) -> None:
    assert make_agent(name, settings).observes == observes


def test_a_session_and_a_resumed_run_are_observed_turn_by_turn() -> None:
    agent = Attentive()
    asyncio.run(agent.observe_session(TURNS[:2]))
    asyncio.run(agent.restore(TURNS[2:]))
    assert agent.heard == ["one", "two", "three"]


def test_it_says_what_an_agent_cannot_do() -> None:
    agent = Plain()
    with pytest.raises(NotImplementedError, match="Plain cannot be forked"):
        asyncio.run(agent.fork(TURNS[0].message))
    with pytest.raises(NotImplementedError, match="Plain has no retrieval to ask"):
        asyncio.run(agent.recall("x", 1))
    with pytest.raises(NotImplementedError, match="Plain cannot list its memories"):
        agent.memories()
    with pytest.raises(NotImplementedError, match="Plain cannot forget on request"):
        asyncio.run(agent.forget("x"))


@pytest.mark.parametrize(
    ("adapter", "settings", "connections"),
    [
        ("openai_chat", {"model": "m"}, "api.openai.com"),
        ("openai_responses", {"model": "m"}, "api.openai.com"),
        ("openai_chat", {"model": "m", "base_url": "http://here/v1"}, "http://here/v1"),
        ("openai_chat", {"model": "m", "base_url": "https://eu.api.openai.com/v1"}, "eu.api.openai.com"),
        ("anthropic_chat", {"model": "m"}, "api.anthropic.com"),
        ("vector_memory", {"core": "openai_chat:gpt-4o"}, "api.openai.com"),
        ("vector_memory", {"embedder": "openai:text-embedding-3-small"}, "api.openai.com"),
        ("vector_memory", {}, "vector_memory"),
        ("mem0", {"model": "m"}, "api.openai.com"),
        ("letta", {"model": "openai/m", "base_url": "http://here"}, "http://here"),
        ("http", {"url": "http://here/chat"}, "http://here/chat"),
        ("goldfish", {}, "goldfish"),
    ],
)
def test_agents_share_the_connections_of_a_vendor_or_a_server(
    key: str, adapter: str, settings: dict[str, object], connections: str
) -> None:
    assert make_agent(adapter, settings).connections == connections
