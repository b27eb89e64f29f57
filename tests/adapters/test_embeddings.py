"""Embedders by name: local, a user's own, or a model behind a URL."""

import asyncio
from base64 import b64encode
from typing import Any

import numpy as np
import pytest

from ltm_bench import AgentError
from ltm_bench.adapters import ConfigError, EmbeddingModel, embedder_of, hashing, is_local
from ltm_bench.adapters.testing import Fault, Provider
from ltm_bench.adapters.testing.faults import RecordedRequest

TEXTS = ["My boat is called Undine.", "I like rain."]


@pytest.mark.parametrize("name", ["local", "python:ltm_bench.adapters.hashing:embed"])
def test_an_embedder_in_this_process_needs_no_server(name: str) -> None:
    assert is_local(name)
    assert np.array_equal(np.asarray(embedder_of(name)(TEXTS)), hashing.embed(TEXTS))


def test_a_model_can_be_asked_from_synchronous_code(server: Provider, key: str) -> None:
    assert not is_local("some-model")
    embed = embedder_of("some-model", server.openai_url)
    for _ in range(2):  # each on its own event loop
        assert np.allclose(np.asarray(embed(TEXTS)), hashing.embed(TEXTS), atol=1e-6)
    assert [request.path for request in server.requests] == ["/v1/embeddings"] * 2


def test_many_texts_are_sent_in_batches_and_an_empty_one_is_replaced(server: Provider, key: str) -> None:
    model = EmbeddingModel("some-model", server.openai_url)

    async def embed(texts: list[str]) -> int:
        rows = await model.embed(texts)
        await model.close()
        return len(rows)

    assert asyncio.run(embed(["word"] * 256 + [""])) == 257
    sent = [request.body["input"] for request in server.requests]
    assert [len(texts) for texts in sent] == [256, 1]
    assert sent[1] == [" "]
    assert model.tokens is not None
    assert model.tokens > 256
    assert model.usage(7).provider is None  # not OpenAI's own server


def test_a_model_that_fails_is_named_with_its_server_and_without_the_key(server: Provider, key: str) -> None:
    server.fail(status=401, message=f"the key {key} is wrong")
    with pytest.raises(AgentError, match=r"^some-model at 127\.0\.0\.1: HTTP 401") as raised:
        embedder_of("some-model", server.openai_url)(TEXTS)
    assert key not in str(raised.value)


@pytest.mark.parametrize("name", ["python:none:such", "python:ltm_bench", "python:ltm_bench:nothing"])
def test_a_missing_callable_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^embedder {name}: .*write it as python:module:callable"):
        embedder_of(name)


def test_the_vendors_own_server_needs_a_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set"):
        embedder_of("some-model")


def embedded(server: Provider, texts: list[str]) -> list[list[float]]:
    """Embed texts with a new model at the server."""
    found: list[list[float]] = np.asarray(embedder_of("some-model", server.openai_url)(texts)).tolist()
    return found


@pytest.mark.parametrize("form", ["reversed", "without places", "base64"])
def test_vectors_are_read_in_the_form_of_every_server(
    server: Provider, key: str, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    expected = embedded(server, TEXTS)
    plain = Provider.embeddings

    def other(self: Provider, body: dict[str, Any]) -> dict[str, Any]:
        answer = plain(self, body)
        rows = answer["data"]
        if form == "reversed":
            rows.reverse()
        for row in rows:
            if form == "without places":
                del row["index"]
            if form == "base64":
                row["embedding"] = b64encode(np.asarray(row["embedding"], "<f4").tobytes()).decode()
        return answer

    monkeypatch.setattr(Provider, "embeddings", other)
    assert np.allclose(embedded(server, TEXTS), expected, atol=1e-6)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_server_that_takes_few_texts_at_once_is_sent_few(
    server: Provider, key: str, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    plain = server.receive

    def receive(request: RecordedRequest) -> Fault | None:
        fault = plain(request)
        many = len(request.body.get("input", ())) > 32
        return Fault(status=status, message="batch size > maximum allowed batch size 32") if many else fault

    monkeypatch.setattr(server, "receive", receive)
    texts = [f"Text {n}." for n in range(100)]
    assert np.allclose(embedded(server, texts), hashing.embed(texts), atol=1e-6)
    sizes = [len(request.body["input"]) for request in server.requests]
    assert sizes == [100, 50, 25, 25, 25, 25]


def test_a_refusal_of_every_text_is_an_error(server: Provider, key: str) -> None:
    with (
        server.failing(status=400, message="no such field"),
        pytest.raises(AgentError, match="no such field"),
    ):
        embedded(server, ["One.", "Two."])
