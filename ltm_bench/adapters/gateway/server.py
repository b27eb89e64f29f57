"""The gateway: an endpoint on this machine between agents and their providers.

It speaks OpenAI's Chat Completions, Responses and Embeddings and Anthropic's Messages, streams included, and forwards
them. An agent has an address and a key of its own; the providers' keys stay here. It runs in a thread with an event
loop of its own, since an agent may block the run's.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ltm_bench.adapters.gateway.forwarding import (
    discarded,
    headers_for,
    refused,
    returned,
    stream,
    unreachable,
)
from ltm_bench.adapters.gateway.protocols import PROTOCOLS, Meter, ModelRequest, Protocol
from ltm_bench.adapters.gateway.upstreams import Upstream
from ltm_bench.adapters.http.answers import AnswerCache, identity
from ltm_bench.adapters.http.shared import proxies_from_environment, read
from ltm_bench.adapters.routing import Family, PaidCall, Route
from ltm_bench.core.budget import NOTHING, Budget
from ltm_bench.core.errors import BudgetReached, ConfigError
from ltm_bench.core.keys import cleaned_json, scrubbed
from ltm_bench.core.limits import BODY, Intake, TooLarge, gathered
from ltm_bench.log.journal import Journal

if TYPE_CHECKING:
    import httpx2
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"

PORT = 7750
"""The port of a gateway that stands alone."""

KEY_VARIABLE = "LTM_BENCH_GATEWAY_KEY"
"""The environment variable for the key at the address without a conversation, for an agent that starts before it."""

_PATH = re.compile(r"(?:/c/(?P<name>[^/]+))?(?:/v1)?(?P<path>/.*)")
_NAME = re.compile(r"(?!\.+\Z)[\w.:@+~-]{1,200}", re.ASCII)
"""The name of a model in a path, or of a conversation: nothing in it leads elsewhere."""

_PATIENCE = 900.0
"""Seconds to wait for a provider; agents have patience of their own."""

_UNSENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol")
"""Errors before anything was sent."""


class Gateway:
    """The endpoint, and the routes of the conversations that use it.

    Args:
        served: Where requests of each family go.
        budget: What may be spent.
        cache: A file of answers, if they are kept.
        adopt: Makes the route for a name that nobody has registered; by default, there is none.
        key: The key for those, and at the address without a conversation; empty if there is none.
        passed: Environment variables that agents get although they hold a key or are named like one.
    """

    def __init__(
        self,
        served: Mapping[Family, Upstream],
        budget: Budget,
        *,
        cache: Path | None = None,
        adopt: Callable[[str], Route | None] = lambda _: None,
        key: str = "",
        passed: Collection[str] = (),
    ) -> None:
        self.url, self.key, self._passed = "", key, passed
        self._served, self._budget, self._cache, self._adopt = served, budget, cache, adopt
        self._routes: dict[str, Route] = {}
        self.unseen = 0
        """Conversations whose agent was asked something, and made no call."""
        self._passing: set[Future[None]] = set()
        self._answers: AnswerCache | None = None
        self._client: httpx2.AsyncClient

    @property
    def secret(self) -> frozenset[str]:
        """The providers' keys."""
        return frozenset(each.key for each in self._served.values() if each.key)

    @asynccontextmanager
    async def route(self, journal: Journal, conversation: str | None = None) -> AsyncIterator[Route]:
        """Give a conversation a route, for as long as the block lasts."""
        replaced = [each.url.removesuffix("/v1") for each in self._served.values()]
        name = secrets.token_hex(4)
        route = Route(self.url, name, drawn(), journal, self._budget, self.secret, replaced, conversation)
        route.passed = self._passed
        self._routes[name] = route
        try:
            yield route
        finally:
            del self._routes[name]
            await route.close()
            self.unseen += route.asked and not route.arrived

    @contextmanager
    def listening(self, port: int = 0) -> Iterator[None]:
        """Serve inside the block, at a port of this machine that others cannot reach; 0 takes any free one.

        Raises ConfigError if the port is in use.
        """
        import uvicorn

        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((HOST, port))
            except (OSError, OverflowError) as error:
                raise ConfigError(f"the gateway's port {port}: {error}; choose another one") from error
            listener.listen(2048)  # from here on, calls wait for the server to start
            self.url = f"http://{HOST}:{listener.getsockname()[1]}"
            settings = uvicorn.Config(
                self._application(), log_config=None, log_level="critical", timeout_graceful_shutdown=1
            )
            server = uvicorn.Server(settings)
            thread = threading.Thread(target=server.run, args=([listener],), name="gateway", daemon=True)
            thread.start()
            try:
                yield
            finally:
                server.should_exit = True
                thread.join()

    def _application(self) -> Any:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.routing import Route as Address

        @asynccontextmanager
        async def lifespan(_: Any) -> AsyncIterator[None]:
            import httpx2

            with proxies_from_environment():
                every = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
                self._client = httpx2.AsyncClient(timeout=_PATIENCE, limits=every)
            self._answers = None if self._cache is None else AnswerCache(self._cache)
            async with self._client:
                yield
            if self._answers is not None:
                self._answers.close()

        return Starlette(
            routes=[Address("/{path:path}", self._serve, methods=["GET", "POST"])],
            # A page of a foreign name that leads here is not this machine's.
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])],
            lifespan=lifespan,
        )

    # One request

    async def _serve(self, request: Request) -> Response:
        import httpx2

        # As it was sent: what is decoded twice, or cleaned up on the way, could lead elsewhere.
        parts = _PATH.fullmatch(request.scope["raw_path"].decode("latin-1"))
        named, path = (parts["name"] or "", parts["path"]) if parts else ("", "")
        asks = path in PROTOCOLS and request.method == "POST"
        anthropic = PROTOCOLS[path].family == "anthropic" if asks else "anthropic-version" in request.headers
        family: Family = "anthropic" if anthropic else "openai"
        route = self._route_of(unquote(named), request, family)
        if not isinstance(route, Route):
            return route
        model = unquote(path.removeprefix("/models/"))
        if request.method == "GET" and path != model and _NAME.fullmatch(model):
            path = f"/models/{model}"
        elif not asks and (request.method, path) != ("GET", "/models"):
            return refused(404, family, "not_found_error", f"the gateway does not forward {path:.200}")
        try:
            stated = int(request.headers.get("content-length", 0))
            content = await gathered(request.stream(), Intake("the request", BODY, stated))
        except TooLarge as error:
            await discarded(request)
            return refused(413, family, "invalid_request_error", str(error), connection="close")
        upstream, asked = self._served[family], None
        try:
            if asks:  # whatever is done with a large body is done beside the loop
                asked, content = await asyncio.to_thread(self._asked, request, PROTOCOLS[path], content)
        except ValueError as error:
            return refused(400, family, "invalid_request_error", f"the request is not JSON: {error}")
        try:
            sent = self._client.build_request(
                request.method,
                f"{upstream.url}{'/v1' if anthropic else ''}{path}",
                params=request.query_params,
                headers=headers_for(request, family, upstream),
                content=content if asks else b"",
            )
        except (ValueError, httpx2.InvalidURL) as error:
            what = f"a header or the path cannot be sent on: {error!s:.200}"
            return refused(400, family, "invalid_request_error", what)
        if asked is None or asked.protocol.free:
            return await self._free(sent, family)
        route.arrived += 1
        return await self._call(request, sent, route, asked, upstream)

    def _route_of(self, name: str, request: Request, family: Family) -> Route | Response:
        """Return the route that a request may take, or the answer that there is none."""
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "")
        given = given.removeprefix("Bearer ")
        known = list(self._routes.values())
        route = self._routes.get(name) if name else known[0] if len(known) == 1 else None
        keys = ([route.key] if route else []) + ([self.key] if self.key and not (name and route) else [])
        if not any(secrets.compare_digest(given.encode(), key.encode()) for key in keys):
            return refused(401, family, "authentication_error", "the gateway does not know this key")
        if route is None and (not name or _NAME.fullmatch(name)):
            route = self._adopt(name)
        what = (
            f"no conversation {name!r:.99}"
            if name
            else f"{len(known)} conversations, and the path names none"
        )
        return route or refused(404, family, "not_found_error", f"the gateway has {what}")

    async def _free(self, sent: httpx2.Request, family: Family) -> Response:
        """Forward a request that costs nothing."""
        import httpx2

        try:
            answer = await read(await self._client.send(sent, stream=True))
        except httpx2.HTTPError as error:
            return unreachable(sent, family, error)
        return await asyncio.to_thread(returned, answer, sent, family, self.secret)

    def _asked(self, request: Request, protocol: Protocol, content: bytes) -> tuple[ModelRequest, bytes]:
        """Read a request, and make of it what is sent. Raises ValueError."""
        asked = ModelRequest.of(protocol, content, request.headers.get("x-stainless-retry-count")).measured()
        provider = self._served[protocol.family].provider
        asked = asked if self._budget.limit is None else asked.limited(provider)
        return asked, asked.content

    def _known(self, sent: httpx2.Request) -> tuple[str | None, bytes | None]:
        """Return a request's name in the cache, and the answer there, which nobody may have cleaned."""
        kept = None if self._answers is None else identity(sent)
        found = None if self._answers is None or kept is None else self._answers.get(kept)
        return kept, None if found is None else cleaned_json(found, self.secret)

    async def _call(
        self, request: Request, sent: httpx2.Request, route: Route, asked: ModelRequest, upstream: Upstream
    ) -> Response:
        """Forward a call, once there is money for it."""
        from starlette.responses import Response

        family = asked.protocol.family
        most = await asyncio.to_thread(asked.most, upstream.provider)
        kept, known = await asyncio.to_thread(self._known, sent)
        about = {"server": scrubbed(upstream.url), **asked.record}
        if self._budget.limit is not None and most is None and known is None:
            what = asked.unlisted or f"{asked.model!r:.80} at {scrubbed(upstream.url)}"
            text = f"--max-cost {self._budget.limit} cannot be guaranteed: what {what} costs is unknown"
            route.stopped = BudgetReached(f"{text}; run without --max-cost")
            return refused(400, family, "invalid_request_error", text)
        try:
            if known is not None:
                route.begin(NOTHING, **about).cost_nothing(200, cached=True)
                return Response(known, 200, media_type="application/json")
            passage = await self._afforded(request, route, about, most)
        except BudgetReached as error:
            status, kind = (402, "billing_error") if family == "anthropic" else (429, "insufficient_quota")
            return refused(status, family, kind, str(error))
        except OSError as error:
            text = f"{error.filename}: {error.strerror}; without a record, no call is forwarded"
            return refused(500, family, "api_error", text)
        if passage is None:
            return refused(408, family, "timeout_error", "whoever asked has left")
        meter = Meter(asked.protocol, None if asked.unlisted else upstream.provider)
        return await self._forward(sent, passage, meter, kept, unasked=asked.unasked)

    async def _afforded(
        self, request: Request, route: Route, about: Mapping[str, Any], most: Decimal | None
    ) -> PaidCall | None:
        """Reserve money for a call. If others hold it, wait for them: most of it comes back.

        Return None if whoever asked has left meanwhile. Raises BudgetReached, or OSError if it cannot be recorded.
        """
        while not await request.is_disconnected():
            try:
                passage = route.begin(most, **about)
            except BudgetReached as error:
                if not self._passing:
                    route.stopped = error
                    raise
                waiting = [asyncio.wrap_future(each) for each in self._passing]
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            else:
                self._passing.add(passage.done)
                passage.done.add_done_callback(self._passing.discard)
                return passage
        return None

    async def _forward(
        self, sent: httpx2.Request, passage: PaidCall, meter: Meter, kept: str | None, *, unasked: bool
    ) -> Response:
        """Forward a call that is paid for, and charge what the answer says."""
        import httpx2

        family, streams = meter.protocol.family, False
        try:
            answer = await self._client.send(sent, stream=True)
            streams = answer.is_success and "event-stream" in answer.headers.get("content-type", "")
            if streams:
                return stream(answer, passage, meter, self.secret, unasked=unasked)
            answer = await read(answer)
            back = await asyncio.to_thread(returned, answer, sent, family, self.secret)
            if answer.is_success:
                await asyncio.to_thread(meter.read, bytes(back.body))
                passage.end(meter.usage, answer.status_code)
                if self._answers is not None and kept is not None:
                    await asyncio.to_thread(self._answers.keep, {kept: bytes(back.body)})
            else:
                passage.cost_nothing(answer.status_code)
            return back
        except httpx2.HTTPError as error:
            name = type(error).__name__
            (passage.cost_nothing if name in _UNSENT else passage.lose)(0, error=name)
            return unreachable(sent, family, error)
        finally:  # whatever happens: a call that has no end keeps others waiting
            if not streams:
                passage.lose(0)


def drawn() -> str:
    """Return a new key of the gateway's own."""
    return f"ltm-{secrets.token_hex(16)}"
