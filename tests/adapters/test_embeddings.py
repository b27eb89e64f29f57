"""Embedders by name: local, a user's own, or a model behind a URL."""

import asyncio

import numpy as np
import pytest

from ltm_bench import AgentError
from ltm_bench.adapters import ConfigError, EmbeddingModel, embedder_of, hashing, is_local
from ltm_bench.adapters.testing import Provider

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
