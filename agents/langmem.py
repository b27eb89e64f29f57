"""LangMem: a model updates a store of memories after every turn; a core model gets those nearest to a message.

LangMem's memory store manager runs in this process, on LangGraph's in-memory store. It manages memories with `model`,
from an OpenAI-compatible server; the same model answers unless `core` names another. The changes that each turn makes
to the store are recorded in the run's folder, so that a resumed run can restore it.

The manager's tokens are part of a reply's usage; those of observed turns are part of the next reply's. Embedding is
reported separately.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ltm_bench import Memory, Turn, Usage
from ltm_bench.adapters import (
    ConfigError,
    ExtractingProduct,
    at_least,
    chat_messages,
    is_about,
    need,
    sendable,
    usage_of,
    utterances_in,
)


class LangMem(ExtractingProduct):
    """Remembers what LangMem's manager keeps, separately for every user, and answers through another adapter.

    Args:
        looked_at: Number of memories that the manager looks at before it changes any (LangMem's query_limit).
        deletes: Whether the manager may delete memories; LangMem's own default is no.
        settings: Those of every `ExtractingProduct`; the model must call tools.
    """

    package = "langmem"
    can_reopen = False  # its store lives in this process

    def __init__(self, *, looked_at: int = 5, deletes: bool = False, **settings: Any) -> None:
        at_least("langmem", looked_at=(looked_at, 4))  # below that, LangMem looks at none
        super().__init__(**settings)
        self._looked_at, self._deletes = looked_at, deletes
        self._told: dict[str, tuple[int, datetime, str | None]] = {}
        self._failures: list[BaseException] = []

    async def open(self, home: Path) -> None:
        """Import LangMem, and make its manager over an empty store; `restore` fills it."""
        need("langmem", "langmem")
        need("langmem", "langchain_openai")
        import openai

        await super().open(home)
        self._http = openai.DefaultAsyncHttpxClient(timeout=self.endpoint.timeout)
        self._make()

    def _make(self) -> None:
        """Make an empty store, and the model that manages it."""
        place = self.endpoint
        memory = need("langmem", "langgraph.store.memory")
        chat = need("langmem", "langchain_openai")
        changes = self._changes = dict[str, Any]()
        put = need("langmem", "langgraph.store.base").PutOp

        class Store(memory.InMemoryStore):  # type: ignore[name-defined,misc]  # its package is imported only here
            """LangGraph's store, with a record of its changes."""

            async def abatch(self, ops: Iterable[Any]) -> list[Any]:
                ops = list(ops)
                results: list[Any] = await super().abatch(ops)
                changes.update({op.key: op.value for op in ops if isinstance(op, put)})
                return results

        self._store = Store(index={"dims": self._embedder.dimensions, "embed": self._vectors})
        self._model = chat.ChatOpenAI(
            model=place.model,
            base_url=place.url,
            api_key=lambda: place.key,  # not a string, so that no repr contains it
            timeout=place.timeout,
            max_retries=place.max_retries,
            http_async_client=self._http,  # LangChain's own would be shared with other runs
            http_socket_options=(),  # otherwise it would ignore a proxy, and warn
        )
        self._managers: dict[str | None, Any] = {}

    def _space(self, user: str | None) -> tuple[str, ...]:
        """Return the namespace of a user's memories in the store."""
        return ("ltm-bench", self._name, "everybody" if user is None else f"user {user}")

    def _manager(self, user: str | None) -> Any:
        """Return the manager of a user's memories."""
        if user not in self._managers:
            self._managers[user] = need("langmem", "langmem").create_memory_store_manager(
                self._model,
                namespace=self._space(user),
                store=self._store,
                query_limit=self._looked_at,
                enable_deletes=self._deletes,
            )
        return self._managers[user]

    async def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        rows = await self._embedder.embed(texts)
        if wrong := self._embedder.misfit(rows):
            raise ConfigError(f"langmem: {wrong}")
        return rows

    def _note(self, turn: Turn, changes: dict[str, Any]) -> None:
        for name, value in changes.items():
            if value is None:
                self._told.pop(name, None)
            else:
                self._told[name] = (turn.message.turn, turn.message.at, turn.message.user)

    def _counter(self) -> Any:
        """Return the callback that LangChain invokes after every model call."""
        failures = self._failures
        tally, provider = self._tally, "openai" if self.endpoint.is_list_priced else None
        base: Any = need("langmem", "langchain_core.callbacks").BaseCallbackHandler

        class Counter(base):  # type: ignore[misc]  # its package is imported only here
            """Counts the tokens of a call and keeps its error."""

            def on_llm_end(self, response: Any, **more: Any) -> None:
                for each in response.generations:
                    tally.add(_usage(each[0].message, provider))

            def on_llm_error(self, error: BaseException, **more: Any) -> None:
                failures.append(error)

        return Counter()

    # The agent

    async def hear_session(self, turns: Sequence[Turn]) -> None:
        """Pass a session to the manager once it has ended, as LangMem advises."""
        *before, last = turns
        said = chat_messages(utterances_in(turns))
        self._changes.clear()
        self._failures.clear()
        self._ledger.begin(turns[0].message.turn)
        try:
            with need("langmem", "langsmith").tracing_context(enabled=False):
                manager = self._manager(last.message.user)
                await manager.ainvoke({"messages": said}, config={"callbacks": [self._counter()]})
        except ConfigError:
            raise
        except Exception as error:  # LangChain's, LangGraph's, the SDK's
            raise self.endpoint.explain(next(iter(self._failures), error)) from error
        if self._failures:  # LangMem treats them as mistakes of the model and continues
            raise self.endpoint.explain(self._failures[0])
        self._note(last, self._changes)
        known = {"changes": dict(self._changes), "spent": self._tally.turn()}
        self._ledger.finish(last, known, with_it=before)

    async def cut_back(self, turns: Sequence[Turn]) -> int:
        """Keep only the changes of these turns; `resumed` rebuilds the store from them."""
        kept = self._ledger.whole(len(turns))  # a session cut in the middle is managed again
        self._ledger.cut(kept)
        return kept

    async def resumed(self, turns: Sequence[Turn]) -> None:
        """Rebuild the store from the recorded changes of every turn."""
        if self._restored:
            self._make()
            self._told.clear()
        kept: dict[str, Any] = {}
        for heard, turn in zip(self._ledger.heard, turns, strict=True):
            changes = (heard.data or {}).get("changes", {})  # those of a session are with its last turn
            kept.update(changes)
            self._note(turn, changes)
        for name, value in kept.items():
            if value is not None:
                await self._store.aput(self._space(self._told[name][2]), name, value)
        await super().resumed(turns)

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return the nearest memories of a user."""
        if not query.strip():
            return []
        with self.endpoint.explaining():
            found = await self._store.asearch(self._space(user), query=sendable(query), limit=limit)
        return [self._memory(item) for item in found]

    def _memory(self, item: Any) -> Memory:
        turn, at, user = self._told.get(item.key, (None, None, None))
        content = item.value.get("content", item.value)
        text = content.get("content", content) if isinstance(content, dict) else content
        return Memory(str(text), at, turn, item.score, id=item.key, user=user)

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over all memories of all users."""
        for item in await self._store.asearch(("ltm-bench", self._name), limit=10_000_000):
            yield self._memory(item)

    async def forget(self, query: str) -> int:
        """Delete the memories that mention something; a resumed run does not restore them."""
        gone = [each async for each in self.memories() if is_about(each.text, query)]
        for memory in gone:
            assert memory.id is not None
            await self._store.adelete(self._space(memory.user), memory.id)
            self._told.pop(memory.id, None)
            self._ledger.heard[-1].data["changes"][memory.id] = None
        if gone:
            self._ledger.cut(len(self._ledger.heard))  # rewritten
        return len(gone)


def _usage(message: Any, provider: str | None) -> Usage | None:
    spent = message.usage_metadata
    if not spent:
        return None
    return usage_of(
        prompt=spent["input_tokens"],
        output=spent["output_tokens"],
        cache_read=(spent.get("input_token_details") or {}).get("cache_read"),
        reasoning=(spent.get("output_token_details") or {}).get("reasoning"),
        model=message.response_metadata.get("model_name"),
        provider=provider,
    )
