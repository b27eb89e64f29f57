"""Chroma's documented client, in a process of its own: run as a file, it imports nothing of ltm-bench.

While this client writes, or waits until it can, nothing else runs in its process: no other thread, no limit, no
Control-C (`docs/design/vector-store.md`). But any process can be ended from another one.

Requests and answers are pickles, between this process and the one that started it. Passages are in collections of
limited size, named in their order: as long as a folder is open, Chroma holds the index of each collection that was
used, so the folder is closed when one is full.
"""

import pickle
import sys
from contextlib import suppress
from typing import Any

_MOST_OPEN = 20
"""Folders open at once, one per user: each takes ten files and six threads. The others open when they are needed."""


class ChromaFolder:
    """A folder of Chroma's, which opens when it is needed."""

    def __init__(self, path: str, name: str, about: dict[str, Any], index: dict[str, Any], full: int) -> None:
        """Set up.

        Args:
            path: The folder.
            name: Of the first collection; the others have a number too.
            about: The metadata of each; those with any other are deleted.
            index: The settings of their indexes.
            full: The rows of a collection after which another is begun.
        """
        self._path, self._name, self._about, self._full = path, name, about, full
        self._how: Any = {"configuration": {"hnsw": index}, "embedding_function": None, "metadata": about}
        self._client: Any = None

    def close(self) -> None:
        """Close it, if it is open."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def names(self) -> list[str]:
        """Return the names of the collections, in their order."""
        return list(self._collections())

    def get(self, collection: str, **given: Any) -> Any:
        """Return rows of a collection."""
        return self._collections()[collection].get(**given)

    def query(self, **given: Any) -> Any:
        """Search the newest collection."""
        return self._newest().query(**given)

    def delete(self, ids: list[str]) -> None:
        """Delete rows, wherever they are."""
        for each in self._collections().values():
            each.delete(ids=ids)

    def upsert(self, **given: Any) -> None:
        """Write rows into the newest collection, or into another one if it is full."""
        if self._newest().count() >= self._full:
            number = len(self._known) + 1
            self.close()
            self._collections(f"{self._name}-{number:06}")
        self._newest().upsert(**given)

    def _newest(self) -> Any:
        return list(self._collections().values())[-1]

    def _collections(self, *new: str) -> dict[str, Any]:
        if self._client is None:
            import chromadb  # here, so that what fails in it is answered
            from chromadb.config import Settings

            self._client = client = chromadb.PersistentClient(
                self._path, Settings(anonymized_telemetry=False)
            )
            there = client.list_collections()
            for each in there:
                if each.metadata != self._about:
                    client.delete_collection(each.name)
            names = sorted([*new, *(each.name for each in there if each.metadata == self._about)])
            self._known = {
                name: client.get_or_create_collection(name, **self._how) for name in names or [self._name]
            }
        return self._known


def serve() -> None:
    """Carry out requests until there are no more."""
    requests, answers, sys.stdout = sys.stdin.buffer, sys.stdout.buffer, sys.stderr
    folders: dict[str, ChromaFolder] = {}
    with suppress(BaseException):  # it takes a second; what fails is answered when it is asked for
        import chromadb as _
    while True:
        try:
            settings, method, given = pickle.load(requests)
        except EOFError:
            return
        path, *_ = settings
        try:
            folders[path] = folder = folders.pop(path, None) or ChromaFolder(
                *settings
            )  # the last, since it is used now
            while len(folders) > _MOST_OPEN:
                folders.pop(next(iter(folders))).close()
            answer = getattr(folder, method)(**given), ""
        except BaseException as error:  # Chroma's core panics with what is no Exception
            answer = None, f"{type(error).__name__}: {error}"
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    serve()
