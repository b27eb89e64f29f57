"""Memory products that run here, and extract what to remember with a model of an OpenAI-compatible server."""

from collections.abc import Callable, Sequence
from typing import Any

from ltm_bench.adapters.endpoint import Endpoint
from ltm_bench.adapters.memories.embeddings import CountedEmbedder
from ltm_bench.adapters.memories.product import MemoryProduct
from ltm_bench.adapters.sdk_chat import sdk_client
from ltm_bench.adapters.settings import Inheriting, at_least
from ltm_bench.adapters.usage import usage_of
from ltm_bench.core.messages import Turn, Usage


class ExtractingProduct(Inheriting, MemoryProduct):
    """Base of the adapters of products that extract with a model; what their calls use is billed with the next reply.

    Subclasses `count` each call, and record in the ledger what a turn has used: `{"spent": self._tally.turn()}`.

    Args:
        model: The model that extracts, as the server knows it.
        core: The adapter that answers, and its model; default: openai and the same model.
        base_url: The OpenAI-compatible server of models and embeddings; default: OPENAI_BASE_URL, else OpenAI's.
        embedder: The name of an embedding model there, `local`, `wordllama`, or `python:module:callable`.
        dimensions: The embedder's dimensions; `local` and `wordllama` know theirs.
        timeout: Seconds to wait for one answer of the extracting model, of the embedder, and of the core.
        max_retries: Retries of a failed request.
        settings: Those of every `MemoryProduct`.
    """

    keeps_users = True

    def __init__(
        self,
        *,
        model: str,
        core: str = "",
        base_url: str | None = None,
        embedder: str = "text-embedding-3-small",
        dimensions: int = 1536,
        timeout: float = 120.0,
        max_retries: int = 4,
        **settings: Any,
    ) -> None:
        at_least(self.adapter_name(), dimensions=(dimensions, 1))
        endpoint = Endpoint.openai(model, base_url=base_url, timeout=timeout, max_retries=max_retries)
        patience = {"timeout": timeout, "max_retries": max_retries}
        super().__init__(
            endpoint, {"base_url": base_url, **patience}, core=core or f"openai:{model}", **settings
        )
        self._embedder = CountedEmbedder(embedder, endpoint, self._tally, dimensions)
        self._client: Any = None

    def connect(self) -> Any:
        """Return a client of the server, which is closed with the agent."""
        import openai

        self._client = sdk_client(openai.AsyncOpenAI, openai.DefaultAsyncHttpxClient, self.endpoint)
        return self._client

    def count(self, answer: Any) -> None:
        """Count the usage of an answer of Chat Completions or of embeddings."""
        spent = getattr(answer, "usage", None)
        if spent is None:
            self._tally.add(None)
            return
        details = getattr(spent, "prompt_tokens_details", None)
        self._tally.add(
            usage_of(
                prompt=spent.prompt_tokens,
                output=getattr(spent, "completion_tokens", 0),  # embeddings have none
                cache_read=getattr(details, "cached_tokens", 0),
                model=answer.model or self.endpoint.model,
                provider="openai" if self.endpoint.is_list_priced else None,
            )
        )

    async def resumed(self, turns: Sequence[Turn]) -> None:
        """Restore the usage of extraction since the last reply, which the next reply is billed for."""
        self._tally.owe(turns, [(heard.data or {}).get("spent", ()) for heard in self._ledger.heard])

    def billed(self, usage: Usage | None) -> Usage | None:
        """Add the product's usage since the last reply."""
        return self._tally.settle(usage)

    def billed_apart(self) -> Callable[[Usage | None], Usage | None]:
        """Exclude the lookup just made from the usage of the next reply."""
        return self._tally.apart()

    async def close(self) -> None:
        """Close the connections."""
        await super().close()
        await self._embedder.close()
        if self._client is not None:
            await self._client.close()
