"""What the adapters for OpenAI's and for Anthropic's protocol have in common, through the real SDKs."""

import asyncio
import itertools
import json
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ltm_bench.adapters.testing import Provider, provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Finish, Message, Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.plan.suites import Preset
from ltm_bench.plugins.agents import make_agent
from ltm_bench.plugins.files import bundled

if TYPE_CHECKING:
    from tests.conftest import Talk

pytestmark = [
    pytest.mark.usefixtures("key"),
    pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*")),
]


class Adapter(NamedTuple):
    name: str
    key_variable: str
    path: str
    vendor: str
    out_of_tokens: str
    model: str = "some-model"

    @property
    def bridged(self) -> bool:
        return self.name == "pydantic_ai_chat"

    def url(self, server: Provider) -> str:
        return server.url if self.vendor == "anthropic" else server.openai_url


ADAPTERS = [
    Adapter("openai_chat", "OPENAI_API_KEY", "/v1/chat/completions", "openai", "length"),
    Adapter("openai_responses", "OPENAI_API_KEY", "/v1/responses", "openai", "max_output_tokens"),
    Adapter("anthropic_chat", "ANTHROPIC_API_KEY", "/v1/messages", "anthropic", "max_tokens"),
]
BRIDGED = [
    Adapter(
        "pydantic_ai_chat",
        each.key_variable,
        each.path,
        each.vendor,
        each.out_of_tokens,
        f"{kind}:some-model",
    )
    for each, kind in zip(ADAPTERS, ("openai-chat", "openai-responses", "anthropic"), strict=True)
]


@pytest.fixture(
    params=[*ADAPTERS, *BRIDGED], ids=lambda each: f"{each.name}-{each.model}".removesuffix("-some-model")
)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    found: Adapter = request.param
    if found.bridged:
        pytest.importorskip("pydantic_ai")
    return found


@pytest.fixture(params=ADAPTERS, ids=lambda each: each.name)
def direct(request: pytest.FixtureRequest) -> Adapter:
    """The adapters without the bridge, which finds keys and addresses by itself."""
    found: Adapter = request.param
    return found


@pytest.fixture
def start(adapter: Adapter, server: Provider, talk_to: Callable[..., "Talk"]) -> Callable[..., "Talk"]:
    return partial(talk_to, adapter.name, model=adapter.model, base_url=adapter.url(server))


def sent(server: Provider) -> list[list[dict[str, str]]]:
    return [request.messages for request in server.chats]


def conversations(server: Provider) -> list[bytes]:
    """Return the growing part of each request, as sent."""
    return [json.dumps(each.body.get("messages") or each.body["input"]).encode() for each in server.chats]


def test_it_answers_from_the_conversation(start: Callable[..., "Talk"], server: Provider, adapter: Adapter):
    talk = start()
    talk.say("My favourite colour is vermilion.")
    reply = talk.say("What is my favourite colour?")
    assert reply.text == "You said: My favourite colour is vermilion."
    assert reply.finish is Finish.STOP
    assert [request.path.partition("?")[0] for request in server.requests] == [adapter.path] * 2


def test_every_message_is_dated_and_the_system_message_is_not(start: Callable[..., "Talk"], server: Provider):
    talk = start()
    talk.say("Hello!")
    talk.say("Are you there?")
    system, *messages = sent(server)[-1]
    assert system["role"] == "system"
    assert "2026" not in system["content"]
    assert [m["content"] for m in messages if m["role"] == "user"] == [
        "[Monday, 5 January 2026, 09:00]\nHello!",
        "[Monday, 5 January 2026, 09:01]\nAre you there?",
    ]


def test_a_request_begins_with_the_one_before_it_byte_for_byte(
    start: Callable[..., "Talk"], server: Provider
):
    talk = start()
    for n in range(6):
        if n % 3 == 2:
            talk.observe(f"Did you know number {n}?", "Now I do.")
        else:
            talk.say(f"This is message {n} – with “typography” and\nlines.")
    for before, after in itertools.pairwise(conversations(server)):
        assert after.startswith(before[:-1])
    settings = [{k: v for k, v in r.body.items() if k not in ("messages", "input")} for r in server.requests]
    assert settings == [settings[0]] * len(settings)


def test_only_a_step_of_the_window_breaks_the_prefix_and_rarely(
    start: Callable[..., "Talk"], server: Provider
):
    talk = start(window=3000, max_output=200)
    for n in range(40):
        assert talk.say(f"Message {n}. " + "The mill went round and round. " * 15).finish is Finish.STOP
    requests = conversations(server)
    steps = [
        n
        for n, (before, after) in enumerate(itertools.pairwise(requests), 1)
        if not after.startswith(before[:-1])
    ]
    lengths = [len(request.messages) for request in server.chats]
    assert steps == [n for n in range(1, 40) if lengths[n] < lengths[n - 1]]
    assert len(steps) >= 2
    assert all(later - earlier >= 3 for earlier, later in itertools.pairwise(steps))


def test_settings_that_are_not_set_are_not_sent(start: Callable[..., "Talk"], server: Provider):
    start().say("Hello!")
    body = server.requests[0].body
    assert not {"temperature", "top_p", "reasoning_effort", "output_config", "thinking"} & set(body)


def test_truncation_keeps_both_ends_or_ends_the_conversation_as_set(
    start: Callable[..., "Talk"], server: Provider
):
    middle = start(window=3000, max_output=100, truncate="middle", system="")
    middle.say("My parrot is called Zebedee.")
    for n in range(40):
        middle.observe(f"Number {n}. " + "The mill went round and round. " * 20, "So it did.")
    assert "Zebedee" in middle.say("What is my parrot called?").text
    cut = middle.say("Here begins the text. " + "The mill went round. " * 3000 + "Was my parrot in it?")
    assert cut.finish is Finish.STOP
    none = start(window=3000, max_output=100, truncate="none")
    said = [none.say("The mill went round and round. " * 60).finish for _ in range(12)]
    assert said[0] is Finish.STOP
    assert said[-1] is Finish.OVERFLOW


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [({"truncate": "midle"}, "truncate = 'midle'.*did you mean 'middle'"), ({"keep": 0}, "keep = 0")],
)
def test_an_unknown_way_to_truncate_is_named(
    start: Callable[..., "Talk"], settings: dict[str, Any], complaint: str
):
    with pytest.raises(ConfigError, match=complaint):
        start(**settings)


def test_observing_sends_nothing_and_is_remembered(start: Callable[..., "Talk"], server: Provider):
    talk = start()
    talk.observe("My cat is called Ottoline.", "A fine name.")
    assert server.requests == []
    assert "Ottoline" in talk.say("What is my cat called?").text


def test_half_a_surrogate_pair_does_not_end_the_conversation(start: Callable[..., "Talk"], server: Provider):
    """A provider can send one as an escape, and the agent's own code can produce one."""
    talk = start()
    talk.observe("My cat \udc00 is called Ottoline.", "Half \ud83d of a smile.")
    assert "Ottoline" in talk.say("What is my cat called?").text
    assert [message["content"] for message in sent(server)[-1][1:3]] == [
        "[Monday, 5 January 2026, 09:00]\nMy cat \ufffd is called Ottoline.",
        "Half \ufffd of a smile.",
    ]


def test_a_restored_agent_sends_what_the_first_one_would_have_sent(
    start: Callable[..., "Talk"], server: Provider
):
    settings = {"window": 3000, "max_output": 100}
    first = start(**settings)
    for n in range(25):
        server.faults.clear()
        if n == 12:
            server.fail("refusal")
        first.say(f"Message {n}. " + "All work and no play makes a dull benchmark. " * 15)
    second = start(**settings)
    second.restore(first.turns)
    first.say("And now?")
    second.say("And now?")
    one, other = sent(server)[-2:]
    assert one == other
    assert 3 < len(one) < 40


def test_a_small_window_drops_turns_in_steps_and_never_all_of_them(
    start: Callable[..., "Talk"], server: Provider
):
    server.context = 4000
    talk = start(window=4000, max_output=200)
    for n in range(60):
        assert (
            talk.say(f"Message {n}. " + "The quick brown fox met the lazy dog. " * 12).finish is Finish.STOP
        )
    lengths = [len(messages) for messages in sent(server)]
    drops = [n for n in range(1, 60) if lengths[n] < lengths[n - 1]]
    assert min(lengths[drops[0] :]) > 10
    assert all(later - earlier > 3 for earlier, later in itertools.pairwise(drops))
    assert all(messages[0]["role"] == "system" for messages in sent(server))
    assert all(f"Message {n}." in messages[-1]["content"] for n, messages in enumerate(sent(server)))


@pytest.mark.parametrize(("window", "output"), [(1200, 300), (4096, 1024), (40_000, None)])
def test_the_usual_longest_reply_leaves_most_of_a_small_window_to_the_prompt(
    adapter: Adapter, window: int, output: int | None
):
    agent: Any = make_agent(adapter.name, {"model": adapter.model, "window": window})
    assert agent.usage_model().max_output == (agent.usual_output if output is None else output)
    assert 0 < agent.usage_model().max_output <= window / 4


def test_a_message_that_cannot_fit_is_an_overflow_and_nothing_is_sent(
    start: Callable[..., "Talk"], server: Provider
):
    talk = start(window=600, max_output=100)
    talk.say("My favourite colour is vermilion.")
    huge = "Everything I own: " + "one thing and another, " * 400
    assert talk.reserve(huge) == Usage(model="some-model")
    reply = talk.say(huge)
    assert (reply.text, reply.finish, reply.usage) == ("", Finish.OVERFLOW, Usage(model="some-model"))
    assert len(server.requests) == 1
    assert "vermilion" in talk.say("What is my favourite colour?").text


@pytest.mark.parametrize("status", [400, 413])
def test_an_overflow_that_the_provider_finds_is_an_overflow_of_that_turn_alone(
    start: Callable[..., "Talk"], server: Provider, status: int
):
    talk = start()
    for n in range(20):
        talk.say(f"Message {n}. " + "The quick brown fox met the lazy dog. " * 12)
    if status == 400:
        server.context = 2000
    else:
        server.fail(status=413, message="Request too large")
    reply = talk.say("Is this still going well?")
    assert (reply.text, reply.finish, reply.usage) == ("", Finish.OVERFLOW, Usage(model="some-model"))
    for _ in range(4):  # each may find the prompt shorter, but still too long
        reply = talk.say("And now?")
    assert reply.finish is Finish.STOP
    assert "still going well" not in json.dumps(sent(server)[-1])
    assert len(sent(server)[-1]) > 4


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "The decoder prompt (length 8357) is longer than the maximum model length of 8192."),
        (400, "The input token count (3475108) exceeds the maximum number of tokens allowed (1048576)."),
        (400, "This model's maximum prompt length is 131072 but the request contains 136973 tokens."),
        (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097."),
    ],
    ids=["vllm", "gemini", "xai", "together"],
)
def test_an_overflow_is_one_in_the_words_of_other_servers(
    start: Callable[..., "Talk"], server: Provider, status: int, message: str
):
    server.fail(status=status, message=message)
    assert start(max_retries=0).say("Hello!").finish is Finish.OVERFLOW


def test_a_rate_limit_with_the_status_of_an_overflow_is_an_error(
    start: Callable[..., "Talk"], server: Provider
):
    said = "Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 12328"
    server.fail(status=413, message=said, code="rate_limit_exceeded", times=2)
    for retries in (0, 1):
        with pytest.raises(AgentError, match="HTTP 413, rate limit or quota"):
            start(max_retries=retries).say("Hello!")


@pytest.mark.parametrize("port", ["99999", "abc", "0", "-1"])
def test_an_invalid_port_is_named_before_anything_starts(direct: Adapter, port: str):
    with pytest.raises(ConfigError, match=rf"base_url 'http://127.0.0.1:{port}/v1'"):
        make_agent(direct.name, {"model": "m", "base_url": f"http://127.0.0.1:{port}/v1"})


def test_a_proxy_that_cannot_be_used_is_one_line(
    direct: Adapter, talk_to: Callable[..., "Talk"], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("NO_PROXY", "")
    settings: dict[str, Any] = {"model": "m", "base_url": "http://192.0.2.1/v1", "max_retries": 0}
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:99999")
    with pytest.raises(AgentError, match=r"the connection failed .*port must be 0-65535"):
        talk_to(direct.name, **settings).say("Hello!")
    monkeypatch.setenv("HTTP_PROXY", "carrier://me:secretly@127.0.0.1:9")
    with pytest.raises(ConfigError, match="the environment names proxies") as raised:
        asyncio.run(make_agent(direct.name, settings).open(tmp_path))
    assert "secretly" not in str(raised.value)


def test_a_key_that_a_proxy_or_gateway_does_not_accept_is_one_line(
    adapter: Adapter, start: Callable[..., "Talk"], server: Provider
):
    key = "" if adapter.bridged else f"the key in {adapter.key_variable} was not accepted"
    for status, message, expected in (
        (407, "", "HTTP 407, the proxy did not accept its user and password; check them in HTTP_PROXY"),
        (400, "No connected db.", key),
        (401, "Invalid proxy server token passed", "behind a gateway, the gateway's own key may be wrong"),
    ):
        server.fail(status=status, message=message)
        with pytest.raises(AgentError) as raised:
            start(max_retries=0).say("Hello!")
        assert expected in str(raised.value)


def test_a_refusal_is_a_reply_and_the_refused_turn_is_forgotten(
    start: Callable[..., "Talk"], server: Provider, adapter: Adapter
):
    talk = start()
    server.fail("refusal")
    reply = talk.say("Tell me something terrible.")
    assert reply.finish is Finish.REFUSAL
    assert reply.usage is not None
    assert reply.usage.prompt > 0
    talk.say("Hello!")
    assert "terrible" not in json.dumps(sent(server)[-1])


def test_a_reply_used_up_by_reasoning_is_an_error_and_not_an_answer(
    start: Callable[..., "Talk"], server: Provider, adapter: Adapter
):
    server.fail("empty", finish=adapter.out_of_tokens)
    with pytest.raises(AgentError, match=r"max_output=77 tokens were used up .* raise max_output"):
        start(max_output=77).say("Think hard.")


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        ({"status": 401, "message": "Incorrect API key provided: {key}"}, "HTTP 401"),
        ({"status": 403}, "HTTP 403"),
        ({"status": 404, "message": "The model `some-model` does not exist"}, "`some-model` does not exist"),
        ({"status": 400, "message": "Unsupported parameter: {key}"}, "Unsupported parameter: [removed]"),
        (
            {"status": 429, "times": 3, "message": "Rate limit reached"},
            "Rate limit reached), after 2 retries",
        ),
        ({"status": 500, "times": 3, "message": "{key}\n" * 200}, "HTTP 500"),
        ({"status": 529, "times": 3, "message": "Overloaded"}, "HTTP 529, the provider failed (Overloaded)"),
        ({"kinds": ["garbage"]}, "could not be read"),
        ({"kinds": ["text"]}, "could not be read"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(str(v)[:8] for v in value.values()),
)
def test_failures_are_one_line_without_the_key_and_can_be_retried(
    start: Callable[..., "Talk"],
    server: Provider,
    adapter: Adapter,
    key: str,
    faults: dict[str, Any],
    expected: str,
):
    talk = start(max_retries=2)
    talk.say("My favourite colour is vermilion.")
    kinds = faults.get("kinds", [])
    details = {name: value for name, value in faults.items() if name != "kinds"}
    server.fail(*kinds, **(details | {"message": details.get("message", "").format(key=key)}))
    with pytest.raises(AgentError) as raised:
        talk.say("What is my favourite colour?")
    text = str(raised.value)
    assert expected in text
    assert text.startswith(f"{adapter.model} at 127.0.0.1: ")
    assert key not in text
    assert "\n" not in text
    assert len(text) < 500
    assert raised.value.__cause__ is not None
    failed = sent(server)[-1]
    assert "vermilion" in talk.say("What is my favourite colour?").text
    assert sent(server)[-1] == failed


@pytest.mark.parametrize(
    ("kind", "timeout", "expected"),  # long enough for any server that answers, even on a busy machine
    [
        ("hang", 1, "no reply within timeout=1 seconds, after 0 retries; raise timeout"),
        ("cut", 30, "the connection failed (peer closed connection"),
    ],
)
def test_a_silent_or_broken_connection_is_an_error_too(
    start: Callable[..., "Talk"], server: Provider, kind: Any, timeout: float, expected: str
):
    talk = start(max_retries=0, timeout=timeout)
    server.fail(kind)
    with pytest.raises(AgentError) as raised:
        talk.say("Hello!")
    assert expected in str(raised.value)
    assert talk.say("Hello!").finish is Finish.STOP


def test_an_address_where_nobody_listens_is_an_error(adapter: Adapter, talk_to: Callable[..., "Talk"]):
    talk = talk_to(adapter.name, model=adapter.model, base_url="http://127.0.0.1:9", max_retries=0)
    with pytest.raises(AgentError, match="connection failed"):
        talk.say("Hello!")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_to_another_host_is_refused_and_says_how_to_allow_it(
    start: Callable[..., "Talk"], server: Provider, adapter: Adapter, key: str, status: int
):
    talk = start(max_retries=2)
    with provider() as other:
        there = f"{adapter.url(other)}{adapter.path.removeprefix('/v1')}?was={key}"
        server.fail("moved", status=status, message=there)
        with pytest.raises(AgentError) as raised:
            talk.say("My cat is called Ottoline.")
        text = str(raised.value)
        assert f"HTTP {status}, redirected, which is followed on the same host only" in text
        assert f"set base_url to '{adapter.url(other)}" in text
        assert key not in text
        assert other.requests == []
    assert len(server.chats) == 1


def test_a_redirect_on_the_same_host_is_followed(
    start: Callable[..., "Talk"], server: Provider, adapter: Adapter
):
    server.fail("moved", status=308, message=adapter.path)
    assert start(max_retries=0).say("Hello!").finish is Finish.STOP
    assert len(server.chats) == 2
    server.fail("moved", status=307, message=adapter.path, times=9)
    with pytest.raises(AgentError, match="HTTP 307"):
        start(max_retries=0).say("Hello!")


def test_failed_requests_are_sent_again(start: Callable[..., "Talk"], server: Provider):
    server.fail(status=429, times=2)
    server.fail(status=500)
    assert start(max_retries=3).say("Hello!").finish is Finish.STOP
    assert len(server.requests) == 4
    assert all(request.body == server.requests[0].body for request in server.requests)


def test_a_missing_key_is_named(direct: Adapter, server: Provider, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(direct.key_variable, "  ")
    with pytest.raises(ConfigError, match=f"{direct.key_variable} is not set"):
        make_agent(direct.name, {"model": "some-model"})


def test_another_server_needs_no_key(
    adapter: Adapter, start: Callable[..., "Talk"], server: Provider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv(adapter.key_variable)
    assert start().say("Hello!").finish is Finish.STOP
    if not adapter.bridged:
        assert "no-key" in server.requests[0].headers["authorization"]


def test_a_key_that_cannot_be_sent_is_not_shown(direct: Adapter, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(direct.key_variable, "sk-ключ")
    with pytest.raises(ConfigError) as raised:
        make_agent(direct.name, {"model": "some-model"})
    assert direct.key_variable in str(raised.value)
    assert "ключ" not in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"base_url": "localhost:8000"}, "is not a URL"),
        ({"window": 500, "max_output": 500}, "window=500 with max_output=500"),
        ({"max_output": 0}, "max_output=0"),
        ({"timeout": 0}, "timeout=0"),
        ({"max_retries": -1}, "max_retries=-1"),
        ({"window": "large"}, ""),
    ],
    ids=str,
)
def test_impossible_settings_are_errors_before_anything_is_sent(
    adapter: Adapter, settings: dict[str, Any], expected: str
):
    with pytest.raises(ConfigError) as raised:
        make_agent(adapter.name, {"model": adapter.model, **settings})
    assert expected in str(raised.value)


def test_the_provider_is_named_only_where_its_prices_apply(
    direct: Adapter, talk_to: Callable[..., "Talk"], server: Provider
):
    url = direct.url(server)
    elsewhere = talk_to(direct.name, model="some-model", base_url=url).say("Hello!").usage
    assert elsewhere is not None
    assert (elsewhere.model, elsewhere.provider) == ("some-model", None)
    at_home = talk_to(direct.name, model="some-model", redirect=url).say("Hello!").usage
    assert at_home is not None
    assert (at_home.model, at_home.provider) == ("some-model", direct.vendor)


def test_the_vendor_holds_replies_to_a_schema_and_other_servers_are_not_asked_to(
    direct: Adapter, talk_to: Callable[..., "Talk"], server: Provider
):
    url, schema = direct.url(server), {"type": "object", "properties": {"span": {"type": "string"}}}
    for where in ({"redirect": url}, {"base_url": url}):
        talk = talk_to(direct.name, model="some-model", **where)
        talk.agent.schema = schema
        talk.say("Hello!")
    vendor, other = (json.dumps(request.body) for request in server.requests)
    assert json.dumps(schema) in vendor
    assert '"json_schema"' in vendor
    assert "schema" not in other


def test_the_usage_adds_up_and_the_reserve_is_never_exceeded(start: Callable[..., "Talk"], server: Provider):
    talk = start()
    for n in range(12):
        text = f"Message {n}. " + "Lorem ipsum is not English, is it? " * 25
        reserved, reply = talk.reserve(text), talk.say(text)
        assert reserved is not None
        assert reply.usage is not None
        assert reply.usage.prompt <= reserved.prompt
        assert reply.usage.output <= reserved.output
        measured = server.measure(sent(server)[-1], reply.text)
        assert (reply.usage.prompt, reply.usage.output) == (measured.prompt, measured.output)
        assert (reply.usage.cache_read > 1024) == (n >= 4)


def test_every_preset_makes_an_agent_that_is_free_or_whose_price_is_known():
    presets = tomllib.loads(bundled("configs").joinpath("agents.toml").read_text(encoding="utf-8"))
    for name, preset in presets.items():
        settings = {key: value for key, value in preset.items() if key not in Preset.model_fields}
        agent = make_agent(preset["adapter"], settings)
        if agent.free:
            continue
        reserved = agent.reserve(Message("Hello!", datetime(2026, 1, 5, 9, tzinfo=UTC), 0))
        assert reserved is not None, name
        assert reserved.model == preset.get("core", f"openai:{name}").partition(":")[2]
        assert dollars(reserved), name
