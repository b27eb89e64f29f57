"""The HTTP client reads no more than its limit, however an answer is compressed."""

import asyncio
import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ltm_bench.adapters.http.shared import bounded, client, read
from ltm_bench.adapters.http.traffic import listening
from ltm_bench.adapters.testing import provider
from ltm_bench.core.messages import Message
from ltm_bench.plugins.agents import make_agent

SIZE = 1 << 20


class Packed(BaseHTTPRequestHandler):
    """Answers with a megabyte that is compressed to a kilobyte."""

    def do_GET(self) -> None:
        body = gzip.compress(b"x" * SIZE)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def url() -> Iterator[str]:
    with serving(Packed) as place:
        yield place


def test_the_limit_applies_to_the_unpacked_size(url: str) -> None:
    async def size(most: int) -> int:
        async with httpx2.AsyncClient() as plain:
            response = await plain.send(plain.build_request("GET", url), stream=True)
            return len((await read(response, most)).content)

    assert asyncio.run(size(SIZE)) == SIZE
    with pytest.raises(httpx2.DecodingError, match="more than 1,048,575 bytes"):
        asyncio.run(size(SIZE - 1))


def test_the_shared_client_has_the_limit_and_reports_the_attempt(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def get() -> httpx2.Response:
        shared = client(httpx2.AsyncClient)
        try:
            return await shared.get(url)
        finally:
            await shared.aclose()

    with listening() as heard:
        answer = asyncio.run(get())
    assert (answer.text, answer.headers.get("content-encoding")) == ("x" * SIZE, None)
    monkeypatch.setattr("ltm_bench.adapters.http.shared.MOST_BYTES", SIZE - 1)
    with listening() as failed, pytest.raises(httpx2.DecodingError):
        asyncio.run(get())
    assert [each.error for each in (*heard.attempts, *failed.attempts)] == ["", "DecodingError"]


class Slow(BaseHTTPRequestHandler):
    """Sends a byte now and then, and asks for a long pause."""

    def do_GET(self) -> None:
        self.send_response(503)
        self.send_header("Retry-After", "4200000")
        self.end_headers()
        with suppress(ConnectionError):
            for _ in range(int(self.path[1:])):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.05)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def slow() -> Iterator[str]:
    with serving(Slow) as place:
        yield place


@pytest.fixture(params=["httpx", "httpx2"])
def library(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param, reason="httpx comes with the extras whose SDKs use it")


def get(library: Any, url: str, **settings: Any) -> Any:
    """Return the answer to a bounded client of a library."""

    async def got() -> Any:
        async with bounded(library.AsyncClient, **settings) as one:
            return await one.get(url)

    with listening() as heard:
        answer = asyncio.run(got())
    assert heard.attempts == []
    return answer


def test_a_bounded_client_of_either_library_has_the_limit_and_reports_nothing(
    library: Any, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert get(library, url).text == "x" * SIZE
    monkeypatch.setattr("ltm_bench.adapters.http.shared.MOST_BYTES", SIZE - 1)
    with pytest.raises(library.DecodingError, match="more than 1,048,575 bytes"):
        get(library, url)


def test_a_bounded_client_waits_for_a_whole_answer_no_longer_than_for_a_part(library: Any, slow: str) -> None:
    with pytest.raises(library.ReadTimeout, match="did not arrive in full in time"):
        get(library, f"{slow}100", timeout=0.3)
    assert get(library, f"{slow}1", timeout=7.0).headers["retry-after"] == "7"


def test_the_hooks_of_a_bounded_client_can_read_the_answer(library: Any, url: str) -> None:
    heard: list[Any] = []

    async def hook(response: Any) -> None:
        heard.append(response)

    answer = get(library, url, event_hooks={"response": [hook]})
    assert heard[-1] is answer


@pytest.mark.parametrize("name", ["openai_chat", "anthropic_chat", "openai_responses"])
@pytest.mark.parametrize(
    "said", [("4200000", None), ("0", "4200000000"), ("Fri, 01 Jan 2100 00:00:00 GMT", None), ("inf", None)]
)
def test_no_server_can_ask_for_a_longer_pause_than_an_attempt_may_take(
    name: str, said: tuple[str, str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float, *rest: object) -> None:
        pauses.append(seconds)

    monkeypatch.setenv("OPENAI_API_KEY", "no-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "no-key")

    async def talk() -> None:
        with provider() as server:
            server.fail("error", status=429, times=2, retry_after=said[0], retry_after_ms=said[1])
            url = server.url if name == "anthropic_chat" else server.openai_url
            agent = make_agent(
                name, {"model": "some-model", "base_url": url, "timeout": 7.0, "max_retries": 2}
            )
            await agent.open(tmp_path)
            monkeypatch.setattr("anyio.sleep", sleep)
            await agent.reply(Message("Hello", datetime(2026, 1, 1, tzinfo=UTC), 0))
            await agent.close()

    asyncio.run(talk())
    assert len(pauses) == 2
    assert all(pause <= 8.0 for pause in pauses)  # one of the two libraries waits for its own delay instead
