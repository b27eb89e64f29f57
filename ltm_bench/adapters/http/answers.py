"""Caches providers' answers in a file, by request (`--cache`).

The run decides whether to cache; that applies to everything called from there.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import BODY

if TYPE_CHECKING:
    import httpx2

_VERSIONS = ("anthropic-version", "anthropic-beta", "openai-beta", "openai-organization", "openai-project")
"""Headers that can change an answer."""


class AnswerCache:
    """Answers of providers in an SQLite file, by everything that went into the request.

    That is the method, the URL, the headers that name an API version, and the whole body except `prompt_cache_key`,
    which differs in every run. API keys are not part of it, and requests are stored only as hashes. Only complete
    answers with status 200 are kept.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("CREATE TABLE IF NOT EXISTS answers (request TEXT PRIMARY KEY, body BLOB)")
        except sqlite3.Error as error:
            raise ConfigError(f"{path}: not a cache of answers ({error}); move it away") from error

    def get(self, request: str) -> bytes | None:
        """Return a cached answer's body. An unreadable file has none, and one larger than any that is kept is none."""
        try:
            kept = "SELECT body FROM answers WHERE request = ? AND length(body) <= ?"
            row = self._database.execute(kept, (request, BODY)).fetchone()
        except sqlite3.Error:
            return None
        return None if row is None else bytes(row[0])

    def keep(self, bodies: Mapping[str, bytes]) -> None:
        """Store answers. If the disk is full the reply still counts, since it was paid for."""
        with suppress(sqlite3.Error):
            self._database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", bodies.items())

    def close(self) -> None:
        """Close the file."""
        self._database.close()


_answers: ContextVar[AnswerCache | None] = ContextVar("answers", default=None)


@contextmanager
def caching(path: Path | None) -> Iterator[None]:
    """Cache answers in a file inside the block; None caches nothing. Raises ConfigError."""
    if path is None:
        yield
        return
    answers = AnswerCache(path)
    token = _answers.set(answers)
    try:
        yield
    finally:
        _answers.reset(token)
        answers.close()


def kept() -> AnswerCache | None:
    """Return the cache in use here, if any."""
    return _answers.get()


def keep(bodies: Mapping[str, bytes]) -> None:
    """Store answers in the cache in use here, if any."""
    if (answers := kept()) is not None:
        answers.keep(bodies)


def identity(request: httpx2.Request) -> str | None:
    """Return a request's identity; None if its answer cannot be cached."""
    try:
        body = json.loads(request.content)
    except ValueError:
        return None
    if request.method != "POST" or not isinstance(body, dict) or body.get("stream"):
        return None
    body.pop("prompt_cache_key", None)
    versions = [request.headers.get(name, "") for name in _VERSIONS]
    parts = json.dumps([request.method, str(request.url), versions, body], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()
