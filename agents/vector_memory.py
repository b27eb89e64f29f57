"""Long-term memory in a vector store: everything that was said, in passages, in Chroma; the nearest ones are recalled.

Works without a network and without keys: a local embedder, and an extractive core that answers by quoting what it
recalled. With `core="openai_chat:gpt-4o"` a model answers instead, from one bounded prompt per turn. Replies depend on
the conversation alone: Chroma keeps passages and vectors, and the ranking is an exact scan, because its own index is
approximate (a graph search missed a true neighbour in one query of eight, even with `ef_search` as large as the store).

Variants need a core model: with `query_rewriting` it writes the search queries, with `scratchpad` it keeps a small JSON
object of what it thinks worth keeping; both can be had together, joined by a plus sign.

What was embedded since the last reply is counted with a reply: as its usage where nothing else is paid for, else beside
that of the core.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_bench.adapters import embedding
from ltm_bench.adapters.answerer import Core
from ltm_bench.adapters.embedders import embedder as embedder_of
from ltm_bench.adapters.endpoint import Endpoint
from ltm_bench.adapters.extractive import Passage, answer, question_in, sentences, time_spoken_of
from ltm_bench.adapters.http import client as watched
from ltm_bench.adapters.http import sendable
from ltm_bench.core.agent import Agent, Memory
from ltm_bench.core.errors import CannotResume, ConfigError
from ltm_bench.core.messages import Message, Reply, Turn, Usage
from ltm_bench.core.tokens import counter

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection
    from openai import AsyncOpenAI

    from ltm_bench.adapters.embedding import Vectors

_PASSAGE_CHARACTERS = 240
_WRITE_AT_ONCE = 256
"""Passages per write: a write costs about 15 ms, however small. What a crash loses, `restore` is given again."""

_EMBED_AT_ONCE = 256


class VectorMemory(Agent):
    """Remembers everything in a vector store, and answers from what is near to the question."""

    free = True

    def __init__(
        self,
        *,
        embedder: str = "local",
        core: str = "extractive",
        base_url: str | None = None,
        memories: int = 50,
        recent: int = 4,
        window: int = 8192,
        variant: str = "semantic",
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> None:
        """Set up.

        Args:
            embedder: `local`, `openai:` and the name of an embedding model, or `python:module:callable`.
            core: `extractive`, or another adapter and its model, e.g. `openai_chat:gpt-4o`.
            base_url: where the API of the embedder and of the core is, if not at the provider's.
            memories: how many passages are recalled for a message.
            recent: how many of the newest turns the core sees word for word.
            window: tokens of the prompt that the core gets, its reply not counted.
            variant: `semantic`, `query_rewriting`, `scratchpad`, or `query_rewriting+scratchpad`.
            timeout: seconds that the embedder and the core wait for an answer; if left out, as long as each does.
            max_retries: how often each of them sends a failed request again; if left out, as often as each does.
        """
        for name, value, least in (("memories", memories, 1), ("recent", recent, 0), ("window", window, 256)):
            if value < least:
                raise ConfigError(f"vector_memory: {name} = {value}, but at least {least} is needed")
        provider, _, model = embedder.partition(":")
        if embedder != "local" and (provider not in ("openai", "python") or not model):
            raise ConfigError(
                f"vector_memory: embedder = {embedder!r} is not known; use 'local', or 'openai:' and a model, "
                "e.g. 'openai:text-embedding-3-small', or 'python:module:callable'"
            )
        ways = set(variant.split("+"))
        if not ways <= {"semantic", *_VARIANTS}:
            raise ConfigError(
                f"vector_memory: variant = {variant!r} is not known; use 'semantic', 'query_rewriting', 'scratchpad', "
                "or 'query_rewriting+scratchpad'"
            )
        if ways & set(_VARIANTS) and core == "extractive":
            raise ConfigError(
                f"vector_memory: variant = {variant!r} needs a model: set core, e.g. core=openai_chat:gpt-4o"
            )
        self._rewrites = "query_rewriting" in ways
        self._pad = Scratchpad() if "scratchpad" in ways else None
        self._local = embedder_of(embedder) if provider == "python" else embedding.embed
        given: dict[str, Any] = {"base_url": base_url, "timeout": timeout, "max_retries": max_retries}
        where = {name: value for name, value in given.items() if value is not None}
        self._remote = OpenAIEmbedder(model, **where) if provider == "openai" else None
        self._core = None if core == "extractive" else Core(core, given, window)
        # The runner asks the instance; a model of anybody's is not free.
        vars(self)["free"] = self._remote is None and self._core is None
        self._limit = memories
        self._owed = 0  # tokens embedded since the last reply
        self._late: list[Passage] = []  # not yet embedded
        self._recent: deque[Turn] = deque(maxlen=recent)
        self._store = Store(embedding.NAME if embedder == "local" else embedder)
        self._restored = False

    async def open(self, home: Path) -> None:
        """Open the store in `home`."""
        self._store.open(home)
        if not self.free:  # a Chroma that does not work is found before anything is paid for
            self._store.connect()
        self._home = home
        if self._pad is not None:
            self._pad.open(home / "scratchpad.jsonl")

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Keep what these turns vouch for, drop what they do not, and add what is missing."""
        stored = self._store.load()
        passages: list[Passage] = []
        said = self._owed = 0
        for turn in turns:
            own = split_turn(turn)
            passages += own
            self._recent.append(turn)
            said = turn.message.turn + 1
            if (
                turn.kind != "fill" or turn.reply.usage is not None
            ):  # a reply: what came before was counted with it
                self._owed = 0
            self._owe(own)
        if self._pad is not None:
            self._pad.cut(said)
        missing = self._store.keep(stored, passages)
        vectors = await self._embed([passage.text for passage in missing])
        self._store.adopt(passages, stored, dict(zip((p.key for p in missing), vectors, strict=True)))
        self._restored = True

    async def observe(self, turn: Turn) -> None:
        """Remember a turn."""
        if not self._restored:  # a new conversation in a folder where an older one was broken off
            await self.restore(())
        self._remember(turn)
        await self._catch_up()

    def _remember(self, turn: Turn) -> None:
        """Take up a turn; its passages can be found once they have been embedded."""
        passages = split_turn(turn)
        self._late += passages
        self._recent.append(turn)
        self._owe(passages)

    async def _catch_up(self) -> None:
        """Embed what has not been embedded yet."""
        passages, vectors = self._late, await self._embed([passage.text for passage in self._late])
        self._late = []
        self._store.add(passages, vectors)

    def _owe(self, passages: Sequence[Passage]) -> None:
        if self._remote is not None:
            self._owed += sum(counter().count(passage.text) for passage in passages)

    def _embedded(self, queries: Iterable[str]) -> Usage | None:
        """Return what was embedded since the last reply, queries included; None where nobody is paid for it.

        It is counted here, in the tokens of OpenAI's embedding models, and not as the server says: what a resumed run
        has to embed again would be in its log, and not in that of an undisturbed one.
        """
        if self._remote is None:
            return None
        tokens = self._owed + sum(map(counter().count, queries))
        self._owed = 0
        return self._remote.usage(tokens)

    async def reply(self, message: Message) -> Reply:
        """Answer from memory, and remember the turn."""
        if not self._restored:
            await self.restore(())
        await self._catch_up()
        if self._core is None:
            text = await self._extract(message)
            question = question_in(message.text)
            reply = Reply(text, self._embedded([question] if question else ()))
        else:
            reply = await self._consult(self._core, message)
        self._remember(Turn(message, reply))
        if self._remote is None:  # else later: a reply that was paid for must not be lost with an embedding
            await self._catch_up()
        return reply

    async def _consult(self, core: Core, message: Message) -> Reply:
        """Have the core write queries, answer, and look after its scratchpad; its usage is that of all of them."""
        usage: list[Usage | None] = []

        async def ask(text: str) -> Reply:
            said = await core.reply(self._home / "core", replace(message, text=text))
            usage.append(said.usage)
            return said

        asked = question_in(message.text) or message.text
        queries = [asked]
        if self._rewrites:
            text = core.fitting(_REWRITE, message.text)
            queries = [*queries, *read_queries((await ask(text)).text)]
        found = await self._search_all(queries)
        pad = "" if self._pad is None else self._pad.text
        reply = await ask(core.prompt(message, found, self._recent, pad))
        if self._pad is not None and reply.text.strip():
            noted = f"{pad or '{}'}\n\nUser: {message.text}\nYou: {reply.text}"
            self._pad.note(message.turn, (await ask(core.fitting(_NOTE, noted))).text)
        known = [each for each in usage if each is not None]
        total = sum(known[1:], known[0]) if len(known) == len(usage) else None
        embedded = self._embedded(queries)
        if total is not None and embedded is not None:
            total = replace(total, besides=(*total.besides, embedded))
        return replace(reply, usage=total)

    async def _search_all(self, queries: Sequence[str]) -> list[Passage]:
        """Return what is near to any of the queries, the nearest of each first."""
        ranked = [[passage for passage, _ in await self._search(query, self._limit)] for query in queries]
        merged = (passage for rank in zip_longest(*ranked) for passage in rank if passage is not None)
        return list(dict.fromkeys(merged))[: self._limit]

    async def _extract(self, message: Message) -> str:
        question = question_in(message.text)
        if not question:
            return "Noted."
        found = await self._search(question, self._limit)
        spoken_of = time_spoken_of(question, message.at)
        if spoken_of is not None:
            known = {passage for passage, _ in found}
            around = self._store.around(spoken_of, self._limit)
            found += [(passage, 0.0) for passage in around if passage not in known]
        return answer(message, [passage for passage, _ in found])

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return the passages nearest to `query`, the nearest first."""
        await self._catch_up()
        found = await self._search(query, limit)
        return [Memory(passage.text, passage.at, passage.turn, score) for passage, score in found]

    def reserve(self, message: Message) -> Usage | None:
        """Return the most that a reply could use: a full window, and the longest reply of the core."""
        if self._core is not None:
            most = self._core.reserve(message)
            calls = 1 + self._rewrites + (self._pad is not None)
            if most is None:
                return None
            total = sum([most] * (calls - 1), most)
            if self._remote is None:
                return total
            # The message and its reply are stored, and the queries embedded; a token has one byte at least.
            more = 2 * len(message.text.encode("utf-8", "replace")) + 4 * calls * most.output
            return replace(total, besides=(*total.besides, self._remote.usage(self._owed + more)))
        return (
            None
            if self._remote is None
            else self._remote.usage(self._owed + 2 * len(message.text.encode("utf-8", "replace")))
        )

    async def close(self) -> None:
        """Write what is not yet written, and let go of the files."""
        try:
            self._store.close()
        finally:
            if self._core is not None:
                await self._core.close()
            if self._remote is not None:
                await self._remote.close()

    async def _search(self, query: str, limit: int) -> list[tuple[Passage, float]]:
        return self._store.nearest((await self._embed([query]))[0], limit)

    async def _embed(self, texts: list[str]) -> Vectors:
        if not texts:
            return embedding.embed(texts)
        if self._remote is None:
            return (
                embedding.embed(texts)
                if self._local is embedding.embed
                else embedding.whole(self._local(texts))
            )
        return await self._remote.embed(texts)


# What is stored


def split_turn(turn: Turn) -> list[Passage]:
    """Cut a turn into passages, those of the message first."""
    said = [("user", text) for text in split(turn.message.text)]
    said += [("agent", text) for text in split(turn.reply.text)]
    return [
        Passage(turn.message.turn, part, speaker, turn.message.at, text)
        for part, (speaker, text) in enumerate(said)
    ]


def split(text: str) -> Iterator[str]:
    """Cut a text into passages: its lines, and long lines between sentences. JSON stays in one piece."""
    text = sendable(text)
    if text.lstrip().startswith(("[", "{")):
        yield text.strip()
        return
    for line in text.splitlines():
        passage = ""
        for sentence in sentences(line):
            if passage and len(passage) + len(sentence) >= _PASSAGE_CHARACTERS:
                yield passage
                passage = sentence
            else:
                passage = f"{passage} {sentence}".strip()
        if passage:
            yield passage


Stored = dict[str, tuple[str, str, Any]]
"""Passages on disk by key: the text, when and by whom it was said, the vector."""


class Store:
    """Passages in Chroma, and their vectors once more in memory, where they can be ranked exactly."""

    def __init__(self, embedder: str) -> None:
        self._name = embedder
        self._client: Any = None  # Chroma's own type hides close()
        self._collection: Collection | None = None
        self._unwritten: list[int] = []
        self._passages: list[Passage] = []

    def open(self, home: Path) -> None:
        """Say where the collection is; it is opened, or created, when it is first read or written."""
        import numpy as np

        self._where = home.resolve() / "chroma"
        self._vectors: Vectors = np.zeros((0, 0), dtype=np.float32)

    def connect(self) -> Collection:
        """Return the collection. Chroma alone takes as long to import as everything else until a run's first turn."""
        if self._collection is None:
            import chromadb
            from chromadb.config import Settings

            self._client = chromadb.PersistentClient(
                path=str(self._where), settings=Settings(anonymized_telemetry=False)
            )
            self._collection = self._open_collection(self._client)
        return self._collection

    def _open_collection(self, client: Any) -> Collection:
        """Open or create the collection. One of another embedder's is of no use, and goes."""
        for known in client.list_collections():
            if known.name == "passages" and (known.metadata or {}).get("embedder") != self._name:
                client.delete_collection("passages")
        # The graph index is not asked anything, so it is kept as small as it can be: that halves a write. Without
        # embedding_function=None Chroma would fetch a model.
        collection: Collection = client.get_or_create_collection(
            "passages",
            metadata={"embedder": self._name},
            embedding_function=None,
            configuration={
                "hnsw": {"space": "ip", "max_neighbors": 4, "ef_construction": 8, "num_threads": 1}
            },
        )
        return collection

    def load(self) -> Stored:
        """Return what is on disk."""
        stored: Stored = {}
        if not self._where.exists():
            return stored
        try:
            for offset in range(0, self.connect().count(), 1000):
                page: Any = self.connect().get(limit=1000, offset=offset, include=["metadatas", "embeddings"])
                rows = zip(page["ids"], page["metadatas"], page["embeddings"], strict=True)
                stored.update({key: (data["text"], data["said"], vector) for key, data, vector in rows})
        except Exception as error:  # Chroma has no base class for what its core raises
            raise CannotResume(
                f"the vector store in {self._where} cannot be read ({type(error).__name__}: {error}); delete that "
                "folder and resume: it will be rebuilt from the log"
            ) from error
        return stored

    def keep(self, stored: Stored, passages: Sequence[Passage]) -> list[Passage]:
        """Delete from disk whatever is not exactly one of these passages; return those that are missing."""
        wanted = {p.key: (p.text, _said(p)) for p in passages}
        gone = [key for key, (text, said, _) in stored.items() if wanted.get(key) != (text, said)]
        for start in range(0, len(gone), 1000):
            self.connect().delete(ids=gone[start : start + 1000])
        for key in gone:
            del stored[key]
        return [passage for passage in passages if passage.key not in stored]

    def adopt(
        self,
        passages: Sequence[Passage],
        stored: Stored,
        added: dict[str, Any],
    ) -> None:
        """Hold exactly these passages from now on; those in `added` are written."""
        import numpy as np

        self._passages = []
        self._unwritten = []
        self._vectors = np.zeros((0, 0), dtype=np.float32)
        vectors = [added[p.key] if p.key in added else stored[p.key][2] for p in passages]
        if vectors:
            self._append(passages, np.array(vectors, dtype=np.float32))
        self._unwritten = [i for i, passage in enumerate(passages) if passage.key in added]
        self.write()

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Take up a turn's passages. They are on disk after some more turns, or after `close`."""
        if passages:
            self._append(passages, vectors)
            self._unwritten += range(len(self._passages) - len(passages), len(self._passages))
            if len(self._unwritten) >= _WRITE_AT_ONCE:
                self.write()

    def _append(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        import numpy as np

        before, after = len(self._passages), len(self._passages) + len(passages)
        if after > len(self._vectors):
            grown = np.zeros((max(1024, 2 * after), vectors.shape[1]), dtype=np.float32)
            grown[:before] = self._vectors[:before] if before else 0
            self._vectors = grown
        self._vectors[before:after] = vectors
        self._passages += passages

    def write(self) -> None:
        """Bring what is not yet on disk there."""
        for start in range(0, len(self._unwritten), 1000):
            rows = self._unwritten[start : start + 1000]
            chosen = [self._passages[row] for row in rows]
            self.connect().upsert(
                ids=[p.key for p in chosen],
                embeddings=self._vectors[rows],
                # Not as documents: Chroma would index every three letters of them, which doubles the time.
                metadatas=[{"text": p.text, "said": _said(p)} for p in chosen],
            )
        self._unwritten = []

    def nearest(self, query: Any, limit: int) -> list[tuple[Passage, float]]:
        """Return the passages nearest to a vector, the nearest first, equals in the order in which they were said."""
        import numpy as np

        count = len(self._passages)
        if not count:
            return []
        scores = self._vectors[:count] @ query
        best = np.arange(count)
        if limit < count:  # whatever scores as much as the last one that fits must be there to be compared
            best = np.flatnonzero(scores >= np.partition(scores, count - limit)[count - limit])
        best = best[np.argsort(-scores[best], kind="stable")][:limit]
        return [(self._passages[row], float(scores[row])) for row in best]

    def around(self, at: datetime, limit: int) -> list[Passage]:
        """Return the passages that were stored next to a time, in order."""
        middle = bisect_left(self._passages, at, key=lambda passage: passage.at)
        return self._passages[max(0, middle - limit // 2) : middle + (limit + 1) // 2]

    def close(self) -> None:
        """Write the rest and let go of the files."""
        try:
            self.write()
        finally:
            if self._client is not None:
                self._client.close()
                self._client = self._collection = None


def _said(passage: Passage) -> str:
    return f"{passage.at.isoformat()} {passage.speaker}"


class OpenAIEmbedder:
    """Embeds through OpenAI's API, or another server that speaks its language."""

    def __init__(
        self, model: str, base_url: str | None = None, timeout: float = 60, max_retries: int = 4
    ) -> None:
        self._endpoint = Endpoint(
            model=model,
            base_url=base_url,
            url_variable="OPENAI_BASE_URL",
            vendor_url="https://api.openai.com/v1",
            key_variable="OPENAI_API_KEY",
            timeout=timeout,
            max_retries=max_retries,
        )
        self._client: AsyncOpenAI | None = None

    def usage(self, tokens: int) -> Usage:
        """Return what embedding so many tokens uses."""
        vendor = "openai" if self._endpoint.is_list_priced else None
        return Usage(uncached=tokens, model=self._endpoint.model, provider=vendor)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        import openai

        if self._client is None:
            place = self._endpoint
            self._client = openai.AsyncOpenAI(
                api_key=place.key,
                base_url=place.url,
                timeout=place.timeout,
                max_retries=place.max_retries,
                http_client=watched(openai.DefaultAsyncHttpxClient),
            )
        rows: list[list[float]] = []
        try:
            for start in range(0, len(texts), _EMBED_AT_ONCE):
                batch = list(texts[start : start + _EMBED_AT_ONCE])
                answer = await self._client.embeddings.create(
                    input=batch, model=self._endpoint.model, encoding_format="float"
                )
                rows += [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
            if len(rows) != len(texts):
                raise ValueError(f"{len(rows)} vectors for {len(texts)} texts")
            return embedding.whole(rows)
        except openai.APIStatusError as error:
            raise self._endpoint.rejected(error.status_code, error.message) from error
        except openai.APITimeoutError as error:
            raise self._endpoint.timed_out() from error
        except openai.APIConnectionError as error:
            raise self._endpoint.unreachable(error.__cause__ or error) from error
        except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
            raise self._endpoint.unreadable(str(error)) from error

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()


# A model as the core

_VARIANTS = ("query_rewriting", "scratchpad")

_REWRITE = (
    "You look things up in a record of an earlier conversation with a user. Write up to three short search queries for "
    "what would help to answer the message below: names, things and facts, not whole questions. Write them as a JSON "
    'list of strings, such as ["a", "b"], and nothing else.'
)
_NOTE = (
    "You keep notes about a user in one small JSON object. Below are the notes as they are, and the newest turn of the "
    "conversation. Write the notes as they should be now: keep what may be asked for later or has to be done later, "
    "put new values in place of old ones, drop the rest. At most 300 words; the JSON object and nothing else."
)
_MOST_QUERIES = 3
_PAD_CHARACTERS = 6000
"""The longest scratchpad that is kept; of a longer one nothing is, and the one before stays."""


def read_queries(text: str) -> list[str]:
    """Return the queries that a model wrote; none if they cannot be read."""
    start, end = text.find("["), text.rfind("]")
    try:
        value = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return []
    strings = [each.strip()[:300] for each in value if isinstance(each, str) and each.strip()]
    return strings[:_MOST_QUERIES]


class Scratchpad:
    """Notes that the core keeps, one line of a file for each turn after which they were changed.

    A line is written before the reply is given out, so it can be of a turn that the log does not have; `cut` drops it.
    """

    def __init__(self) -> None:
        self.text = ""

    def open(self, path: Path) -> None:
        """Keep the notes in this file."""
        self._path = path

    def cut(self, turns: int) -> None:
        """Go back to the notes as they were after so many turns."""
        lines = self._path.read_text("utf-8").splitlines(keepends=True) if self._path.exists() else []
        kept: list[str] = []
        self.text = ""
        for line in lines:
            try:
                turn, text = json.loads(line)
            except ValueError:  # torn by a crash; nothing comes after it
                break
            if turn >= turns:
                break
            kept.append(line)
            self.text = text
        draft = self._path.with_suffix(".part")
        draft.write_text("".join(kept), "utf-8")
        draft.replace(self._path)

    def note(self, turn: int, answer: str) -> None:
        """Take the core's new notes, if they are a JSON object of a bearable size."""
        start, end = answer.find("{"), answer.rfind("}")
        try:
            value = json.loads(answer[start : end + 1])
        except (ValueError, RecursionError):
            return
        text = sendable(json.dumps(value, ensure_ascii=False))
        if isinstance(value, dict) and len(text) <= _PAD_CHARACTERS and text != self.text:
            self.text = text
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([turn, text]) + "\n")
