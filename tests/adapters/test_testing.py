"""The provider that the tests talk to keeps the promises of the real ones: caches, counts, models, faults."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
import pytest

from ltm_bench.adapters.testing import Calls, Provider
from ltm_bench.core.errors import AgentError

if TYPE_CHECKING:
    from tests.conftest import Talk

pytestmark = pytest.mark.usefixtures("key")


def ask(server: Provider, said: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    path = "/v1/messages" if "max_tokens" in fields else "/v1/chat/completions"
    body = {"model": "some-model", "messages": said, **fields}
    usage = httpx2.post(server.url + path, json=body).json()["usage"]
    assert isinstance(usage, dict)
    return usage


def story(words: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "word " * words}]


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("claude-opus-5-5", 512),
        ("claude-fable-5-1", 512),
        ("claude-sonnet-5-5", 1024),
        ("claude-opus-4-8", 1024),
        ("claude-opus-4-7", 2048),
        ("claude-haiku-4-5", 4096),
    ],
)
def test_anthropics_cache_begins_where_the_model_says(server: Provider, model: str, least: int) -> None:
    settings = {"model": model, "max_tokens": 9, "cache_control": {"type": "ephemeral"}}
    for words, cached in ((least - 50, False), (least + 50, True)):
        first, second = (ask(server, story(words), **settings) for _ in range(2))
        assert (first["cache_creation_input_tokens"] > 0) == cached
        assert (second["cache_read_input_tokens"] > 0) == cached
        assert (second["input_tokens"] == 0) == cached


def test_openais_cache_begins_at_1024_tokens_or_where_it_is_told_to(server: Provider) -> None:
    def cached(words: int) -> int:
        ask(server, story(words))
        return int(ask(server, story(words))["prompt_tokens_details"]["cached_tokens"])

    assert (cached(1000), cached(1100) > 1024) == (0, True)
    server.cache_minimum = 100
    assert cached(200) > 100


def test_anthropic_caches_what_it_is_asked_to_and_each_model_apart(server: Provider) -> None:
    caching = {"max_tokens": 9, "cache_control": {"type": "ephemeral"}}
    assert ask(server, story(2000), max_tokens=9)["cache_creation_input_tokens"] == 0
    assert ask(server, story(2000), **caching)["cache_read_input_tokens"] == 0
    assert ask(server, story(2000), **caching, model="another")["cache_read_input_tokens"] == 0
    assert ask(server, story(2000), **caching)["cache_read_input_tokens"] > 2000
    assert ask(server, story(2000), max_tokens=9)["cache_read_input_tokens"] == 0
    block = {"type": "text", "text": "word " * 2000, "cache_control": {"type": "ephemeral"}}
    in_a_block = ask(server, [{"role": "user", "content": [block]}], max_tokens=9)
    assert in_a_block["cache_read_input_tokens"] > 2000


def test_a_count_equals_what_the_request_would_be_billed(server: Provider, key: str) -> None:
    with anthropic.Anthropic(base_url=server.url, max_retries=0) as client:
        counted = client.messages.count_tokens(
            model="some-model", system="Be brief.", messages=[{"role": "user", "content": "word " * 300}]
        )
        server.fail(status=529)
        with pytest.raises(anthropic.APIStatusError):
            client.messages.count_tokens(model="some-model", messages=[{"role": "user", "content": "Hello!"}])
    assert counted.input_tokens == ask(server, story(300), max_tokens=9, system="Be brief.")["input_tokens"]
    assert [request.path for request in server.chats] == ["/v1/messages"]


def test_the_models_are_listed_in_both_protocols(server: Provider, key: str) -> None:
    server.models = ["one", "two"]
    with openai.OpenAI(base_url=server.openai_url) as openais:
        assert [model.id for model in openais.models.list()] == ["one", "two"]
        assert openais.models.retrieve("two").id == "two"
    with anthropic.Anthropic(base_url=server.url) as anthropics:
        assert [model.id for model in anthropics.models.list()] == ["one", "two"]


@pytest.fixture(params=["openai_chat", "openai_responses", "anthropic_chat"])
def start(
    request: pytest.FixtureRequest, server: Provider, talk_to: Callable[..., "Talk"]
) -> Callable[..., "Talk"]:
    url = server.url if request.param == "anthropic_chat" else server.openai_url
    return lambda **settings: talk_to(request.param, model="some-model", base_url=url, **settings)


@pytest.mark.parametrize(
    ("said", "pause"),
    [
        ({"retry_after": "1"}, 1.0),
        ({"retry_after": "30", "retry_after_ms": "200"}, 0.2),
        ({"retry_after_ms": "200"}, 0.2),
    ],
    ids=str,
)
def test_a_rate_limit_says_when_to_try_again(
    start: Callable[..., "Talk"],
    server: Provider,
    monkeypatch: pytest.MonkeyPatch,
    said: dict[str, Any],
    pause: float,
) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    talk = start(max_retries=1)
    server.fail(status=429, **said)
    monkeypatch.setattr("anyio.sleep", sleep)
    talk.say("Hello!")
    assert pauses == [pause]
    assert len(server.requests) == 2


def test_a_slow_answer_still_counts(start: Callable[..., "Talk"], server: Provider) -> None:
    server.fail("slow", seconds=0.5)
    begun = time.perf_counter()
    assert start(timeout=10).say("Hello!").text == "I do not know."
    assert time.perf_counter() - begun >= 0.45


@pytest.mark.slow
def test_the_timeout_covers_the_whole_reply_however_often_a_piece_arrives(
    start: Callable[..., "Talk"], server: Provider
) -> None:
    talk = start(timeout=0.6, max_retries=1)
    server.fail("slow", seconds=3.0, times=2)  # a piece every 0.3 seconds
    with pytest.raises(AgentError, match=r"no reply within timeout=0.6 seconds, after 1 retry"):
        talk.say("Hello!")
    assert len(server.requests) == 2
    assert talk.say("Hello!").text == "I do not know."


def marked(words: int, *, ttl: str = "5m") -> dict[str, Any]:
    control = {"type": "ephemeral", "ttl": ttl}
    return {
        "role": "user",
        "content": [{"type": "text", "text": "word " * words, "cache_control": control}],
    }


def test_anthropic_writes_at_breakpoints_alone_and_looks_back_over_twenty_blocks(server: Provider) -> None:
    def read(said: list[dict[str, Any]]) -> int:
        return int(ask(server, said, max_tokens=9)["cache_read_input_tokens"])

    first, end = marked(2000), marked(5)
    assert read([first]) == 0
    assert read([*story(2000), *[*story(9)] * 18, end]) > 2000
    assert read([*story(2000), *[*story(9)] * 18, *story(8), *[*story(9)] * 18, end]) == 0
    assert read([first, *story(8), *[*story(9)] * 30, end]) > 2000


def test_anthropic_says_how_long_it_keeps_what_it_wrote(server: Provider) -> None:
    said = [marked(2000, ttl="1h"), *story(3), marked(1500)]
    used = ask(server, said, max_tokens=9)
    kept = used["cache_creation"]
    long, short = kept["ephemeral_1h_input_tokens"], kept["ephemeral_5m_input_tokens"]
    assert long > 2000 > short > 1500
    assert used["cache_creation_input_tokens"] == long + short


def test_anthropic_refuses_a_fifth_breakpoint(server: Provider) -> None:
    body = {"model": "some-model", "max_tokens": 9, "messages": [marked(2000)] * 5}
    answer = httpx2.post(f"{server.url}/v1/messages", json=body)
    assert answer.status_code == 400
    assert "A maximum of 4 blocks" in answer.json()["error"]["message"]


def test_responses_stream_items_with_ids_of_their_own_as_openais_library_reads_them(server: Provider) -> None:
    server.answer = lambda said: (
        "It says Undine."
        if said[-1]["content"] == "And?"
        else Calls('[{"name": "look", "arguments": {"at": 1}}]')
    )
    client, ids, kinds = openai.OpenAI(base_url=server.openai_url), set[str](), list[list[str]]()
    tool: Any = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}
    for message in ("Look.", "And?"):
        with client.responses.stream(
            model="some-model", input=[{"role": "user", "content": message}], tools=[tool]
        ) as stream:
            events: list[Any] = list(stream)
            item: Any = stream.get_final_response().output[0]
        assert [each.sequence_number for each in events] == list(range(len(events)))
        ids |= {events[0].response.id, item.id}
        kinds.append([each.type.removeprefix("response.") for each in events[2:-1]])
        said = item.arguments if item.type == "function_call" else stream.get_final_response().output_text
        assert said == ("It says Undine." if message == "And?" else '{"at": 1}')
    assert len(ids) == 4
    begun, ended = "output_item.added", "output_item.done"
    assert kinds[0] == [
        begun,
        "function_call_arguments.delta",
        "function_call_arguments.done",
        ended,
    ]
    text = ["content_part.added", "output_text.delta", "output_text.done", "content_part.done"]
    assert kinds[1] == [begun, *text, ended]
