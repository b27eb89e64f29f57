"""Passages and vectors in Chroma, where Chroma's own client finds them.

Chroma keeps them and `vector_store` ranks them, because Chroma's index is approximate and different each time that it
is built. Chroma has no collection without an index, so this one has the cheapest, which nothing here asks.

Texts are metadata, not documents, of which Chroma keeps an index of all sequences of three letters: that took three
fifths of the time of writing. The client runs in a process of its own (`chroma_worker`), which is started once for all
stores of this process, and ended when it does not answer.

`ChromaIndex` holds passages in Chroma, found by its own index: a neighbour graph (HNSW), by cosine.

The index is approximate, and Chroma builds it in no fixed order: the same passages give a different graph each time.
With Chroma's defaults it misses one in 30 of the 50 nearest among 6,000 passages. With those below, two graphs of 6,400
passages disagreed on one query of 241.
"""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from bisect import bisect_left
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from subprocess import SubprocessError
from typing import TYPE_CHECKING, Any, ClassVar

from ltm_bench.adapters.memories.vector_store import NearPassage, Stored, StoreSnapshot, VectorStore
from ltm_bench.adapters.passages import Passage
from ltm_bench.core.errors import AgentError

if TYPE_CHECKING:
    from ltm_bench.adapters.hashing import Vectors


_NAME = "passages"

_PATIENCE = 60.0
"""Seconds for one request: a batch is written, or a page read, in less than one."""

_ROOM = 1 << 24
"""Bytes of a disk that is as good as full: SQLite needs them to write a batch."""


class _Worker:
    """The process in which Chroma runs."""

    def __init__(self) -> None:
        # -P: beside the file are modules with names of Python's own.
        command = [sys.executable, "-P", str(Path(__file__).with_name("chroma_worker.py"))]
        # Its threads would each get memory of their own, of which little is ever given back.
        told: dict[str, Any] = {"env": {**os.environ, "MALLOC_ARENA_MAX": "1"}, "stderr": subprocess.DEVNULL}
        # A typed Control-C is for this process alone.
        self._process: Any = subprocess.Popen(command, stdin=-1, stdout=-1, start_new_session=True, **told)
        self._thread, self._owner = ThreadPoolExecutor(1), os.getpid()
        self._thread.submit(
            int
        ).result()  # a thread whose start is interrupted is never joined, and the exit waits for it
        atexit.register(self.end)

    def ask(self, *request: object) -> tuple[Any, str]:
        """Return the answer to a request, and what failed. Whoever cannot wait for it ends the process."""
        heard = signal.getsignal(signal.SIGINT)
        # asyncio would hear a Control-C only after the answer.
        own = callable(heard) and threading.current_thread() is threading.main_thread()
        try:
            if own:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            answer: tuple[Any, str] = self._thread.submit(self._exchange, request).result(_PATIENCE)
        except BaseException:  # a Control-C leaves it in the middle of a request, too
            self.end()
            raise
        finally:
            if own:
                signal.signal(signal.SIGINT, heard)
        return answer

    def _exchange(self, request: object) -> Any:
        pickle.dump(request, self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)

    def end(self) -> None:
        """End it; what it has answered is done."""
        if self._owner == os.getpid():  # and not a copy in a process that was forked
            self._process.kill()
            self._process.wait()
            _worker.cache_clear()


@cache
def _worker(process: int) -> _Worker:
    """Return the worker of this process, by its number."""
    return _Worker()


class ChromaStore(VectorStore):
    """Passages in Chroma's collections, ranked exactly."""

    place = "chroma"
    unreadable = (SubprocessError,)
    batch = 1000  # as many as Chroma saves an index after: it reads all that was not saved with every batch
    full = 4000
    """Passages of a collection after which another is begun, so that the index of the first can go."""
    index: ClassVar[dict[str, str | int]] = {
        "space": "ip",
        "max_neighbors": 4,
        "ef_construction": 4,
        "num_threads": 1,  # a run may be one of many
    }

    def open(self, home: Path) -> None:
        """Set the folder; it is opened or created on first use."""
        super().open(home)
        self._failure: Exception | None = None
        if find_spec("chromadb") is None:
            raise ModuleNotFoundError("No module named 'chromadb'", name="chromadb")
        _worker(os.getpid())  # it takes a second to start

    def connect(self) -> list[str]:
        """Return the names of its collections, in their order."""
        names: list[str] = self._ask("names")
        return names

    def _ask(self, method: str, **given: Any) -> Any:
        """Return what a method of `chroma_worker.ChromaFolder` returns. After a failure, nothing else is asked."""
        if self._failure is not None:
            raise self._failure
        self.path.mkdir(exist_ok=True)
        about = {"embedder": self.embedder, "space": self.index["space"]}
        settings = str(self.path), _NAME, about, self.index, self.full
        try:
            answer, failed = _worker(os.getpid()).ask(settings, method, given)
            if failed:
                raise SubprocessError(failed)
        except BaseException as error:  # after a Control-C, too, nothing more is asked
            self._failure = self._explained(error)
            if isinstance(error, Exception):
                raise self._failure from error
            raise
        return answer

    def _explained(self, error: BaseException) -> Exception:
        """Return what to say about a failure: a disk, or another program, is seldom named by it."""
        what, hint = f"did not answer within {_PATIENCE:g} s", "see whether its disk works"
        locked = ""
        try:
            with closing(sqlite3.connect(self.path / "chroma.sqlite3", timeout=0)) as file:
                file.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as refused:
            locked = str(refused)
        if shutil.disk_usage(self.path).free < _ROOM:
            what, hint = "has no room on its disk", "make some"
        elif "locked" in locked:
            what, hint = "is in use by another program", "end that"
        elif not isinstance(error, TimeoutError):
            ended = isinstance(error, EOFError | OSError)
            return SubprocessError("Chroma's process ended" if ended else str(error))
        return AgentError(f"the vector store {self.path} {what}; {hint}, and resume the run")

    def _read(self) -> dict[str, Stored]:
        import numpy as np

        stored: dict[str, Stored] = {}
        fields = ["documents", "metadatas", "embeddings"]
        for name in self.connect():
            for offset in count(0, self.batch):
                page = self._ask("get", collection=name, limit=self.batch, offset=offset, include=fields)
                vectors = np.array(page["embeddings"], dtype=np.float32)
                rows = zip(page["ids"], page["documents"], page["metadatas"], vectors, strict=True)
                for key, document, about, vector in rows:
                    text = about.get("text", document)  # until version 0.4, texts were documents
                    stored[key] = Stored(text, f"{about.get('at')} {about.get('speaker')}", vector)
                if len(page["ids"]) < self.batch:
                    break
            self._disconnect()  # so that Chroma lets go of the index
        return stored

    def _delete(self, keys: Sequence[str]) -> None:
        for start in range(0, len(keys), self.batch):
            self._ask("delete", ids=list(keys[start : start + self.batch]))

    def _write(self, rows: Sequence[tuple[Passage, Any]]) -> None:
        import numpy as np

        rows = list({passage.key: (passage, vector) for passage, vector in rows}.values())  # no key twice
        most = 2 * self.batch  # a turn's passages can be more than fill one, and are not written apart
        for start in range(0, len(rows), most):
            passages, vectors = zip(*rows[start : start + most], strict=True)
            about = [
                {"turn": p.turn, "at": p.at.isoformat(), "speaker": p.speaker, "text": p.text}
                for p in passages
            ]
            ids = [each.key for each in passages]
            self._ask("upsert", ids=ids, embeddings=np.array(vectors), metadatas=about)

    def close(self) -> None:
        """Write pending passages, and close; after a failure, resuming tells them again."""
        if self._failure is None:
            super().close()

    def _disconnect(self) -> None:
        if self._failure is None:
            self._ask("close")


_DIGITS = 6
"""Significant decimals of a score: beyond them the index only rounds, so scores count as equal."""


@dataclass(frozen=True)
class Indexed(StoreSnapshot):
    """Passages that are ranked by Chroma's index."""

    store: ChromaIndex

    def nearest(self, query: Any, limit: int) -> list[NearPassage]:
        """Return the passages nearest to a vector, nearest first, ties in conversation order."""
        if not self.size:
            return []
        grown = self.size < len(self.store.passages)
        # Twice as many, since the index fills the last places with any of the equally near ones.
        found = self.store.ask(query, 2 * limit, until=self.passages[self.size - 1].turn if grown else None)
        ranked = sorted((-round(1 - distance, _DIGITS), key) for key, distance in found)[:limit]
        return [NearPassage(self._at(key), -score) for score, key in ranked]

    def _at(self, key: str) -> Passage:
        return self.passages[bisect_left(self.passages, key, hi=self.size, key=lambda passage: passage.key)]


class ChromaIndex(ChromaStore):
    """Passages in a Chroma collection, ranked by its index."""

    full = sys.maxsize  # one index finds them all
    index = {  # noqa: RUF012  # as in the class above
        "space": "cosine",
        # Larger than the defaults, so that little is missed.
        "max_neighbors": 128,
        "ef_construction": 400,
        "ef_search": 800,
        "num_threads": 1,
    }

    def now(self) -> Indexed:
        """Return a snapshot. The store only grows behind it."""
        return Indexed(self.passages, len(self.passages), self)

    def ask(self, query: Any, limit: int, *, until: int | None = None) -> list[tuple[str, float]]:
        """Return keys and distances of the passages nearest to a vector, from turns up to `until` if given."""
        self.write()  # the index knows only what is written
        where = None if until is None else {"turn": {"$lte": until}}
        vectors = query[None]
        answer = self._ask(
            "query", query_embeddings=vectors, n_results=limit, where=where, include=["distances"]
        )
        return list(zip(answer["ids"][0], answer["distances"][0], strict=True))

    def _append(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        self.passages += passages  # the index holds the vectors
