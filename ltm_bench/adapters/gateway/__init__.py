"""The gateway: what an agent's own calls cost, whatever the agent is.

- `server.Gateway` is the endpoint; `routing.serving` makes it that of all runs inside a block.
- `routing.conversing` gives a conversation its route.
- `upstreams`: where it forwards to.
"""

import typing


def __getattr__(name: str) -> typing.Any:
    """Import the endpoint on first use: its server takes long to import."""
    if name != "Gateway":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ltm_bench.adapters.gateway import server

    return server.Gateway
