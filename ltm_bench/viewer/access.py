"""Controls who may use the server, and which files it serves.

Without a token it answers only to the names of the loopback address, so that no foreign page can reach it through its
own host name (DNS rebinding). With a token it answers to any host name, but only to clients that have it. It never
serves files outside the runs folder, hidden files, an agent's own state, or pages of an unpacked bundle. What it serves
runs no script but ours.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_bench.core.limits import is_ordinary
from ltm_bench.report.templating import script
from ltm_bench.score.results.stored import PAGES, pages_are_own

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost", "::1")
"""The names that a server without a token answers to."""

COOKIE = "ltm-bench-token"
"""Holds the token after the first visit with `?token=…`."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""Sent with every answer."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""Sent with every file, besides what the file itself says: anybody can have written it."""

MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".xml": "application/xml",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".pdf": "application/pdf",
    ".zip": "application/zip",
}
"""The suffixes of served files, and their media types."""


def find_file(reports: Path, wanted: str) -> Path | None:
    """Return a file of the runs folder, or None if it does not exist or must not be served.

    Args:
        reports: The runs folder.
        wanted: The requested path.
    """
    root = reports.resolve()
    parts = wanted.split("/")
    if "\0" in wanted or "agent" in parts[1:-1] or any(not part or part.startswith(".") for part in parts):
        return None
    try:
        path = (root / wanted).resolve()
        own = path.relative_to(root).parts  # a link's target counts, not its own place
        allowed = path.suffix in MEDIA and "agent" not in own[1:-1] and is_ordinary(path)
    except (OSError, ValueError, RuntimeError):  # it leads outside, in a circle, or its name is too long
        return None
    hidden = any(part.startswith(".") for part in own)
    foreign = path.suffix == ".html" and not pages_are_own(root / own[0])
    return path if allowed and not hidden and not foreign else None


def headers_for(parts: Sequence[str]) -> dict[str, str]:
    """Return what is sent with a file: only our own script runs, and only on the pages of a run.

    Args:
        parts: The file's path in the runs folder.
    """
    if len(parts) == 2 and parts[1] in PAGES:
        ours = f"script-src 'sha256-{script('filter.js').hash}'"
        return HEADERS | {"Content-Security-Policy": f"{POLICY}; {ours}"}
    # Without `allow-scripts` nothing runs; as another origin, links of a page would lack the token's cookie.
    found = HEADERS | {"Content-Security-Policy": f"{POLICY}; sandbox allow-same-origin"}
    if parts[-1].endswith(".pdf"):  # browsers' viewers refuse sandboxed documents
        found["Content-Disposition"] = "attachment"
    return found


class HostGate:
    """ASGI middleware that answers only to the names of this machine, with or without a port."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        from starlette.datastructures import Headers
        from starlette.responses import PlainTextResponse

        if scope["type"] != "http" or _host_of(Headers(scope=scope).get("host", "")) in HOSTS:
            await self.app(scope, receive, send)
            return
        await PlainTextResponse("Invalid host header\n", 400, headers=HEADERS)(scope, receive, send)


def _host_of(header: str) -> str:
    """Return the name in a Host header; an IPv6 address without its brackets."""
    if header.startswith("["):
        name, closed, port = header[1:].partition("]")
        return name if closed and (not port or port.startswith(":")) else ""
    return header.partition(":")[0].lower()


class TokenGate:
    """ASGI middleware that requires the token: in the URL once, in a cookie from then on."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        from starlette.requests import Request
        from starlette.responses import PlainTextResponse, RedirectResponse

        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        if self._fits(request.query_params.get("token", "")):
            # Removed from the URL, where it would be seen, stored in the history, and passed on.
            here = "/" + request.url.path.lstrip("/\\")  # two slashes would start another host's name
            answer: Response = RedirectResponse(here, 303, headers=HEADERS)
            answer.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
        elif self._fits(request.cookies.get(COOKIE, "")):
            await self.app(scope, receive, send)
            return
        else:
            answer = PlainTextResponse("A token is needed: add ?token=… once.\n", 401, headers=HEADERS)
        await answer(scope, receive, send)

    def _fits(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode("utf-8", "replace"))


def is_loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen on this port of this address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
