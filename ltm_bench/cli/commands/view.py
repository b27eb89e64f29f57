"""Show the runs in a browser."""

from __future__ import annotations

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
        str | None,
        typer.Option(
            metavar="TEXT",
            envvar="LTM_BENCH_TOKEN",
            help="What visitors must bring, as ?token=TEXT; best given through the variable.",
        ),
    ] = None,
) -> None:
    """Show the runs in reports/ in a browser, with live progress and search. Needs the extra `view`."""
    try:
        import uvicorn

        from ltm_bench.viewer.access import is_free, is_loopback
        from ltm_bench.viewer.server import application

        app = application(REPORTS, token)
    except ImportError as error:
        raise ConfigError(
            "view: the server is not installed; get it with pip install 'ltm-bench[view]'"
        ) from error
    if token is not None and len(token) < _SHORTEST:
        raise ConfigError(f"--token: it has {len(token)} characters; take at least {_SHORTEST}")
    if not is_loopback(host) and token is None:
        raise ConfigError(
            f"--host {host}: others could read all runs there; set --token, or serve this machine alone"
        )
    if not is_free(host, port):
        raise ConfigError(
            f"--host {host} --port {port}: somebody listens there already, or it is no address of this machine"
        )
    shown = f"[{host}]" if ":" in host else host
    ask = "?token=…" if token is not None else ""
    out().print(f"http://{shown}:{port}/{ask} shows {REPORTS.resolve()}; stop with Ctrl-C")
    uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)


_SHORTEST = 12
"""Characters of a token."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=examples_of("view", "view --port 8001"))(view)
