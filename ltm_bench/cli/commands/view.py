"""Show the runs in a browser."""

from __future__ import annotations

import os
from secrets import token_urlsafe
from typing import Annotated

import typer

from ltm_bench.cli.console import out
from ltm_bench.cli.options import examples_of, whole
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.folders import REPORTS


def view(
    port: Annotated[
        int,
        typer.Option(metavar="N", parser=whole("--port", 1), envvar="LTM_BENCH_PORT", help="The port."),
    ] = 7700,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            envvar="LTM_BENCH_HOST",
            help="The address to listen on; one that others can reach needs --token.",
        ),
    ] = "127.0.0.1",
    token: Annotated[
        bool,
        typer.Option(
            "--token",
            envvar="LTM_BENCH_VIEW_WITH_TOKEN",
            help="Visitors must bring a token, as ?token=…: that of the variable LTM_BENCH_TOKEN, or else one that is "
            "made and shown now. It is no argument, because all users of a machine can read those.",
        ),
    ] = False,
) -> None:
    """Show the runs in reports/ in a browser, with live progress and search. Needs the extra `view`."""
    try:
        import uvicorn

        from ltm_bench.viewer.access import is_free, is_loopback
        from ltm_bench.viewer.server import application

        secret = _token() if token or "LTM_BENCH_TOKEN" in os.environ else None
        app = application(REPORTS, secret)
    except ImportError as error:
        raise ConfigError(
            "view: the server is not installed; get it with pip install 'ltm-bench[view]'"
        ) from error
    if not is_loopback(host) and secret is None:
        raise ConfigError(
            f"--host {host}: others could read all runs there; set --token, or serve this machine alone"
        )
    if not is_free(host, port):
        raise ConfigError(
            f"--host {host} --port {port}: somebody listens there already, or it is no address of this machine"
        )
    shown = f"[{host}]" if ":" in host else host
    made = secret is not None and "LTM_BENCH_TOKEN" not in os.environ
    ask = "" if secret is None else f"?token={secret}" if made else "?token=…"
    out().print(f"http://{shown}:{port}/{ask} shows {REPORTS.resolve()}; stop with Ctrl-C")
    uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)


def _token() -> str:
    """Return the token of the environment, or a new one. Raises ConfigError."""
    given = os.environ.get("LTM_BENCH_TOKEN")
    if given is None:
        return token_urlsafe(18)
    if len(given) < _SHORTEST:
        raise ConfigError(f"LTM_BENCH_TOKEN has {len(given)} characters; take at least {_SHORTEST}")
    return given


_SHORTEST = 12
"""Characters of a token."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=examples_of("view", "view --port 8001"))(view)
