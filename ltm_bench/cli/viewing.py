"""`view`: the runs folder in a browser."""

from __future__ import annotations

from ltm_bench.cli.console import out
from ltm_bench.cli.planning import REPORTS
from ltm_bench.errors import ConfigError


def view(port: int) -> None:
    """Serve the runs folder on the loopback address until it is interrupted."""
    try:
        import uvicorn

        from ltm_bench.report.serving import HOSTS, application, is_loopback_free

        app = application(REPORTS)
    except ImportError as error:
        raise ConfigError(
            "view: the server is not installed; get it with pip install 'ltm-bench[view]'"
        ) from error
    if not is_loopback_free(port):
        raise ConfigError(f"--port {port}: somebody listens there already; take another one")
    out().print(f"http://{HOSTS[0]}:{port}/ shows {REPORTS.resolve()}; stop with Ctrl-C", markup=False)
    uvicorn.run(app, host=HOSTS[0], port=port, log_level="warning", timeout_graceful_shutdown=1)
