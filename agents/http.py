"""HTTP: an agent behind an endpoint that takes JSON and answers with JSON."""

import asyncio
import json
import os
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ltm_bench import Agent, AgentError, CannotResume, Finish, Message, Reply, Turn
from ltm_bench.errors import bare
from ltm_bench.wire import Attempt, tell

_LONGEST_WAIT = 60.0
"""Seconds before a request is sent again, whatever Retry-After says: a run can be resumed later."""


class Http(Agent):
    """Posts every message to `url`, and reads the reply out of the answer.

    Args:
        url: Where to post.
        request: Where in the request the message goes, keys separated by dots: `input.text`.
        reply: Where in the answer the reply stands: `choices.0.message.content`. Numbers count into lists.
        session: Where in the request an id of this conversation goes; nowhere if left out.
        time: Where in the request the benchmark's time goes (ISO 8601); nowhere if left out.
        extra: More fields of the request, as JSON: `{"stream": false}`.
        headers: Headers whose values come from variables of the environment: `Authorization=MY_TOKEN, X-Team=TEAM`.
        timeout: Seconds for one answer.
        max_retries: How often to try again after 429, 5xx or a lost connection: 1, 2, 4, … s later, or after what
            Retry-After says, up to a minute.

    The agent behind the endpoint keeps its own memory, under the session's id. It is told of nothing that it did not
    answer itself: for filler to reach it, run it with `--filler live`. HTTP 413 means that the conversation has become
    too long for it.
    """

    def __init__(
        self,
        *,
        url: str,
        request: str = "message",
        reply: str = "reply",
        session: str = "",
        time: str = "",
        extra: str = "{}",
        headers: str = "",
        timeout: float = 120.0,
        max_retries: int = 4,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url={url!r} is not a URL; it looks like https://host/path")
        self._url, self._place = url, bare(url)
        self._request, self._reply, self._session, self._time = request, reply, session, time
        try:
            self._extra = json.loads(extra)
        except ValueError as error:
            raise ValueError(f"extra={extra!r} is not JSON: {error}") from error
        if not isinstance(self._extra, dict):
            raise ValueError(f"extra={extra!r} is not a JSON object")
        self._headers = dict(_from_environment(headers))
        self._timeout, self._max_retries = timeout, max_retries
        self._conversation = ""

    async def open(self, home: Path) -> None:
        """Find the conversation's id, or make one: a run that is resumed goes on with its own."""
        self._kept = home / "session"
        self._conversation = self._kept.read_text("utf-8") if self._kept.exists() else ""
        self._new = not self._conversation  # an empty file is what a crash left
        if self._new:
            self._conversation = uuid.uuid4().hex
            self._kept.write_text(self._conversation, "utf-8")

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Go on with the session, whose memory is the endpoint's. Under a new id it would remember nothing."""
        if self._new and self._session and any(True for _ in turns):
            self._kept.unlink()
            raise CannotResume(
                f"{self._kept}, the id under which {self._url} knows this conversation, is gone: it would answer as if "
                "nothing had been said; bring the file back, or start anew with --fresh"
            )

    async def reply(self, message: Message) -> Reply:
        """Post the message and read the reply."""
        body = json.loads(json.dumps(self._extra))
        for path, value in (
            (self._request, message.text),
            (self._session, self._conversation),
            (self._time, message.at.isoformat()),
        ):
            if path:
                _put(body, path.split("."), value)
        answer = await self._post(json.dumps(body).encode())
        if answer is None:
            return Reply("", finish=Finish.OVERFLOW)
        try:
            content = json.loads(answer)
        except ValueError as error:
            raise AgentError(
                f"{self._place} answered with something that is not JSON: {self._clean(repr(answer))[:120]}"
            ) from error
        text = _get(content, self._reply.split("."))
        if not isinstance(text, str):
            raise AgentError(
                f"{self._place} answered without a text at reply={self._reply!r}: "
                f"{self._clean(json.dumps(content))[:200]}"
            )
        return Reply(text)

    def _clean(self, text: str) -> str:
        """Return what the server said without the values that it was sent from the environment."""
        for value in filter(None, self._headers.values()):
            text = text.replace(value, "[removed]")
        return bare(text)

    async def _post(self, body: bytes) -> bytes | None:
        """Return the answer; None where the endpoint finds the conversation too long."""
        for attempt in range(self._max_retries + 1):
            begun = time.perf_counter()
            try:
                answer = await asyncio.to_thread(self._once, body)
                tell(Attempt(time.perf_counter() - begun, 200))
                return answer
            except urllib.error.HTTPError as error:
                detail, wait = f"HTTP {error.code}", error.headers.get("Retry-After", "")
                tell(Attempt(time.perf_counter() - begun, error.code, retry_after=wait[:40]))
                if error.code == 413:
                    return None
                if error.code != 429 and error.code < 500:
                    raise AgentError(f"{self._place} refused the request: {detail}") from None
            except (OSError, TimeoutError) as error:
                detail, wait = f"{type(error).__name__}: {getattr(error, 'reason', error)}", ""
                tell(Attempt(time.perf_counter() - begun, error=type(error).__name__))
            if attempt < self._max_retries:
                seconds = float(wait) if wait.isdecimal() else 2.0**attempt
                await asyncio.sleep(min(seconds, _LONGEST_WAIT))
        raise AgentError(
            f"{self._place} failed {self._max_retries + 1} times, last with {detail}; then resume the run"
        )

    def _once(self, body: bytes) -> bytes:
        request = urllib.request.Request(
            self._url, body, {"Content-Type": "application/json", **self._headers}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=self._timeout) as answer:
            content: bytes = answer.read()
            return content


def _from_environment(headers: str) -> list[tuple[str, str]]:
    found = []
    for each in filter(None, map(str.strip, headers.split(","))):
        name, equals, variable = each.partition("=")
        if not equals:
            raise ValueError(f"headers={headers!r}: write Name=VARIABLE, the variable's value is sent")
        if variable.strip() not in os.environ:
            raise ValueError(f"headers={headers!r}: the variable {variable.strip()} is not set")
        found.append((name.strip(), os.environ[variable.strip()]))
    return found


def _put(body: dict[str, Any], path: list[str], value: str) -> None:
    for key in path[:-1]:
        body = body.setdefault(key, {})
    body[path[-1]] = value


def _get(content: Any, path: list[str]) -> Any:
    for key in path:
        if isinstance(content, list) and key.isdecimal() and int(key) < len(content):
            content = content[int(key)]
        elif isinstance(content, dict) and key in content:
            content = content[key]
        else:
            return None
    return content
