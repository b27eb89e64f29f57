"""A page at which a person answers: one message after the other, with its time, and nothing of scores.

A message stays until it is answered, whatever happens to the browser: closed, opened again, loaded again. Where several
tabs show it, the first answer counts. Only who knows the address is served, which holds a token, and only the page
itself may answer.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field
from secrets import token_hex, token_urlsafe
from typing import TYPE_CHECKING

from ltm_bench.report.templating import script, templates
from ltm_bench.report.text import visible
from ltm_bench.viewer.access import HEADERS, TokenGate

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"

TOKEN = token_urlsafe(18)
"""In the address of every desk of this process, so that a page that is open stays valid."""

STILL_HERE = 15.0
"""Seconds after which an open page is told again what it shows; it is noticed then if the page has gone."""


@dataclass(frozen=True)
class Shown:
    """What the page shows: a message, to be answered or only read."""

    at: str
    """Its time."""
    text: str
    reply: str | None = None
    """The reply that was given for the person, who only reads; None if they answer."""
    place: str = ""
    """Where in the conversation it stands."""
    id: str = field(default_factory=lambda: token_hex(8))
    """Differs between processes too: an old tab never answers a later message."""


class Desk:
    """Shows one sheet after the other, and returns what the person answers."""

    def __init__(self, max_bytes: int) -> None:
        """Prepare an empty desk; an answer holds at most `max_bytes`."""
        self.users: set[object] = set()
        """The conversations that have not ended."""
        self._most = max_bytes
        self._sheet: Shown | None = None
        self._answer: asyncio.Future[str] | None = None
        self._changed = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None

    def open(self, port: int) -> str:
        """Start serving on this machine, on another free port if this one is taken, and return the address."""
        import uvicorn

        try:
            listening = socket.create_server((HOST, port))
        except OSError:
            listening = socket.create_server((HOST, 0))
        server = uvicorn.Server(
            uvicorn.Config(
                self.application(),
                lifespan="off",
                log_config=None,
                log_level="critical",  # an interruption passes through the server, which would log it as an error
                access_log=False,
                timeout_graceful_shutdown=1,
            )
        )
        server.capture_signals = nullcontext  # type: ignore[method-assign,assignment]  # Ctrl-C belongs to the run
        self._server = server
        self._serving = asyncio.create_task(server.serve(sockets=[listening]))
        return f"http://{HOST}:{listening.getsockname()[1]}/?token={TOKEN}"

    async def close(self) -> None:
        """Stop serving; open pages say so."""
        if self._serving is not None:
            self._server.should_exit = True
            self._show(None)  # wakes the streams, which end
            await self._serving

    async def ask(self, sheet: Shown) -> str:
        """Show a sheet until it is answered, and return the answer; empty for one that is only read."""
        self._answer = asyncio.get_running_loop().create_future()
        self._show(sheet)
        try:
            return await self._answer
        finally:
            self._show(None)

    def _show(self, sheet: Shown | None) -> None:
        self._sheet = sheet
        self._changed.set()
        self._changed = asyncio.Event()

    def take(self, sheet: str, text: str) -> tuple[int, str]:
        """Take an answer to a sheet, and return the HTTP status and what to tell the person."""
        shown, answer = self._sheet, self._answer
        if shown is None or answer is None or answer.done() or shown.id != sheet:
            return 409, "This message was answered already, perhaps in another tab."
        if shown.reply is None and not text.strip():
            return 422, "Write an answer first. If you do not know, say so."
        answer.set_result(text.strip() if shown.reply is None else "")
        return 200, ""

    def application(self) -> Starlette:
        """Return the server of the page."""
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.responses import HTMLResponse, PlainTextResponse, StreamingResponse
        from starlette.routing import Route

        async def page(request: Request) -> Response:
            template = templates().get_template("desk.html.jinja")
            return HTMLResponse(template.render(script=script("desk.js")), headers=HEADERS)

        async def sheets(request: Request) -> Response:
            return StreamingResponse(self._sheets(), media_type="text/event-stream", headers=HEADERS)

        async def answer(request: Request) -> Response:
            headers = request.headers
            # Other pages of this machine send our cookie too: it does not depend on the port.
            if headers.get("origin") != f"http://{headers.get('host')}":
                return PlainTextResponse("Only the page itself may answer.\n", 403, headers=HEADERS)
            if int(headers.get("content-length", self._most + 1)) > self._most:
                return PlainTextResponse(
                    f"An answer has at most {self._most:,} bytes.\n", 413, headers=HEADERS
                )
            text = (await request.body()).decode("utf-8", "replace")
            status, told = self.take(request.path_params["sheet"], text)
            return PlainTextResponse(told, status, headers=HEADERS)

        return Starlette(
            routes=[
                Route("/", page),
                Route("/sheets", sheets),
                Route("/answers/{sheet}", answer, methods=["POST"]),
            ],
            middleware=[Middleware(TokenGate, token=TOKEN)],
        )

    async def _sheets(self) -> AsyncIterator[str]:
        """Yield what is shown, now and whenever it changes, until the desk closes."""
        yield "retry: 500\n\n"
        while not self._server.should_exit:
            changed = self._changed  # first: what changes while the page is told is told next
            shown = (
                None if self._sheet is None else {k: v and visible(v) for k, v in asdict(self._sheet).items()}
            )
            yield f"data: {json.dumps(shown)}\n\n"
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), STILL_HERE)
