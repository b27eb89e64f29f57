"""Features specific to Anthropic's protocol."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Finish, Usage
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import Talk

pytestmark = pytest.mark.usefixtures("key")


@pytest.fixture
def talk(server: Provider, talk_to: Callable[..., "Talk"]) -> "Talk":
    return talk_to("anthropic_chat", model="some-model", base_url=server.url)


def test_caching_is_on_and_nothing_else_is_sent(talk: "Talk", server: Provider):
    talk.say("Hello!")
    request = server.requests[0]
    assert set(request.body) == {"model", "system", "messages", "max_tokens", "cache_control"}
    assert request.body["cache_control"] == {"type": "ephemeral"}
    assert request.headers["anthropic-version"] >= "2026-10-21"


def test_effort_is_sent_when_it_is_set_and_an_empty_system_message_is_not(
    server: Provider, talk_to: Callable[..., "Talk"]
):
    talk_to("anthropic_chat", model="some-model", base_url=server.url, effort="low", system="").say("Hello!")
    assert server.requests[0].body["output_config"] == {"effort": "low"}
    assert "system" not in server.requests[0].body


def test_there_is_no_temperature():
    with pytest.raises(ConfigError, match="no setting 'temperature'"):
        make_agent("anthropic_chat", {"model": "some-model", "temperature": 0.0})


def test_what_was_written_to_the_cache_is_read_the_next_time(talk: "Talk", server: Provider):
    first = talk.say("A long story. " * 400).usage
    second = talk.say("Go on.").usage
    assert first is not None
    assert second is not None
    assert (first.uncached, first.cache_read) == (0, 0)
    assert first.cache_write > 1024
    assert second.cache_read == first.cache_write
    assert second.cache_write > 0


def test_usage_is_normalised(talk: "Talk", server: Provider):
    server.edit = lambda body: (
        body
        | {
            "model": "some-model-20261001",
            "usage": {
                "input_tokens": 7,
                "cache_read_input_tokens": 3000,
                "cache_creation_input_tokens": 1500,
                "output_tokens": 300,
                "output_tokens_details": {"thinking_tokens": 256},
            },
        }
    )
    assert talk.say("Hello!").usage == Usage(
        uncached=7,
        cache_read=3000,
        cache_write=1500,
        output=300,
        reasoning=256,
        model="some-model-20261001",
    )
    server.edit = lambda body: body | {"usage": {"input_tokens": 7, "output_tokens": 3}}
    assert talk.say("Hello!").usage == Usage(uncached=7, output=3, model="some-model")


def test_only_text_is_the_reply(talk: "Talk", server: Provider):
    server.edit = lambda body: (
        body
        | {
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "x"},
                {"type": "text", "text": "One, "},
                {"type": "text", "text": "two."},
            ]
        }
    )
    assert talk.say("Count!").text == "One, two."
    server.edit = lambda body: body | {"content": [], "stop_reason": "tool_use"}
    assert talk.say("Count!").text == ""


def test_parts_of_a_kind_that_the_sdk_does_not_know_are_passed_over(talk: "Talk", server: Provider):
    server.edit = lambda body: (
        body
        | {
            "content": [{"type": "some_new_part", "from": "a model"}, *body["content"]],
            "usage": body["usage"] | {"iterations": [{"type": "some_new_part", "input_tokens": 7}]},
        }
    )
    reply = talk.say("Hello!")
    assert (reply.text, reply.finish) == ("I do not know.", Finish.STOP)
    assert reply.usage is not None


def test_a_server_that_reports_no_usage_has_an_unknown_cost(talk: "Talk", server: Provider):
    server.edit = lambda body: {name: value for name, value in body.items() if name != "usage"}
    assert talk.say("Hello!").usage is None


@pytest.mark.parametrize(
    ("stop_reason", "finish", "remembered"),
    [
        ("end_turn", Finish.STOP, True),
        ("stop_sequence", Finish.STOP, True),
        ("max_tokens", Finish.LENGTH, True),
        ("refusal", Finish.REFUSAL, False),
        ("model_context_window_exceeded", Finish.OVERFLOW, False),
    ],
)
def test_why_it_stopped(talk: "Talk", server: Provider, stop_reason: str, finish: Finish, remembered: bool):
    server.edit = lambda body: body | {"stop_reason": stop_reason}
    reply = talk.say("Hello!")
    assert (reply.text, reply.finish) == ("I do not know.", finish)
    assert reply.usage is not None
    assert reply.usage.output > 0
    talk.say("Go on.")
    assert len(server.requests[1].body["messages"]) == (3 if remembered else 1)


@pytest.mark.parametrize("body", [{}, {"content": None}], ids=str)
def test_an_answer_of_another_shape_is_an_error(talk: "Talk", server: Provider, body: dict[str, Any]):
    server.edit = lambda _: body
    with pytest.raises(AgentError, match="could not be read"):
        talk.say("Hello!")


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000",
    ],
)
def test_an_overlong_prompt_is_recognised_by_the_words_of_the_error(
    talk: "Talk", server: Provider, message: str
):
    server.fail(status=400, message=message)
    assert talk.say("Hello!").finish is Finish.OVERFLOW
