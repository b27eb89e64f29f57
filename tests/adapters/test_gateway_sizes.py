"""The gateway reads no more than its limit of anybody, and a large or slow one does not hold up others."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2
import pytest

from tests.doors import BLOCK, HELLO, KEY, ask, gateway, plain, serving

HEADERS = {"authorization": f"Bearer {KEY}"}


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A gateway before a server that answers with 65,536 bytes."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(BLOCK) as server, gateway(f"{server}/plain") as place:
        yield place


def test_a_request_that_says_that_it_is_too_large_is_refused_and_says_how_large(url: str) -> None:
    said = ask(url, plain(80 << 20), 80 << 20)
    assert said.startswith("HTTP/1.1 413 ")
    assert "the request has more than 67,108,864 bytes, the most that is read: 83,886,080" in said


def test_a_request_of_unknown_size_is_refused_once_it_is_too_large(url: str) -> None:
    assert "the request has more than 67,108,864 bytes, the most that is read" in ask(
        url, plain(80 << 20), None
    )


def test_a_slow_sender_holds_up_nobody(url: str) -> None:
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as slow:
        slow.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n{")
        answer = httpx2.post(f"{url}/v1/chat/completions", content=HELLO, headers=HEADERS, timeout=60)
        assert answer.status_code == 200
        assert len(answer.content) == BLOCK


@pytest.mark.parametrize("kind", ["plain", "packed"])
def test_an_answer_that_is_too_large_is_said_and_not_repeated(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(80 << 20) as server, gateway(f"{server}/{kind}") as place:
        answer = httpx2.post(f"{place}/v1/chat/completions", content=HELLO, headers=HEADERS, timeout=60)
        free = httpx2.get(f"{place}/v1/models", headers=HEADERS, timeout=60)
    for each in (answer, free):
        assert (each.status_code, each.headers["x-should-retry"]) == (502, "false")
        text = "127.0.0.1: the answer has more than 67,108,864 bytes, the most that is read"
        assert each.json()["error"]["message"] == text


def test_a_stream_whose_event_is_too_long_ends_with_an_error_of_its_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(80 << 20) as server, gateway(f"{server}/packed/events") as place:
        answer = httpx2.post(f"{place}/v1/chat/completions", content=HELLO, headers=HEADERS, timeout=60)
    (event, end) = answer.text.split("\n\n")
    kind, _, data = event.partition("\ndata: ")
    assert (kind, end) == ("event: error", "")
    told = json.loads(data)["error"]["message"]
    assert told == "127.0.0.1: an event of the stream has more than 67,108,864 bytes, the most that is read"


ODD = (
    {"accept": "\xff"}, {"content-type": "a\xe9"}, {"openai-beta": "\x80"}, {"anthropic-version": "\xa0"},
    {"x-stainless-retry-count": "9" * 5000}, {"x-stainless-retry-count": "\xb2"}, {"authorization": "\xff"},
    {"openai-beta": ""},
)  # fmt: skip


@pytest.mark.parametrize(
    "odd", ODD, ids=[f"{place}:{name}" for place, each in enumerate(ODD) for name in each]
)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/v1/mod%00els", "/v1/models/a%7Fb"])
def test_odd_headers_and_paths_are_answered_in_a_providers_form(
    url: str, odd: dict[str, str], path: str
) -> None:
    headers = {name.encode(): value.encode("latin-1") for name, value in {**HEADERS, **odd}.items()}
    method = "POST" if path.endswith("completions") else "GET"
    answer = httpx2.request(method, url + path, content=HELLO, headers=list(headers.items()), timeout=60)
    assert answer.status_code != 500
    if answer.status_code >= 400:
        assert answer.json()["error"]["message"]


SIZE = 1 << 19
"""Of what is large here."""
CARRIES = {"_serve", "_forward", "_known", "events", "gathered", "take", "whole", "read"}
"""Functions that hand on what is large, and look at nothing of it."""


class Answers(BaseHTTPRequestHandler):
    """Answers with much: what, the path says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        kind = self.path.split("/")[1]
        said: Any = {"model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
        said |= {"choices": [{"message": {"content": "a boat\u00e9 " * (SIZE // 8)}}]}
        if kind == "vectors":
            said = {"data": [{"embedding": [0.123456789] * 1000} for _ in range(SIZE // 10000)]}
        content = json.dumps(said).encode()
        content = b"data: %b\n\ndata: [DONE]\n\n" % content if kind == "events" else content
        self.send_response(400 if kind == "error" else 200)
        self.send_header("content-type", "text/event-stream" if kind == "events" else "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.mark.parametrize("kind", ["plain", "vectors", "error", "events", "request"])
def test_nothing_large_is_looked_at_where_others_wait(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    seen = set()

    def watch(frame: FrameType, event: str, given: object) -> None:
        name = str(frame.f_globals.get("__name__"))
        if threading.current_thread().name != "gateway" or not name.startswith(("ltm_bench.", "json")):
            return
        values = {"call": [*frame.f_locals.values()], "return": [given]}.get(event, [])
        if any(isinstance(each, str | bytes) and len(each) > SIZE // 2 for each in values):
            seen.add(frame.f_code.co_name)

    text = "h" * (SIZE if kind == "request" else 1)
    said = {"model": "m", "messages": [{"role": "user", "content": text}]}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    threading.setprofile(watch)  # of threads that begin from here on
    try:
        with gateway(f"http://127.0.0.1:{server.server_port}/{kind}", tmp_path / "answers.sqlite") as place:
            for path in ("chat/completions", "chat/completions", "embeddings", "messages", "models"):
                method = "GET" if path == "models" else "POST"
                answer = httpx2.request(method, f"{place}/v1/{path}", json=said, headers=HEADERS, timeout=60)
                assert answer.status_code == (400 if kind == "error" else 200)
                assert (len(answer.content) > SIZE) == (kind != "error")
    finally:
        threading.setprofile(None)
        server.shutdown()
        server.server_close()
    assert seen <= CARRIES
    if kind == "error":
        assert "bytes, more than an error is given to say" in answer.json()["error"]["message"]
