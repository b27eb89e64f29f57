"""The routes: the table of runs, active runs, comparisons, a search in transcripts, and files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltm_bench.core.errors import LtmBenchError
from ltm_bench.core.messages import Turn
from ltm_bench.log.reader import conversations, read_manifest, read_turns
from ltm_bench.report.anchors import anchor
from ltm_bench.report.compare_page import render_comparison
from ltm_bench.report.templating import macro, script, templates
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare
from ltm_bench.score.results.scoring import score_run
from ltm_bench.viewer.access import HEADERS, HostGate, TokenGate
from ltm_bench.viewer.shown_runs import LocalRuns, RemoteRuns, listed
from ltm_bench.viewer.states import Look, RunState, ShownTurn, has_page

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MOST_HITS = 200
"""Maximum hits of a search."""

CONTEXT = 300
"""Characters shown around the words."""

LONGEST_TURN = 4_000
"""Maximum characters of a message or reply of an active run."""

EVERY = 1.0
"""Seconds between looks at the logs."""

NOT_SERVED = (
    "There is no such file, or it is not served: a hidden file, an agent's own state, or a page that came with a "
    "bundle (`ltm-bench report RUN` writes it from the log).\n"
)

UNREADABLE = (LtmBenchError, OSError, ValueError, TypeError, RecursionError, OverflowError)
"""Exceptions of reading a log or results."""


def application(reports: Path | str, token: str | None = None) -> Starlette:
    """Return the server of a folder of runs.

    Args:
        reports: The folder, or a URL.
        token: Required for every page; None serves only this machine.
    """
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.middleware import Middleware
    from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, StreamingResponse
    from starlette.responses import Response as PlainResponse
    from starlette.routing import Route

    shown = RemoteRuns(reports) if isinstance(reports, str) else LocalRuns(reports)

    def html(text: str, status: int = 200) -> HTMLResponse:
        return HTMLResponse(text.encode("utf-8", "replace"), status, headers=HEADERS)

    def refusal(text: str, status: int) -> HTMLResponse:
        return html(templates().get_template("refusal.html.jinja").render(text=text), status)

    def stream(request: Request, look: Callable[[], Any]) -> StreamingResponse:
        """Send what `look` returns whenever it changes, until the visitor leaves."""

        async def events() -> AsyncIterator[str]:
            before = ""
            while not await request.is_disconnected():
                now = json.dumps(await run_in_threadpool(look))
                yield f"data: {now}\n\n" if now != before else ": still here\n\n"
                before = now
                await asyncio.sleep(EVERY)

        return StreamingResponse(events(), media_type="text/event-stream", headers=HEADERS)

    def chosen(request: Request) -> list[str]:
        return list(dict.fromkeys(request.query_params.getlist("run")))

    async def index(request: Request) -> Response:
        states = await run_in_threadpool(shown.states)
        listing = listed(states, request.query_params)
        others = await run_in_threadpool(shown.others)
        page = templates().get_template("runs.html.jinja")
        asked = {name: value for name, value in request.query_params.items() if name != "page"}
        return html(
            page.render(
                states=listing.rows,
                listing=listing,
                asked=asked,
                all=len(states),
                others=others,
                script=script("runs.js"),
            )
        )

    async def progress(request: Request) -> Response:
        return stream(
            request, lambda: [asdict(state) for state in listed(shown.states(), request.query_params).rows]
        )

    async def live(request: Request) -> Response:
        found = await run_in_threadpool(shown.live, request.path_params["name"])
        if found is None:
            return refusal("There is no such run.", 404)
        state, look = found
        page = templates().get_template("live.html.jinja")
        turns = [] if look is None else [_turn(said) for said in look.said]
        return html(page.render(state=state, look=look, turns=turns, script=script("live.js")))

    async def following(request: Request) -> Response:
        name = request.path_params["name"]
        if await run_in_threadpool(shown.live, name) is None:
            return refusal("There is no such run.", 404)
        return stream(request, lambda: _news(*(shown.live(name) or (RunState(name), None))))

    def compared(names: Sequence[str]) -> Response:
        with shown.at_hand(names) as folders:
            return refusal("There is no such run.", 404) if folders is None else html(_compared(folders))

    async def comparison(request: Request) -> Response:
        if len(names := chosen(request)) < 2:
            return refusal("Choose at least two runs to compare.", 400)
        try:
            return await run_in_threadpool(compared, names)
        except UNREADABLE as error:
            return refusal(f"{error}", 500)

    def searched(names: Sequence[str], words: str) -> Response:
        with shown.at_hand(names or shown.searchable()) as folders:
            if folders is None:
                return refusal("There is no such run.", 404)
            if not folders and words and shown.states():
                return refusal("Choose the runs to search: behind a URL, their logs are fetched for it.", 400)
            hits = search_runs(folders, words, MOST_HITS)
        return html(templates().get_template("search.html.jinja").render(runs=names, words=words, found=hits))

    async def found(request: Request) -> Response:
        words = request.query_params.get("q", "").strip()
        return await run_in_threadpool(searched, chosen(request), words)

    async def file(request: Request) -> Response:
        served = await run_in_threadpool(shown.file, request.path_params["path"])
        if served is None:
            return PlainTextResponse(NOT_SERVED, 404, headers=HEADERS)
        if isinstance(served.content, Path):
            return FileResponse(served.content, media_type=served.media, headers=served.headers)
        return PlainResponse(served.content, media_type=served.media, headers=served.headers)

    gate = Middleware(HostGate) if token is None else Middleware(TokenGate, token=token)
    return Starlette(
        routes=[
            Route("/", index),
            Route("/progress", progress),
            Route("/live/{name}", live),
            Route("/live/{name}/progress", following),
            Route("/compare", comparison),
            Route("/search", found),
            Route("/files/{path:path}", file),
        ],
        middleware=[gate],
    )


class _TurnMarkup(NamedTuple):
    """A turn as the page of an active run shows it."""

    id: str
    html: str


def _turn(said: ShownTurn) -> _TurnMarkup:
    return _TurnMarkup(f"t-{said.anchor}", macro("live_parts.html.jinja", "turn")(said, LONGEST_TURN))


def _news(state: RunState, look: Look | None) -> dict[str, Any]:
    """Return the news for a visitor of an active run."""
    return {
        "finished": state.state == "finished",
        "facts": macro("live_parts.html.jinja", "facts")(state, look),
        "turns": [] if look is None else [_turn(said)._asdict() for said in look.said],
    }


def _compared(folders: Sequence[Path]) -> str:
    """Return the page of a comparison of runs, scored as today's matchers score."""
    runs = []
    for folder in folders:
        manifest = read_manifest(folder)
        runs.append(Scored(manifest, score_run(folder, manifest)))
    reports = {f.name: f"/files/{f.name}/report.html" for f in folders if has_page(f)}
    return render_comparison(compare(runs), reports, home="/")


class Hit(NamedTuple):
    """A turn that contains the words."""

    anchor: str
    """The turn's anchor in the transcript."""
    turn: int
    who: str
    """The example that it belongs to, or `filler`."""
    message: str
    reply: str


class RunHits(NamedTuple):
    """The hits in one run."""

    run: str
    hits: list[Hit]
    all: int
    """Number of hits; `hits` may hold fewer."""
    problem: str = ""
    """Why the run could not be read to its end."""


def search_runs(runs: Sequence[Path], words: str, most: int) -> list[RunHits]:
    """Search several runs. An unreadable one reports its problem, and the others are searched.

    Args:
        runs: Their folders.
        words: The exact words; without any, nothing is found.
        most: Maximum number of hits, over all runs.
    """
    found = []
    for run in runs if words else ():
        hits: list[Hit] = []
        count, problem = 0, ""
        try:
            for hit in search(run, words):
                count += 1
                if len(hits) < most:
                    hits.append(hit)
        except UNREADABLE as error:
            problem = f"{error}"
        most -= len(hits)
        if count or problem:
            found.append(RunHits(run.name, hits, count, problem))
    return found


def search(run: Path, words: str) -> Iterator[Hit]:
    """Yield the turns of a run whose message or reply contains some words, ignoring case.

    Args:
        run: The run folder.
        words: The exact words.

    Raises:
        LogError: The log is damaged.
    """
    wanted = words.casefold()
    isolated = read_manifest(run).suite.isolated
    for path in conversations(run):
        for turn in read_turns(path, forks=True):
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


def _around(text: str, wanted: str) -> str:
    """Cut a long text to the words' surroundings."""
    start = max(0, text.casefold().find(wanted) - CONTEXT // 2)
    end = start + CONTEXT
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"
