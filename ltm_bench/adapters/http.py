"""What goes over the wire to a provider: every attempt is timed, and an answer can be kept and given again.

Adapters whose requests are whole (all that the answer depends on is in the request) take their HTTP client from
`client`. Who listens, and whether answers are kept, is set by whoever holds the run, and holds for all that is called
from there: in the same task, in its threads, in tasks that it starts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import time
from asyncio import AbstractEventLoop
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ltm_bench.core.errors import ConfigError

if TYPE_CHECKING:
    import httpx2


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request, or one that was answered from the cache."""

    seconds: float
    status: int | None = None
    """Of HTTP; None where no answer came."""
    error: str = ""
    """What kind of error kept the answer from coming."""
    retry_after: str = ""
    """What the provider said of when to come again, as it said it."""
    cached: bool = False

    def record(self) -> dict[str, Any]:
        """Return its JSON form."""
        found: dict[str, Any] = {"seconds": round(self.seconds, 6)}
        for name in ("status", "error", "retry_after", "cached"):
            if value := getattr(self, name):
                found[name] = value
        return found


@dataclass(slots=True)
class Traffic:
    """What went over the wire for one reply."""

    attempts: list[Attempt] = field(default_factory=list)
    answers: dict[str, bytes] = field(default_factory=dict)
    """Bodies of answers by the request's identity, to be kept if the reply turns out well."""

    @property
    def cached(self) -> bool:
        """Whether all of it came from the cache."""
        return bool(self.attempts) and all(attempt.cached for attempt in self.attempts)


def sendable(text: str) -> str:
    """Return a text with every half of a surrogate pair replaced, which neither UTF-8 nor any provider can hold.

    Two halves that stand together become the character that they are, as they do once they have been in a log.
    """
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_listening: ContextVar[Traffic | None] = ContextVar("listening", default=None)
_answers: ContextVar[Answers | None] = ContextVar("answers", default=None)


@contextmanager
def listening() -> Iterator[Traffic]:
    """Collect the attempts that are made within; their answers are kept if it ends without an error.

    So an answer that the adapter could not use is asked for again when the run is resumed.
    """
    heard = Traffic()
    token = _listening.set(heard)
    try:
        yield heard
        if (answers := _answers.get()) is not None:
            answers.keep(heard.answers)
    finally:
        _listening.reset(token)


def tell(attempt: Attempt) -> None:
    """Report an attempt to whoever listens."""
    if (heard := _listening.get()) is not None:
        heard.attempts.append(attempt)


@contextmanager
def caching(path: Path | None) -> Iterator[None]:
    """Keep answers in a file, and give those that are there, within; None keeps nothing. Raises ConfigError."""
    if path is None:
        yield
        return
    answers = Answers(path)
    token = _answers.set(answers)
    try:
        yield
    finally:
        _answers.reset(token)
        answers.close()


class Answers:
    """Answers of providers in an SQLite file, by everything that went into the request.

    That is the method, the address, the headers that name a version of the API, and the whole body but for
    `prompt_cache_key`, which says where a prompt is cached and is different in every run. Keys are not part of it, and
    nothing that was sent is kept, but for a hash. Only whole answers with status 200 are kept.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("CREATE TABLE IF NOT EXISTS answers (request TEXT PRIMARY KEY, body BLOB)")
        except sqlite3.Error as error:
            raise ConfigError(f"{path}: not a cache of answers ({error}); move it away") from error

    def get(self, request: str) -> bytes | None:
        """Return the body of a known answer; a file that cannot be read any more knows none."""
        try:
            row = self._database.execute("SELECT body FROM answers WHERE request = ?", (request,)).fetchone()
        except sqlite3.Error:
            return None
        return None if row is None else bytes(row[0])

    def keep(self, bodies: Mapping[str, bytes]) -> None:
        """Keep answers; where the disk has no room for them the reply counts all the same, since it was paid for."""
        with suppress(sqlite3.Error):
            self._database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", bodies.items())

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


_VERSIONS = ("anthropic-version", "anthropic-beta", "openai-beta", "openai-organization", "openai-project")


def identity(request: httpx2.Request) -> str | None:
    """Return what tells a request from every other one; None where its answer cannot be kept."""
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


_shared: WeakKeyDictionary[AbstractEventLoop, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()


def client(kind: type[httpx2.AsyncClient], **settings: Any) -> httpx2.AsyncClient:
    """Return an HTTP client of an SDK's own kind whose every request is told of, and may be answered from the cache.

    All who ask for one with the same settings on the same event loop share it, and with it its connections: a new
    client takes 25 ms of processor time, and a new connection to a provider far more. Each closes it once; the last
    one really does.
    """
    known = _shared.setdefault(asyncio.get_running_loop(), {})
    which = (kind, repr(sorted(settings.items())))
    if which not in known or known[which].users == 0:
        known[which] = _watched(kind)(**settings)
    known[which].users += 1
    found: httpx2.AsyncClient = known[which]
    return found


def _watched(kind: type[Any]) -> type[Any]:
    import httpx2

    class Watched(kind):  # type: ignore[misc]
        users = 0

        async def send(self, request: httpx2.Request, **how: Any) -> httpx2.Response:
            heard, answers = _listening.get(), _answers.get()
            key = None if heard is None or answers is None or how.get("stream") else identity(request)
            if answers is not None and key is not None and (body := answers.get(key)) is not None:
                tell(Attempt(0.0, 200, cached=True))
                headers = {"content-type": "application/json"}
                return httpx2.Response(200, headers=headers, content=body, request=request)
            begun = time.perf_counter()
            # Each piece of an answer may take as long as the time-out says. All of them together may not, either:
            # some servers send white space for as long as they are busy.
            seconds = request.extensions.get("timeout", {}).get("read")
            try:
                async with asyncio.timeout(None if how.get("stream") else seconds) as whole:
                    response: httpx2.Response = await super().send(request, **how)
            except BaseException as error:
                if whole.expired():
                    late = httpx2.ReadTimeout("the answer was not whole in time", request=request)
                    tell(Attempt(time.perf_counter() - begun, error=type(late).__name__))
                    raise late from error
                tell(Attempt(time.perf_counter() - begun, error=type(error).__name__))
                raise
            after = response.headers.get("retry-after", "") if response.status_code >= 400 else ""
            tell(Attempt(time.perf_counter() - begun, response.status_code, retry_after=after[:40]))
            if heard is not None and key is not None and response.status_code == 200:
                heard.answers[key] = response.content
            return response

        async def aclose(self) -> None:
            self.users -= 1
            if self.users == 0:
                await super().aclose()

    return Watched
