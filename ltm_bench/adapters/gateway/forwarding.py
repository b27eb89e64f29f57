"""What goes on to a provider, and what comes back to an agent: headers, streams, errors; never a key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ltm_bench.adapters.gateway.protocols import Meter, data_of, refusal
from ltm_bench.adapters.gateway.upstreams import Upstream
from ltm_bench.adapters.routing import Family, PaidCall
from ltm_bench.core.keys import SHORTEST, cleaned, cleaned_json, forms_of, scrubbed
from ltm_bench.core.limits import LARGE, TooLarge, events_in, json_of
from ltm_bench.core.servers import says

if TYPE_CHECKING:
    import httpx2
    from starlette.requests import Request
    from starlette.responses import Response

_FORWARDED = ("accept", "anthropic-version", "anthropic-beta", "openai-beta")
"""Headers of a request that a provider gets."""

_RETURNED = ("content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id")
"""Headers of an answer that an agent gets."""

_WITHHELD = (
    b"event: error\ndata: "
    + json.dumps(
        refusal("anthropic", "api_error", "the provider's answer spells its key; the rest of it is left out")
    ).encode()
)
"""The event instead of the rest of a stream whose texts spell a key: every library takes it for an error."""


class Cleaner:
    """Keeps the providers' keys out of a stream, also where several events spell one."""

    def __init__(self, secrets: Collection[str]) -> None:
        self._secrets, self._forms = secrets, forms_of(secrets)
        self._begun = tuple(form[:size] for form in self._forms for size in range(SHORTEST, len(form)))
        self._said: dict[str, str] = {}
        """By place in events: the end of what was said there so far, of the length of a key."""
        self._over = False
        self.waiting: list[bytes] = []
        """Events whose texts could be the beginning of a key."""

    def event(self, event: bytes) -> bytes:
        """Return an event without keys."""
        if cleaned_json(event, self._secrets) == event:
            return event
        lines = [
            cleaned_json(line, self._secrets) for line in event.splitlines() if not line.startswith(b"data:")
        ]
        said = cleaned_json(data_of(event), self._secrets).replace(b"\n", b"\ndata: ")
        return b"\n".join([*lines, b"data: " + said] if said else lines)

    def passing(self, event: bytes) -> list[bytes]:
        """Return the events that may go on by now; if their texts, one after the other, spell a key, an error alone.

        They wait while the next one could complete a key that has begun.
        """
        for place, text in () if self._over else _texts(data_of(event)):
            said = self._said.get(place, "") + text
            if any(form in said for form in self._forms):
                self._over, self.waiting = True, []
                return [_WITHHELD]
            self._said[place] = said[-max(map(len, self._forms), default=1) :]
        if self._over:
            return []
        self.waiting.append(event)
        if any(said.endswith(self._begun) for said in self._said.values()):
            return []
        ready, self.waiting = self.waiting, []
        return ready


def _texts(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the texts of an event, each with the place to which a stream adds more of it."""
    try:
        return _texts_in(json_of(data))
    except ValueError:
        return iter([("", data.decode("utf-8", "replace"))])


def _texts_in(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):  # several replies come in turns, each with its index
        for name, each in value.items():
            yield from _texts_in(each, f"{place}.{name} {value.get('index')}")
    elif isinstance(value, list):
        for each in value:
            yield from _texts_in(each, place)


def stream(
    answer: httpx2.Response, passage: PaidCall, meter: Meter, secrets: Collection[str], *, unasked: bool
) -> Response:
    """Return a response that passes a stream on, event by event, and charges it at its end, whoever ends it.

    Args:
        answer: The provider's, as far as its headers.
        passage: What it is charged to.
        meter: Reads what it used.
        secrets: The providers' keys.
        unasked: Whether the agent did not ask for the usage, and does not get it.
    """
    from starlette.responses import StreamingResponse

    cleaner = Cleaner(secrets)

    def ready(event: bytes, separator: bytes) -> list[bytes]:
        clean = cleaner.event(event)
        hidden = meter.event(clean) and unasked
        return [] if hidden and separator else cleaner.passing(clean)

    async def events() -> AsyncIterator[bytes]:
        try:
            async for event, separator in events_in(answer.aiter_bytes()):
                read = partial(ready, event, separator)
                passing = read() if len(event) < LARGE else await asyncio.to_thread(read)
                if meter.ended:  # before the agent has its end, and goes on
                    passage.end(meter.usage, answer.status_code, streamed=True)
                for each in passing:
                    yield each + (separator or b"\n\n")
            for each in cleaner.waiting:
                yield each + b"\n\n"
        except TooLarge as error:
            told = refusal(meter.protocol.family, "api_error", f"{answer.url.host}: {error}")
            yield b"event: error\ndata: %b\n\n" % json.dumps(told).encode()

    async def respond(*asgi: Any) -> None:
        try:
            headers = _headers_of(answer, secrets)
            await StreamingResponse(events(), answer.status_code, headers)(*asgi)
        finally:  # a client that has left is no reason to begin the events
            try:
                passage.end(meter.usage, answer.status_code, streamed=True)
            finally:
                passage.lose(answer.status_code)  # unless it has ended
                await answer.aclose()

    return cast("Response", respond)  # all that Starlette asks of one


_LINGERING = 30.0
"""Seconds for a client to send the rest of a request that is refused."""


async def discarded(request: Request) -> None:
    """Read the rest of a request, and keep nothing of it: most clients hear of a refusal only when all is sent."""
    from starlette.requests import ClientDisconnect

    with suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(_LINGERING):
            async for _ in request.stream():
                pass


def refused(
    status: int, family: Family, kind: str, text: str, *, repeat: str = "false", **headers: str
) -> Response:
    """Answer with an error of the gateway's own.

    Args:
        status: The HTTP status.
        family: Whose form it has.
        kind: Its type there.
        text: What it says.
        repeat: Whether libraries may repeat the call, as their header says it.
        headers: Other headers.
    """
    from starlette.responses import JSONResponse

    return JSONResponse(refusal(family, kind, text), status, {"x-should-retry": repeat, **headers})


def unreachable(sent: httpx2.Request, family: Family, error: Exception) -> Response:
    """Answer that the provider did not; libraries may repeat the call."""
    if isinstance(error.__cause__, TooLarge):  # it would be paid for once more
        return refused(502, family, "api_error", f"{sent.url.host}: {error}")
    text = f"the gateway got no answer from {sent.url.host}: {type(error).__name__}"
    return refused(502, family, "api_error", text, repeat="true")


def returned(
    answer: httpx2.Response, sent: httpx2.Request, family: Family, secrets: Collection[str]
) -> Response:
    """Return a provider's answer, whose content has been read; nothing in it repeats a key.

    An account without credit is not asked again: libraries repeat some of these errors.
    """
    from starlette.responses import Response

    status, size = answer.status_code, len(answer.content)
    if not answer.is_success and size > LARGE:  # to look for keys in it would take seconds
        text = (
            f"{sent.url.host} answered HTTP {status} with {size:,} bytes, more than an error is given to say"
        )
        return refused(status, family, "api_error", text)
    vain = {"x-should-retry": "false"} if status >= 400 and says("money", answer.text) else {}
    if status in (401, 403):
        why = "says that the account has no credit left" if vain else "did not accept the gateway's key"
        return refused(status, family, "authentication_error", f"{sent.url.host} {why} (HTTP {status})")
    if answer.is_redirect:
        return refused(
            502, family, "api_error", f"{sent.url.host} redirects (HTTP {status}), which is not followed"
        )
    if answer.is_success:
        content = cleaned_json(answer.content, secrets)
    else:
        content = scrubbed(answer.text.replace("\0", ""), secrets).encode()
    return Response(content, status, _headers_of(answer, secrets) | vain)


def _headers_of(answer: httpx2.Response, secrets: Collection[str]) -> dict[str, str]:
    return cleaned(_plain(answer.headers, _RETURNED), secrets)


def _plain(headers: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return those of some headers that can be sent on: not all that arrives can."""
    given = {name: headers[name] for name in names if name in headers}
    return {name: value for name, value in given.items() if value.isascii() and value.isprintable()}


def headers_for(request: Request, family: Family, upstream: Upstream) -> dict[str, str]:
    """Return the headers for a provider, with its key instead of the agent's."""
    own = _plain(request.headers, _FORWARDED)
    if request.method == "POST":  # whatever it was called: it is written anew
        own["content-type"] = "application/json"
    if upstream.key and family == "anthropic":
        own["x-api-key"] = upstream.key
    elif upstream.key:
        own["authorization"] = f"Bearer {upstream.key}"
    return own
