"""HTTP: an agent behind an endpoint that takes JSON and answers with JSON."""

import json
import ssl
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any

import httpx2

from ltm_bench import Agent, AgentError, CannotResume, Finding, Finish, Message, Reply, Turn
from ltm_bench.adapters import (
    Again,
    attempt,
    check_url,
    headers_from_environment,
    json_of,
    object_set,
    proxies_from_environment,
    retrying,
    scrubbed,
    write_whole,
)

_PAUSE = 1.0
"""Seconds before the first retry."""

_EXAMINING = 30.0
"""Maximum seconds that `doctor` waits for an answer."""

_SHOWN = 200
"""Maximum characters of a request or an answer quoted in an error."""


class Http(Agent):
    """Posts every message to `url`, and reads the reply from the answer.

    Args:
        url: The URL to post to.
        request: The path of the message in the request, as keys separated by dots: `input.text`. Numbers are places in
            lists: `messages.0.content`.
        reply: The path of the reply in the answer: `choices.0.message.content`.
        session: The path of this conversation's id in the request; not sent by default.
        time: The path of the benchmark time (ISO 8601) in the request; not sent by default.
        search_by: The path of the text to search a memory by, without instructions how to answer; not sent by default.
        extra: More fields of the request, as JSON: `{"stream": false}`.
        headers: Headers whose values come from environment variables: `Authorization=MY_TOKEN, X-Team=TEAM`.
        observe: Where to post turns that need no answer: a URL, or a path on the server of `url` (`/observe`). The
            request also holds the reply; only the answer's status counts.
        observe_reply: The path of the reply in that request.
        observe_extra: Fields of that request instead of `extra`, as JSON.
        fork: Where to post forked questions (`--questions forked`): a URL or a path, like `observe`. The endpoint
            answers them without remembering them; nothing else is sent meanwhile.
        fork_extra: Fields of that request instead of `extra`, as JSON.
        timeout: Seconds for one answer.
        max_retries: How often to retry after 429, 5xx or a lost connection: after 1, 2, 4, … s, or as Retry-After says,
            up to a minute.

    The agent behind the endpoint keeps its own memory, under the session's id. With `observe` it receives filler
    without having to answer; otherwise it is asked everything, filler included. HTTP 413 means that the conversation
    has become too long for it.
    """

    metered = True

    def __init__(
        self,
        *,
        url: str,
        request: str = "message",
        reply: str = "reply",
        session: str = "",
        time: str = "",
        search_by: str = "",
        extra: str = "{}",
        headers: str = "",
        observe: str = "",
        observe_reply: str = "reply",
        observe_extra: str = "",
        fork: str = "",
        fork_extra: str = "",
        timeout: float = 120.0,
        max_retries: int = 4,
    ) -> None:
        check_url("url", url)
        self._url, self._place = url, scrubbed(url)
        self.connections = self._place
        self._told_at = _place_at("observe", url, observe)
        self._beside = _place_at("fork", url, fork)
        self.observes = bool(observe)
        if fork:
            self.forks = "barrier"
        self._request, self._reply, self._session, self._time = request, reply, session, time
        self._search_by = search_by
        self._extra = object_set("http", "extra", extra)
        self._told, self._told_extra = (
            observe_reply,
            object_set("http", "observe_extra", observe_extra or extra),
        )
        self._beside_extra = object_set("http", "fork_extra", fork_extra or extra)
        self._headers = dict(headers_from_environment(headers))
        self._timeout, self._max_retries = timeout, max_retries
        self._conversation = ""
        self._client: httpx2.AsyncClient | None = None

    async def open(self, home: Path) -> None:
        """Find the conversation's id, or create one: a resumed run keeps its own."""
        self._client = _client(self._headers)
        self._kept, self._last = home / "session", home / "observed"
        self._conversation = self._kept.read_text("utf-8") if self._kept.exists() else ""
        self._new = not self._conversation  # a crash can leave an empty file
        if self._new:
            self._conversation = uuid.uuid4().hex
            self._kept.write_text(self._conversation, "utf-8")

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Keep the session, since its memory is at the endpoint, and tell it the filler that it has not heard.

        Under a new id it would remember nothing. It knows the turns that it answered itself.
        """
        if self._new and self._session and any(True for _ in turns):
            self._kept.unlink()
            raise CannotResume(
                f"{self._kept}, the id under which {self._place} knows this conversation, is gone: it would answer "
                "as if nothing had been said; restore the file, or start again with --fresh"
            )
        if self.observes:
            last = int(self._last.read_text("utf-8")) if self._last.exists() else -1
            for turn in turns:
                if turn.answered == "script" and turn.message.turn > last:
                    await self.observe(turn)

    async def reply(self, message: Message) -> Reply:
        """Post the message and read the reply."""
        return self._read(await self._post(self._url, self._body(message, self._extra)))

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Return a call that posts a question without leaving a trace there; nothing else is sent until it returns."""

        async def answer() -> Reply:
            return self._read(await self._post(self._beside, self._body(message, self._beside_extra)))

        return answer

    def _read(self, answer: bytes | None) -> Reply:
        """Read the reply from an answer."""
        if answer is None:
            return Reply("", finish=Finish.OVERFLOW)
        try:
            content = json_of(answer)
        except ValueError as error:
            raise AgentError(
                f"{self._place} sent an answer that is not JSON: {self._clean(repr(answer))[:120]}"
            ) from error
        text = _get(content, self._reply.split("."))
        if not isinstance(text, str):
            raise AgentError(
                f"{self._place} sent an answer without text at reply={self._reply!r}: "
                f"{self._clean(json.dumps(content))[:200]}"
            )
        return Reply(text)

    async def observe(self, turn: Turn) -> None:
        """Post a turn that the endpoint did not answer, if it observes. Do not retry a turn that is too long."""
        if not self.observes:
            return
        body = self._body(turn.message, self._told_extra)
        body = _put(body, self._told.split("."), turn.reply.text)
        await self._post(self._told_at, body)
        write_whole(self._last, str(turn.message.turn))

    async def examine(self) -> Sequence[Finding]:
        """Post one message as a run does, once, in a separate conversation; report what is at the reply's path.

        If it observes, post a turn there as well.
        """
        self._conversation = f"doctor-{uuid.uuid4().hex}"
        self._timeout, self._max_retries = min(self._timeout, _EXAMINING), 0
        hello = Message("Hello, can you hear me?", datetime(2026, 1, 5, 9, tzinfo=UTC), 0)
        try:
            reply = await self.reply(hello)
            await self.observe(Turn(replace(hello, text="By the way, it rains.", turn=1), Reply("Okay.")))
        except AgentError as error:
            return [Finding(False, str(error))]
        if reply.finish is Finish.OVERFLOW:
            return [Finding(False, f"{self._place} finds the first message too long (HTTP 413)")]
        heard = [Finding(True, f"{scrubbed(self._told_at)} observes")] if self.observes else []
        return [
            Finding(True, f"{self._place} answers; at reply={self._reply!r} it says {reply.text!r:.100}"),
            *heard,
            Finding(
                True,
                f"conversations are kept apart by the id at session={self._session!r}"
                if self._session
                else "no session is set: to the endpoint, all runs of this agent are one conversation, including "
                "this check",
            ),
        ]

    def _body(self, message: Message, extra: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request."""
        body: dict[str, Any] = json.loads(json.dumps(extra))
        for path, value in (
            (self._request, message.text),
            (self._session, self._conversation),
            (self._time, message.at.isoformat()),
            (self._search_by, message.query),
        ):
            if path:
                body = _put(body, path.split("."), value)
        return body

    def _clean(self, text: str) -> str:
        """Return the server's text without values from the environment."""
        return scrubbed(text, self._headers.values())

    async def _post(self, url: str, body: Mapping[str, Any]) -> bytes | None:
        """Return the answer; None if the endpoint finds the conversation too long."""
        if self._client is None:
            raise RuntimeError("open() was not called")
        client, content, place = self._client, json.dumps(body).encode(), scrubbed(url)
        try:
            answer = await retrying(
                lambda: self._once(client, url, content),
                retries=self._max_retries,
                pause=_PAUSE,
                again=_again,
            )
        except _Failed as error:
            raise AgentError(
                f"{place} failed{self._often} with {error}; check that it works, then resume the run"
            ) from None
        what = f"HTTP {answer.status_code}"
        if answer.is_success:
            return answer.content
        if answer.status_code == 413:
            return None
        if answer.has_redirect_location:
            there = self._clean(answer.headers["Location"])[:200]
            settings = {self._beside: "fork", self._told_at: "observe", self._url: "url"}
            setting = settings[url]
            raise AgentError(f"{place} has moved ({what}): set {setting} to {there!r}")
        raise AgentError(f"{place} refused the request: {what}{self._said(answer, content)}")

    @property
    def _often(self) -> str:
        return f" {self._max_retries + 1} times, last" if self._max_retries else ""

    def _said(self, answer: httpx2.Response, body: bytes) -> str:
        """Return the beginnings of an answer and of its request, for an error: often a field is missing."""
        said, asked = (self._clean(" ".join(text.split()))[:_SHOWN] for text in (answer.text, body.decode()))
        return f": {said or '(no text)'} (the request was {asked})"

    async def _once(self, client: httpx2.AsyncClient, url: str, body: bytes) -> httpx2.Response:
        """Make one attempt. Raises _Failed if another one may succeed."""
        request = client.build_request("POST", url, content=body)
        try:
            answer = await attempt(partial(client.send, stream=True), request, seconds=self._timeout)
        except httpx2.HTTPError as error:
            said = self._clean(str(error))[:200]  # the protocol's errors quote the server
            detail = type(error).__name__ + (f": {said}" if said else "")
            if isinstance(error, httpx2.ReadTimeout):
                detail = f"no answer within timeout={self._timeout:g} seconds"
            if isinstance(error, httpx2.DecodingError):  # there is an answer; a retry would give the same
                raise AgentError(f"{scrubbed(url)} sent an answer that cannot be read: {detail}") from None
            raise _Failed(detail) from None
        wait = answer.headers.get("Retry-After", "")
        if answer.status_code == 429 or answer.status_code >= 500:
            raise _Failed(
                f"HTTP {answer.status_code}{self._said(answer, body)}",
                float(wait) if wait.isdecimal() else None,
            )
        return answer

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.aclose()


class _Failed(Exception):
    """A failed attempt that may be retried, `after` this many seconds if the server says so."""

    def __init__(self, detail: str, after: float | None = None) -> None:
        super().__init__(detail)
        self.after = after


def _again(error: Exception) -> Again | None:
    return Again(error.after) if isinstance(error, _Failed) else None


def _client(headers: Mapping[str, str]) -> httpx2.AsyncClient:
    """Return a client without state between requests. Raises ConfigError."""
    own = {"content-type": "application/json", "accept-encoding": "identity"}
    with proxies_from_environment():
        return httpx2.AsyncClient(
            headers=own | {name.lower(): value for name, value in headers.items()},
            # A cookie set by an answer would be lost in a crash.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            verify=_certificates(),
            timeout=None,
            # If a server sends too much, or closes silently, the next message would fail, and go out twice.
            limits=httpx2.Limits(max_keepalive_connections=0),
        )


@cache
def _certificates() -> ssl.SSLContext:
    """Read the trusted certificates once: this takes longer than everything else in a client."""
    return httpx2.create_ssl_context()


def _place_at(setting: str, url: str, place: str) -> str:
    """Return the URL for a setting: a full URL, or a path on the server of `url`; empty if not set."""
    if not place:
        return ""
    found = str(httpx2.URL(url).join(place)) if place.startswith("/") else place
    check_url(setting, found)
    return found


def _put(body: Any, path: list[str], value: Any) -> Any:
    """Return a body with a value at a path; a number is a place in a list, or the next free one beyond its end."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if key.isdecimal() and not isinstance(body, dict):
        items = list(body) if isinstance(body, list) else []
        place = min(int(key), len(items))
        return [*items[:place], _put(next(iter(items[place:]), None), rest, value), *items[place + 1 :]]
    known = body if isinstance(body, dict) else {}
    return known | {key: _put(known.get(key), rest, value)}


def _get(content: Any, path: list[str]) -> Any:
    for key in path:
        if isinstance(content, list) and key.isdecimal() and int(key) < len(content):
            content = content[int(key)]
        elif isinstance(content, dict) and key in content:
            content = content[key]
        else:
            return None
    return content
