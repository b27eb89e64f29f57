"""Providers that compact a conversation: the summary is sent back, counted, and survives a crash."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ltm_bench.adapters.testing import Calls, Provider, conformance, quote
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Finish, Turn
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import Talk
    from tests.memories import Open, conversations, turn
else:
    from memories import Open, conversations, turn

pytestmark = pytest.mark.usefixtures("key")

FILLER = "It rained all day, and nobody came to the harbour. " * 10
TOLD = "My parrot is called Zebedee."
ASKED = "What is my parrot called?"


class Adapter(NamedTuple):
    name: str
    field: str
    """Where a request has its messages."""

    def settings(self, server: Provider, **more: Any) -> dict[str, Any]:
        url = server.url if self.name.startswith("anthropic") else server.openai_url
        return {"model": "some-model", "base_url": url, "compact_at": 300, "max_retries": 0, **more}


ANTHROPIC = Adapter("anthropic_chat", "messages")
OPENAI = Adapter("openai_responses", "input")


@pytest.fixture(params=[ANTHROPIC, OPENAI], ids=lambda adapter: adapter.name)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    found: Adapter = request.param
    return found


@pytest.fixture
def open_in(adapter: Adapter, server: Provider, tmp_path: Path) -> Iterator[Open]:
    with conversations(tmp_path, adapter.name, **adapter.settings(server)) as start:
        yield start


def summaries(body: dict[str, Any], adapter: Adapter) -> list[dict[str, Any]]:
    """Return the items that replace older messages in a request."""
    found = []
    for one in body[adapter.field]:
        parts = one["content"] if isinstance(one.get("content"), list) else [one]
        found += [part for part in parts if part.get("type") == "compaction"]
    return found


def compacted(talk: Any) -> list[Turn]:
    """Hold a conversation whose third turn is compacted."""
    return [talk.say(0, TOLD), talk.say(1, FILLER), talk.say(2, FILLER)]


def test_the_summary_goes_back_unchanged_and_nothing_older_goes_with_it(
    open_in: Open, adapter: Adapter, server: Provider
) -> None:
    talk = open_in()
    compacted(talk)
    reply = talk.say(3, ASKED).reply
    assert reply.text == f"You said: {TOLD}"  # only the summary has it
    body = server.requests[-1].body
    (block,) = summaries(body, adapter)
    assert block.get("encrypted_content")
    assert not [
        one for one in body[adapter.field] if TOLD in json.dumps(one.get("content")) and one["role"] == "user"
    ]
    first = body[adapter.field][0]
    assert (first["role"], FILLER.strip() in first["content"]) == ("user", True)
    if adapter is ANTHROPIC:
        answer = body["messages"][1]
        assert [part["type"] for part in answer["content"]] == ["compaction", "text"]
        assert block == {"type": "compaction", "content": block["content"], "encrypted_content": "sealed"}


def test_compaction_is_requested_in_each_providers_own_form(
    open_in: Open, adapter: Adapter, server: Provider
) -> None:
    open_in().say(0, TOLD)
    request = server.requests[-1]
    if adapter is ANTHROPIC:
        assert request.path == "/v1/messages?beta=true"
        assert request.headers["anthropic-beta"] == "compact-2026-01-12"
        trigger = {"type": "input_tokens", "value": 300}
        assert request.body["context_management"] == {
            "edits": [{"type": "compact_20260112", "trigger": trigger}]
        }
    else:
        assert request.body["context_management"] == [{"type": "compaction", "compact_threshold": 300}]
        assert request.body["store"] is False


def test_the_tokens_of_compaction_belong_to_the_reply_and_were_reserved(
    open_in: Open, adapter: Adapter, server: Provider
) -> None:
    talk = open_in()
    for number in range(12):
        message = turn(number, f"{FILLER} Number {number}.").message
        most = talk.agent.reserve(message)
        before = len(server.requests)
        reply = talk.runner.run(talk.agent.reply(message))
        (request,) = server.requests[before:]
        assert reply.usage is not None
        assert most is not None
        assert reply.usage.prompt <= most.prompt
        assert reply.usage.output <= most.output
        sent = server.count(request.seen)
        assert (reply.usage.prompt > sent) == (sent >= 300)
    assert len(summaries(server.requests[-1].body, adapter)) == 1


def test_anthropics_sums_leave_compaction_out(server: Provider, talk_to: Callable[..., "Talk"]) -> None:
    server.edit = lambda body: (
        body
        | {
            "usage": {
                "input_tokens": 7,
                "cache_read_input_tokens": 30,
                "cache_creation_input_tokens": 20,
                "output_tokens": 5,
                "iterations": [
                    {
                        "type": "compaction",
                        "input_tokens": 400,
                        "output_tokens": 60,
                        "cache_read_input_tokens": 1000,
                        "cache_creation_input_tokens": 9,
                    },
                    {
                        "type": "message",
                        "input_tokens": 7,
                        "output_tokens": 5,
                        "cache_read_input_tokens": 30,
                        "cache_creation_input_tokens": 20,
                    },
                ],
            }
        }
    )
    used = talk_to("anthropic_chat", **ANTHROPIC.settings(server)).say("Hello!").usage
    assert used is not None
    assert (used.uncached, used.cache_read, used.cache_write, used.output) == (407, 1030, 29, 65)


def test_a_resumed_run_sends_what_it_would_have_sent(
    open_in: Open, adapter: Adapter, server: Provider
) -> None:
    talk = open_in()
    turns = compacted(talk)
    talk.say(3, ASKED)
    whole = server.requests[-1].body
    talk.close()  # the last reply never reached the log
    again = open_in()
    again.restore(*turns)
    again.say(3, ASKED)
    assert server.requests[-1].body == whole


def test_a_run_resumed_from_before_the_summary_knows_nothing_of_it(
    open_in: Open, adapter: Adapter, server: Provider
) -> None:
    talk = open_in()
    turns = compacted(talk)
    talk.close()
    again = open_in()
    again.restore(*turns[:2])
    again.say(2, ASKED)
    assert not summaries(server.requests[-1].body, adapter)
    again.close()
    again = open_in()
    again.restore(*turns[:2], turn(2, FILLER, "Something else."))  # another reply
    again.say(3, ASKED)
    assert not summaries(server.requests[-1].body, adapter)


def test_the_conversation_is_sent_whole_when_the_file_is_lost_or_torn(
    open_in: Open, adapter: Adapter, server: Provider
) -> None:
    talk = open_in()
    turns = compacted(talk)
    talk.close()
    kept = talk.home / "compactions.jsonl"
    assert kept.read_text("utf-8").count("\n") == 1
    kept.write_text(kept.read_text("utf-8")[:-20], "utf-8")
    again = open_in()
    again.restore(*turns)
    assert again.say(3, ASKED).reply.text == f"You said: {TOLD}"
    assert not summaries(server.requests[-1].body, adapter)


def test_a_fork_is_compacted_for_itself_alone(open_in: Open, adapter: Adapter, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD)
    talk.say(1, FILLER)
    answer: Any = talk.runner.run(talk.agent.fork(turn(2, f"{FILLER} {ASKED}").message))
    assert talk.runner.run(answer()).text == f"You said: {TOLD}"
    talk.say(2, "Hello!")
    assert not summaries(server.requests[-1].body, adapter)


def test_a_failure_leaves_no_summary_behind(open_in: Open, adapter: Adapter, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD)
    talk.say(1, FILLER)
    server.fail(status=500)
    with pytest.raises(AgentError):
        talk.say(2, FILLER)
    talk.say(2, ASKED)
    assert not summaries(server.requests[-1].body, adapter)


def test_the_window_moves_over_what_the_summary_leaves(
    adapter: Adapter, server: Provider, tmp_path: Path
) -> None:
    settings = adapter.settings(server, compact_at=400, window=900, max_output=100, system="Hello.")
    with conversations(tmp_path, adapter.name, **settings) as start:
        talk = start()
        for number in range(30):
            talk.say(number, f"{number}: {FILLER}")
            request = server.requests[-1]
            assert server.count(request.seen) <= 800
            assert len(summaries(request.body, adapter)) == (number > 2)


def test_a_failed_compaction_replaces_nothing(server: Provider, talk_to: Callable[..., "Talk"]) -> None:
    failed = {"type": "compaction", "content": None}
    server.edit = lambda body: body | {"content": [failed, *body["content"]]}
    talk = talk_to("anthropic_chat", **ANTHROPIC.settings(server))
    talk.say(TOLD)
    talk.say("Hello!")
    assert [one["role"] for one in server.requests[-1].body["messages"]] == ["user", "assistant", "user"]
    assert not summaries(server.requests[-1].body, ANTHROPIC)


def test_a_truncated_reply_is_compacted_all_the_same(
    server: Provider, talk_to: Callable[..., "Talk"]
) -> None:
    talk = talk_to("anthropic_chat", **ANTHROPIC.settings(server))
    talk.say(FILLER + FILLER)
    server.edit = lambda body: body | {"stop_reason": "max_tokens"}
    assert talk.say(FILLER).finish is Finish.LENGTH
    talk.say("Hello!")
    assert len(summaries(server.requests[-1].body, ANTHROPIC)) == 1


def test_a_window_in_which_turns_would_be_dropped_first_is_an_error(
    adapter: Adapter, server: Provider
) -> None:
    with pytest.raises(
        ConfigError, match=r"^compact_at=900 with window=1000: .* set a window of \d+ or more"
    ):
        make_agent(adapter.name, adapter.settings(server, compact_at=900, window=1000, max_output=200))
    with pytest.raises(ConfigError, match="smaller, positive compact_at"):
        make_agent(adapter.name, adapter.settings(server, compact_at=0))


def test_the_usage_of_compaction_is_not_estimated(adapter: Adapter, server: Provider) -> None:
    assert make_agent(adapter.name, adapter.settings(server)).usage_model() is None
    assert make_agent(adapter.name, adapter.settings(server, compact_at=None)).usage_model() is not None


def test_the_rules_hold_where_every_message_is_compacted(adapter: Adapter, server: Provider) -> None:
    settings = adapter.settings(server, compact_at=1, timeout=3.0)
    conformance(lambda: make_agent(adapter.name, settings), server=server, within=20)


def test_anthropic_clears_tool_results_when_told_to(server: Provider, talk_to: Callable[..., "Talk"]) -> None:
    def answer(messages: Any) -> str:
        if messages[-1]["role"] == "tool":
            return quote(messages)
        return Calls('[{"name": "memory", "arguments": {"command": "view", "path": "/memories"}}]')

    server.answer = answer
    settings = ANTHROPIC.settings(server, compact_at=None, clear_tools_at=9000)
    del settings["compact_at"]
    talk = talk_to("anthropic_memory", **settings)
    assert talk.say("Hello!").usage is not None
    for request in server.requests:
        assert request.headers["anthropic-beta"] == "context-management-2025-06-27"
        trigger = {"type": "input_tokens", "value": 9000}
        edits = [{"type": "clear_tool_uses_20250919", "trigger": trigger}]
        assert request.body["context_management"] == {"edits": edits}
