"""Mem0's open-source memory: a model extracts facts from every turn; a core model gets those nearest to a message.

Mem0 runs in this process; its facts are in a local Qdrant inside the run's folder. It extracts with `model`, from an
OpenAI-compatible server, and the same model answers unless `core` names another. Times are the benchmark's.

The tokens of extraction are part of a reply's usage; those of observed turns are part of the next reply's. Embedding is
reported separately. Keyword search and entity links need packages that Mem0 does not install by default (`mem0ai[nlp]`,
`fastembed`); if they are installed, Mem0 uses them.
"""

import asyncio
import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from ltm_bench import AgentError, CannotResume, Memory, Turn
from ltm_bench.adapters import (
    ConfigError,
    CountedEmbedder,
    ExtractingProduct,
    chat_messages,
    fingerprint,
    is_about,
    need,
    session_of,
    stamp,
    utterances_in,
)

T = TypeVar("T")

_CONTEXT = 5
"""Number of turns or sessions that hold what Mem0 shows its model besides a new one: its last ten messages."""

_TIED = 20
"""Facts that are fetched beyond those wanted, in case the last of these are tied."""

_DATES = (
    "This conversation takes place at {now}. That is the observation date and the current date; the dates given above "
    "are wrong. Every message of the user begins with the time at which it was sent, in brackets."
)

_PROMPT = (
    "You have memories of the speakers of a conversation. Read all of them, with their times, and look for direct "
    "evidence of what is asked; where they contradict each other, follow the latest. Work out relative times from the "
    "time of the memory, and answer with the date, month or year: if a memory of 4 May 2022 says 'went to India last "
    "year', that was in 2021. Do not take people named in a memory for the speaker it came from. Think step by step, "
    "show any calculation, and give an answer that is specific, rests on the memories alone, and has at most six words."
)
"""What Mem0's own evaluation says to the model that answers (mem0ai/mem0, evaluation/prompts.py), in our words."""

_alone = Lock()
"""Held while Mem0 is set up, because it imports more modules then."""


class Mem0(ExtractingProduct):
    """Remembers what Mem0 extracts, separately for every user, and answers through another adapter.

    Args:
        reasoning: Whether `model` accepts no temperature and no max_tokens; default: by its name, as Mem0 decides.
        threshold: Similarity below which Mem0 drops a fact before it ranks, 0 to 1.
        extraction_limit: Maximum tokens of an extraction. Mem0 takes one that was cut off for one without facts, so
            here it is an error.
        settings: Those of every `ExtractingProduct`.
    """

    package = "mem0ai"
    maker_prompt = _PROMPT

    def __init__(
        self,
        *,
        reasoning: bool | None = None,
        threshold: float = 0.1,
        extraction_limit: int = 2000,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        if not 0 <= threshold <= 1:
            raise ConfigError(f"mem0: threshold = {threshold} is not between 0 and 1")
        if extraction_limit < 1:
            raise ConfigError(f"mem0: extraction_limit = {extraction_limit} is not positive")
        self._reasoning, self._threshold, self._extraction_limit = reasoning, threshold, extraction_limit
        self._calls = _Calls(self.count)
        self._memory: Any = None
        # Qdrant's files belong to the thread that opened them.
        self._thread = ThreadPoolExecutor(1, "mem0")

    # Mem0 itself

    async def open(self, home: Path) -> None:
        """Import Mem0, and open its files in `home`."""
        await super().open(home)
        # Here and not in the thread: when several threads import the same packages, some get half-initialised ones.
        with _untold(home):
            for package in ("mem0", "qdrant_client", "httpx"):
                need("mem0", package)
        self.connect()
        self._calls.loop = asyncio.get_running_loop()
        await self._call(self._open, home)

    def _open(self, home: Path) -> None:
        with _alone:
            package, place, embedder = need("mem0", "mem0"), self.endpoint, self._embedder
            model = {"model": place.model, "api_key": place.key, "openai_base_url": place.url}
            extracts = {"is_reasoning_model": self._reasoning, "max_tokens": self._extraction_limit}
            self._memory = package.Memory.from_config(
                {
                    "llm": {"provider": "openai", "config": {**model, **extracts}},
                    "embedder": {
                        "provider": "openai",
                        "config": {
                            **model,
                            "model": "text-embedding-3-small" if embedder.is_local else embedder.name,
                            # Sent only if it is not the default: servers reject the resulting parameter.
                            **(
                                {} if embedder.dimensions == 1536 else {"embedding_dims": embedder.dimensions}
                            ),
                        },
                    },
                    "vector_store": {
                        "provider": "qdrant",
                        "config": {
                            "collection_name": self._name,
                            "embedding_model_dims": embedder.dimensions,
                            "path": str(home.resolve() / "qdrant"),
                            "on_disk": True,
                        },
                    },
                    "history_db_path": str(home.resolve() / "history.db"),
                }
            )
            memory = self._memory
            for part in (memory.llm, memory.embedding_model):  # with our timeout, and counted
                part.client.close()
                part.client = self._client
            self._calls.watch(self._client.chat.completions, _extraction_fault)
            self._calls.watch(self._client.embeddings, self._vector_fault)
            if embedder.is_local:
                memory.embedding_model = _Own(embedder)

    def _vector_fault(self, answer: Any) -> str:
        return self._embedder.misfit([each.embedding for each in answer.data])

    async def _call(self, function: Callable[..., T], *arguments: Any) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)
        except asyncio.CancelledError:
            self._calls.stop()
            raise

    def _add(self, turns: Sequence[Turn]) -> None:
        *before, last = turns
        since, message, spoken = turns[0].message.turn, last.message, utterances_in(turns)
        self._ledger.begin(since)
        now = spoken[-1].at if spoken else message.at
        at = now.isoformat()
        labels = {"turn": message.turn, "said": fingerprint(last), "at": at, "created_at": at}
        with self._failing():
            self._memory.add(
                chat_messages(spoken),
                user_id=self._named(message.user),
                metadata=labels | ({"since": since} if before else {}),
                prompt=_DATES.format(now=stamp(now)),
            )
        self._ledger.finish(last, self._tally.turn(), with_it=before)

    def _named(self, user: str | None) -> str:
        """Return Mem0's id for a user."""
        return self._name if user is None else f"{self._name}/{user}"

    def _facts(self) -> list[tuple[str, dict[str, Any]]]:
        """Return everything stored for all users: ids, and Mem0's data for each."""
        points, _ = self._memory.vector_store.list(top_k=10_000_000)
        return [(str(point.id), point.payload) for point in points]

    def _listed(self) -> list[Memory]:
        return [_memory(name, fact, self._name) for name, fact in self._facts()]

    def _forget(self, query: str) -> int:
        gone = [name for name, fact in self._facts() if is_about(fact["data"], query)]
        for name in gone:
            self._memory.delete(name)
        return len(gone)

    def _search(self, query: str, limit: int, user: str | None) -> list[Memory]:
        if not query.strip():
            return []
        with self._failing():
            rows = self._memory.search(
                query,
                top_k=limit + _TIED,
                filters={"user_id": self._named(user)},
                threshold=self._threshold,
            )["results"]
        # Equal scores come in another order, and differ in their last digits, once Qdrant's files were reopened.
        rows.sort(key=lambda row: (-round(row["score"], 6), row["metadata"]["turn"], row["id"]))
        return [
            Memory(
                row["memory"],
                datetime.fromisoformat(row["metadata"]["at"]),
                row["metadata"]["turn"],
                row["score"],
                id=str(row["id"]),
                user=user,
                since=row["metadata"].get("since"),
            )
            for row in rows[:limit]
        ]

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Inside the block, raise AgentError for Mem0's errors, and for failures that it ignores."""
        self._calls.failure = None
        try:
            yield
        except Exception as error:  # Mem0 wraps the errors of its parts, but not always
            raise self.endpoint.explain(self._calls.failure or error) from error
        if self._calls.failure is not None:  # Mem0 continues without the texts that it could not embed
            raise self.endpoint.explain(self._calls.failure)

    def _cut(self, turns: Sequence[Turn]) -> None:
        """Delete the facts of all turns but these, and show Mem0 the last messages of these again."""
        vouched = {(turn.message.turn, fingerprint(turn)) for turn in turns}
        try:
            for name, fact in self._facts():
                if (fact["turn"], fact["said"]) not in vouched:
                    self._memory.delete(name)
            with self._memory.db.connection as connection:
                connection.execute("DELETE FROM messages")
            newest: dict[str | None, deque[list[Turn]]] = {}
            for _, together in groupby(turns, key=lambda turn: session_of(turn) or turn.message.turn):
                told = list(together)
                newest.setdefault(told[0].message.user, deque(maxlen=_CONTEXT)).append(told)
            for user, own in newest.items():
                for told in own:
                    said = chat_messages(utterances_in(told))
                    self._memory.db.save_messages(said, f"user_id={self._named(user)}")
        except Exception as error:  # SQLite's, Qdrant's or Mem0's own
            raise CannotResume(
                f"Mem0's memory in {self._home} cannot be cut back to the log ({type(error).__name__}: {error}); "
                "delete that folder and resume: everything will be extracted again"
            ) from error

    # The agent

    async def hear_session(self, turns: Sequence[Turn]) -> None:
        """Have Mem0 extract what is worth remembering from a session, in one call to its model."""
        await self._call(self._add, turns)

    async def cut_back(self, turns: Sequence[Turn]) -> int:
        """Delete the facts of all other turns."""
        kept = self._ledger.whole(len(turns))  # a session cut in the middle is deleted whole
        await self._call(self._cut, turns[:kept])
        self._ledger.cut(kept)
        return kept

    async def resumed(self, turns: Sequence[Turn]) -> None:
        """Restore the usage of extraction since the last reply, which the next reply is billed for."""
        self._tally.owe(turns, [heard.data or () for heard in self._ledger.heard])

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return the facts that Mem0 finds for a user."""
        return await self._call(self._search, query, limit, user)

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over all facts of all users."""
        for memory in await self._call(self._listed):
            yield memory

    async def forget(self, query: str) -> int:
        """Delete the facts that mention something."""
        return await self._call(self._forget, query)

    async def close(self) -> None:
        """Close the files and connections."""
        await self._call(self._close)
        self._thread.shutdown()
        await super().close()

    def _close(self) -> None:
        if self._memory is not None:
            self._memory.vector_store.client.close()
            self._memory.close()


def _memory(name: str, fact: dict[str, Any], run: str) -> Memory:
    user = fact["user_id"].removeprefix(run).removeprefix("/") or None
    at, since = datetime.fromisoformat(fact["at"]), fact.get("since")
    return Memory(fact["data"], at, fact["turn"], id=name, user=user, since=since)


def _extraction_fault(answer: Any) -> str:
    if [each.finish_reason for each in answer.choices] != ["length"]:
        return ""
    return "an extraction was cut off, and Mem0 would store none of its facts; raise -A extraction_limit=N"


@contextmanager
def _untold(home: Path) -> Iterator[None]:
    """Import Mem0 without telemetry, and with its folder here instead of in the user's home."""
    logging.getLogger("mem0").setLevel(logging.CRITICAL)  # its errors contain providers' messages about keys
    wanted = {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(home.resolve() / "mem0")}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
        telemetry = need("mem0", "mem0.memory.telemetry")
        if telemetry.MEM0_TELEMETRY:  # other code in this process has already imported it
            raise ConfigError("mem0: its telemetry is on; start again with MEM0_TELEMETRY=False")
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Calls:
    """Makes Mem0's calls, counts their usage, and records their failures, since Mem0 ignores some.

    They run on the run's event loop, since nothing can stop a thread that waits for an answer.
    """

    loop: asyncio.AbstractEventLoop

    def __init__(self, count: Callable[[Any], None]) -> None:
        self._count = count
        self.failure: Exception | None = None
        self._asked: set[Future[Any]] = set()
        self._stopped = False

    def stop(self) -> None:
        """Cancel pending calls, and refuse new ones."""
        self._stopped = True
        for asked in list(self._asked):
            asked.cancel()

    def _ask(self, call: Coroutine[Any, Any, Any]) -> Any:
        asked = asyncio.run_coroutine_threadsafe(call, self.loop)
        self._asked.add(asked)
        try:
            if self._stopped:
                asked.cancel()
            return asked.result()
        finally:
            self._asked.discard(asked)

    def watch(self, resource: Any, fault: Callable[[Any], str]) -> None:
        """Watch a client's resource from now on; Mem0, in its threads, gets answers instead of coroutines.

        Args:
            resource: The resource.
            fault: Says what is wrong with an answer that Mem0 would misread; empty if nothing is.
        """
        create = resource.create

        def answer_to(**parameters: Any) -> Any:
            try:
                answer = self._ask(create(**parameters))
            except Exception as error:  # Mem0 may ignore it
                self.failure = error
                raise
            self._count(answer)
            if wrong := fault(answer):
                self.failure = AgentError(f"mem0: {wrong}")
            return answer

        resource.create = answer_to


class _Own:
    """One of our embedders, or the user's, in place of Mem0's."""

    def __init__(self, embedder: CountedEmbedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, action: str | None = None) -> list[float]:
        """Return the vector of a text."""
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str], action: str | None = None) -> list[list[float]]:
        """Return the vectors of texts."""
        rows = self._embedder.embed_here(texts)
        if wrong := self._embedder.misfit(rows):
            raise ValueError(wrong)
        return rows
