"""The gateway: an endpoint on this machine between agents and their providers.

It speaks OpenAI's Chat Completions, Responses and Embeddings and Anthropic's Messages, streams included, and forwards
them. An agent has an address and a key of its own; the providers' keys stay here. It runs in a thread with an event
loop of its own, since an agent may block the run's.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_bench.adapters.gateway.forwarding import (
    discarded,
    headers_for,
    refused,
    returned,
    stream,
    unreachable,
)
from ltm_bench.adapters.gateway.protocols import PROTOCOLS, Meter, ModelRequest
from ltm_bench.adapters.gateway.upstreams import Upstream
from ltm_bench.adapters.http.answers import AnswerCache, identity
from ltm_bench.adapters.http.shared import proxies_from_environment, read
from ltm_bench.adapters.routing import Family, PaidCall, Route, routed
from ltm_bench.core.budget import NOTHING, Budget
from ltm_bench.core.errors import BudgetReached, ConfigError
from ltm_bench.core.limits import BODY, Intake, TooLarge, gathered
from ltm_bench.log.journal import Journal

if TYPE_CHECKING:
    import httpx2
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"

PORT = 7750
"""The port of a gateway that stands alone."""

PUBLIC = "ltm-bench"
"""The key at the address without a conversation. Not a secret: a page in a browser cannot send any key unasked."""

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
    """

    def __init__(
        self,
        served: Mapping[Family, Upstream],
        budget: Budget,
        *,
        cache: Path | None = None,
        adopt: Callable[[str], Route | None] = lambda _: None,
    ) -> None:
        self.url = ""
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
        name, key = secrets.token_hex(4), f"ltm-{secrets.token_hex(8)}"
        replaced = [each.url.removesuffix("/v1") for each in self._served.values()]
        route = Route(self.url, name, key, journal, self._budget, self.secret, replaced, conversation)
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

        Raises:
            ConfigError: The port is in use, or the server is not installed.
        """
        try:
            import uvicorn

            application = self._application()
        except ImportError as error:
            raise ConfigError(
                "--gateway: its server is not installed; get it with pip install 'ltm-bench[gateway]'"
            ) from error
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((HOST, port))
            except (OSError, OverflowError) as error:
                raise ConfigError(f"the gateway's port {port}: {error}; choose another one") from error
            listener.listen(2048)  # from here on, calls wait for the server to start
            self.url = f"http://{HOST}:{listener.getsockname()[1]}"
            settings = uvicorn.Config(
                application, log_config=None, log_level="critical", timeout_graceful_shutdown=1
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

        methods = ["GET", "POST"]
        return Starlette(
            routes=[
                Address("/c/{name}/{path:path}", self._serve, methods=methods),
                Address("/{path:path}", self._serve, methods=methods),
            ],
            # A page of a foreign name that leads here is not this machine's.
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])],
            lifespan=lifespan,
        )

    # One request

    async def _serve(self, request: Request) -> Response:
        import httpx2

        path = "/" + request.path_params["path"].removeprefix("v1").strip("/")
        anthropic = path.startswith("/messages") or "anthropic-version" in request.headers
        family: Family = "anthropic" if anthropic else "openai"
        name = request.path_params.get("name")
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix(
            "Bearer "
        )
        routes = list(self._routes.values())
        if name is not None:
            route = self._routes.get(name) or self._adopt(name)
        else:
            route = routes[0] if len(routes) == 1 else self._adopt("")
        if route is None:
            what = (
                f"no conversation {name!r}"
                if name
                else f"{len(routes)} conversations, and the path names none"
            )
            return refused(404, family, "not_found_error", f"the gateway has {what}")
        if given != (PUBLIC if name is None else route.key):
            return refused(401, family, "authentication_error", "the gateway does not know this key")
        upstream = self._served[family]
        try:
            stated = int(request.headers.get("content-length", 0))
            content = await gathered(request.stream(), Intake("the request", BODY, stated))
        except TooLarge as error:
            await discarded(request)
            return refused(413, family, "invalid_request_error", str(error), connection="close")
        try:
            sent = self._client.build_request(
                request.method,
                f"{upstream.url}{'/v1' if family == 'anthropic' else ''}{path}",
                params=request.query_params,
                headers=headers_for(request, family, upstream),
                content=content,
            )
        except (ValueError, httpx2.InvalidURL) as error:
            what = f"a header or the path cannot be sent on: {error!s:.200}"
            return refused(400, family, "invalid_request_error", what)
        if path in PROTOCOLS and request.method == "POST":
            route.arrived += 1
            try:
                retry = request.headers.get("x-stainless-retry-count")
                asked = await asyncio.to_thread(ModelRequest.of, PROTOCOLS[path], content, retry)
            except ValueError as error:
                return refused(400, family, "invalid_request_error", f"the request is not JSON: {error}")
            return await self._call(sent, route, asked, upstream)
        if (path.startswith("/models") and request.method == "GET") or path == "/messages/count_tokens":
            return await self._free(sent, family)
        return refused(404, family, "not_found_error", f"the gateway does not forward {path}")

    async def _free(self, sent: httpx2.Request, family: Family) -> Response:
        """Forward a request that costs nothing."""
        import httpx2

        try:
            answer = await read(await self._client.send(sent, stream=True))
        except httpx2.HTTPError as error:
            return unreachable(sent, family, error)
        return returned(answer, sent, family, self.secret)

    async def _call(
        self, sent: httpx2.Request, route: Route, asked: ModelRequest, upstream: Upstream
    ) -> Response:
        """Forward a call, once there is money for it."""
        from starlette.responses import Response

        family, body = asked.protocol.family, asked.body
        asked = asked.measured()
        if self._budget.limit is not None:
            asked = asked.limited(upstream.provider)
        if asked.body is not body:
            headers = {name: value for name, value in sent.headers.items() if name != "content-length"}
            content = json.dumps(asked.body).encode()
            sent = self._client.build_request("POST", sent.url, headers=headers, content=content)
        kept = None if self._answers is None else identity(sent)
        most = asked.most(upstream.provider)
        known = None if self._answers is None or kept is None else self._answers.get(kept)
        if known is not None:
            route.begin(NOTHING, **asked.record).cost_nothing(200, cached=True)
            return Response(known, 200, media_type="application/json")
        if self._budget.limit is not None and most is None:
            what = asked.unlisted or f"the price of {asked.model!r:.80} at {upstream.place}"
            why = "is billed otherwise than by tokens" if asked.unlisted else "is unknown"
            text = f"--max-cost {self._budget.limit} cannot be guaranteed: {what} {why}"
            route.stopped = BudgetReached(f"{text}; run without --max-cost")
            return refused(400, family, "invalid_request_error", text)
        try:
            passage = await self._afforded(route, asked, most)
        except BudgetReached as error:
            status, kind = (402, "billing_error") if family == "anthropic" else (429, "insufficient_quota")
            return refused(status, family, kind, str(error))
        return await self._forward(sent, passage, asked, upstream, kept)

    async def _afforded(self, route: Route, asked: ModelRequest, most: Decimal | None) -> PaidCall:
        """Reserve money for a call. If others hold it, wait for them: most of it comes back. Raises BudgetReached."""
        while True:
            try:
                passage = route.begin(most, **asked.record)
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

    async def _forward(
        self,
        sent: httpx2.Request,
        passage: PaidCall,
        asked: ModelRequest,
        upstream: Upstream,
        kept: str | None,
    ) -> Response:
        """Forward a call that is paid for, and charge what the answer says."""
        import httpx2

        family = asked.protocol.family
        meter = Meter(asked.protocol, None if asked.unlisted else upstream.provider)
        try:
            answer = await self._client.send(sent, stream=True)
            streams = answer.is_success and "event-stream" in answer.headers.get("content-type", "")
            if not streams:
                answer = await read(answer)
                meter.read(answer.content)
        except httpx2.HTTPError as error:
            name = type(error).__name__
            (passage.cost_nothing if name in _UNSENT else passage.lose)(0, error=name)
            return unreachable(sent, family, error)
        except BaseException:  # the server stops
            passage.lose(0)
            raise
        if streams:
            return stream(answer, passage, meter, unasked=asked.unasked)
        if not answer.is_success:
            passage.cost_nothing(answer.status_code)
            return returned(answer, sent, family, self.secret)
        passage.end(meter.usage, answer.status_code)
        if self._answers is not None and kept is not None:
            self._answers.keep({kept: answer.content})
        return returned(answer, sent, family, self.secret)


_gateway: ContextVar[Gateway | None] = ContextVar("gateway", default=None)


def gateway() -> Gateway | None:
    """Return the gateway of the runs here; None if they have none."""
    return _gateway.get()


@contextmanager
def serving(through: Gateway | None, port: int = 0) -> Iterator[None]:
    """Listen inside the block, as the gateway of all runs there; None: they have none. Raises ConfigError."""
    with nullcontext() if through is None else through.listening(port):
        token = _gateway.set(through)
        try:
            yield
        finally:
            _gateway.reset(token)


@asynccontextmanager
async def conversing(journal: Journal, conversation: str | None = None) -> AsyncIterator[Route | None]:
    """Give a conversation inside the block a route, if the runs here have a gateway, and yield it.

    Args:
        journal: The side file for its calls.
        conversation: The conversation's name, if the run has several.
    """
    if (through := gateway()) is None:
        yield None
        return
    async with through.route(journal, conversation) as found:
        with routed(found):
            yield found
