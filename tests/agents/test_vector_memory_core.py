"""The agent with a vector store, and with a model as its core."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider, provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import Talk
    from tests.vectors import trivia
else:
    from vectors import trivia

Start = Callable[..., "Talk"]


@pytest.mark.parametrize("window", [600, 8192])
def test_a_core_gets_one_bounded_prompt(server: Provider, key: str, talk_to: Start, window: int):
    core = {"core": "openai_chat:some-model", "base_url": server.openai_url}
    talk = talk_to("vector_memory", window=window, recent=1, **core)
    talk.observe("My boat is called Undine.", "A fine name.")
    for i in range(4):
        talk.observe(trivia(30 * i, 30), "Noted.")
    talk.observe("I like rain.", "So do I.")
    reply = talk.say("What is my boat called?")
    prompt = server.chats[-1].messages[-1]["content"]
    assert len(server.chats[-1].messages) == 2
    assert server.measure([{"role": "user", "content": prompt}], "").prompt < window + 50
    assert "Monday, 5 January 2026, 09:00, 6 minutes ago] User: My boat is called Undine." in prompt
    latest = prompt.index("User: I like rain.\nYou: So do I.")
    assert prompt.index("Undine") < latest < prompt.index("What is my boat called?")
    assert reply.usage is not None
    assert reply.usage.output > 0
    reserve = talk.reserve("What is my boat called?")
    assert reserve is not None
    assert reserve.prompt >= max(window, reply.usage.prompt)


def test_a_core_keeps_to_its_timeout_and_its_retries(server: Provider, key: str, talk_to: Start):
    patience = {"timeout": 0.5, "max_retries": 1, "base_url": server.openai_url}
    talk = talk_to("vector_memory", core="openai_chat:some-model", **patience)
    server.fail("hang", times=2)
    with pytest.raises(AgentError, match=r"no reply within timeout=0\.5 seconds, after 1 retry"):
        talk.say("My boat is called Undine.")
    assert len(server.chats) == 2


def test_memories_are_shown_in_order_of_time_and_not_twice(server: Provider, key: str, talk_to: Start):
    talk = talk_to("vector_memory", core="openai_chat:some-model", base_url=server.openai_url, recent=1)
    for text in ("My boat is called Undine.", "My boat is now called Melusine.", "My boat is at sea."):
        talk.observe(text, "Noted.")
    talk.say("Where is my boat called Melusine?")
    prompt = server.chats[-1].messages[-1]["content"]
    assert prompt.index("Undine") < prompt.index("now called Melusine") < prompt.index("at sea")
    assert prompt.count("at sea") == 1
    assert len(server.chats[-1].messages) == 2  # nothing is left over from an earlier turn


def test_a_core_that_fails_leaves_no_trace(server: Provider, key: str, talk_to: Start):
    talk = talk_to("vector_memory", core="openai_chat:some-model", base_url=server.openai_url)
    server.fail(status=400)
    with pytest.raises(AgentError):
        talk.say("My boat is called Undine.")
    assert talk.agent.store.passages == []


def thoughtful(messages: Sequence[dict[str, str]]) -> str:
    """Write queries and notes on request, and otherwise answer from the notes."""
    prompt = messages[-1]["content"]
    if "Write up to three short search queries" in prompt:
        return 'Sure: ["name of the boat", 7, "vessel Undine"] as you wished'
    if "You keep notes about a user" in prompt:
        return '```json\n{"boat": "Undine"}\n```' if "Undine" in prompt else "no notes"
    return "By my notes it is Undine." if '{"boat": "Undine"}' in prompt else "I do not know."


@pytest.fixture
def thinker(key: str) -> Iterator[Provider]:
    with provider(thoughtful) as running:
        yield running


def test_a_core_writes_queries_and_sees_what_they_find(thinker: Provider, talk_to: Start):
    core = {"core": "openai_chat:some-model", "base_url": thinker.openai_url, "recent": 0, "memories": 6}
    talk = talk_to("vector_memory", variant="query_rewriting", **core)
    talk.observe("My boat is called Undine, a good vessel.", "A fine name.")
    talk.observe(trivia(0, 60), "Noted.")
    reply = talk.say("How does one speak of the thing that I sail in?")
    rewriting, answering = (request.messages[-1]["content"] for request in thinker.chats)
    assert "the thing that I sail in" in rewriting
    assert "Undine" not in rewriting
    assert "a good vessel" in answering
    assert reply.usage is not None
    assert reply.usage.prompt > thinker.measure([{"role": "user", "content": answering}], "").prompt + 50
    reserve = talk.reserve("How does one speak of the thing that I sail in?")
    assert reserve is not None
    assert reserve.prompt >= reply.usage.prompt


def test_a_core_keeps_notes_and_a_resumed_run_has_those_of_its_log(
    thinker: Provider, talk_to: Start, tmp_path: Path
):
    core = {"core": "openai_chat:some-model", "base_url": thinker.openai_url, "recent": 0}
    talk = talk_to("vector_memory", variant="query_rewriting+scratchpad", **core)
    talk.say("Hello!")
    talk.say("My boat is called Undine.")
    assert talk.say("What is it called?").text == "By my notes it is Undine."
    assert len(thinker.chats) == 9
    (path,) = tmp_path.glob("*/agent/scratchpad.jsonl")
    assert [json.loads(line) for line in path.read_text().splitlines()] == [[1, '{"boat": "Undine"}']]
    with path.open("a") as file:
        file.write('[2, "{\\"boat\\": \\"Melusine\\"}"]\n[3, "{')  # from a turn that the log lacks, and torn
    talk.restore(talk.turns[:2])
    assert talk.say("What is it called?").text == "By my notes it is Undine."
    assert len(path.read_text().splitlines()) == 1
    talk.restore(talk.turns[:1])
    assert talk.say("What is it called?").text == "I do not know."
    assert path.read_text() == ""


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"variant": "psychic"}, "variant = 'psychic' is not known"),
        ({"variant": "scratchpad"}, "needs a model: set core"),
        ({"embedder": "python:none:such"}, "python:none:such"),
    ],
)
def test_a_variant_that_cannot_work_is_named(settings: dict[str, Any], complaint: str):
    with pytest.raises(ConfigError, match=complaint):
        make_agent("vector_memory", settings)


def test_a_users_own_embedding_is_used(talk_to: Start):
    own = talk_to("vector_memory", embedder="python:ltm_bench.adapters.hashing:embed")
    usual = talk_to("vector_memory")
    for talk in (own, usual):
        talk.say("My favourite soup is made with beetroot.")
    question = "What is my favourite soup made with?"
    assert own.say(question).text == usual.say(question).text
    assert "beetroot" in own.say(question).text
