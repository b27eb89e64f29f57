"""The routes: a list of runs, its live progress, a search in transcripts, and files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_bench.core.errors import LtmBenchError
from ltm_bench.report.templating import script, templates
from ltm_bench.viewer.access import HEADERS, MEDIA, HostGate, TokenGate, find_file
from ltm_bench.viewer.search import search
from ltm_bench.viewer.states import Watch

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MOST_HITS = 200
"""Turns that a search shows."""

EVERY = 1.0
"""Seconds between two looks at the logs."""


def application(reports: Path, token: str | None = None) -> Starlette:
    """Return the server of a folder of runs.

    Args:
        reports: The folder.
        token: Needed to see anything. None serves this machine alone.
    """
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.middleware import Middleware
    from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, StreamingResponse
    from starlette.routing import Route

    watch = Watch(reports)

    def page(name: str, **values: object) -> HTMLResponse:
        html = templates().get_template(name).render(**values)
        return HTMLResponse(html.encode("utf-8", "replace"), headers=HEADERS)

    async def index(request: Request) -> Response:
        states = await run_in_threadpool(watch.states)
        others = await run_in_threadpool(lambda: sorted(path.name for path in reports.glob("*.html")))
        return page("runs.html.jinja", states=states, others=others, script=script("progress.js"))

    async def progress(request: Request) -> Response:
        async def events() -> AsyncIterator[str]:
            before = ""
            while not await request.is_disconnected():
                states = await run_in_threadpool(watch.states)
                now = json.dumps([asdict(state) for state in states])
                yield f"data: {now}\n\n" if now != before else ": still here\n\n"
                before = now
                await asyncio.sleep(EVERY)

        return StreamingResponse(events(), media_type="text/event-stream", headers=HEADERS)

    async def found(request: Request) -> Response:
        name, words = request.path_params["name"], request.query_params.get("q", "").strip()
        log = await run_in_threadpool(find_file, reports, f"{name}/events.jsonl")
        if log is None:
            return PlainTextResponse("There is no such run.\n", 404, headers=HEADERS)
        try:
            hits = await run_in_threadpool(lambda: list(search(log.parent, words)) if words else [])
        except (LtmBenchError, OSError, ValueError, RecursionError, OverflowError) as error:
            return PlainTextResponse(f"{error}\n", 500, headers=HEADERS)
        return page("search.html.jinja", run=name, words=words, hits=hits[:MOST_HITS], count=len(hits))

    async def file(request: Request) -> Response:
        path = await run_in_threadpool(find_file, reports, request.path_params["path"])
        if path is None:
            return PlainTextResponse("There is no such file.\n", 404, headers=HEADERS)
        return FileResponse(path, media_type=MEDIA[path.suffix], headers=HEADERS)

    gate = Middleware(HostGate) if token is None else Middleware(TokenGate, token=token)
    return Starlette(
        routes=[
            Route("/", index),
            Route("/progress", progress),
            Route("/search/{name}", found),
            Route("/files/{path:path}", file),
        ],
        middleware=[gate],
    )
