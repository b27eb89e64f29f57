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
import sqlite3
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar

from ltm_bench.adapters.passages import Passage
from ltm_bench.adapters.vector_store import NearPassage, Stored, StoreSnapshot, VectorStore
from ltm_bench.core.errors import AgentError

if TYPE_CHECKING:
    from ltm_bench.adapters.hashing import Vectors


_NAME = "passages"

_PATIENCE = 60.0
"""Seconds for one request: a batch is written, or a page read, in less than one."""

_ROOM = 1 << 24
"""Bytes of a disk that is as good as full: SQLite needs them to write a batch."""


class ChromaFailed(Exception):
    """Chroma could not do what it was asked."""


class _Worker:
    """The process in which Chroma runs."""

    _now: ClassVar[_Worker | None] = None

    def __init__(self) -> None:
        file = Path(__file__).with_name("chroma_worker.py")
        # -P: beside this file are modules with names of Python's own. A typed Control-C is for this process alone.
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Its threads would each get memory of their own, of which little is ever given back.
            env={**os.environ, "MALLOC_ARENA_MAX": "1"},
            start_new_session=True,
        )
        self._owner = os.getpid()
        atexit.register(self.end)

    @classmethod
    def now(cls) -> _Worker:
        """Return the one of this process, which may have to start; a process that was forked has another."""
        if cls._now is None or cls._now._owner != os.getpid() or cls._now._process.poll() is not None:
            cls._now = cls()
        return cls._now

    def ask(self, *request: object) -> Any:
        """Return the answer to a request. Whoever cannot wait for it ends the process."""
        answered = Future[Any]()
        Thread(target=self._exchange, args=(request, answered), daemon=True).start()
        try:
            return answered.result(_PATIENCE)
        except BaseException:
            self.end()
            raise

    def _exchange(self, request: object, answered: Future[Any]) -> None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(request, process.stdin)
            process.stdin.flush()
            answered.set_result(pickle.load(process.stdout))
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:  # it has ended
            answered.set_exception(ChromaFailed(f"its process ended ({type(error).__name__})"))

    def end(self) -> None:
        """End it; what it has answered is done."""
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()


class ChromaStore(VectorStore):
    """Passages in Chroma's collections, ranked exactly."""

    place = "chroma"
    unreadable = (ChromaFailed,)
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
        _Worker.now()  # it takes a second to start

    def connect(self) -> list[str]:
        """Return the names of its collections, in their order."""
        names: list[str] = self._ask("names")
        return names

    def _ask(self, method: str, **given: Any) -> Any:
        """Return what a method of `chroma_worker.Folder` returns. After a failure, nothing else is asked."""
        if self._failure is not None:
            raise self._failure
        self.path.mkdir(exist_ok=True)
        about = {"embedder": self.embedder, "space": self.index["space"]}
        settings = str(self.path), _NAME, about, self.index, self.full
        try:
            answer, failed = _Worker.now().ask(settings, method, given)
            if failed:
                raise ChromaFailed(failed)
        except BaseException as error:
            self._failure = self._explained(error)
            if isinstance(error, Exception):
                raise self._failure from error
            raise
        return answer

    def _explained(self, error: BaseException) -> Exception:
        """Return what to say about a failure: a disk, or another program, is seldom named by it."""
        if shutil.disk_usage(self.path).free < _ROOM:
            return AgentError(
                f"the disk of the vector store {self.path} is full; make room, and resume the run"
            )
        try:
            with closing(sqlite3.connect(self.path / "chroma.sqlite3", timeout=0)) as file:
                file.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as locked:
            if "locked" in str(locked):
                return AgentError(
                    f"the vector store {self.path} is in use by another program; end that, and resume the run"
                )
        except sqlite3.DatabaseError:  # it is damaged, which the failure says too
            pass
        if isinstance(error, ChromaFailed):
            return error
        return AgentError(
            f"the vector store {self.path} did not answer within {_PATIENCE:g} s; resume the run"
        )

    def _read(self) -> dict[str, Stored]:
        import numpy as np

        stored: dict[str, Stored] = {}
        fields = ["documents", "metadatas", "embeddings"]
        for name in self.connect():
            offset = 0
            while offset % self.batch == 0:
                page = self._ask("get", collection=name, limit=self.batch, offset=offset, include=fields)
                if not page["ids"]:
                    break
                offset += len(page["ids"])
                vectors = np.array(page["embeddings"], dtype=np.float32)
                rows = zip(page["ids"], page["documents"], page["metadatas"], vectors, strict=True)
                stored.update(
                    # Until version 0.4, texts were documents.
                    (
                        key,
                        Stored(
                            about.get("text", document), f"{about.get('at')} {about.get('speaker')}", vector
                        ),
                    )
                    for key, document, about, vector in rows
                )
            self._disconnect()  # so that Chroma lets go of the index
        return stored

    def _delete(self, keys: Sequence[str]) -> None:
        for start in range(0, len(keys), self.batch):
            self._ask("delete", ids=list(keys[start : start + self.batch]))

    def _write(self, rows: Sequence[tuple[Passage, Any]]) -> None:
        import numpy as np

        most = 2 * self.batch  # a turn's passages can be more than fill one, and are not written apart
        for start in range(0, len(rows), most):
            passages, vectors = zip(*rows[start : start + most], strict=True)
            about = [
                {"speaker": p.speaker, "turn": p.turn, "at": p.at.isoformat(), "text": p.text}
                for p in passages
            ]
            keys = [each.key for each in passages]
            self._ask("upsert", ids=keys, embeddings=np.array(vectors), metadatas=about)

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
