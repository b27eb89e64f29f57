"""The toolkit for adapters: the built-in ones are made of it, and yours can be too.

An adapter is one file with one subclass of `Agent`; only `reply` is required. Everything it needs is in `ltm_bench`
(messages, replies, errors) and here. A model behind a URL, with the conversation in a window:

    \"\"\"Echo model: a chat server of our own.\"\"\"

    import httpx2
    from ltm_bench import Reply
    from ltm_bench.adapters import ChatModel, Endpoint, Prompt, client, usage_of

    class Ours(ChatModel):
        def __init__(self, *, model: str, base_url: str = "http://localhost:8000/v1", window: int = 32_000) -> None:
            endpoint = Endpoint.openai(model, base_url=base_url, timeout=60, max_retries=2)
            super().__init__(endpoint, window=window, max_output=1024, ratio=1.25)

        async def open(self, home):
            self._http = client(httpx2.AsyncClient, base_url=self.endpoint.url, timeout=60)

        async def ask(self, prompt: Prompt) -> Reply:
            body = prompt.request({"model": self.model}, "messages", system=True)
            with self.endpoint.explaining():
                answer = (await self._http.post("chat/completions", content=body)).raise_for_status().json()
                said, spent = answer["choices"][0]["message"]["content"], answer["usage"]
            used = usage_of(
                prompt=spent["prompt_tokens"], output=spent["completion_tokens"], model=self.model, provider=None
            )
            return Reply(said, used)

        async def close(self):
            await self._http.aclose()

By module:

- `chat`: `ChatModel`, a conversation in a window, and `SdkChatModel` for OpenAI's and Anthropic's SDKs; the usual
  system message, and `stamped`, which puts the date in front of a message.
- `endpoint`: `Endpoint`, a model behind a URL: address, key, deadlines, and one clear line for every failure.
- `tools`: `Toolbox`, tools that a chat model may call while it replies, up to a limit.
- `window`: `Window` and `Prompt`, the part of a conversation that fits, so that prompt caches hold. `compaction`:
  `Compacted`, a reply with the provider's summary of everything before it.
- `http`: a shared client that times its attempts, bounds answers in time and size, and can cache them;
  `retrying`.
- `json_of` reads untrusted JSON, and raises only ValueError.
- `read_key` reads a key from the environment, and `scrubbed` removes all known keys from a text.
- `usage`: `usage_of`, which turns a provider's token figures into `Usage`.
- `embeddings`: embedders by name; `hashing` is the local one, without a model; `wordllama` uses static embeddings.
- `passages`, `vector_store`: turns cut into passages, and a store of them; `sqlite_store` ranks them exactly,
  `chroma_store` by Chroma's index; `word_index` by words, with BM25. `shelf`: everything that a memory holds for one
  user.
- `answerer`: `Core`, another adapter that answers from a bounded prompt, for memories without a model of their own.
- `product`: `MemoryProduct`, which joins a memory product and a core; `ledger` records what a product has heard and
  used, so that a run can be resumed.
- `operations`: `operating`, which reports how long a memory writes, retrieves and answers, and its usage.
- `scratchpad`: queries and notes that a model writes for itself. `extractive`: answers by quoting, without a model.
- `FunctionAgent`: a function or callable object as an agent.
- `folder_journal`: a memory's files, and how every turn changed them.
- `mcp_server`: an MCP server and its tools; `mcp_roles`: which of them stores, searches, lists and deletes.
- `templates`: JSON requests to unknown tools, and their answers.
- `subjects`: `is_about`, whether a text is about something, by its words.
- `settings`: `at_least` and `object_set`, which check a number and a JSON object. `files`, `text`: small helpers.
  `need` imports an optional package.
- `testing`: a local model provider that fails on demand, for tests; import it by its own name.

The names below can be imported from here. Each is loaded on first use, so that an adapter imports no more than it
needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ltm_bench.adapters import extractive, hashing, wordllama
    from ltm_bench.adapters.answerer import Core, core_agent
    from ltm_bench.adapters.chat import SYSTEM, ChatModel, SdkChatModel, sdk_client, stamped
    from ltm_bench.adapters.chroma_store import ChromaStore
    from ltm_bench.adapters.compaction import Compacted
    from ltm_bench.adapters.embeddings import Embedder, EmbeddingModel, dimensions_of, embedder_of, is_local
    from ltm_bench.adapters.endpoint import EXAMINING, Endpoint
    from ltm_bench.adapters.files import user_folder, write_whole
    from ltm_bench.adapters.folder_journal import Change, Files, Folder, FolderJournal, files_after
    from ltm_bench.adapters.http.retries import Again, passing, retrying
    from ltm_bench.adapters.http.shared import attempt, bounded, client, read
    from ltm_bench.adapters.http.traffic import Attempt, begin, tell
    from ltm_bench.adapters.ledger import Heard, Ledger, Tally, fingerprint, name_in
    from ltm_bench.adapters.mcp_roles import McpRoles
    from ltm_bench.adapters.mcp_server import Address, McpServer, McpTools
    from ltm_bench.adapters.operations import operating
    from ltm_bench.adapters.passages import Passage, split_turn
    from ltm_bench.adapters.product import MemoryProduct
    from ltm_bench.adapters.scratchpad import WRITE_NOTES, WRITE_QUERIES, Scratchpad, read_queries
    from ltm_bench.adapters.settings import at_least, object_set
    from ltm_bench.adapters.shelf import Retrieval, Shelf, State
    from ltm_bench.adapters.sqlite_store import SqliteStore
    from ltm_bench.adapters.subjects import is_about
    from ltm_bench.adapters.templates import filled, items_in
    from ltm_bench.adapters.text import aware_time, pieces, sendable
    from ltm_bench.adapters.tools import Tool, ToolAnswer, Toolbox, ToolCall, ToolUse, object_in
    from ltm_bench.adapters.usage import usage_of
    from ltm_bench.adapters.vector_store import Found, Held, VectorStore
    from ltm_bench.adapters.window import KEPT, Prompt, Window
    from ltm_bench.core.agent import Forks, UsageModel
    from ltm_bench.core.clock import stamp
    from ltm_bench.core.errors import ConfigError, LtmBenchError
    from ltm_bench.core.extras import installed, need
    from ltm_bench.core.keys import read_key, scrubbed
    from ltm_bench.core.limits import json_of
    from ltm_bench.core.pricing import provider_at
    from ltm_bench.core.tokens import Counter, counter, keep_table
    from ltm_bench.plugins.agents import agent_class, make_agent
    from ltm_bench.plugins.functions import FunctionAgent
else:
    _MODULES = ("extractive", "hashing", "wordllama")
    _WHERE = {
        name: module
        for module, names in {
            "ltm_bench.adapters.answerer": "Core core_agent",
            "ltm_bench.adapters.chat": "ChatModel SYSTEM SdkChatModel sdk_client stamped",
            "ltm_bench.adapters.compaction": "Compacted",
            "ltm_bench.adapters.embeddings": "Embedder EmbeddingModel dimensions_of embedder_of is_local",
            "ltm_bench.adapters.endpoint": "EXAMINING Endpoint",
            "ltm_bench.adapters.chroma_store": "ChromaStore",
            "ltm_bench.core.extras": "installed need",
            "ltm_bench.adapters.files": "user_folder write_whole",
            "ltm_bench.adapters.folder_journal": "Change Files Folder FolderJournal files_after",
            "ltm_bench.adapters.mcp_roles": "McpRoles",
            "ltm_bench.adapters.mcp_server": "Address McpServer McpTools",
            "ltm_bench.adapters.templates": "filled items_in",
            "ltm_bench.adapters.http.shared": "attempt bounded client read",
            "ltm_bench.adapters.http.retries": "Again passing retrying",
            "ltm_bench.core.keys": "read_key scrubbed",
            "ltm_bench.core.limits": "json_of",
            "ltm_bench.adapters.http.traffic": "Attempt begin tell",
            "ltm_bench.adapters.ledger": "Heard Ledger Tally fingerprint name_in",
            "ltm_bench.adapters.operations": "operating",
            "ltm_bench.adapters.passages": "Passage split_turn",
            "ltm_bench.adapters.product": "MemoryProduct",
            "ltm_bench.adapters.scratchpad": "Scratchpad WRITE_NOTES WRITE_QUERIES read_queries",
            "ltm_bench.adapters.settings": "at_least object_set",
            "ltm_bench.adapters.shelf": "Retrieval Shelf State",
            "ltm_bench.adapters.sqlite_store": "SqliteStore",
            "ltm_bench.adapters.subjects": "is_about",
            "ltm_bench.adapters.text": "aware_time pieces sendable",
            "ltm_bench.adapters.tools": "Tool ToolAnswer ToolCall ToolUse Toolbox object_in",
            "ltm_bench.adapters.usage": "usage_of",
            "ltm_bench.adapters.vector_store": "Found Held VectorStore",
            "ltm_bench.adapters.window": "KEPT Prompt Window",
            "ltm_bench.core.agent": "Forks UsageModel",
            "ltm_bench.core.clock": "stamp",
            "ltm_bench.core.errors": "ConfigError LtmBenchError",
            "ltm_bench.core.pricing": "provider_at",
            "ltm_bench.core.tokens": "Counter counter keep_table",
            "ltm_bench.plugins.agents": "agent_class make_agent",
            "ltm_bench.plugins.functions": "FunctionAgent",
        }.items()
        for name in names.split()
    }

    def __getattr__(name: str) -> object:
        """Import a name when it is first asked for (PEP 562)."""
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _WHERE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_WHERE[name]), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "EXAMINING",
    "KEPT",
    "SYSTEM",
    "WRITE_NOTES",
    "WRITE_QUERIES",
    "Address",
    "Again",
    "Attempt",
    "Change",
    "ChatModel",
    "ChromaStore",
    "Compacted",
    "ConfigError",
    "Core",
    "Counter",
    "Embedder",
    "EmbeddingModel",
    "Endpoint",
    "Files",
    "Folder",
    "FolderJournal",
    "Forks",
    "Found",
    "FunctionAgent",
    "Heard",
    "Held",
    "Ledger",
    "LtmBenchError",
    "McpRoles",
    "McpServer",
    "McpTools",
    "MemoryProduct",
    "Passage",
    "Prompt",
    "Retrieval",
    "Scratchpad",
    "SdkChatModel",
    "Shelf",
    "SqliteStore",
    "State",
    "Tally",
    "Tool",
    "ToolAnswer",
    "ToolCall",
    "ToolUse",
    "Toolbox",
    "UsageModel",
    "VectorStore",
    "Window",
    "agent_class",
    "at_least",
    "attempt",
    "aware_time",
    "begin",
    "bounded",
    "client",
    "core_agent",
    "counter",
    "dimensions_of",
    "embedder_of",
    "extractive",
    "files_after",
    "filled",
    "fingerprint",
    "hashing",
    "installed",
    "is_about",
    "is_local",
    "items_in",
    "json_of",
    "keep_table",
    "make_agent",
    "name_in",
    "need",
    "object_in",
    "object_set",
    "operating",
    "passing",
    "pieces",
    "provider_at",
    "read",
    "read_key",
    "read_queries",
    "retrying",
    "scrubbed",
    "sdk_client",
    "sendable",
    "split_turn",
    "stamp",
    "stamped",
    "tell",
    "usage_of",
    "user_folder",
    "wordllama",
    "write_whole",
]
