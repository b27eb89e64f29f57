"""The adapters against a server that this project did not write: LiteLLM's proxy, without a network or a key.

It is found through the environment variable LTM_BENCH_LITELLM or the PATH; CONTRIBUTING.md says how to get it. One of
its models gives a fixed answer (`mock_response`). The other is the tests' own provider, which the proxy calls in
OpenAI's protocol, whatever protocol it was called in itself.
"""

import itertools
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx2
import pytest

from ltm_bench.adapters.testing import Provider, provider
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Finish

if TYPE_CHECKING:
    from tests.conftest import Command, Talk

LITELLM = os.environ.get("LTM_BENCH_LITELLM") or shutil.which("litellm")
KEY = "sk-not-a-key-0123456789-abcdefghijklmnop"  # it refuses to start with weak ones
STARTING = 180.0

pytestmark = pytest.mark.skipif(
    LITELLM is None, reason="no litellm: set LTM_BENCH_LITELLM (CONTRIBUTING.md, Groups)"
)


class Proxy(NamedTuple):
    url: str
    upstream: Provider


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Run the proxy for as long as this module's tests last."""
    home = tmp_path_factory.mktemp("litellm")
    with provider() as upstream, socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
        found.close()
        ways = {
            "mocked": {"model": "openai/gpt-4o", "api_key": "none", "mock_response": "It is vermilion."},
            "relayed": {
                "model": "openai/some-model",
                "api_key": "none",
                "api_base": upstream.openai_url,
                "max_retries": 0,
            },
        }
        config = {
            "model_list": [{"model_name": name, "litellm_params": way} for name, way in ways.items()],
            "litellm_settings": {"num_retries": 0},
            "router_settings": {"disable_cooldowns": True},
        }
        (home / "config.yaml").write_text(json.dumps(config), "utf-8")
        words = [
            "--config",
            "config.yaml",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--telemetry",
            "False",
        ]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "NO_PROXY": "127.0.0.1",
            "LITELLM_MASTER_KEY": KEY,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # or it fetches a list of prices
        }
        with (home / "log.txt").open("wb") as log:
            running = subprocess.Popen(
                [str(LITELLM), *words], cwd=home, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_for(f"{url}/health/liveliness", running, home / "log.txt")
            yield Proxy(url, upstream)
        finally:
            running.terminate()
            try:
                running.wait(10)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()


def _wait_for(url: str, running: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + STARTING
    while time.monotonic() < until and running.poll() is None:
        try:
            if httpx2.get(url, timeout=2).status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.3)
    pytest.fail(f"litellm did not start:\n{log.read_text('utf-8', 'replace')[-2000:]}")


class Way(NamedTuple):
    adapter: str
    prefix: str = ""
    path: str = "/v1"

    def settings(self, proxy: Proxy, model: str) -> dict[str, Any]:
        return {"model": self.prefix + model, "base_url": proxy.url + self.path}


WAYS = [
    Way("openai_chat"),
    Way("openai_responses"),
    Way("anthropic_chat", path=""),
    Way("pydantic_ai_chat", "openai-chat:"),
    Way("pydantic_ai_chat", "openai-responses:"),
    Way("pydantic_ai_chat", "anthropic:", ""),
]


@pytest.fixture(params=WAYS, ids=lambda way: f"{way.adapter}-{way.prefix}".rstrip("-:"))
def way(request: pytest.FixtureRequest, key: str, monkeypatch: pytest.MonkeyPatch) -> Way:
    found: Way = request.param
    if found.prefix:
        pytest.importorskip("pydantic_ai")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return found


@pytest.fixture
def start(proxy: Proxy, way: Way, talk_to: Callable[..., "Talk"]) -> Iterator[Callable[..., "Talk"]]:
    proxy.upstream.requests.clear()
    yield lambda model, **settings: talk_to(way.adapter, **way.settings(proxy, model), **settings)
    proxy.upstream.faults.clear()
    proxy.upstream.context = None


def test_a_mocked_model_answers_and_says_what_it_used(start: Callable[..., "Talk"]) -> None:
    talk = start("mocked")
    for text in ("My favourite colour is vermilion.", "What is my favourite colour?", "Are you sure?"):
        reply = talk.say(text)
        assert (reply.text, reply.finish) == ("It is vermilion.", Finish.STOP)
        assert reply.usage is not None
        assert reply.usage.prompt > 0
        assert reply.usage.output > 0
        assert reply.usage.provider is None


def test_a_whole_run_goes_through_the_proxy(
    proxy: Proxy, way: Way, command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    proxy.upstream.requests.clear()
    settings = way.settings(proxy, "relayed")
    words = ("--agent", way.adapter, "-A", f"model={settings['model']}", "--base-url", settings["base_url"])
    done = command("run", *words, "--span", "2k", "--suite", "smoke", "--name", "relayed")
    assert done.exit_code == 0, done.output
    sent = [request.messages for request in proxy.upstream.chats]
    assert len(sent) >= 5
    for before, after in itertools.pairwise(sent):  # the proxy does not rewrite the conversation
        assert after[: len(before)] == before
    log = map(json.loads, Path("reports/relayed/events.jsonl").read_text("utf-8").splitlines())
    used = [event["usage"] for event in log if "usage" in event]
    assert len(used) == len(sent)
    assert all(usage["output"] > 0 for usage in used)


def test_a_model_that_the_proxy_does_not_have_is_one_clear_line(start: Callable[..., "Talk"]) -> None:
    with pytest.raises(AgentError) as raised:
        start("no-such-model", max_retries=0).say("Hello!")
    text = str(raised.value)
    assert "no-such-model" in text
    assert "Invalid model name" in text
    assert "\n" not in text
    assert KEY not in text


def test_a_key_that_the_proxy_does_not_know_is_one_clear_line(
    start: Callable[..., "Talk"], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "this-is-no-key-of-it-987654321"
    monkeypatch.setenv("OPENAI_API_KEY", wrong)
    monkeypatch.setenv("ANTHROPIC_API_KEY", wrong)
    with pytest.raises(AgentError) as raised:
        start("mocked", max_retries=0).say("Hello!")
    assert "HTTP 40" in str(raised.value)  # 400 without a database: the proxy has nowhere to look it up
    assert "\n" not in str(raised.value)
    assert wrong not in str(raised.value)


def test_an_overflow_is_recognised_through_the_proxy(start: Callable[..., "Talk"], proxy: Proxy) -> None:
    talk = start("relayed", max_retries=0)
    talk.say("My favourite colour is vermilion.")
    proxy.upstream.context = 100
    assert talk.say("The quick brown fox. " * 50).finish is Finish.OVERFLOW


def test_a_failure_behind_the_proxy_is_an_error_that_can_be_retried(
    start: Callable[..., "Talk"], proxy: Proxy
) -> None:
    talk = start("relayed", max_retries=0)
    proxy.upstream.fail(status=500, times=9)
    with pytest.raises(AgentError, match=r"HTTP 5\d\d, the provider failed"):
        talk.say("Hello!")
    proxy.upstream.faults.clear()
    assert talk.say("Hello!").finish is Finish.STOP
