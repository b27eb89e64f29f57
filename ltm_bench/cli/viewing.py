"""`view`: the runs folder in a browser."""

from __future__ import annotations

from ltm_bench.cli.console import out
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.extras import extra
from ltm_bench.plan.planning import REPORTS


def view(host: str, port: int, token: str | None) -> None:
    """Serve the runs folder until it is interrupted. Raises ConfigError for others' machines without a token."""
    with extra("view", wanted_by="view"):
        import uvicorn

        from ltm_bench.viewer.server import application, is_free, is_loopback

        app = application(REPORTS, token)
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
    out().print(f"http://{shown}:{port}/{ask} shows {REPORTS.resolve()}; stop with Ctrl-C", markup=False)
    uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)


_SHORTEST = 12
"""Characters of a token."""
