"""The gateway: what an agent's own calls cost, whatever the agent is.

- `Gateway` is the endpoint; `serving` makes it that of all runs inside a block, `gateway` finds it there.
- `conversing` gives a conversation its route.
- `Upstream`, `upstreams`: where it forwards to.
"""

from ltm_bench.adapters.gateway.server import KEY_VARIABLE, PORT, Gateway, conversing, drawn, gateway, serving
from ltm_bench.adapters.gateway.upstreams import Upstream, upstreams

__all__ = [
    "KEY_VARIABLE",
    "PORT",
    "Gateway",
    "Upstream",
    "conversing",
    "drawn",
    "gateway",
    "serving",
    "upstreams",
]
