"""HTTP clients that bound answers in time and size; one of them also times its attempts, and may cache answers.

They follow redirects on their own host only: the conversation goes nowhere that nobody has named. An answer that leads
elsewhere is returned as it is.
"""

from __future__ import annotations

import asyncio
import sys
import time
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ltm_bench.adapters.http.answers import identity, kept
from ltm_bench.adapters.http.endings import with_true_status
from ltm_bench.adapters.http.retries import seconds_in
from ltm_bench.adapters.http.traffic import Attempt, heard, last_answer, tell
from ltm_bench.core.budget import payment
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import BODY, Intake, TooLarge, TooLong, answer_limit, gathered, too_long
from ltm_bench.core.servers import rows_here

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = BODY

LONGEST_PAUSE = 120.0
"""Maximum seconds of a pause that a server asks for."""

_REDIRECTS = 5
"""Maximum redirects for one answer."""

_shared: WeakKeyDictionary[AbstractEventLoop, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()


def client(kind: type[httpx2.AsyncClient], **settings: Any) -> httpx2.AsyncClient:
    """Return an HTTP client of an SDK's kind that reports every attempt and may answer from the cache.

    It is for adapters with stateless requests: everything that the answer depends on is in the request. Callers with
    the same settings on the same event loop share a client and its connections: a new client takes 25 ms of CPU time,
    and a new connection far more. Everyone closes it once; the last close takes effect.
    """
    known = _shared.setdefault(asyncio.get_running_loop(), {})
    which = (kind, repr(sorted(settings.items())))
    if which not in known or known[which].users == 0:
        with proxies_from_environment():
            known[which] = _watched(kind)(**settings)
    known[which].users += 1
    found: httpx2.AsyncClient = known[which]
    return found


@contextmanager
def proxies_from_environment() -> Iterator[None]:
    """Turn what a client raises about proxies and certificates in the environment into ConfigError."""
    import httpx2

    try:
        yield
    except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
        raise ConfigError(
            f"{type(error).__name__}: the environment names proxies (ALL_PROXY, HTTP_PROXY, HTTPS_PROXY) or "
            "certificates (SSL_CERT_FILE, SSL_CERT_DIR) that cannot be used; fix or unset them"
        ) from None  # the error may quote a proxy's password


def bounded(kind: type[Any], **settings: Any) -> Any:
    """Return an HTTP client of httpx or httpx2 for the SDK of a server that keeps a state.

    A whole answer has the timeout of a chunk, a size limit, and a limit to the pause it can ask for. Nothing is cached,
    shared or reported.
    """

    class Bounded(kind):  # type: ignore[misc]  # of either library
        async def send(self, request: Any, **how: Any) -> Any:
            if how.pop("stream", False):
                return await _staying(super().send, request, **how)
            seconds = request.extensions.get("timeout", {}).get("read")
            try:
                async with asyncio.timeout(seconds) as whole:
                    response = await read(await _staying(super().send, request, **how), MOST_BYTES)
            except TimeoutError as error:
                if not whole.expired():
                    raise
                late = _library(request).ReadTimeout(
                    "the answer did not arrive in full in time", request=request
                )
                raise late from error
            if seconds is not None:
                _hurry(response, seconds)
            for hook in self.event_hooks["response"]:  # an SDK's; it got the answer before it could be read
                await hook(response)
            return response

    return Bounded(**settings)


async def _staying(send: Callable[..., Awaitable[Any]], request: Any, **how: Any) -> Any:
    """Send a request, and follow redirects to the same host, but not from TLS to plain text. Return the open answer."""
    how["follow_redirects"] = False
    response = await send(request, stream=True, **how)
    for _ in range(_REDIRECTS):
        there, here = response.next_request, response.request.url
        if there is None or there.url.netloc != here.netloc or there.url.scheme not in (here.scheme, "https"):
            break
        await response.aclose()
        response = await send(there, stream=True, **how)
    return response


def _library(message: Any) -> ModuleType:
    """Return the library of a request or response: httpx or httpx2, which share no classes."""
    places = (kind.__module__.partition(".")[0] for kind in type(message).__mro__)
    return sys.modules[next(place for place in places if place in ("httpx", "httpx2"))]


async def read(response: httpx2.Response, most: int = MOST_BYTES) -> httpx2.Response:
    """Read a streamed response to its end. Raises DecodingError, of its own library, beyond `most` bytes.

    Raises TooLong if it is read for a reply, and longer than the agent's `max_bytes`.

    The limit applies after decompression: a small body can unpack to any size.
    """
    library, allowed = _library(response), answer_limit()
    try:
        content = await gathered(response.aiter_bytes(), Intake("the answer", min(most, allowed)))
    except TooLarge as error:
        if allowed <= most:
            raise TooLong(too_long(allowed)) from error
        raise library.DecodingError(str(error), request=response.request) from error
    finally:
        await response.aclose()
    whole: httpx2.Response = library.Response(
        response.status_code,
        headers=[(name, value) for name, value in response.headers.raw if name.lower() not in _OF_THE_WIRE],
        content=content,
        request=response.request,
        extensions=response.extensions,
        history=response.history,
    )
    return whole


async def attempt(
    send: Callable[[httpx2.Request], Awaitable[httpx2.Response]],
    request: httpx2.Request,
    *,
    seconds: float | None,
    streams: bool = False,
) -> httpx2.Response:
    """Make one attempt: budgeted, timed, bounded and reported. Return the answer, read to its end.

    Args:
        send: Sends the request and returns the streamed answer.
        request: The request.
        seconds: Deadline for the whole attempt; None for no deadline.
        streams: Leave reading the answer to the caller.

    Raises:
        httpx2.HTTPError: There was no answer, or it was too late, too large or damaged.
    """
    import httpx2

    begun = time.perf_counter()
    paying, sent, traced = payment(), False, request.extensions.get("trace")
    if paying is not None:
        paying.begin()

    async def trace(event: str, info: Any) -> None:
        nonlocal sent
        if event.endswith(".send_request_headers.started") and not sent:
            sent = True
            if paying is not None:
                paying.sending()
        if traced is not None:
            await traced(event, info)

    request.extensions = {**request.extensions, "trace": trace}
    try:
        async with asyncio.timeout(None if streams else seconds) as whole:
            response = await send(request)
            if not streams:
                response = await read(response, MOST_BYTES)
    except BaseException as error:  # any exception, cancellation included, ends this attempt
        late = httpx2.ReadTimeout("the answer did not arrive in full in time", request=request)
        shown = late if whole.expired() else error
        tell(Attempt(time.perf_counter() - begun, error=type(shown).__name__, unsent=not sent))
        if whole.expired():
            raise late from error
        raise
    taken = time.perf_counter() - begun
    response, broke = (response, False) if streams else with_true_status(response)
    if broke:  # billed, perhaps, like one that never came
        tell(Attempt(taken, error="BrokenReply"))
        return response
    after = response.headers.get("retry-after", "") if response.status_code >= 400 else ""
    tell(Attempt(taken, response.status_code, retry_after=after))
    if seconds is not None:
        _hurry(response, seconds)
    return response


def _hurry(response: httpx2.Response, most: float) -> None:
    """Say in one header how long to wait, capped at an attempt's deadline, and at LONGEST_PAUSE.

    Anthropic's SDK waits as long as a server says; OpenAI's does not ask again after a longer pause. When a limit is
    reset is read where nothing else is said and nothing is left of it; one that lasts longer is not waited for.
    """
    headers, most = response.headers, min(most, LONGEST_PAUSE)
    asked, until = list[float](), list[float]()
    for row in rows_here("pauses"):
        name, resets = row["header"], row["unit"] == "reset"
        if resets and (response.status_code != 429 or headers.get(name.replace("reset", "remaining")) != "0"):
            continue
        said = seconds_in(headers.get(name, ""), thousandths=row["unit"] == "milliseconds")
        if said is not None and not (resets and said > most):
            (until if resets else asked).append(said)
    pause = asked[0] if asked else max(until, default=0)
    for name in ("retry-after", "retry-after-ms"):
        headers.pop(name, None)
    if pause > 0:  # the SDKs' own pause, if it names none
        headers["retry-after"] = f"{min(pause, most):g}"


_OF_THE_WIRE = (b"content-encoding", b"content-length", b"transfer-encoding")
"""Headers about a body's transfer; they do not apply to a body that has been read."""


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
                last_answer.set(body)
                return httpx2.Response(200, headers=headers, content=body, request=request)
            # The SDK's timeout is per chunk. Here it also covers the whole answer: some servers send white space for as
            # long as they are busy.
            seconds = request.extensions.get("timeout", {}).get("read")
            response = await attempt(
                partial(_staying, super().send, **how), request, seconds=seconds, streams=streams
            )
            # Whoever listens or not: nobody hears a judge behind a library, and its usage is read from here.
            if not streams:
                last_answer.set(response.content)
            if traffic is not None and key is not None and response.status_code == 200:
                traffic.answers[key] = response.content
            return response

        async def aclose(self) -> None:
            self.users -= 1
            if self.users == 0:
                await super().aclose()

    return Watched
