"""What agents' own calls cost is seen, kept within a limit, and charged once, whatever becomes of them."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from time import perf_counter
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from ltm_bench.adapters.gateway.protocols import PROTOCOLS, ModelRequest
from ltm_bench.adapters.gateway.server import Gateway
from ltm_bench.adapters.gateway.upstreams import Upstream, upstreams
from ltm_bench.adapters.routing import Route
from ltm_bench.adapters.testing import Calls, Provider
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.log.calls import CALLS, KeptCalls, read_calls
from ltm_bench.log.journal import Journal

MODEL: dict[str, Any] = {"openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5"}
KEY = "sk-real-0123456789abcdefghij"
OWN = "ltm-0123456789abcdef"
"""The gateway's key."""
HELLO: Any = [{"role": "user", "content": "My boat is called Undine. What is my boat called?"}]


class Behind:
    """A gateway before a provider on this machine, at the list prices of OpenAI and Anthropic."""

    def __init__(self, server: Provider, folder: Path, limit: str | None, **more: Any) -> None:
        self.folder, self.server = folder, server
        self.budget = Budget(None if limit is None else Decimal(limit))
        self.gateway = Gateway(
            {
                "openai": Upstream(server.openai_url, "openai", KEY),
                "anthropic": Upstream(server.url, "anthropic", KEY),
            },
            self.budget,
            adopt=self._adopt,
            key=OWN,
            **more,
        )
        self.routes: dict[str, Route] = {}
        self.journal = Journal(folder / CALLS, perf_counter)

    def _adopt(self, name: str) -> Route:
        found = self.routes.get(name)
        if found is None:
            found = Route(self.gateway.url, name, OWN, self.journal, self.budget, {KEY}, (), name or None)
        return self.routes.setdefault(name, found)

    @property
    def seen(self) -> KeptCalls:
        return read_calls(self.folder)

    def openai(self, name: str = "a", **settings: Any) -> Any:
        url = f"{self.gateway.url}/c/{name}/v1"
        return openai.OpenAI(base_url=url, api_key=OWN, **{"max_retries": 0, **settings})

    def anthropic(self, name: str = "a", **settings: Any) -> Any:
        url = f"{self.gateway.url}/c/{name}"
        return anthropic.Anthropic(base_url=url, api_key=OWN, **{"max_retries": 0, **settings})


Start = Callable[..., Behind]


@pytest.fixture
def behind(server: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    opened = []

    def start(limit: str | None = None, **more: Any) -> Behind:
        here = Behind(server, tmp_path, limit, **more)
        serving = here.gateway.listening()
        serving.__enter__()
        opened.append((serving, here.journal))
        return here

    yield start
    for serving, journal in opened:
        serving.__exit__(None, None, None)
        journal.close()


def chat(behind: Behind, **more: Any) -> str:
    with behind.openai() as client:
        said: Any = client.chat.completions.create(model=MODEL["openai"], messages=HELLO, **more)
        if not more.get("stream"):
            return said.choices[0].message.content or ""
        return "".join(each.choices[0].delta.content or "" for each in said)


def responses(behind: Behind, **more: Any) -> str:
    with behind.openai() as client:
        said: Any = client.responses.create(model=MODEL["openai"], input=HELLO, **more)
        if not more.get("stream"):
            return str(said.output_text)
        return "".join(each.delta for each in said if each.type == "response.output_text.delta")


def messages(behind: Behind, **more: Any) -> str:
    with behind.anthropic() as client:
        limit: Any = {"max_tokens": 100, "model": MODEL["anthropic"], "messages": HELLO}
        if more.pop("stream", False):
            with client.messages.stream(**limit, **more) as stream:
                return "".join(stream.text_stream)
        return str(client.messages.create(**limit, **more).content[0].text)


def used(server: Provider, model: str, provider: str) -> Decimal:
    """Return what the provider bills."""
    bill = Decimal()
    for tokens in server.spent:
        read, written = tokens.cached, tokens.written
        usage = Usage(
            uncached=tokens.prompt - read - written,
            cache_read=read,
            cache_write=written,
            output=tokens.output,
            model=model,
            provider=provider,
        )
        bill += dollars(usage) or 0
    return bill


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("ask", [chat, responses, messages])
def test_a_call_is_answered_as_by_the_provider_and_charged_what_it_bills(
    behind: Start, server: Provider, ask: Callable[..., str], stream: bool
) -> None:
    here = behind("1")
    said = "It is called Undine."
    server.answer = lambda _: said
    assert ask(here, stream=stream) == said
    family = "anthropic" if ask is messages else "openai"
    bill = used(server, MODEL[family], family)
    assert 0 < bill == here.budget.spent == here.seen.spent
    assert here.budget.held == 0
    sent = server.chats[0].headers
    assert (
        KEY in (sent.get("authorization", ""), sent.get("x-api-key", "")) or f"Bearer {KEY}" in sent.values()
    )
    assert OWN not in str(sent)
    assert KEY not in (here.folder / CALLS).read_text("utf-8")


def test_embeddings_are_charged(behind: Start) -> None:
    here = behind("1")
    with here.openai() as client:
        found = client.embeddings.create(model="text-embedding-3-small", input=["a boat", "a house"])
    assert len(found.data) == 2
    assert 0 < here.budget.spent == here.seen.spent < Decimal("0.0001")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_tools_pass_in_both_directions(behind: Start, server: Provider, stream: bool) -> None:
    here = behind("1")
    server.answer = lambda _: Calls(json.dumps([{"name": "look", "arguments": {"at": "boat"}}]))
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    own = {"name": "look", "input_schema": {"type": "object"}}
    with here.openai() as client:
        said = client.chat.completions.create(
            model=MODEL["openai"], messages=HELLO, tools=[tool], stream=stream
        )
        calls = (
            [each for chunk in said for each in chunk.choices[0].delta.tool_calls or ()]
            if stream
            else said.choices[0].message.tool_calls
        )
    assert [(each.function.name, each.function.arguments) for each in calls] == [("look", '{"at": "boat"}')]
    with (
        here.anthropic() as client,
        client.messages.stream(
            model=MODEL["anthropic"], max_tokens=100, messages=HELLO, tools=[own]
        ) as events,
    ):
        block = events.get_final_message().content[0]
    assert (block.name, block.input) == ("look", {"at": "boat"})
    assert len(here.seen.calls) == 2


def test_a_stream_is_asked_for_its_usage_which_the_agent_gets_only_if_it_asked(
    behind: Start, server: Provider
) -> None:
    here = behind()
    with here.openai() as client:
        for wished in (False, True):
            options = {"stream_options": {"include_usage": True}} if wished else {}
            chunks = list(
                client.chat.completions.create(model=MODEL["openai"], messages=HELLO, stream=True, **options)
            )
            assert [bool(each.usage) for each in chunks] == [False] * 2 + [True] * wished
    assert [each.usage is not None for each in here.seen.calls] == [True, True]
    assert all(each.body["stream_options"]["include_usage"] for each in server.chats)


# Money


@pytest.mark.parametrize(
    ("ask", "error", "status"),
    [
        (chat, openai.RateLimitError, 429),
        (responses, openai.RateLimitError, 429),
        (messages, anthropic.APIStatusError, 402),
    ],
)
def test_without_money_a_call_is_refused_in_the_providers_form_and_not_repeated(
    behind: Start, server: Provider, ask: Callable[..., str], error: type[Exception], status: int
) -> None:
    here = behind("0.000001")
    with pytest.raises(error, match="--max-cost") as caught:
        ask(here)
    assert isinstance(caught.value, openai.APIStatusError | anthropic.APIStatusError)
    assert caught.value.status_code == status
    if isinstance(caught.value, openai.APIStatusError):
        assert caught.value.code == "insufficient_quota"
    assert not server.requests
    assert here.budget.spent == 0
    assert here.routes["a"].stopped is not None


def test_money_that_others_hold_is_waited_for(behind: Start, server: Provider) -> None:
    one = ModelRequest.of(
        PROTOCOLS["/chat/completions"], json.dumps({"messages": HELLO, "model": MODEL["openai"]}).encode()
    )
    most = one.limited("openai").most("openai")
    assert most is not None
    here = behind(str(most * Decimal("1.5")))
    server.fail("slow", seconds=0.3)
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda _: chat(here), range(2)))
    assert len(said) == 2
    assert here.budget.spent == here.seen.spent == used(server, MODEL["openai"], "openai")


ODD = [
    {"tools": [{"type": "web_search"}]},
    {"tools": [{"type": "function", "function": {}}, {"type": "code_interpreter", "container": {}}]},
    {"service_tier": "priority"},
    {"web_search_options": {"search_context_size": "low"}},
    {"model": "gpt-4o-search-preview"},
    {"model": "a-model-without-a-price"},
    {"audio": {"voice": "alloy"}},
    {
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y.png"}}]}
        ]
    },
]


@pytest.mark.parametrize("odd", ODD, ids=[str(each)[:40] for each in ODD])
def test_what_has_no_known_price_is_refused_under_a_limit_and_unknown_without(
    behind: Start, server: Provider, odd: dict[str, Any]
) -> None:
    body = {"model": MODEL["openai"], "messages": HELLO, "max_tokens": 50, **odd}
    for limit in ("1", None):
        here = behind(limit)
        answer = httpx2.post(
            f"{here.gateway.url}/c/a/v1/chat/completions",
            json=body,
            headers={"authorization": f"Bearer {OWN}"},
        )
        if limit is not None:
            assert (answer.status_code, server.requests) == (400, [])
            assert "cannot be guaranteed" in answer.json()["error"]["message"]
        else:
            assert answer.status_code == 200
            assert [each.dollars for each in here.seen.calls] == [None]
            assert here.budget.unknown


def test_only_under_a_limit_a_call_without_a_limit_of_tokens_gets_one(
    behind: Start, server: Provider
) -> None:
    for limit in (None, "1"):
        here = behind(limit)
        chat(here)
        responses(here)
        chat(here, max_tokens=77)
    limits = ("max_completion_tokens", "max_output_tokens", "max_tokens")
    given = [{name: each.body[name] for name in limits if name in each.body} for each in server.chats]
    bounded = [{"max_completion_tokens": 16384}, {"max_output_tokens": 16384}, {"max_tokens": 77}]
    assert given == [{}, {}, {"max_tokens": 77}, *bounded]


def test_text_that_the_provider_keeps_is_reserved_as_a_whole_window() -> None:
    def most(**more: Any) -> Decimal:
        body = {"model": MODEL["openai"], "input": "Hello", "max_output_tokens": 10, **more}
        found = ModelRequest.of(PROTOCOLS["/responses"], json.dumps(body).encode()).most("openai")
        assert found is not None
        return found

    assert most(previous_response_id="resp_1") > 100 * most()
    assert most(input=[{"type": "item_reference", "id": "msg_1"}]) > 100 * most()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("kind", ["cut", "garbage", "hang"])
def test_an_answer_that_is_cut_off_is_charged_all_that_was_reserved(
    behind: Start, server: Provider, kind: Any, stream: bool
) -> None:
    here = behind("1")
    server.fail(kind, seconds=0.1)
    with suppress(openai.APIError, json.JSONDecodeError, httpx2.HTTPError):
        chat(here, stream=stream, max_tokens=100)
    wait_until(lambda: here.budget.held == 0)
    (call,) = here.seen.calls
    assert (call.lost, call.usage) == (True, None)
    assert call.dollars == here.budget.spent > Decimal("0.00005")


def test_an_agent_that_hangs_up_in_a_stream_is_charged_all_that_was_reserved(
    behind: Start, server: Provider
) -> None:
    here = behind("1")
    server.fail("slow", seconds=0.5)
    server.answer = lambda _: "word " * 2000
    with (
        suppress(httpx2.ReadTimeout),
        httpx2.stream(
            "POST",
            f"{here.gateway.url}/c/a/v1/messages",
            json={"model": MODEL["anthropic"], "max_tokens": 100, "messages": HELLO, "stream": True},
            headers={"x-api-key": OWN},
            timeout=0.2,
        ),
    ):
        pass
    wait_until(lambda: here.budget.held == 0)
    (call,) = here.seen.calls
    assert call.dollars == here.budget.spent > 0


def wait_until(due: Callable[[], bool]) -> None:
    """Wait for the gateway's thread, which charges a call after its answer has gone."""
    moment = threading.Event()
    for _ in range(2000):
        if due():
            return
        moment.wait(0.01)
    raise AssertionError("it never happened")


def test_errors_of_the_provider_cost_nothing_and_repeat_no_key(behind: Start, server: Provider) -> None:
    here = behind("1")
    for status, kind in (
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (500, openai.InternalServerError),
    ):
        server.fail(status=status, message=f"Wrong key {KEY}, or so.")
        with pytest.raises(kind) as caught:
            chat(here)
        assert KEY not in str(caught.value)
    assert [here.budget.spent, here.budget.held, len(here.seen.calls)] == [0, 0, 3]


def test_a_provider_that_cannot_be_reached_costs_nothing(tmp_path: Path, behind: Start) -> None:
    here = behind("1")
    here.gateway._served["openai"] = Upstream("http://127.0.0.1:9/v1", "openai", KEY)  # type: ignore[index]  # a dict
    with pytest.raises(openai.InternalServerError, match="ConnectError"):
        chat(here)
    assert [here.budget.spent, here.budget.held] == [0, 0]


def test_calls_without_an_end_on_record_count_what_was_reserved(tmp_path: Path) -> None:
    lines = [
        {"turn": 3, "opened": "answer"},
        {"call": "a", "path": "/responses", "model": "m", "turn": 3, "reserved": 0.5},
        {"call": "b", "path": "/responses", "model": "m", "reserved": 0.25},
        {"call": "b", "status": 200, "dollars": 0.125},
        {"call": 7, "reserved": "nonsense"},
        {"call": "c", "reserved": -1},
    ]
    text = "\n".join(["{", *map(json.dumps, lines)])
    (tmp_path / CALLS).write_text(text + "\n", "utf-8")
    seen = read_calls(tmp_path)
    assert (seen.spent, seen.opened) == (Decimal("0.625"), {(None, 3)})
    assert [(each.turn, each.lost) for each in seen.calls] == [(3, True), (None, False), (None, True)]


def test_equal_requests_are_answered_from_the_cache_at_no_cost(
    behind: Start, server: Provider, tmp_path: Path
) -> None:
    here = behind("1", cache=tmp_path / "answers.sqlite")
    assert chat(here) == chat(here)
    assert len(server.chats) == 1
    assert here.budget.spent == here.seen.spent == used(server, MODEL["openai"], "openai")
    assert len(here.seen.calls) == 2


# Conversations


def test_sixty_four_conversations_at_once_are_counted_apart(behind: Start, server: Provider) -> None:
    here = behind("5")

    def talk(number: int) -> None:
        with here.openai(f"talk-{number}") as client:
            for _ in range(1 + number % 3):
                client.chat.completions.create(model=MODEL["openai"], messages=HELLO)

    with ThreadPoolExecutor(64) as pool:
        list(pool.map(talk, range(64)))
    counts: dict[str | None, int] = {}
    for call in here.seen.calls:
        counts[call.conversation] = counts.get(call.conversation, 0) + 1
    assert counts == {f"talk-{n}": 1 + n % 3 for n in range(64)}
    assert here.budget.spent == here.seen.spent == used(server, MODEL["openai"], "openai")


def test_a_call_belongs_to_a_turn_only_if_exactly_one_is_open(behind: Start) -> None:
    here = behind()
    chat(here)
    route = here.routes["a"]
    with route.turn(4, "answer", asked=True) as first:
        chat(here)
        with route.doing("retrieve"):
            chat(here)
        with route.turn(5, "answer"):
            chat(here)
    assert [each.turn for each in here.seen.calls] == [None, 4, 4, None]
    assert [name for name, _ in first.calls] == ["answer", "retrieve"]
    assert len(first.used("retrieve")) == 1
    assert [len(each) for each in here.seen.turns.values()] == [2]


def test_a_call_that_outlives_its_conversation_is_counted_as_its_file_says(
    server: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltm_bench.adapters.routing._PATIENCE", 0)
    budget = Budget(Decimal(1))
    with Journal(tmp_path / CALLS, perf_counter) as journal:
        route = Route("http://127.0.0.1:1", "a", OWN, journal, budget)
        call = route.begin(Decimal("0.25"), model=MODEL["openai"])
        asyncio.run(route.close())
        call.end(Usage(output=1, model=MODEL["openai"], provider="openai"), 200)
    assert [budget.spent, budget.held] == [read_calls(tmp_path).spent, 0] == [Decimal("0.25"), 0]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/c/a/v1/chat/completions", {"authorization": "Bearer another"}, 401),
        ("/c/a/v1/chat/completions", {}, 401),
        ("/c/a/v1/files", {"authorization": f"Bearer {OWN}"}, 404),
        ("/c/a/v1/messages/batches", {"x-api-key": OWN}, 404),
        ("/c/a/v1/chat/completions", {"authorization": f"Bearer {OWN}", "host": "evil.example"}, 400),
    ],
)
def test_foreign_requests_reach_no_provider(
    behind: Start, server: Provider, path: str, headers: dict[str, str], status: int
) -> None:
    here = behind()
    answer = httpx2.post(here.gateway.url + path, json={"model": "m", "messages": []}, headers=headers)
    assert (answer.status_code, server.requests) == (status, [])


def test_the_address_without_a_conversation_stands_for_the_only_one(
    server: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    gateway = Gateway(
        {"openai": Upstream(server.openai_url, "openai", KEY), "anthropic": Upstream(server.url, None)},
        Budget(),
        key=OWN,
    )

    async def ask() -> int:
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {OWN}"}) as client:
            return (await client.get(f"{gateway.url}/v1/models")).status_code

    async def play() -> list[int]:
        with Journal(tmp_path / CALLS, perf_counter) as journal:
            found = [await ask()]
            async with gateway.route(journal, "one"):
                found.append(await ask())
                async with gateway.route(journal, "two"):
                    found.append(await ask())
        return found

    with gateway.listening():
        assert asyncio.run(play()) == [404, 200, 404]


def test_a_programs_environment_has_the_gateways_key_and_no_providers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MY_COPY_OF_IT", KEY)
    with Journal(tmp_path / CALLS, perf_counter) as journal:
        route = Route("http://127.0.0.1:1", "abc", "ltm-1", journal, Budget(), {KEY})
        found = route.environment()
    assert KEY not in found.values()
    assert found["OPENAI_API_KEY"] == found["ANTHROPIC_API_KEY"] == "ltm-1"
    assert found["OPENAI_BASE_URL"] == "http://127.0.0.1:1/c/abc/v1"
    assert found["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1/c/abc"
    assert "127.0.0.1" in found["NO_PROXY"]


def test_a_variable_that_the_user_names_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://me:pass1word@db.example/x")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Journal(tmp_path / CALLS, perf_counter) as journal:
        route = Route("http://127.0.0.1:1", "abc", "ltm-1", journal, Budget(), {KEY})
        assert "DATABASE_URL" not in route.environment()
        route.passed = ["DATABASE_URL", "OPENAI_API_KEY"]
        found = route.environment()
    assert found["DATABASE_URL"].startswith("postgres:")
    assert found["OPENAI_API_KEY"] == "ltm-1"


NAMED = [
    "groq=http://127.0.0.1:9/v1", "mistral=http://127.0.0.1:9", "x-ai=http://127.0.0.1:9",
    "openrouter=http://127.0.0.1:9", "nobody=http://127.0.0.1:9", "https://api.groq.com/openai/v1",
    "https://openrouter.ai/api/v1", "https://api.mistral.ai/v1", "azure=https://me.openai.azure.com/openai/v1",
]  # fmt: skip


@pytest.mark.parametrize("given", NAMED)
def test_no_provider_gets_the_key_of_another(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    for name in ("GROQ", "MISTRAL", "X_AI", "OPENROUTER", "NOBODY", "AZURE"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    with pytest.raises(ConfigError, match=r"_API_KEY is not set; export it") as caught:
        upstreams([given])
    assert "\n" not in str(caught.value)
    variable = str(caught.value).partition(" is not set")[0].rpartition(" ")[2]
    monkeypatch.setenv(variable, "its-own-key")
    assert upstreams([given])["openai"].key == "its-own-key"


def test_a_key_goes_with_the_url_of_its_own_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.groq.com/openai/v1")
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    found = upstreams()
    assert (found["openai"].key, found["openai"].provider) == (KEY, "groq")
    assert found["anthropic"].key == ""
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        upstreams(["anthropic=https://a.example"])


def test_a_server_on_this_machine_needs_no_key_unless_another_could_be_meant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GROQ", "OPENAI"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    assert upstreams(["groq=http://127.0.0.1:9"])["openai"].key == ""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(ConfigError, match="GROQ_API_KEY is not set"):
        upstreams(["groq=http://127.0.0.1:9"])


def test_upstreams_are_the_vendors_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    found = upstreams()
    assert [each.provider for each in found.values()] == ["openai", "anthropic"]
    assert found["openai"].key == KEY
    both = upstreams(["http://localhost:8000/v1/"])
    assert (both["openai"].url, both["anthropic"].url) == (
        "http://localhost:8000/v1",
        "http://localhost:8000",
    )
    assert both["openai"].provider is None
    apart = upstreams(["openai=http://proxy/v1", "anthropic=http://proxy/claude"])
    assert [each.provider for each in apart.values()] == ["openai", "anthropic"]
    assert apart["anthropic"].url == "http://proxy/claude"
    for bad in ("proxy", "openai=proxy", "ftp://x"):
        with pytest.raises(ConfigError, match="--upstream"):
            upstreams([bad])


def test_a_conversation_without_a_gateway_imports_no_server() -> None:
    code = (
        "import sys, ltm_bench.adapters.gateway, ltm_bench.adapters.routing;"
        "assert 'ltm_bench.adapters.gateway.server' not in sys.modules;"
        "assert 'starlette' not in sys.modules and 'uvicorn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
