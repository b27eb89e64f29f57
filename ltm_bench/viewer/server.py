"""The runs folder in a browser: a list of runs with live progress, their pages, and a search in their transcripts.

Read-only. It answers only to the names of the loopback address, so that no page from elsewhere can reach it through a
name of its own (DNS rebinding), or else, where others are let in, only to those who bring a token. It gives out no file
outside of the folder, no hidden one, and nothing of an agent's own state.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import os
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ltm_bench.core.errors import LtmBenchError
from ltm_bench.core.messages import Turn
from ltm_bench.log.reader import conversations, is_finished, read_manifest, read_turns
from ltm_bench.report.page import anchor, embedded, short_tokens, templates

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost")

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
"""What is given out, by its ending."""

MOST_HITS = 200
"""Turns that a search shows."""

EVERY = 1.0
"""Seconds between two looks at the logs."""

LIVELY = 120.0
"""Seconds for which a log that nobody writes to still counts as running. Trying the run's lock would tell more, but
whoever tries it holds it for a moment, and a run that starts just then would be turned away."""


@dataclass(frozen=True)
class RunState:
    """A run as the list shows it."""

    name: str
    agent: str = ""
    suite: str = ""
    span: str = ""
    seed: str = ""
    done: int = 0
    planned: int = 0
    state: str = "unreadable"
    """`running` where its log was just written to, `unfinished`, `finished`, or `unreadable`."""
    score: str = ""
    report: bool = False


class Watch:
    """Looks at the logs of a folder of runs, and reads again only those that have grown."""

    def __init__(self, reports: Path) -> None:
        self.reports = reports
        self._known: dict[Path, tuple[object, RunState]] = {}
        self._lock = threading.Lock()

    def states(self) -> list[RunState]:
        """Return all runs, the newest first."""
        runs = {path.parent: _changed(path.parent) for path in self.reports.glob("*/events.jsonl")}
        with self._lock:
            return [
                self._state(run, runs[run]) for run in sorted(runs, key=lambda run: runs[run], reverse=True)
            ]

    def _state(self, run: Path, changed: tuple[float, int]) -> RunState:
        if run not in self._known or self._known[run][0] != changed:
            self._known[run] = (changed, state_of(run))
        state = self._known[run][1]
        lively = state.state == "unfinished" and time.time() - changed[0] < LIVELY
        return replace(state, state="running") if lively else state


def _changed(run: Path) -> tuple[float, int]:
    """Return when a run's files were last written, and how large they are."""
    paths = [run / "events.jsonl", run / "results.json", *(run / "isolated").glob("*.jsonl")]
    stats = [path.stat() for path in paths if path.exists()]
    return max((s.st_mtime for s in stats), default=0.0), sum(s.st_size for s in stats)


def state_of(run: Path) -> RunState:
    """Return how far a run is."""
    try:
        manifest = read_manifest(run)
        paths = conversations(run)
        planned = sum(entry.examples for entry in manifest.suite.scenarios)
        done = sum(path.read_bytes().count(b'{"event":"ended"') for path in paths)
        finished = done >= planned and all(map(is_finished, paths))
        return RunState(
            name=run.name,
            agent=manifest.agent.name,
            suite=manifest.suite.name,
            span=short_tokens(manifest.span),
            seed=str(manifest.seed),
            done=done,
            planned=planned,
            state="finished" if finished else "unfinished",
            score=_score(run / "results.json"),
            report=(run / "report.html").exists(),
        )
    except (LtmBenchError, OSError):
        return RunState(name=run.name)


def _score(path: Path) -> str:
    try:
        results = json.loads(path.read_bytes())
        return f"{results['score']:.2f} / {results['out_of']}" if results["complete"] else "incomplete"
    except (OSError, ValueError, LookupError, TypeError):
        return ""


class Hit(NamedTuple):
    """A turn that holds what was searched for."""

    anchor: str
    turn: int
    who: str
    message: str
    reply: str


def search(run: Path, words: str) -> Iterator[Hit]:
    """Give the turns of a run whose message or reply holds some words, whatever their case."""
    wanted = words.casefold()
    isolated = read_manifest(run).suite.isolated
    for path in conversations(run):
        for turn in read_turns(path):
            if wanted in turn.message.text.casefold() or wanted in turn.reply.text.casefold():
                yield _hit(turn, wanted, isolated=isolated)


def _hit(turn: Turn, wanted: str, *, isolated: bool) -> Hit:
    example = turn.example or ""
    return Hit(
        anchor(turn.message.turn, example, isolated=isolated),
        turn.message.turn,
        example or "filler",
        _around(turn.message.text, wanted),
        _around(turn.reply.text, wanted),
    )


def _around(text: str, wanted: str, most: int = 300) -> str:
    """Cut a long text to the surroundings of what was searched for."""
    start = max(0, text.casefold().find(wanted) - most // 2)
    return f"{'… ' if start else ''}{text[start : start + most]}{' …' if start + most < len(text) else ''}"


def find_file(reports: Path, wanted: str) -> Path | None:
    """Return a file of the runs folder by its path in it; None where there is none, or none that may be given out."""
    root = reports.resolve()
    parts = wanted.split("/")
    if "\0" in wanted or "agent" in parts[1:-1] or any(not part or part.startswith(".") for part in parts):
        return None
    path = (root / wanted).resolve()
    allowed = path.suffix in MEDIA and path.is_relative_to(root) and path.is_file()
    return path if allowed else None


COOKIE = "ltm-bench-token"
"""Holds the token after the first visit with `?token=…`."""


def application(reports: Path, token: str | None = None) -> Starlette:
    """Return the server of a folder of runs; with a token it answers to any host name, but to nobody without it."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import (
        FileResponse,
        HTMLResponse,
        PlainTextResponse,
        RedirectResponse,
        StreamingResponse,
    )
    from starlette.routing import Route

    watch = Watch(reports)
    careful = {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }

    def page(name: str, **values: object) -> HTMLResponse:
        html = templates().get_template(name).render(**values)
        return HTMLResponse(html.encode("utf-8", "replace"), headers=careful)

    async def index(request: Request) -> Response:
        states = await run_in_threadpool(watch.states)
        others = await run_in_threadpool(lambda: sorted(path.name for path in reports.glob("*.html")))
        return page("runs.html.jinja", states=states, others=others, script=embedded("progress.js"))

    async def progress(request: Request) -> Response:
        async def events() -> AsyncIterator[str]:
            before = ""
            while not await request.is_disconnected():
                states = await run_in_threadpool(watch.states)
                now = json.dumps([asdict(state) for state in states])
                yield f"data: {now}\n\n" if now != before else ": still here\n\n"
                before = now
                await asyncio.sleep(EVERY)

        return StreamingResponse(events(), media_type="text/event-stream", headers=careful)

    async def found(request: Request) -> Response:
        name, words = request.path_params["name"], request.query_params.get("q", "").strip()
        log = await run_in_threadpool(find_file, reports, f"{name}/events.jsonl")
        if log is None:
            return PlainTextResponse("There is no such run.\n", 404, headers=careful)
        try:
            hits = await run_in_threadpool(lambda: list(search(log.parent, words)) if words else [])
        except LtmBenchError as error:
            return PlainTextResponse(f"{error}\n", 500, headers=careful)
        return page("search.html.jinja", run=name, words=words, hits=hits[:MOST_HITS], count=len(hits))

    async def file(request: Request) -> Response:
        path = await run_in_threadpool(find_file, reports, request.path_params["path"])
        if path is None:
            return PlainTextResponse("There is no such file.\n", 404, headers=careful)
        return FileResponse(path, media_type=MEDIA[path.suffix], headers=careful)

    class Doorkeeper:
        """Lets in who brings the token: in the address once, in a cookie from then on."""

        def __init__(self, app: ASGIApp) -> None:
            self.app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or token is None:
                await self.app(scope, receive, send)
                return
            request = Request(scope)
            if _same(request.query_params.get("token", ""), token):
                # Not left in the address, where it would be seen, kept in a history, and passed on.
                answer: Response = RedirectResponse(request.url.path, 303, headers=careful)
                answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            elif _same(request.cookies.get(COOKIE, ""), token):
                await self.app(scope, receive, send)
                return
            else:
                answer = PlainTextResponse("A token is needed: add ?token=… once.\n", 401, headers=careful)
            await answer(scope, receive, send)

    return Starlette(
        routes=[
            Route("/", index),
            Route("/progress", progress),
            Route("/search/{name}", found),
            Route("/files/{path:path}", file),
        ],
        middleware=[
            Middleware(Doorkeeper)
            if token is not None
            else Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS))
        ],
    )


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode("utf-8", "replace"))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_free(host: str, port: int) -> bool:
    """Whether nobody listens on a port of an address of this machine yet."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
