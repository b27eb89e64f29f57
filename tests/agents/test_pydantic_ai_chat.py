"""Features specific to the bridge; shared ones are in test_chat_adapters.py."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import Finding
from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Finish, Message, Usage
from ltm_bench.core.pricing import provider_at
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import START, Command, Talk
else:
    from conftest import START

pytestmark = [pytest.mark.usefixtures("key"), pytest.mark.proof(files=("agents/*.*", "configs/*.*"))]


@pytest.fixture(autouse=True, scope="module")
def _installed() -> None:
    """Import it only when one of these tests runs: this takes longer than most of them."""
    pytest.importorskip("pydantic_ai")


def opened(**settings: Any) -> Any:
    agent = make_agent("pydantic_ai_chat", settings)
    asyncio.run(agent.open(Path("run/agent")))
    return agent


@pytest.fixture
def talk(server: Provider, talk_to: Callable[..., "Talk"]) -> "Talk":
    return talk_to("pydantic_ai_chat", model="anthropic:some-model", base_url=server.url)


def test_usage_is_normalised(talk: "Talk", server: Provider) -> None:
    usage = {
        "input_tokens": 7,
        "cache_read_input_tokens": 3000,
        "cache_creation_input_tokens": 1500,
        "output_tokens": 300,
        "output_tokens_details": {"thinking_tokens": 256},
    }
    server.edit = lambda body: body | {"model": "some-model-20261001", "usage": usage}
    assert talk.say("Hello!").usage == Usage(
        uncached=7, cache_read=3000, cache_write=1500, output=300, reasoning=256, model="some-model-20261001"
    )


def test_a_server_that_reports_no_usage_has_an_unknown_cost(
    server: Provider, talk_to: Callable[..., "Talk"]
) -> None:
    talk = talk_to("pydantic_ai_chat", model="openai-chat:some-model", base_url=server.openai_url)
    server.edit = lambda body: {name: value for name, value in body.items() if name != "usage"}
    assert talk.say("Hello!").usage is None


@pytest.mark.parametrize(
    ("stop_reason", "finish"),
    [
        ("end_turn", Finish.STOP),
        ("max_tokens", Finish.LENGTH),
        ("refusal", Finish.REFUSAL),
        ("model_context_window_exceeded", Finish.OVERFLOW),
    ],
)
def test_why_it_stopped(talk: "Talk", server: Provider, stop_reason: str, finish: Finish) -> None:
    server.edit = lambda body: body | {"stop_reason": stop_reason}
    assert talk.say("Hello!").finish is finish


def test_thinking_is_not_the_reply(talk: "Talk", server: Provider) -> None:
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "x"},
        {"type": "text", "text": "One, "},
        {"type": "text", "text": "two."},
    ]
    server.edit = lambda body: body | {"content": blocks}
    assert talk.say("Count!").text == "One, two."


def test_effort_and_other_settings_are_sent_when_they_are_set(
    server: Provider, talk_to: Callable[..., "Talk"]
) -> None:
    talk = talk_to(
        "pydantic_ai_chat",
        model="openai-chat:some-model",
        base_url=server.openai_url,
        temperature=0.5,
        settings='{"openai_service_tier": "flex"}',
    )
    talk.say("Hello!")
    assert {"temperature": 0.5, "service_tier": "flex"}.items() <= server.requests[0].body.items()


def test_the_key_can_be_in_another_variable(
    server: Provider, talk_to: Callable[..., "Talk"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_OWN", "sk-my-very-own-key")
    talk = talk_to(
        "pydantic_ai_chat", model="openai-chat:m", base_url=server.openai_url, key_variable="MY_OWN"
    )
    talk.say("Hello!")
    assert server.requests[0].headers["authorization"] == "Bearer sk-my-very-own-key"
    server.fail(status=400, message="You sent sk-my-very-own-key")
    with pytest.raises(AgentError, match=r"You sent \[removed\]"):
        talk.say("Hello!")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gemini-3.8-flash", "write it as provider:model"),
        ("nobody:some-model", "nobody"),
        ("openai-chat:some-model", "OPENAI_API_KEY"),
        ("openrouter:some-model", "OPENROUTER_API_KEY"),
    ],
)
def test_what_is_missing_is_one_clear_line(
    model: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError) as raised:
        opened(model=model)
    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_providers_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("pydantic_ai.providers.google")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "google.genai.client", None)
    with pytest.raises(ConfigError, match=r"google-genai.*pip install 'pydantic-ai-slim\[google\]'"):
        opened(model="google:gemini-3.8-flash")


def test_a_provider_with_a_fixed_address_takes_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-not-a-key-0123456789")
    with pytest.raises(ConfigError, match="takes no base_url"):
        opened(model="openrouter:some-model", base_url="http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.anthropic.com", "anthropic"),
        ("https://generativelanguage.googleapis.com/", "google"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("http://127.0.0.1:4000/v1", None),
        ("", None),
    ],
)
def test_prices_are_those_of_whoever_is_at_the_address(url: str, expected: str | None) -> None:
    assert provider_at(url) == expected


def test_the_vendors_own_server_has_a_price_and_is_told_where_to_cache() -> None:
    agent = opened(model="openai:gpt-6-luna")
    reserved = agent.reserve(Message("Hello!", START, 0))
    assert (reserved.model, reserved.provider) == ("gpt-6-luna", "openai")
    settings = agent.settings
    assert settings["openai_prompt_cache_key"] == "ltm-bench/run"
    assert settings["openai_store"] is False
    asyncio.run(agent.close())


def test_doctor_learns_which_models_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    def examine(model: str) -> list[Finding]:
        agent = make_agent("pydantic_ai_chat", {"model": model})
        return list(asyncio.run(agent.examine()))

    package, model = examine("anthropic:claude-sonnet-5-5")
    assert package.ok
    assert "pydantic-ai-slim" in package.text
    assert model.text == "model anthropic:claude-sonnet-5-5 would be asked at https://api.anthropic.com"
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert [found.ok for found in examine("anthropic:claude-sonnet-5-5")] == [True, False]


def test_attempts_are_in_the_timings_and_answers_in_the_cache(
    server: Provider, command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = (
        "run",
        "--agent",
        "pydantic_ai_chat",
        "-A",
        "model=openai-chat:m",
        "--base-url",
        server.openai_url,
    )
    more = ("--span", "2k", "--suite", "smoke", "--cache")
    server.fail(status=429)
    assert command(*words, *more, "--name", "one").exit_code == 0
    asked = len(server.requests)
    assert '"status":429' in Path("reports/one/timings.jsonl").read_text("utf-8").replace(" ", "")
    assert command(*words, *more, "--name", "two").exit_code == 0
    assert len(server.requests) == asked
