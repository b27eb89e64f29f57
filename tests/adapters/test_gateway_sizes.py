"""The gateway reads no more than its limit of anybody, and a large or slow one does not hold up others."""

import json
import socket
from collections.abc import Iterator

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
