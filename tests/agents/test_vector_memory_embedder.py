"""The agent with a vector store and an embedding model."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters import hashing
from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError
from ltm_bench.core.tokens import counter

if TYPE_CHECKING:
    from tests.conftest import Talk
    from tests.vectors import trivia
else:
    from vectors import trivia

Start = Callable[..., "Talk"]


class Embeddings(BaseHTTPRequestHandler):
    """A fake embedding model: the local embedder's vectors, three times as long, in any order."""

    texts: list[str]
    requests: list[int]
    """The number of texts of each."""
    status = 200

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        type(self).texts += asked["input"]
        type(self).requests.append(len(asked["input"]))
        rows = hashing.embed(asked["input"]) * 3
        data = [{"object": "embedding", "index": i, "embedding": row.tolist()} for i, row in enumerate(rows)][
            ::-1
        ]
        usage = {"prompt_tokens": 7 * len(rows), "total_tokens": 7 * len(rows)}
        answer = {"object": "list", "data": data, "model": asked["model"], "usage": usage}
        body = json.dumps(answer).encode()
        self.send_response(self.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def embeddings() -> Iterator[tuple[str, type[Embeddings]]]:
    handler = type("Fresh", (Embeddings,), {"texts": [], "requests": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_session_is_embedded_in_one_request(
    embeddings: tuple[str, type[Embeddings]], key: str, talk_to: Start
) -> None:
    url, handler = embeddings
    talk = talk_to("vector_memory", embedder="openai:some-model", base_url=url)
    talk.observe_session(*(f"My cousin number {number} lives in Ribe." for number in range(5)))
    assert len(handler.requests) == 1
    assert len(handler.texts) >= 5


def test_another_embedder_works_the_same_way(
    embeddings: tuple[str, type[Embeddings]], key: str, talk_to: Start
):
    url, handler = embeddings
    talk = talk_to("vector_memory", embedder="openai:some-model", base_url=url)
    assert talk.say("My boat is called Undine.").usage is not None
    talk.observe(trivia(0, 5), "Noted.")
    reply = talk.say("What is my boat called?")
    assert "Undine" in reply.text
    assert handler.texts.count("My boat is called Undine.") == 1
    assert reply.usage is not None
    count = counter().count
    first, filler = talk.turns[0], talk.turns[1]
    said = [
        first.message.text,
        *first.reply.text.splitlines(),
        *filler.message.text.splitlines(),
        filler.reply.text,
    ]
    embedded = sum(map(count, said)) + count("What is my boat called?")
    assert reply.usage.provider is None
    assert reply.usage.prompt == pytest.approx(embedded, abs=9)  # passages are not cut exactly as lines are
    reserve = talk.reserve("What is it?")
    assert reserve is not None
    assert reserve.prompt >= count("What is it?")


@pytest.mark.parametrize("kept", [1, 3, 4])
def test_a_resumed_run_embeds_the_same_texts(
    embeddings: tuple[str, type[Embeddings]], key: str, talk_to: Start, kept: int
):
    url, _ = embeddings

    def talk() -> "Talk":
        return talk_to("vector_memory", embedder="openai:some-model", base_url=url)

    whole = talk()
    whole.say("My boat is called Undine.")
    for number in (0, 5):
        whole.observe(trivia(number, 5), "Noted.")
        whole.turns[-1] = replace(whole.turns[-1], kind="fill")
    whole.say("What is my boat called?")
    whole.say("And what did I ask before?")
    again = talk()
    again.restore(whole.turns[:kept])
    for turn in whole.turns[kept:]:
        if turn.kind == "fill":
            again.observe(turn.message.text, turn.reply.text)
        else:
            assert again.say(turn.message.text) == turn.reply


def test_an_embedder_that_fails_is_an_error_of_the_agent(
    embeddings: tuple[str, type[Embeddings]], key: str, talk_to: Start
):
    url, handler = embeddings
    handler.status = 401
    talk = talk_to("vector_memory", embedder="openai:some-model", base_url=url)
    with pytest.raises(AgentError, match=r"some-model at 127\.0\.0\.1: HTTP 401"):
        talk.say("What is my boat called?")


def test_a_reply_that_was_paid_for_is_not_lost_when_it_cannot_be_embedded(
    server: Provider, key: str, talk_to: Start
):
    def answer(messages: Sequence[dict[str, str]]) -> str:
        server.fail(status=500)  # whichever comes next
        return "Noted: Undine."

    server.answer = answer
    talk = talk_to(
        "vector_memory",
        embedder="openai:text-embedding-3-small",
        core="openai_chat:some-model",
        base_url=server.openai_url,
        max_retries=0,
    )
    assert talk.say("My boat is called Undine.").text == "Noted: Undine."
    with pytest.raises(AgentError, match="HTTP 500"):
        talk.say("What is my boat called?")
    assert len(server.chats) == 1  # the core was not asked to answer without a memory
    talk.say("What is my boat called?")
    assert "Noted: Undine." in server.chats[-1].messages[-1]["content"]


def test_an_embedder_keeps_to_its_retries(embeddings: tuple[str, type[Embeddings]], key: str, talk_to: Start):
    url, handler = embeddings
    handler.status = 500
    talk = talk_to("vector_memory", embedder="openai:some-model", base_url=url, timeout=5, max_retries=1)
    with pytest.raises(AgentError, match=r"HTTP 500, the provider failed, after 1 retry"):
        talk.say("What is my boat called?")
    assert handler.texts == ["What is my boat called?"] * 2
