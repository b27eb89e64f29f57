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

- `chat`: `ChatModel`, a conversation in a window, which a server may say; the usual system message, and `stamped`,
  which puts the date in front of a message. `sdk_chat`: `SdkChatModel` for OpenAI's and Anthropic's SDKs.
- `gateway`: the endpoint on this machine through which a black box calls its providers. `routing`: `through_gateway`,
  address and key for an SDK's client in this process, and `program_environment`, the same for a program.
- `endpoint`: `Endpoint`, a model behind a URL: address, key, deadlines, and one clear line for every failure.
  `declines`: whether an error says that a filter declined.
- `overflow`: `is_too_long`, whether a provider's error says that the prompt is too long for the model.
- `tools`: `Toolbox`, tools that a chat model may call while it replies, up to a limit.
- `window`: `Window` and `Prompt`, the part of a conversation that fits, so that prompt caches hold. `compaction`:
  `Compacted`, a reply with the provider's summary of everything before it. `prompt_cache`: `PromptCache`, where to tell
  a provider to cache, and which request goes first.
- `http`: a shared client that times its attempts, bounds answers in time and size, and can cache them;
  `retrying`.
- `json_of` reads untrusted JSON, and raises only ValueError; `too_long` says that an answer exceeds `Agent.max_bytes`.
- `read_key` reads a key from the environment, and `scrubbed` removes all known keys from a text.
- `usage`: `usage_of`, which turns a provider's token figures into `Usage`, and `usage_in`, which reads what a server
  reports; `spoken_usage` is that in its own words, for libraries that read it themselves.
- `passages`: what was said in a turn, or in a session of a public set, by speaker, role and time, and cut into
  passages. `hashing`: a local embedder, without a model; `wordllama` uses static embeddings. `extractive`: answers by
  quoting, without a model. `needles`: `likeness`, how much the words of a message are those of a needle, for an agent
  that filters.
- `ledger` records what a product has heard and used, so that a run can be resumed. `operations`: `operating`, which
  reports how long a memory writes, retrieves and answers, and its usage.
- `memories`: what a memory is made of. Embedders by name; `VectorStore`, which ranks passages exactly; `ChromaStore`
  and `SqliteStore`, which keep them, and `ChromaIndex`, which has Chroma rank them; `MemoryStore`, everything that a
  memory holds for one user, found by vectors, or by words, with BM25; `Core`, another adapter that answers from a
  bounded prompt, for memories without a model of their own; `Scratchpad`, queries and notes that a model writes.
  `DurableAgent`, whose memory outlives it; `Forgotten`, what it was asked to forget, and `is_about`, whether a text is
  about something, by its words; `FolderJournal`, a memory's files, and how every turn changed them.
  `MemoryProduct`, which joins a memory product and a core; `ServedProduct`, for those behind a server, and `Patience`
  with one that works in the background; `ExtractingProduct`, for products that run here and extract with a model. Both
  have the settings that such products share. `ProductProcess`, a product in a process of its own; `KeptFolder`, a
  product's folder, and how it was after the last turns. `McpServer`, an MCP server and its tools, and `McpRoles`: which
  of them stores, searches, lists and deletes.
- `imported`: a user's module. `agent_of`: whatever can answer, as an agent; `FunctionAgent`: a function, a callable
  object or its class as one.
- `templates`: JSON requests to unknown tools, and their answers.
- `settings`: `Inheriting`, with which an adapter inherits settings; `at_least` and `object_set`, which check a number
  and a JSON object. `files`, `text`: small helpers.
  `need` imports an optional package.
- `testing`: a local model provider that fails on demand, for tests; import it by its own name.

The names below can be imported from here. Each is loaded on first use, so that an adapter imports no more than it
needs.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ltm_bench.adapters import extractive as extractive
    from ltm_bench.adapters import hashing as hashing
    from ltm_bench.adapters import wordllama as wordllama
    from ltm_bench.adapters.chat import SYSTEM as SYSTEM
    from ltm_bench.adapters.chat import ChatModel as ChatModel
    from ltm_bench.adapters.compaction import Compacted as Compacted
    from ltm_bench.adapters.endpoint import EXAMINING as EXAMINING
    from ltm_bench.adapters.endpoint import Endpoint as Endpoint
    from ltm_bench.adapters.endpoint import declines as declines
    from ltm_bench.adapters.files import user_folder as user_folder
    from ltm_bench.adapters.files import user_name as user_name
    from ltm_bench.adapters.files import users_in as users_in
    from ltm_bench.adapters.files import write_whole as write_whole
    from ltm_bench.adapters.http.retries import Again as Again
    from ltm_bench.adapters.http.retries import passing as passing
    from ltm_bench.adapters.http.retries import retrying as retrying
    from ltm_bench.adapters.http.shared import attempt as attempt
    from ltm_bench.adapters.http.shared import bounded as bounded
    from ltm_bench.adapters.http.shared import client as client
    from ltm_bench.adapters.http.shared import proxies_from_environment as proxies_from_environment
    from ltm_bench.adapters.http.shared import read as read
    from ltm_bench.adapters.http.traffic import Attempt as Attempt
    from ltm_bench.adapters.http.traffic import begin as begin
    from ltm_bench.adapters.http.traffic import tell as tell
    from ltm_bench.adapters.ledger import HeardTurn as HeardTurn
    from ltm_bench.adapters.ledger import Ledger as Ledger
    from ltm_bench.adapters.ledger import Tally as Tally
    from ltm_bench.adapters.ledger import fingerprint as fingerprint
    from ltm_bench.adapters.ledger import name_in as name_in
    from ltm_bench.adapters.memories.answerer import Core as Core
    from ltm_bench.adapters.memories.answerer import core_agent as core_agent
    from ltm_bench.adapters.memories.chroma_store import ChromaIndex as ChromaIndex
    from ltm_bench.adapters.memories.chroma_store import ChromaStore as ChromaStore
    from ltm_bench.adapters.memories.durable import DurableAgent as DurableAgent
    from ltm_bench.adapters.memories.durable import require_scripted as require_scripted
    from ltm_bench.adapters.memories.embeddings import CountedEmbedder as CountedEmbedder
    from ltm_bench.adapters.memories.embeddings import Embedder as Embedder
    from ltm_bench.adapters.memories.embeddings import EmbeddingModel as EmbeddingModel
    from ltm_bench.adapters.memories.embeddings import dimensions_of as dimensions_of
    from ltm_bench.adapters.memories.embeddings import embedder_of as embedder_of
    from ltm_bench.adapters.memories.embeddings import is_local as is_local
    from ltm_bench.adapters.memories.extracting import ExtractingProduct as ExtractingProduct
    from ltm_bench.adapters.memories.folder_journal import Change as Change
    from ltm_bench.adapters.memories.folder_journal import Files as Files
    from ltm_bench.adapters.memories.folder_journal import Folder as Folder
    from ltm_bench.adapters.memories.folder_journal import FolderJournal as FolderJournal
    from ltm_bench.adapters.memories.folder_journal import files_after as files_after
    from ltm_bench.adapters.memories.forgotten import Forgotten as Forgotten
    from ltm_bench.adapters.memories.forgotten import halves_about as halves_about
    from ltm_bench.adapters.memories.forgotten import is_about as is_about
    from ltm_bench.adapters.memories.kept_folder import KeptFolder as KeptFolder
    from ltm_bench.adapters.memories.mcp_server import Address as Address
    from ltm_bench.adapters.memories.mcp_server import McpRoles as McpRoles
    from ltm_bench.adapters.memories.mcp_server import McpServer as McpServer
    from ltm_bench.adapters.memories.mcp_server import McpTools as McpTools
    from ltm_bench.adapters.memories.memory_store import MemoryStore as MemoryStore
    from ltm_bench.adapters.memories.memory_store import Retrieval as Retrieval
    from ltm_bench.adapters.memories.memory_store import StoreState as StoreState
    from ltm_bench.adapters.memories.product import MemoryProduct as MemoryProduct
    from ltm_bench.adapters.memories.product import Patience as Patience
    from ltm_bench.adapters.memories.product import ServedProduct as ServedProduct
    from ltm_bench.adapters.memories.product_process import ProcessFailed as ProcessFailed
    from ltm_bench.adapters.memories.product_process import ProductProcess as ProductProcess
    from ltm_bench.adapters.memories.scratchpad import WRITE_NOTES as WRITE_NOTES
    from ltm_bench.adapters.memories.scratchpad import WRITE_QUERIES as WRITE_QUERIES
    from ltm_bench.adapters.memories.scratchpad import Scratchpad as Scratchpad
    from ltm_bench.adapters.memories.scratchpad import read_queries as read_queries
    from ltm_bench.adapters.memories.sqlite_store import SqliteStore as SqliteStore
    from ltm_bench.adapters.memories.vector_store import NearPassage as NearPassage
    from ltm_bench.adapters.memories.vector_store import StoreSnapshot as StoreSnapshot
    from ltm_bench.adapters.memories.vector_store import VectorStore as VectorStore
    from ltm_bench.adapters.operations import operating as operating
    from ltm_bench.adapters.overflow import is_too_long as is_too_long
    from ltm_bench.adapters.passages import Passage as Passage
    from ltm_bench.adapters.passages import Spoken as Spoken
    from ltm_bench.adapters.passages import chat_messages as chat_messages
    from ltm_bench.adapters.passages import split_turn as split_turn
    from ltm_bench.adapters.passages import utterances_in as utterances_in
    from ltm_bench.adapters.prompt_cache import PromptCache as PromptCache
    from ltm_bench.adapters.routing import program_environment as program_environment
    from ltm_bench.adapters.routing import through_gateway as through_gateway
    from ltm_bench.adapters.sdk_chat import SdkChatModel as SdkChatModel
    from ltm_bench.adapters.sdk_chat import sdk_client as sdk_client
    from ltm_bench.adapters.settings import Inheriting as Inheriting
    from ltm_bench.adapters.settings import at_least as at_least
    from ltm_bench.adapters.settings import object_set as object_set
    from ltm_bench.adapters.templates import filled as filled
    from ltm_bench.adapters.templates import items_in as items_in
    from ltm_bench.adapters.text import aware_time as aware_time
    from ltm_bench.adapters.text import pieces as pieces
    from ltm_bench.adapters.text import sendable as sendable
    from ltm_bench.adapters.text import spoken as spoken
    from ltm_bench.adapters.text import stamped as stamped
    from ltm_bench.adapters.tools import Tool as Tool
    from ltm_bench.adapters.tools import ToolAnswer as ToolAnswer
    from ltm_bench.adapters.tools import Toolbox as Toolbox
    from ltm_bench.adapters.tools import ToolCall as ToolCall
    from ltm_bench.adapters.tools import ToolUse as ToolUse
    from ltm_bench.adapters.tools import object_in as object_in
    from ltm_bench.adapters.usage import spoken_usage as spoken_usage
    from ltm_bench.adapters.usage import usage_in as usage_in
    from ltm_bench.adapters.usage import usage_of as usage_of
    from ltm_bench.adapters.window import KEPT as KEPT
    from ltm_bench.adapters.window import Prompt as Prompt
    from ltm_bench.adapters.window import Window as Window
    from ltm_bench.core.agent import Forks as Forks
    from ltm_bench.core.agent import UsageModel as UsageModel
    from ltm_bench.core.agent import session_of as session_of
    from ltm_bench.core.clock import stamp as stamp
    from ltm_bench.core.errors import ConfigError as ConfigError
    from ltm_bench.core.errors import LtmBenchError as LtmBenchError
    from ltm_bench.core.extras import installed as installed
    from ltm_bench.core.extras import need as need
    from ltm_bench.core.keys import read_key as read_key
    from ltm_bench.core.keys import scrubbed as scrubbed
    from ltm_bench.core.limits import json_of as json_of
    from ltm_bench.core.limits import too_long as too_long
    from ltm_bench.core.pricing import provider_at as provider_at
    from ltm_bench.core.tokens import Counter as Counter
    from ltm_bench.core.tokens import counter as counter
    from ltm_bench.core.tokens import keep_table as keep_table
    from ltm_bench.plugins.agents import agent_class as agent_class
    from ltm_bench.plugins.agents import make_agent as make_agent
    from ltm_bench.plugins.files import imported as imported
    from ltm_bench.plugins.functions import FunctionAgent as FunctionAgent
    from ltm_bench.plugins.functions import agent_of as agent_of

    Found: TypeAlias = NearPassage
    Heard: TypeAlias = HeardTurn
    Held: TypeAlias = StoreSnapshot
    Shelf: TypeAlias = MemoryStore
    State: TypeAlias = StoreState
    __all__: list[str]
else:
    _FORMER = {
        "Found": "NearPassage",
        "Heard": "HeardTurn",
        "Held": "StoreSnapshot",
        "Shelf": "MemoryStore",
        "State": "StoreState",
    }
    """Names until 0.2.0, by which adapters may still import these."""

    @cache
    def _modules() -> dict[str, str]:
        """Return the module of every name: the imports above are for type checkers, and read here as text."""
        from ast import ImportFrom, parse, walk
        from inspect import getsource
        from sys import modules

        imports = (each for each in walk(parse(getsource(modules[__name__]))) if isinstance(each, ImportFrom))
        return {name.asname: each.module for each in imports for name in each.names if name.asname}

    def __getattr__(name: str) -> object:
        """Import a name when it is first asked for (PEP 562)."""
        if name == "__all__":
            return sorted(_modules())
        name = _FORMER.get(name, name)
        if name.startswith("_") or (module := _modules().get(name)) is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return (
            import_module(f"{module}.{name}") if module == __name__ else getattr(import_module(module), name)
        )

    def __dir__() -> list[str]:
        return sorted({*globals(), *_modules()})
