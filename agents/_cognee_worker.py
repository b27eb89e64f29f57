"""The process in which Cognee runs, for agents/cognee.py, with a Python that has Cognee but not ltm-bench.

It reads one JSON object per line and answers each with `{"done": …}` or `{"error": "…"}`. Before that it may ask any
number of questions at a time: `{"ask": 1, "chat": {…}}` for a model's answer, `{"ask": 2, "embed": ["…"]}` for vectors.
The answer is a line with the same number under `answer`. So this process knows no key and no address.

Whatever it does not take from `import cognee` (the vectors, the graph as a whole, the results of a search before a
model turns them into text) has no public name in Cognee 1.6.
"""

import asyncio
import gc
import json
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from uuid import UUID

_STRUCTURE = ("is_part_of", "made_from", "contains")
"""Edges that Cognee adds to the facts: they say what a text is part of, and what it mentions."""


class Cognee:
    """Cognee, in the folder named by the environment; a space is one of its datasets."""

    def __init__(self, ask: Callable[[dict[str, Any]], Awaitable[Any]], dimensions: int) -> None:
        self._cognee: Any = import_module("cognee")
        self._ask = ask
        self._user: Any = None
        self._datasets: dict[str, UUID] = {}
        self._redirect(dimensions)

    def _redirect(self, dimensions: int) -> None:
        """Make Cognee ask the adapter instead of a model's server, and leave retries to the adapter."""
        litellm: Any = import_module("litellm")
        convert = import_module("litellm.utils").type_to_response_format_param
        root = "cognee.infrastructure"

        async def complete(*, model: str, messages: Any, response_format: Any = None, **settings: Any) -> Any:
            chat = {"messages": messages}
            if response_format is not None:
                chat["response_format"] = convert(response_format)
            return litellm.ModelResponse(**await self._ask({"chat": chat}))

        litellm.acompletion = complete
        native = import_module(f"{root}.llm.structured_output_framework.litellm_native.native_adapter")
        again = native.NativeLiteLLMAdapter.acreate_structured_output.retry
        again.stop = import_module("tenacity").stop_after_attempt(1)

        embeddings = f"{root}.databases.vector.embeddings"
        result = import_module(f"{embeddings}.EmbeddingEngine").EmbeddingResult
        tokenizer = import_module(f"{root}.llm.tokenizer.TikToken").TikTokenTokenizer
        limit = import_module(f"{embeddings}.input_limit").DEFAULT_EMBEDDING_INPUT_CAP
        ask = self._ask

        class Engine:
            """The source of Cognee's vectors."""

            def __init__(self) -> None:
                self.model, self.provider, self.dimensions = "ours", "custom", dimensions
                self.max_completion_tokens = limit
                self.tokenizer = tokenizer(model=None, max_completion_tokens=limit)

            async def embed_text(self, text: list[str]) -> Any:
                return result(await ask({"embed": text}) if text else [], tokens=0)

            def get_vector_size(self) -> int:
                return dimensions

            def get_batch_size(self) -> int:
                return 32

            async def input_limit(self) -> int:
                return int(limit)

        engine = Engine()
        import_module(f"{embeddings}.get_embedding_engine")
        # Not the value of import_module: the package has a function with the module's name.
        module: Any = sys.modules[f"{embeddings}.get_embedding_engine"]
        module.create_embedding_engine = lambda *_, **__: engine

    async def _within(self, space: str) -> Any:
        """Return the context in which Cognee's databases are those of a space."""
        context = import_module("cognee.context_global_variables").set_database_global_context_variables
        if self._user is None:
            await import_module("cognee.low_level").setup()
            self._user = await import_module("cognee.modules.users.methods").get_default_user()
        if space not in self._datasets:
            self._datasets = {each.name: each.id for each in await self._cognee.datasets.list_datasets()}
        return context(self._datasets[space], self._user.id)

    async def remember(self, space: str, document: str, text: str) -> None:
        """Have Cognee store a text as a document with this id, and extract what it says."""
        item = import_module("cognee.tasks.ingestion.data_item").DataItem(
            text, data_id=UUID(document), literal_text=True
        )
        done = await self._cognee.remember(item, dataset_name=space, self_improvement=False)
        if done.status != "completed":
            raise RuntimeError(f"remember() ended as {done.status!r}: {done.error}")

    async def find(self, space: str, query: str, limit: int) -> list[dict[str, Any]]:
        """Return what Cognee's hybrid search finds: passages, and facts about the entities that it finds."""
        retriever = import_module("cognee.modules.retrieval.hybrid_retriever").HybridRetriever
        search = retriever(chunks_top_k=limit, entities_top_k=limit, facts_top_k=0)
        async with await self._within(space):
            found = await search.get_retrieved_objects(query)
        passages = [
            {
                "id": str(each.id),
                "text": each.payload["text"],
                "documents": [str(each.payload["document_id"])],
                "distance": each.score,
            }
            for each in found["chunks"]
        ]
        facts = {
            edge["text"]: {"id": edge["edge_object_id"], "text": edge["text"], "documents": []}
            for entity in found["entities"]
            for edge in entity["edges"]
            if edge["relationship"] not in _STRUCTURE
        }
        shown = passages[: max((limit + 1) // 2, limit - len(facts))]
        return [*shown, *facts.values()][:limit]

    async def listed(self, space: str) -> list[dict[str, Any]]:
        """Return all passages and facts of a space, each with the documents that it comes from."""
        async with await self._within(space):
            graph = await import_module("cognee.infrastructure.databases.graph").get_graph_engine()
            nodes, edges = await graph.get_graph_data()
        known = {str(name): node for name, node in nodes}
        part_of = {str(one): str(other) for one, other, kind, _ in edges if kind == "is_part_of"}
        mentioned: dict[str, set[str]] = {}
        for chunk, entity, kind, _ in edges:
            if kind == "contains":
                mentioned.setdefault(str(entity), set()).add(part_of[str(chunk)])
        passages = [
            {"id": name, "text": known[name]["text"], "documents": [document]}
            for name, document in part_of.items()
        ]
        facts = {
            more["edge_object_id"]: {
                "id": more["edge_object_id"],
                "text": more.get("edge_text")
                or f"{known[str(one)]['name']} {kind} {known[str(other)]['name']}",
                "documents": sorted(mentioned.get(str(one), set()) & mentioned.get(str(other), set())),
            }
            for one, other, kind, more in edges
            if known[str(one)]["type"] == known[str(other)]["type"] == "Entity"
        }
        return [*passages, *facts.values()]

    async def forget(self, space: str, document: str) -> None:
        """Have Cognee delete a document, and what only it says."""
        await self._within(space)
        await self._cognee.forget(data_id=UUID(document), dataset_id=self._datasets[space])


class Line:
    """The line to the adapter: its commands, and Cognee's questions."""

    def __init__(self, output: int) -> None:
        self._output = os.fdopen(output, "w", encoding="utf-8")
        self._questions: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0

    def write(self, **content: Any) -> None:
        """Write one line."""
        self._output.write(json.dumps(content) + "\n")
        self._output.flush()

    async def ask(self, question: dict[str, Any]) -> Any:
        """Ask the adapter, and wait for its answer."""
        self._asked += 1
        number = self._asked
        self._questions[number] = asyncio.get_running_loop().create_future()
        self.write(ask=number, **question)
        return await self._questions[number]

    def answered(self, number: int, content: dict[str, Any]) -> None:
        """Pass an answer to whoever waits for it."""
        waiting = self._questions.pop(number)
        if "failed" in content:
            waiting.set_exception(RuntimeError(content["failed"]))
        else:
            waiting.set_result(content["answer"])


def read_lines(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[dict[str, Any]]) -> None:
    """Put every line into the queue; when there are no more, end this process, whatever it is doing."""
    for text in sys.stdin:
        loop.call_soon_threadsafe(lines.put_nowait, json.loads(text))
    os._exit(0)


async def serve(line: Line) -> None:
    """Carry out commands, one after the other."""
    lines: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    threading.Thread(target=read_lines, args=(asyncio.get_running_loop(), lines), daemon=True).start()
    gc.disable()  # imports take a third less time without it
    cognee = Cognee(line.ask, int(os.environ["EMBEDDING_DIMENSIONS"]))
    import_module("lancedb")  # Cognee imports it when it first needs it
    gc.enable()
    line.write(ready=True)
    under_way = set[asyncio.Task[None]]()

    async def carry_out(name: str, arguments: dict[str, Any]) -> None:
        try:
            line.write(done=await getattr(cognee, name)(**arguments))
        except Exception as error:  # Cognee's own, and those of its databases
            line.write(error=f"{type(error).__name__}: {error}")

    while True:
        content = await lines.get()
        if "answer" in content or "failed" in content:
            line.answered(content["ask"], content)
        else:
            task = asyncio.create_task(carry_out(content["do"], content["with"]))
            under_way.add(task)
            task.add_done_callback(under_way.discard)


def main() -> None:
    """Report the version of Cognee, and serve it."""
    line = Line(os.dup(1))
    os.dup2(2, 1)  # the adapter must not read what Cognee prints
    sys.path.pop(0)  # this folder has a cognee.py, which is not Cognee
    try:
        line.write(version=version("cognee"))
    except PackageNotFoundError:
        line.write(version="")
        return
    asyncio.run(serve(line))


if __name__ == "__main__":
    main()
