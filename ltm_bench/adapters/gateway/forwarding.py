"""What goes on to a provider, and what comes back to an agent: headers, streams, errors; never a key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from ltm_bench.adapters.gateway.protocols import Meter, refusal
from ltm_bench.adapters.gateway.upstreams import Upstream
from ltm_bench.adapters.routing import Family, PaidCall
from ltm_bench.core.keys import scrubbed
from ltm_bench.core.limits import TooLarge, events_in

if TYPE_CHECKING:
    import httpx2
    from starlette.requests import Request
    from starlette.responses import Response

_FORWARDED = ("accept", "content-type", "anthropic-version", "anthropic-beta", "openai-beta")
"""Headers of a request that a provider gets."""

_RETURNED = ("content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id")
"""Headers of an answer that an agent gets."""


def stream(answer: httpx2.Response, passage: PaidCall, meter: Meter, *, unasked: bool) -> Response:
    """Return a response that passes a stream on, event by event, and charges it at its end, whoever ends it."""
    from starlette.responses import StreamingResponse

    async def events() -> AsyncIterator[bytes]:
        try:
            async for event, separator in events_in(answer.aiter_bytes()):
                hidden = meter.event(event) and unasked
                if meter.ended:  # before the agent has its end, and goes on
                    passage.end(meter.usage, answer.status_code, streamed=True)
                if not (hidden and separator):
                    yield event + separator
        except TooLarge as error:
            told = refusal(meter.protocol.family, "api_error", f"{answer.url.host}: {error}")
            yield b"event: error\ndata: %b\n\n" % json.dumps(told).encode()

    async def respond(*asgi: Any) -> None:
        try:
            await StreamingResponse(events(), answer.status_code, _headers_of(answer))(*asgi)
        finally:  # a client that has left is no reason to begin the events
            passage.end(meter.usage, answer.status_code, streamed=True)
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


def refused(status: int, family: Family, kind: str, text: str, **headers: str) -> Response:
    """Answer with an error of the gateway's own, which no library repeats."""
    from starlette.responses import JSONResponse

    return JSONResponse(refusal(family, kind, text), status, {"x-should-retry": "false", **headers})


def unreachable(sent: httpx2.Request, family: Family, error: Exception) -> Response:
    """Answer that the provider did not; libraries may repeat the call."""
    from starlette.responses import JSONResponse

    if isinstance(error.__cause__, TooLarge):  # it would be paid for once more
        return refused(502, family, "api_error", f"{sent.url.host}: {error}")
    text = f"the gateway got no answer from {sent.url.host}: {type(error).__name__}"
    return JSONResponse(refusal(family, "api_error", text), 502)


def returned(
    answer: httpx2.Response, sent: httpx2.Request, family: Family, secret: Collection[str]
) -> Response:
    """Return a provider's answer; no error in it repeats a key."""
    from starlette.responses import Response

    status = answer.status_code
    if status in (401, 403):
        text = f"{sent.url.host} did not accept the gateway's key (HTTP {status})"
        return refused(status, family, "authentication_error", text)
    if answer.is_redirect:
        return refused(
            502, family, "api_error", f"{sent.url.host} redirects (HTTP {status}), which is not followed"
        )
    content = answer.content if answer.is_success else scrubbed(answer.text, secret).encode()
    return Response(content, status, _headers_of(answer))


def _headers_of(answer: httpx2.Response) -> dict[str, str]:
    return {name: answer.headers[name] for name in _RETURNED if name in answer.headers}


def headers_for(request: Request, family: Family, upstream: Upstream) -> dict[str, str]:
    """Return the headers for a provider, with its key instead of the agent's."""
    own = {name: request.headers[name] for name in _FORWARDED if name in request.headers}
    key = (
        {}
        if not upstream.key
        else {"x-api-key": upstream.key}
        if family == "anthropic"
        else {"authorization": f"Bearer {upstream.key}"}
    )
    return own | key
