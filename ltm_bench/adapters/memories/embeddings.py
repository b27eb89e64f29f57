"""Text to vectors, by name: embeddings on this machine, a model behind a URL, or a user's own callable."""

from __future__ import annotations

import asyncio
import importlib
from base64 import b64decode
from collections.abc import Callable, Sequence
from struct import iter_unpack
from typing import TYPE_CHECKING, Any, cast

from ltm_bench.adapters import hashing, wordllama
from ltm_bench.adapters.endpoint import Endpoint
from ltm_bench.adapters.ledger import Tally
from ltm_bench.adapters.sdk_chat import sdk_client
from ltm_bench.adapters.usage import usage_in
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import BODY, answers_of
from ltm_bench.core.messages import Usage

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Embedder = Callable[[Sequence[str]], "ArrayLike"]
"""Texts in, one row of numbers for each out."""

_OURS: dict[str, tuple[Embedder, int]] = {
    "local": (hashing.embed, hashing.DIMENSIONS),
    "wordllama": (wordllama.embed, wordllama.DIMENSIONS),
}
"""Local embedders, and the dimensions of their vectors."""

_PYTHON = "python:"
_BATCH = 256
"""Texts per request, unless the server refuses as many: some take 32 at most."""

_TOO_MANY = (400, 413, 422)
"""Statuses of a request with too many texts."""


def is_local(name: str) -> bool:
    """Whether an embedder of this name runs in this process: `local`, `wordllama`, or `python:module:callable`."""
    return name in _OURS or name.startswith(_PYTHON)


def dimensions_of(name: str, otherwise: int) -> int:
    """Return the dimensions of an embedder's vectors, or `otherwise` if unknown."""
    return _OURS[name][1] if name in _OURS else otherwise


def embedder_of(name: str = "local", base_url: str | None = None) -> Embedder:
    """Return an embedder for synchronous code. Raises ConfigError if it is not available.

    Args:
        name: `local`, `wordllama`; `python:module:callable`; else the name of a model at `base_url`.
        base_url: An OpenAI-compatible server, OpenAI's own if left out. The key is OPENAI_API_KEY.
    """
    if not is_local(name):
        model = EmbeddingModel(name, base_url)

        def embed(texts: Sequence[str]) -> list[list[float]]:
            return asyncio.run(_once(model, texts))

        return embed
    if name in _OURS:
        return _OURS[name][0]
    module, colon, attribute = name.removeprefix(_PYTHON).partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"embedder {name}: {error}; write it as python:module:callable") from error
    if not colon or not callable(found):
        raise ConfigError(f"embedder {name}: write it as python:module:callable")
    return cast(Embedder, found)


async def _once(model: EmbeddingModel, texts: Sequence[str]) -> list[list[float]]:
    """Embed, then close the connections, which cannot outlive this event loop."""
    try:
        return await model.embed(texts)
    finally:
        await model.close()


class EmbeddingModel:
    """A model behind OpenAI's API, or a compatible server."""

    def __init__(
        self, model: str, base_url: str | None = None, *, timeout: float = 60.0, max_retries: int = 4
    ) -> None:
        self.endpoint = Endpoint.openai(model, base_url=base_url, timeout=timeout, max_retries=max_retries)
        self.tokens: int | None = 0
        """Tokens embedded according to the server; None once it did not say."""
        self._client: Any = None
        self._most = _BATCH

    def usage(self, tokens: int) -> Usage:
        """Return the usage of embedding this many tokens."""
        vendor = "openai" if self.endpoint.is_list_priced else None
        return Usage(uncached=tokens, model=self.endpoint.model, provider=vendor)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text. Raises AgentError."""
        import openai

        if self._client is None:
            self._client = sdk_client(openai.AsyncOpenAI, openai.DefaultAsyncHttpxClient, self.endpoint)
        rows: list[list[float]] = []
        try:
            while len(rows) < len(texts):
                # The API rejects empty texts.
                rows += await self._batch([text or " " for text in texts[len(rows) : len(rows) + self._most]])
            return rows
        except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
            raise self.endpoint.explain(error) from error

    async def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed some texts; if the server refuses as many, embed the first half, and send no more from then on."""
        import openai

        try:
            with answers_of(BODY):  # vectors are longer than replies
                answer = await self._client.embeddings.create(
                    input=texts, model=self.endpoint.model, encoding_format="float"
                )
        except openai.APIStatusError as error:
            if len(texts) == 1 or error.status_code not in _TOO_MANY:
                raise
            self._most = len(texts) // 2
            return await self._batch(texts[: self._most])
        places = [getattr(item, "index", None) for item in answer.data or ()]
        if len(places) != len(texts):
            raise ValueError(f"{len(places)} vectors for {len(texts)} texts")
        spent = usage_in(getattr(answer, "usage", None), "chat", model=None, provider=None, replies=False)
        self.tokens = None if self.tokens is None or spent is None else self.tokens + spent.prompt
        found = list(map(_numbers, answer.data))
        if len(sizes := {*map(len, found)}) > 1 or 0 in sizes:
            raise ValueError(f"vectors of {' and '.join(map(str, sorted(sizes)))} numbers")
        # Some servers leave out the places, or count each text by itself; then the vectors are in order.
        return found if len({*places}) == 1 else [found[places.index(n)] for n in range(len(texts))]

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


class CountedEmbedder:
    """A product's embedder: one on this machine, or a model at a server, whose usage is counted."""

    def __init__(self, name: str, endpoint: Endpoint, tally: Tally, dimensions: int) -> None:
        """Find the embedder. Raises ConfigError if it is not available.

        Args:
            name: `local`, `wordllama`; `python:module:callable`; else the name of a model at the endpoint.
            endpoint: Where that is, and how long to wait for it.
            tally: Counts the usage of the model.
            dimensions: The dimensions of its vectors, unless the embedder's are known.
        """
        self.name, self.dimensions, self._tally = name, dimensions_of(name, dimensions), tally
        self._local = embedder_of(name) if is_local(name) else None
        patience: dict[str, Any] = {"timeout": endpoint.timeout, "max_retries": endpoint.max_retries}
        self._remote = EmbeddingModel(name, endpoint.url, **patience) if self._local is None else None

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine, and costs nothing."""
        return self._local is not None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of length 1 per text. Raises AgentError."""
        if self._remote is None:
            return self.embed_here(texts)
        if not texts:
            return []
        before = self._remote.tokens
        rows = await self._remote.embed(texts)
        after = self._remote.tokens
        self._tally.add(None if before is None or after is None else self._remote.usage(after - before))
        return _plain(rows)

    def embed_here(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of length 1 per text, of an embedder on this machine."""
        assert self._local is not None
        return _plain(self._local(texts)) if texts else []

    def misfit(self, rows: Sequence[Sequence[float]]) -> str:
        """Return what is wrong with the length of vectors; empty if nothing is."""
        odd = next((len(row) for row in rows if len(row) != self.dimensions), None)
        return "" if odd is None else f"the embedder's vectors have {odd} numbers; set dimensions={odd}"

    async def close(self) -> None:
        """Close the connections."""
        if self._remote is not None:
            await self._remote.close()


def _numbers(item: Any) -> list[float]:
    """Return the vector of an answer; some servers send it as base64, whatever they are asked for."""
    if not isinstance(item.embedding, str):
        return list(map(float, item.embedding))
    return [number for (number,) in iter_unpack("<f", b64decode(item.embedding, validate=True))]


def _plain(rows: ArrayLike) -> list[list[float]]:
    return [list(map(float, row)) for row in hashing.whole(rows)]
