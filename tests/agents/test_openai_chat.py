"""Features specific to OpenAI's protocol."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters import ChatModel
from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Finish, Usage
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import Talk

pytestmark = pytest.mark.usefixtures("key")


def test_the_vendor_gets_its_own_fields_and_other_servers_the_common_ones(
    server: Provider, talk_to: Callable[..., "Talk"]
):
    talk_to("openai_chat", model="some-model", max_output=50, redirect=server.openai_url).say("Hello!")
    talk_to("openai_chat", model="some-model", max_output=50, base_url=server.openai_url).say("Hello!")
    vendor, other = (request.body for request in server.requests)
    assert set(vendor) == {"model", "messages", "max_completion_tokens", "prompt_cache_key"}
    assert vendor["max_completion_tokens"] == 50
    assert vendor["prompt_cache_key"] == "ltm-bench/run-0"
    assert set(other) == {"model", "messages", "max_tokens"}


def test_the_field_of_the_output_limit_can_be_set(server: Provider, talk_to: Callable[..., "Talk"]):
    settings = {"model": "some-model", "max_output": 50, "base_url": server.openai_url}
    talk_to("openai_chat", output_field="max_completion_tokens", **settings).say("Hello!")
    assert server.requests[0].body["max_completion_tokens"] == 50
    assert "max_tokens" not in server.requests[0].body
    talk_to("openai_chat", redirect=server.openai_url, model="m", output_field="max_tokens").say("Hello!")
    assert "max_completion_tokens" not in server.requests[1].body
    with pytest.raises(ConfigError, match="output_field"):
        talk_to("openai_chat", output_field="max_output_tokens", **settings)
    with pytest.raises(ConfigError, match="no setting 'output_field'"):
        make_agent("openai_responses", {"model": "m", "output_field": "max_tokens"})


@pytest.mark.parametrize(
    ("field", "said", "advice"),
    [
        (
            "max_tokens",  # Azure, a reasoning model
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            "set output_field=max_completion_tokens",
        ),
        (
            "max_completion_tokens",  # Azure, an older version of its API
            "Unrecognized request argument supplied: max_completion_tokens",
            "set output_field=max_tokens",
        ),
        (
            "max_completion_tokens",
            '[{"loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted"}]',
            "set output_field=max_tokens",
        ),
        ("max_tokens", "max_tokens is too large: 9000", "check the agent's settings"),
    ],
)
def test_a_server_that_wants_the_other_field_is_told_from_the_rest(
    server: Provider, talk_to: Callable[..., "Talk"], field: str, said: str, advice: str
):
    talk = talk_to("openai_chat", model="m", base_url=server.openai_url, output_field=field)
    with server.failing(status=400, message=said), pytest.raises(AgentError) as raised:
        talk.say("Hello!")
    assert str(raised.value).rpartition("; ")[2].startswith(advice)


def test_an_overflow_that_comes_as_a_success_is_one(server: Provider, talk_to: Callable[..., "Talk"]):
    said = (
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 138956 tokens"
    )
    server.edit = lambda _: {"error": {"message": said, "code": 400}}
    talk = talk_to("openai_chat", model="some-model", base_url=server.openai_url)
    assert talk.say("Hello!").finish is Finish.OVERFLOW


def test_temperature_and_effort_are_sent_when_they_are_set(server: Provider, talk_to: Callable[..., "Talk"]):
    talk_to(
        "openai_chat",
        model="some-model",
        base_url=server.openai_url,
        temperature=0.0,
        effort="low",
        system="",
    ).say("Hello!")
    body = server.requests[0].body
    assert (body["temperature"], body["reasoning_effort"]) == (0.0, "low")
    assert [message["role"] for message in body["messages"]] == ["user"]


def test_cached_tokens_are_subtracted_from_the_prompt(server: Provider, talk_to: Callable[..., "Talk"]):
    talk = talk_to("openai_chat", model="some-model", base_url=server.openai_url)
    talk.say("A long story. " * 400)
    first = server.measure(server.chats[0].messages, "").prompt
    usage = talk.say("Go on.").usage
    assert usage is not None
    assert usage.cache_read == first
    assert usage.cache_write == 0
    assert 0 < usage.uncached < 100


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        (
            {
                "prompt_tokens": 5000,
                "completion_tokens": 300,
                "prompt_tokens_details": {"cached_tokens": 3000, "cache_write_tokens": 1500},
                "completion_tokens_details": {"reasoning_tokens": 256},
            },
            Usage(uncached=500, cache_read=3000, cache_write=1500, output=300, reasoning=256),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 11}},
            None,
        ),
        ({"prompt_tokens": 10, "completion_tokens": 2}, Usage(uncached=10, output=2)),
        (None, None),
    ],
    ids=["reasoning", "impossible", "bare", "none"],
)
def test_usage_is_normalised(
    server: Provider,
    talk_to: Callable[..., "Talk"],
    figures: dict[str, Any] | None,
    expected: Usage | None,
):
    server.edit = lambda body: body | {"usage": figures, "model": "some-model-2026-10-01"}
    usage = talk_to("openai_chat", model="some-model", base_url=server.openai_url).say("Hello!").usage
    assert usage == (expected and replace(expected, model="some-model-2026-10-01"))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": [{"index": 0}]},
        {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": ["a", "list"]}}]},
        {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": {"a": 1}}}]},
        {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": 7}}]},
    ],
    ids=str,
)
def test_an_answer_of_another_shape_is_an_error(
    server: Provider, talk_to: Callable[..., "Talk"], body: dict[str, Any]
):
    server.edit = lambda _: body
    with pytest.raises(AgentError, match="could not be read"):
        talk_to("openai_chat", model="some-model", base_url=server.openai_url).say("Hello!")


@pytest.mark.parametrize("error", [{"message": "no credit left", "code": 402}, "no credit left"])
def test_an_error_that_comes_as_a_success_is_quoted(
    server: Provider, talk_to: Callable[..., "Talk"], error: object
):
    server.edit = lambda _: {"error": error}
    with pytest.raises(AgentError, match="no credit left"):
        talk_to("openai_chat", model="some-model", base_url=server.openai_url).say("Hello!")


@pytest.mark.parametrize("usage", [None, {}, {"total_tokens": 7}])
def test_a_usage_without_figures_is_unknown(server: Provider, talk_to: Callable[..., "Talk"], usage: object):
    server.edit = lambda body: body | {"usage": usage}
    assert talk_to("openai_chat", model="some-model", base_url=server.openai_url).say("Hello!").usage is None


def test_a_reply_that_was_cut_off_is_kept(server: Provider, talk_to: Callable[..., "Talk"]):
    server.edit = lambda body: body | {"choices": [body["choices"][0] | {"finish_reason": "length"}]}
    talk = talk_to("openai_chat", model="some-model", base_url=server.openai_url)
    reply = talk.say("Hello!")
    assert (reply.text, reply.finish) == ("I do not know.", Finish.LENGTH)
    talk.say("Go on.")
    assert server.requests[1].messages[-2]["content"] == "I do not know."


def test_a_content_filter_is_a_refusal(server: Provider, talk_to: Callable[..., "Talk"]):
    talk = talk_to("openai_chat", model="some-model", base_url=server.openai_url)
    server.edit = lambda body: body | {"choices": [body["choices"][0] | {"finish_reason": "content_filter"}]}
    assert talk.say("Hello!").finish is Finish.REFUSAL
    server.fail(status=400, code="content_filter", message="The prompt was filtered.")
    reply = talk.say("Hello!")
    assert (reply.finish, reply.usage) == (Finish.REFUSAL, Usage(model="some-model"))


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
        "the request exceeds the available context size, try increasing it",
        "Your input exceeds the context window of this model.",
    ],
)
def test_an_overlong_prompt_is_recognised_in_the_words_of_other_servers(
    server: Provider, talk_to: Callable[..., "Talk"], message: str
):
    server.fail(status=400, message=message)
    reply = talk_to("openai_chat", model="some-model", base_url=server.openai_url).say("Hello!")
    assert reply.finish is Finish.OVERFLOW


def test_the_key_can_come_from_another_variable(
    server: Provider, talk_to: Callable[..., "Talk"], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENROUTER_API_KEY", "another-key")
    talk_to(
        "openai_chat", model="some-model", base_url=server.openai_url, key_variable="OPENROUTER_API_KEY"
    ).say("Hello!")
    assert server.requests[0].headers["authorization"] == "Bearer another-key"


def test_the_environment_can_name_the_server(
    server: Provider, talk_to: Callable[..., "Talk"], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    usage = talk_to("openai_chat", model="some-model").say("Hello!").usage
    assert usage is not None
    assert usage.provider is None


def test_a_regional_server_is_the_vendors_but_has_other_prices(monkeypatch: pytest.MonkeyPatch):
    agent = make_agent("openai_chat", {"model": "some-model", "base_url": "https://eu.api.openai.com/v1"})
    assert isinstance(agent, ChatModel)
    endpoint = agent.endpoint
    assert (endpoint.is_vendor, endpoint.is_list_priced) == (True, False)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ConfigError, match=r"OPENAI_API_KEY is not set; .* eu\.api\.openai\.com"):
        make_agent("openai_chat", {"model": "some-model", "base_url": "https://eu.api.openai.com/v1"})
    assert make_agent("openai_chat", {"model": "m", "base_url": "https://api.openai.com.example.org/v1"})


@pytest.mark.parametrize(("counted", "warned"), [(4096, 1), (9000, 0)])
def test_a_server_that_cuts_prompts_without_a_word_is_named_once(
    server: Provider, talk_to: Callable[..., "Talk"], counted: int, warned: int
):
    def edit(body: dict[str, Any]) -> dict[str, Any]:
        return body | {"usage": {"prompt_tokens": counted, "completion_tokens": 3}}

    server.edit = edit
    talk = talk_to("openai_chat", model="some-model", base_url=server.openai_url)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(5):
            talk.say("A long story about a boat. " * 500)
    found = [str(each.message) for each in caught if each.category is UserWarning]
    assert len(found) == warned
    assert all(
        "counted 4,096 tokens in the prompt of turn 2" in each and "it cuts prompts" in each for each in found
    )
