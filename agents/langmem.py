"""LangMem: a model keeps a store of memories up to date after every turn; those near to a message go to a core model.

LangMem's memory store manager runs in this process, over LangGraph's in-memory store. It manages with `model`, from an
OpenAI-compatible server, and the same model answers unless `core` names another. What a turn changed in the store is
written into the run's folder, so that a run is resumed with the store as it was.

The tokens of managing are part of a reply's usage, those of turns that were only observed of the next reply's. What
embedding takes stands beside it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ltm_bench.adapters import embedding
from ltm_bench.adapters.answerer import Core
from ltm_bench.adapters.embedders import embedder as embedder_of
from ltm_bench.adapters.endpoint import Endpoint, stamped
from ltm_bench.adapters.extras import installed, need
from ltm_bench.adapters.http import sendable
from ltm_bench.adapters.ledger import Ledger, Tally, name_in
from ltm_bench.core.agent import Agent, Finding, Memory
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Message, Reply, Turn, Usage


class LangMem(Agent):
    """Remembers what LangMem's manager keeps, and answers through another adapter.

    model       the model that manages the memories, as the server knows it; it must call tools
    core        the adapter that answers, and its model; default: openai_chat and the same model
    base_url    the OpenAI-compatible server of models and embeddings; default: OPENAI_BASE_URL, else OpenAI's
    embedder    the name of an embedding model there, `local`, or `python:module:callable`
    dimensions  how long the embedder's vectors are; `local` knows it
    memories    how many memories are recalled for a message
    looked_at   how many memories the manager looks at before it changes any (LangMem's query_limit)
    deletes     whether the manager may delete memories; LangMem's own default is that it may not
    recent      how many of the newest turns the core sees word for word
    window      tokens of the prompt that the core gets, its reply not counted
    timeout     seconds to wait for one answer of the managing model
    max_retries how often a failed request is sent again
    """

    def __init__(
        self,
        *,
        model: str,
        core: str = "",
        base_url: str | None = None,
        embedder: str = "text-embedding-3-small",
        dimensions: int = 1536,
        memories: int = 20,
        looked_at: int = 5,
        deletes: bool = False,
        recent: int = 4,
        window: int = 8192,
        timeout: float = 120.0,
        max_retries: int = 4,
    ) -> None:
        for name, value, least in (
            ("memories", memories, 1),
            ("looked_at", looked_at, 4),  # below that LangMem looks at none
            ("recent", recent, 0),
            ("window", window, 256),
            ("dimensions", dimensions, 1),
        ):
            if value < least:
                raise ConfigError(f"langmem: {name} = {value}, but at least {least} is needed")
        self._endpoint = Endpoint(
            model=model,
            base_url=base_url,
            url_variable="OPENAI_BASE_URL",
            vendor_url="https://api.openai.com/v1",
            key_variable="OPENAI_API_KEY",
            timeout=timeout,
            max_retries=max_retries,
        )
        self._core = Core(core or f"openai_chat:{model}", {"base_url": base_url}, window)
        self._embedder = embedder
        self._embed = embedder_of(embedder, None if embedder == "local" else self._endpoint.url)
        self._dimensions = embedding.DIMENSIONS if embedder == "local" else dimensions
        self._memories, self._looked_at, self._deletes = memories, looked_at, deletes
        self._recent: deque[Turn] = deque(maxlen=recent)
        self._told: dict[str, tuple[int, datetime]] = {}
        self._tally = Tally()
        self._failures: list[BaseException] = []
        self._http: Any = None
        self._restored = False

    async def open(self, home: Path) -> None:
        """Import LangMem, and make its manager over an empty store; `restore` fills it."""
        need("langmem", "langmem")
        need("langmem", "langchain_openai")
        import openai

        self._home = home
        self._name = name_in(home)
        self._space = ("ltm-bench", self._name)
        self._ledger = Ledger(home / "heard.jsonl")
        self._http = openai.DefaultAsyncHttpxClient(timeout=self._endpoint.timeout)
        self._make()

    def _make(self) -> None:
        """Make the manager and its store anew."""
        langmem, place = need("langmem", "langmem"), self._endpoint
        memory = need("langmem", "langgraph.store.memory")
        chat = need("langmem", "langchain_openai")
        changes = self._changes = dict[str, Any]()
        put = need("langmem", "langgraph.store.base").PutOp

        class Store(memory.InMemoryStore):  # type: ignore[name-defined,misc]  # its package is imported only here
            """LangGraph's store, which notes what was changed in it."""

            async def abatch(self, ops: Iterable[Any]) -> list[Any]:
                ops = list(ops)
                results: list[Any] = await super().abatch(ops)
                changes.update({op.key: op.value for op in ops if isinstance(op, put)})
                return results

        self._store = Store(index={"dims": self._dimensions, "embed": self._vectors})
        self._model = chat.ChatOpenAI(
            model=place.model,
            base_url=place.url,
            api_key=lambda: place.key,  # not a string, so that no repr has it
            timeout=place.timeout,
            max_retries=place.max_retries,
            http_async_client=self._http,  # LangChain's own would be shared with other runs
            http_socket_options=(),  # or it would overlook a proxy, and say so
        )
        self._manager = langmem.create_memory_store_manager(
            self._model,
            namespace=self._space,
            store=self._store,
            query_limit=self._looked_at,
            enable_deletes=self._deletes,
        )

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        before = getattr(self._embed, "tokens", 0)
        rows = [list(map(float, row)) for row in embedding.whole(self._embed(texts))] if texts else []
        self._count(before, getattr(self._embed, "tokens", 0))
        if any(len(row) != self._dimensions for row in rows):
            raise ConfigError(
                f"langmem: the embedder's vectors have {len(rows[0])} numbers; set dimensions={len(rows[0])}"
            )
        return rows

    def _count(self, before: int | None, after: int | None) -> None:
        """Count what was embedded; an embedder on this machine says nothing of tokens, and costs nothing."""
        if before is None or after is None:
            self._tally.add(None)
        elif after > before:
            provider = "openai" if self._endpoint.is_list_priced else None
            self._tally.add(Usage(uncached=after - before, model=self._embedder, provider=provider))

    async def _manage(self, turn: Turn) -> None:
        messages = need("langmem", "langchain_core.messages")
        said = [messages.HumanMessage(sendable(stamped(turn.message)))]
        if turn.reply.text.strip():
            said.append(messages.AIMessage(sendable(turn.reply.text)))
        self._changes.clear()
        self._failures.clear()
        self._ledger.begin(turn.message.turn)
        try:
            with need("langmem", "langsmith").tracing_context(enabled=False):
                await self._manager.ainvoke({"messages": said}, config={"callbacks": [self._counter()]})
        except ConfigError:
            raise
        except Exception as error:
            raise self._endpoint.explain(next(iter(self._failures), error)) from error
        if self._failures:  # LangMem takes them for mistakes of the model's, and goes on
            raise self._endpoint.explain(self._failures[0])
        self._note(turn, self._changes)
        self._ledger.finish(turn, {"changes": dict(self._changes), "spent": self._tally.turn()})

    def _note(self, turn: Turn, changes: dict[str, Any]) -> None:
        for name, value in changes.items():
            if value is None:
                self._told.pop(name, None)
            else:
                self._told[name] = (turn.message.turn, turn.message.at)

    def _counter(self) -> Any:
        """Return what LangChain calls back after every call to a model."""
        failures = self._failures
        tally, provider = self._tally, "openai" if self._endpoint.is_list_priced else None
        base: Any = need("langmem", "langchain_core.callbacks").BaseCallbackHandler

        class Counter(base):  # type: ignore[misc]  # its package is imported only here
            """Counts the tokens of a call, and keeps what it failed with."""

            def on_llm_end(self, response: Any, **more: Any) -> None:
                for each in response.generations:
                    tally.add(_usage(each[0].message, provider))

            def on_llm_error(self, error: BaseException, **more: Any) -> None:
                failures.append(error)

        return Counter()

    # The agent

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Bring the store to where it was after these turns; those that are missing are managed now."""
        turns = list(turns)
        agreed = self._ledger.agreed(turns)
        if self._restored:
            self._make()
            self._told.clear()
        if not self._ledger.clean(agreed):
            self._ledger.cut(agreed)
        self._restored = True
        kept: dict[str, Any] = {}
        for heard, turn in zip(self._ledger.heard, turns, strict=False):
            kept.update(heard.data["changes"])
            self._note(turn, heard.data["changes"])
        for name, value in kept.items():
            if value is not None:
                await self._store.aput(self._space, name, value)
        self._recent.extend(turns[:agreed])
        self._tally.owe(turns[:agreed], [heard.data["spent"] for heard in self._ledger.heard])
        for turn in turns[agreed:]:
            await self.observe(turn)

    async def observe(self, turn: Turn) -> None:
        """Have the manager look at a turn."""
        if not self._restored:  # a new conversation in a folder where an older one was broken off
            await self.restore(())
        await self._manage(turn)
        self._recent.append(turn)

    async def reply(self, message: Message) -> Reply:
        """Answer from the memories that are near, and have the manager look at the turn."""
        if not self._restored:
            await self.restore(())
        found = await self.recall(message.text, self._memories)
        prompt = self._core.prompt(message, found, self._recent)
        reply = await self._core.reply(self._home / "core", replace(message, text=prompt))
        await self.observe(Turn(message, reply))
        return replace(reply, usage=self._tally.settle(reply.usage))

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return the memories in the store that are nearest."""
        if not query.strip():
            return []
        try:
            found = await self._store.asearch(self._space, query=sendable(query), limit=limit)
        except ConfigError:
            raise
        except Exception as error:
            raise self._endpoint.explain(error) from error
        memories = []
        for item in found:
            turn, at = self._told.get(item.key, (None, None))
            content = item.value.get("content", item.value)
            text = content.get("content", content) if isinstance(content, dict) else content
            memories.append(Memory(str(text), at, turn, item.score))
        return memories

    async def examine(self) -> Sequence[Finding]:
        """Say whether LangMem is installed."""
        return [Finding(*installed("langmem", "langmem"))]

    async def close(self) -> None:
        """Close the connections."""
        await self._core.close()
        if self._http is not None:
            await self._http.aclose()


def _usage(message: Any, provider: str | None) -> Usage | None:
    spent = message.usage_metadata
    if not spent:
        return None
    read = (spent.get("input_token_details") or {}).get("cache_read") or 0
    return Usage(
        uncached=spent["input_tokens"] - read,
        cache_read=read,
        output=spent["output_tokens"],
        reasoning=(spent.get("output_token_details") or {}).get("reasoning") or 0,
        model=message.response_metadata.get("model_name"),
        provider=provider,
    )
