"""An HTTP client whose attempts are timed and whose answers are bounded, in time and in size, and may be kept."""

from __future__ import annotations

import asyncio
import time
from asyncio import AbstractEventLoop
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ltm_bench.adapters.http.answers import identity, kept
from ltm_bench.adapters.http.traffic import Attempt, heard, tell

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 64 << 20
"""The largest answer that is read, in bytes after decompression."""

_shared: WeakKeyDictionary[AbstractEventLoop, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()


def client(kind: type[httpx2.AsyncClient], **settings: Any) -> httpx2.AsyncClient:
    """Return an HTTP client of an SDK's own kind whose every attempt is reported and may be answered from the cache.

    It is for adapters whose requests are whole: everything that the answer depends on is in the request. All who ask
    for one with the same settings on the same event loop share it, and with it its connections: a new client takes
    25 ms of processor time, and a new connection to a provider far more. Everyone closes it once; the last one really
    does.
    """
    known = _shared.setdefault(asyncio.get_running_loop(), {})
    which = (kind, repr(sorted(settings.items())))
    if which not in known or known[which].users == 0:
        known[which] = _watched(kind)(**settings)
    known[which].users += 1
    found: httpx2.AsyncClient = known[which]
    return found


async def read(response: httpx2.Response, most: int = MOST_BYTES) -> httpx2.Response:
    """Return a streamed response with its whole body. Raises httpx2.DecodingError beyond `most` bytes.

    The limit is on what comes out of the decompression: a small body can unpack to any size.
    """
    import httpx2

    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in response.aiter_bytes():
            size += len(piece)
            if size > most:
                raise httpx2.DecodingError(
                    f"the answer has more than {most:,} bytes", request=response.request
                )
            pieces.append(piece)
    finally:
        await response.aclose()
    return httpx2.Response(
        response.status_code,
        headers=[(name, value) for name, value in response.headers.raw if name.lower() not in _OF_THE_WIRE],
        content=b"".join(pieces),
        request=response.request,
        extensions=response.extensions,
        history=response.history,
    )


_OF_THE_WIRE = (b"content-encoding", b"content-length", b"transfer-encoding")
"""Headers that say how a body was sent; they do not hold for a body that has been read."""


def _watched(kind: type[Any]) -> type[Any]:
    import httpx2

    class Watched(kind):  # type: ignore[misc]  # each SDK has a class of its own, known only at run time
        users = 0

        async def send(self, request: httpx2.Request, **how: Any) -> httpx2.Response:
            traffic, answers, streams = heard(), kept(), how.pop("stream", False)
            key = None if traffic is None or answers is None or streams else identity(request)
            if answers is not None and key is not None and (body := answers.get(key)) is not None:
                tell(Attempt(0.0, 200, cached=True))
                headers = {"content-type": "application/json"}
                return httpx2.Response(200, headers=headers, content=body, request=request)
            begun = time.perf_counter()
            # The SDK's time-out is for each piece of an answer. Here it is for all of them together as well: some
            # servers send white space for as long as they are busy.
            seconds = request.extensions.get("timeout", {}).get("read")
            try:
                async with asyncio.timeout(None if streams else seconds) as whole:
                    response: httpx2.Response = await super().send(request, stream=True, **how)
                    if not streams:
                        response = await read(response, MOST_BYTES)
            except BaseException as error:  # whatever it is, a cancellation too, it ends this attempt
                if whole.expired():
                    late = httpx2.ReadTimeout("the answer was not whole in time", request=request)
                    tell(Attempt(time.perf_counter() - begun, error=type(late).__name__))
                    raise late from error
                tell(Attempt(time.perf_counter() - begun, error=type(error).__name__))
                raise
            after = response.headers.get("retry-after", "") if response.status_code >= 400 else ""
            tell(Attempt(time.perf_counter() - begun, response.status_code, retry_after=after[:40]))
            if traffic is not None and key is not None and response.status_code == 200:
                traffic.answers[key] = response.content
            return response

        async def aclose(self) -> None:
            self.users -= 1
            if self.users == 0:
                await super().aclose()

    return Watched
