"""Show the runs in a browser."""

import os
from pathlib import Path
from secrets import token_urlsafe
from typing import Annotated

import typer

from ltm_bench.cli.console import out
from ltm_bench.cli.declared import command, group
from ltm_bench.core.errors import ConfigError
from ltm_bench.log.remote import is_url
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import REPORTS

app = group()


@command(app, "view", "view --port 8001", "view s3://bucket/runs")
def view(
    place: Annotated[
        str | None,
        typer.Argument(metavar="PLACE", help="A folder of runs, or the URL of one; by default, reports/."),
    ] = None,
    *,
    port: Annotated[int, Option("The port.", "N", least=1)] = 7700,
    host: Annotated[
        str,
        Option(
            "The address to listen on. If others can reach it, visitors need a token: the value of "
            "LTM_BENCH_TOKEN, or else one that is generated and shown.",
            "ADDRESS",
        ),
    ] = "127.0.0.1",
) -> None:
    """Show runs in a browser, with search and, of a folder, live progress."""
    import uvicorn

    from ltm_bench.viewer.access import is_free, is_loopback
    from ltm_bench.viewer.server import application

    given = os.environ.get(TOKEN)
    secret = given if given is not None or is_loopback(host) else token_urlsafe(18)
    where = place if place is not None and is_url(place) else Path(place or REPORTS)
    if place is not None and isinstance(where, Path) and not where.is_dir():
        raise ConfigError(f"{place}: there is no such folder; name one that holds runs, or a URL")
    site = application(where, secret)
    if given is not None and len(given) < _SHORTEST:
        raise ConfigError(f"{TOKEN} has {len(given)} characters; use at least {_SHORTEST}")
    if port > _LAST_PORT:
        raise ConfigError(f"--port {port}: write a number from 1 to {_LAST_PORT}")
    if not is_free(host, port):
        raise ConfigError(
            f"--host {host} --port {port}: the port is in use, or this is not an address of this machine"
        )
    shown = f"[{host}]" if ":" in host else host
    ask = "" if secret is None else "?token=…" if given is not None else f"?token={secret}"
    seen = where if isinstance(where, str) else where.resolve()
    out().print(f"http://{shown}:{port}/{ask} shows {seen}; stop with Ctrl-C")
    uvicorn.run(site, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)


TOKEN = "LTM_BENCH_TOKEN"
"""The environment variable for the token. There is no option: everyone can read a process's arguments."""

_LAST_PORT = 65535

_SHORTEST = 12
"""Minimum length of a token."""
