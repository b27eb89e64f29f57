"""Long-term memory in a vector store: it keeps everything that was said, in passages, and recalls the nearest ones.

Works without a network and without keys: a local embedder, and an extractive core that answers by quoting what it
recalled. With `core="openai:gpt-6-luna"` a model answers instead, from one bounded prompt per turn. Chroma keeps the
passages, or SQLite with `store="sqlite"`; either way they are ranked exactly here, so replies depend on the
conversation alone. With `store="chroma_index"` Chroma's index finds them, which is approximate: replies may
occasionally differ.

With `embedder=wordllama` the vectors are static embeddings that come with their package (extra `local`). With
`retrieval=bm25` passages are found by the words that they share with the message, with `hybrid` by both. Every user has
their own store.

Variants need a core model: with `query_rewriting` it writes the search queries, with `scratchpad` it keeps a small JSON
object of what it finds worth keeping; join the two with a plus sign to use both.

Texts embedded since the last reply are counted with a reply: as its usage if nothing else is paid for, otherwise beside
that of the core.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltm_bench import Finding, Memory, Message, Reply, Turn, Usage
from ltm_bench.adapters import (
    WRITE_NOTES,
    WRITE_QUERIES,
    ChromaIndex,
    ChromaStore,
    ConfigError,
    Core,
    DurableAgent,
    EmbeddingModel,
    MemoryStore,
    NearPassage,
    Passage,
    Retrieval,
    Scratchpad,
    SqliteStore,
    StoreState,
    VectorStore,
    at_least,
    counter,
    embedder_of,
    hashing,
    installed,
    operating,
    read_queries,
    user_folder,
    users_in,
    wordllama,
)
from ltm_bench.adapters.extractive import answer, question_in, time_spoken_of

if TYPE_CHECKING:
    from ltm_bench.adapters.hashing import Vectors

_VARIANTS = ("query_rewriting", "scratchpad")

_STORES: dict[str, type[VectorStore]] = {
    "chroma": ChromaStore,
    "sqlite": SqliteStore,
    "chroma_index": ChromaIndex,
}

_NAMES = {"local": hashing.NAME, "wordllama": wordllama.NAME}
"""The names under which a store knows the vectors of local embedders."""


class VectorMemory(DurableAgent):
    """Remembers everything in a vector store, and answers from the passages nearest to the question."""

    free = True
    forks = "snapshot"
    keeps_users = True
    can_reopen = True

    def __init__(
        self,
        *,
        store: str = "chroma",
        embedder: str = "local",
        retrieval: Retrieval = "vectors",
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
            store: `chroma` or `sqlite`, whose passages are all ranked exactly, or `chroma_index`, which has Chroma's
                index find them.
            embedder: `local` (hashed words and letters), `wordllama` (static embeddings, extra `local`), `openai:` and
                the name of an embedding model, or `python:module:callable`.
            retrieval: `vectors`, `bm25` (by the words that they share with the message), or `hybrid`, both merged.
            core: `extractive`, or a provider (or adapter) and its model, e.g. `openai:gpt-6-luna`.
            base_url: The API of the embedder and of the core; default: the provider's.
            memories: Number of passages recalled per message.
            recent: Number of newest turns that the core sees verbatim.
            window: Tokens of the core's prompt, without its reply.
            variant: `semantic`, `query_rewriting`, `scratchpad`, or `query_rewriting+scratchpad`.
            timeout: Seconds that the embedder and the core wait for an answer; default: each one's own.
            max_retries: Retries of a failed request by each of them; default: each one's own.
        """
        at_least("vector_memory", memories=(memories, 1), recent=(recent, 0), window=(window, 256))
        if store not in _STORES:
            raise ConfigError(
                f"vector_memory: store = {store!r} is not known; use one of {', '.join(_STORES)}"
            )
        provider, _, model = embedder.partition(":")
        if embedder not in _NAMES and (provider not in ("openai", "python") or not model):
            raise ConfigError(
                f"vector_memory: embedder = {embedder!r} is not known; use 'local' or 'wordllama', 'openai:' and a "
                "model, e.g. 'openai:text-embedding-3-small', or 'python:module:callable'"
            )
        if retrieval == "bm25" and embedder != "local":
            raise ConfigError(
                f"vector_memory: retrieval = 'bm25' needs no embedder; leave out embedder = {embedder!r}"
            )
        ways = set(variant.split("+"))
        if not ways <= {"semantic", *_VARIANTS}:
            raise ConfigError(
                f"vector_memory: variant = {variant!r} is not known; use 'semantic', 'query_rewriting', 'scratchpad', "
                "or 'query_rewriting+scratchpad'"
            )
        if ways & set(_VARIANTS) and core == "extractive":
            raise ConfigError(
                f"vector_memory: variant = {variant!r} needs a model: set core, e.g. core=openai:gpt-6-luna"
            )
        self._rewrites = "query_rewriting" in ways
        self.writes_in_reply = "scratchpad" in ways
        self._local = None if embedder == "local" or provider == "openai" else embedder_of(embedder)
        given: dict[str, Any] = {"base_url": base_url, "timeout": timeout, "max_retries": max_retries}
        where = {name: value for name, value in given.items() if value is not None}
        self._remote = EmbeddingModel(model, **where) if provider == "openai" else None
        self._core = None if core == "extractive" else Core(core, given, window)
        if self._core is not None:
            self.connections = self._core.connections
        elif self._remote is not None:
            self.connections = self._remote.endpoint.connections
        self.free = self._remote is None and self._core is None  # only our own embedders are free
        self.metered = self._core.metered if self._core is not None else not self.free
        self.uses = self._limit = memories
        self._owed = 0  # tokens embedded since the last reply
        self._newest, self._retrieval = recent, retrieval
        self._kind = _STORES[store]
        self._vectors_of = _NAMES.get(embedder, embedder)
        self._stores: dict[str | None, MemoryStore] = {}

    async def open(self, home: Path) -> None:
        """Open the store in `home`."""
        self._home = home
        # Two processes took each other's passages for leftovers, and deleted them without a word.
        self._occupy(home)
        if self._kind is ChromaStore and any(home.rglob(SqliteStore.place)):  # begun by version 0.2 or 0.3
            self._kind = SqliteStore
        self._stores = {None: self._new_store(home)}
        if not self.free:  # notice a broken store before anything is paid for
            self.store.connect()

    @property
    def store(self) -> VectorStore:
        """The store for messages of no particular user."""
        return self._stores[None].store

    def _new_store(self, home: Path) -> MemoryStore:
        return MemoryStore(
            home,
            self._kind(self._vectors_of),
            recent=self._newest,
            retrieval=self._retrieval,
            pad=Scratchpad() if self.writes_in_reply else None,
        )

    def _store_of(self, user: str | None) -> MemoryStore:
        """Return the store of one user, which holds nothing from anybody else."""
        if user not in self._stores:
            store = self._stores[user] = self._new_store(user_folder(self._home, user))
            if self._restored:  # drop leftovers of an abandoned conversation
                store.restored(store.missing(0), ())
        return self._stores[user]

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Keep the passages of these turns, drop all others, and add what is missing."""
        said = self._owed = 0
        for turn in turns:
            own = self._store_of(turn.message.user).replay(turn)
            said = turn.message.turn + 1
            if turn.billed:  # earlier texts were counted with this reply
                self._owed = 0
            self._owe(own)
        for store in self._stores.values():
            missing = store.missing(said)
            store.restored(missing, await self._embed([passage.text for passage in missing]))
        self._restored = True

    async def reopen(self, home: Path, turns: Sequence[Turn], since: int) -> None:
        """Hold what was on disk when it was closed, and remember what was said since and is not there."""
        await self.open(home)
        for each in users_in(home):
            self._store_of(each)
        newest = -1
        for user, store in self._stores.items():
            own = (turn for turn in turns if turn.message.user == user)
            newest = max(newest, store.reopen(own))
        self._restored = True
        for turn in turns[since:]:
            if turn.message.turn <= newest:
                self._store_of(turn.message.user).show(turn)
            else:
                await self.observe(turn)

    async def observe(self, turn: Turn) -> None:
        """Remember a turn."""
        await self.observe_session((turn,))

    async def observe_session(self, turns: Sequence[Turn]) -> None:
        """Remember turns; all their passages are embedded at once."""
        await self._ready()
        for turn in turns:
            if turn.billed:  # in a resumed run, this reply has been counted, with all before it
                self._owed = 0
            self._owe(self._store_of(turn.message.user).remember(turn))
        await self._catch_up()

    async def _catch_up(self) -> None:
        """Embed what has not been embedded yet."""
        for store in self._stores.values():
            passages = store.take_late()
            if passages:
                with operating("write") as done:
                    store.add(passages, await self._embed([passage.text for passage in passages]))
                    done.used(*self._embedding(passage.text for passage in passages))

    def _owe(self, passages: Sequence[Passage]) -> None:
        if self._remote is not None:
            self._owed += sum(counter().count(passage.text) for passage in passages)

    def _embedded(self, queries: Iterable[str]) -> Usage | None:
        """Return the usage of embeddings since the last reply, queries included; None if they are free.

        It is counted here, in the tokens of OpenAI's embedding models, and not taken from the server: otherwise the log
        of a resumed run would include repeated embeddings, which that of an undisturbed run does not.
        """
        owed, self._owed = self._owed, 0
        return self._used(queries, owed)

    def _embedding(self, texts: Iterable[str]) -> list[Usage]:
        """Return the usage of embedding these texts; nothing if that is free."""
        return [] if self._remote is None else [self._remote.usage(sum(map(counter().count, texts)))]

    def _used(self, queries: Iterable[str], owed: int = 0) -> Usage | None:
        """Return the usage of embedding these queries, and what is still owed; None if embedding is free."""
        if self._remote is None:
            return None
        return self._remote.usage(owed + sum(map(counter().count, queries)))

    async def reply(self, message: Message) -> Reply:
        """Answer from memory, and remember the turn."""
        await self._ready()
        await self._catch_up()
        store = self._store_of(message.user)
        if self._core is None:
            text = await self._extract(message, store.state())
            reply = Reply(text, self._embedded(_wanted(message)))
        else:
            said = await self._consult(self._core, message, store.state())
            reply, pad = said.reply, said.pad
            if store.pad is not None and pad is not None:
                store.pad.note(message.turn, pad)
            reply = replace(reply, usage=_with(reply.usage, self._embedded(said.queries)))
        self._owe(store.remember(Turn(message, reply)))
        if self._remote is None:  # otherwise later: a paid reply must not be lost because embedding fails
            await self._catch_up()
        return reply

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze what is remembered now; the call then searches and answers."""
        await self._ready()
        await self._catch_up()
        state = self._store_of(message.user).state()

        async def answer() -> Reply:
            if self._core is None:
                return Reply(await self._extract(message, state), self._used(_wanted(message)))
            said = await self._consult(self._core, message, state, apart=True)
            return replace(said.reply, usage=_with(said.reply.usage, self._used(said.queries)))

        return answer

    async def _consult(
        self, core: Core, message: Message, state: StoreState, *, apart: bool = False
    ) -> _Said:
        """Have the core write queries and answer and, unless `apart` from the conversation, its scratchpad.

        The usage covers all of the core's calls.
        """
        usage: list[Usage | None] = []
        ask_core = core.reply_apart if apart else core.reply

        async def ask(text: str) -> Reply:
            said = await ask_core(self._home / "core", replace(message, text=text))
            usage.append(said.usage)
            return said

        asked = question_in(message.query) or message.query
        queries = [asked]
        if self._rewrites:
            text = core.fitting(WRITE_QUERIES, message.query)
            queries = [*queries, *read_queries((await ask(text)).text)]
        with operating("retrieve") as done:
            found = await self._search_all(queries, state)
            done.used(*usage, *self._embedding(queries))
        with operating("answer") as done:
            reply = await ask(core.prompt(message, found, state.recent, state.pad))
            done.used(usage[-1])
        pad = None
        if self.writes_in_reply and not apart and reply.text.strip():
            noted = f"{state.pad or '{}'}\n\nUser: {message.text}\nYou: {reply.text}"
            with operating("write") as done:
                pad = (await ask(core.fitting(WRITE_NOTES, noted))).text
                done.used(usage[-1])
        known = [each for each in usage if each is not None]
        total = sum(known[1:], known[0]) if len(known) == len(usage) else None
        return _Said(replace(reply, usage=total), queries, pad)

    async def _search_all(self, queries: Sequence[str], state: StoreState) -> list[Passage]:
        """Return the passages near to any of the queries, the nearest of each first."""
        ranked = [
            [each.passage for each in await self._search(query, self._limit, state)] for query in queries
        ]
        merged = (passage for rank in zip_longest(*ranked) for passage in rank if passage is not None)
        return list(dict.fromkeys(merged))[: self._limit]

    async def _extract(self, message: Message, state: StoreState) -> str:
        question = question_in(message.query)
        if not question:
            return "Noted."
        with operating("retrieve") as done:
            found = await self._search(question, self._limit, state)
            spoken_of = time_spoken_of(question, message.at)
            if spoken_of is not None:
                known = {each.passage for each in found}
                around = state.held.around(spoken_of, self._limit)
                found += [NearPassage(passage, 0.0) for passage in around if passage not in known]
            done.used(*self._embedding([question]))
        with operating("answer"):
            return answer(message, [each.passage for each in found])

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return the passages nearest to `query`, the nearest first; of several users, the best of each in turn."""
        await self._catch_up()
        ranked = []
        for user, store in self._stores.items():
            found = await self._search(query, limit, store.state())
            ranked.append([Memory(p.text, p.at, p.turn, score, user=user) for p, score in found])
        return [each for rank in zip_longest(*ranked) for each in rank if each is not None][:limit]

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over all passages."""
        for user, store in self._stores.items():
            for memory in store.memories(user):
                yield memory

    async def forget(self, query: str) -> int:
        """Delete the passages about something; a resumed run does not restore them."""
        await self._catch_up()
        return sum(store.forget(query) for store in self._stores.values())

    def reserve(self, message: Message) -> Usage | None:
        """Return the most that a reply could use: a full window, and the longest reply of the core."""
        # The message and its reply are stored, and the queries embedded; a token has at least one byte.
        embedded = self._owed + 2 * len(message.text.encode("utf-8", "replace"))
        if self._core is None:
            return None if self._remote is None else self._remote.usage(embedded)
        most = self._core.reserve(message)
        if most is None:
            return None
        calls = 1 + self._rewrites + self.writes_in_reply
        total = sum([most] * (calls - 1), most)
        if self._remote is None:
            return total
        embedded += 4 * calls * most.output
        return replace(total, besides=(*total.besides, self._remote.usage(embedded)))

    async def examine(self) -> Sequence[Finding]:
        """Check whether the required packages are installed."""
        return [installed("local", "wordllama")] if self._local is wordllama.embed else []

    async def close(self) -> None:
        """Write pending data, and close the files."""
        try:
            for store in self._stores.values():
                store.close()
        finally:
            self._vacate()
            if self._core is not None:
                await self._core.close()
            if self._remote is not None:
                await self._remote.close()

    async def _search(self, query: str, limit: int, state: StoreState) -> list[NearPassage]:
        return state.nearest(query, (await self._embed([query]))[0], limit)

    async def _embed(self, texts: list[str]) -> Vectors:
        if self._remote is not None and texts:
            return hashing.whole(await self._remote.embed(texts))
        if self._local is None or not texts:
            return hashing.embed(texts)
        return hashing.whole(self._local(texts))


class _Said(NamedTuple):
    """The result of consulting the core."""

    reply: Reply
    queries: Sequence[str]
    pad: str | None
    """The text for its scratchpad."""


def _wanted(message: Message) -> list[str]:
    """Return the query for a message: its question, if it has one."""
    question = question_in(message.query)
    return [question] if question else []


def _with(usage: Usage | None, embedded: Usage | None) -> Usage | None:
    """Return a core's usage, with the embedder's beside it."""
    if usage is None or embedded is None:
        return usage
    return replace(usage, besides=(*usage.besides, embedded))
