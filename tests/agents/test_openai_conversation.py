"""A conversation kept by OpenAI matches the window, and is recreated whenever the two could differ."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider, conformance
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import Open, conversations, turn
else:
    from memories import Open, conversations, turn

pytestmark = pytest.mark.usefixtures("key")

TOLD = "My parrot is called Zebedee."
ASKED = "What is my parrot called?"


def settings(server: Provider, **more: Any) -> dict[str, Any]:
    where = {"model": "some-model", "base_url": server.openai_url, "conversation": "there"}
    return {**where, "max_retries": 0, **more}


@pytest.fixture
def open_in(server: Provider, tmp_path: Path) -> Iterator[Open]:
    with conversations(tmp_path, "openai_responses", **settings(server)) as start:
        yield start


def said(server: Provider) -> list[str]:
    """Return the user's messages in OpenAI's only conversation."""
    (items,) = server.conversations.values()
    return [one["content"].partition("\n")[2] for one in items if one["role"] == "user"]


def test_only_what_is_new_is_sent(open_in: Open, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD)
    talk.fill(1, "It rained all day.")
    assert talk.say(2, ASKED).reply.text == f"You said: {TOLD}"
    first, second = (request.body for request in server.chats)
    assert first["conversation"] == second["conversation"] == "conv_1"
    assert "store" not in first
    assert [one["role"] for one in second["input"]] == ["user", "assistant", "user"]  # and what was observed
    assert said(server) == [TOLD, "It rained all day.", ASKED]


def test_a_resumed_run_gets_a_conversation_with_its_log_and_no_more(open_in: Open, server: Provider) -> None:
    talk = open_in()
    turns = [talk.say(0, TOLD), talk.say(1, "Hello!")]
    talk.say(2, "My parrot is called Archibald now.")  # it never reached the log
    killed = dict(server.conversations)
    again = open_in()
    again.restore(*turns)
    assert again.say(2, ASKED).reply.text == f"You said: {TOLD}"
    (name,) = set(server.conversations) - set(killed)
    assert "Archibald" not in repr(server.conversations[name])


@pytest.mark.parametrize("kind", ["cut", "error"])
def test_a_lost_answer_is_not_in_it_twice(server: Provider, tmp_path: Path, kind: Any) -> None:
    with conversations(tmp_path, "openai_responses", **settings(server, max_retries=1)) as start:
        talk = start()
        talk.say(0, TOLD)
        server.fail(kind)
        talk.say(1, ASKED)
        assert said(server) == [TOLD, ASKED]
        assert "never arrived" not in repr(server.conversations)


def test_what_failed_is_not_in_it(open_in: Open, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD)
    server.fail("cut")
    with pytest.raises(AgentError):
        talk.say(1, "My parrot is called Archibald now.")
    talk.say(1, ASKED)
    assert said(server) == [TOLD, ASKED]


def test_what_was_refused_is_not_in_it(open_in: Open, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD)
    server.fail("refusal", message="No.")
    talk.say(1, "Something that is refused.")
    talk.say(2, ASKED)
    assert said(server) == [TOLD, ASKED]


def test_turns_that_the_window_drops_are_not_in_it(server: Provider, tmp_path: Path) -> None:
    small = settings(server, window=900, max_output=100)
    with conversations(tmp_path, "openai_responses", **small) as start:
        talk = start()
        for number in range(30):
            talk.say(number, f"{number}: " + "It rained all day, and nobody came. " * 5)
            (items,) = server.conversations.values()
            assert server.count([{"content": str(one["content"])} for one in items]) < 1200
        assert 2 < len({request.body["conversation"] for request in server.chats}) < 20


def test_a_fork_is_sent_whole_and_stored_nowhere(open_in: Open, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD)
    answer: Any = talk.runner.run(talk.agent.fork(turn(1, ASKED).message))
    talk.say(1, "Hello!")
    assert talk.runner.run(answer()).text == f"You said: {TOLD}"
    body = server.chats[-1].body
    assert (body["store"], "conversation" in body, len(body["input"])) == (False, False, 3)
    assert said(server) == [TOLD, "Hello!"]


def test_it_is_deleted_at_the_end_if_that_can_be_done(open_in: Open, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD)
    talk.close()
    assert not server.conversations
    other = open_in()
    other.say(0, TOLD)
    with server.failing(status=500):
        other.close()


def test_a_deleted_conversation_is_an_error_and_is_recreated(open_in: Open, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD)
    server.conversations.clear()
    with pytest.raises(AgentError, match="no such conversation"):
        talk.say(1, ASKED)
    assert talk.say(1, ASKED).reply.text == f"You said: {TOLD}"


def test_it_can_be_compacted_there(server: Provider, tmp_path: Path) -> None:
    with conversations(tmp_path, "openai_responses", **settings(server, compact_at=300)) as start:
        talk = start()
        talk.say(0, TOLD)
        for number in range(1, 4):
            talk.say(number, "It rained all day, and nobody came to the harbour. " * 10)
        assert talk.say(4, ASKED).reply.text == f"You said: {TOLD}"
        assert len(server.conversations) == 1


def test_the_rules_hold(server: Provider) -> None:
    quick = settings(server, timeout=3.0)
    conformance(lambda: make_agent("openai_responses", quick), server=server, within=20)


def test_another_server_is_an_error(server: Provider) -> None:
    with pytest.raises(ConfigError, match="'here' or 'there'"):
        make_agent("openai_responses", settings(server, conversation="elsewhere"))
