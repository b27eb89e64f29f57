"""Show the runs in a browser."""

import os
from secrets import token_urlsafe
from typing import Annotated

from ltm_bench.cli.console import out
from ltm_bench.cli.declared import command, group
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import REPORTS

app = group()


@command(app, "view", "view --port 8001")
def view(
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
    """Show the runs in reports/ in a browser, with live progress and search. Needs the extra `view`."""
    try:
        import uvicorn

        from ltm_bench.viewer.access import is_free, is_loopback
        from ltm_bench.viewer.server import application

        given = os.environ.get(TOKEN)
        secret = given if given is not None or is_loopback(host) else token_urlsafe(18)
        site = application(REPORTS, secret)
    except ImportError as error:
        raise ConfigError(
            "view: the server is not installed; get it with pip install 'ltm-bench[view]'"
        ) from error
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
    out().print(f"http://{shown}:{port}/{ask} shows {REPORTS.resolve()}; stop with Ctrl-C")
    uvicorn.run(site, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)


TOKEN = "LTM_BENCH_TOKEN"
"""The environment variable for the token. There is no option: everyone can read a process's arguments."""

_LAST_PORT = 65535

_SHORTEST = 12
"""Minimum length of a token."""
