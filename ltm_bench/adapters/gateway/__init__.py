"""The gateway: what an agent's own calls cost, whatever the agent is.

- `Gateway` is the endpoint; `serving` makes it that of all runs inside a block.
- `conversing` gives a conversation its route.
- `Upstream`, `upstreams`: where it forwards to.
"""

from ltm_bench.adapters.gateway.server import PORT, PUBLIC, Gateway
from ltm_bench.adapters.gateway.upstreams import Upstream, upstreams
from ltm_bench.adapters.routing import conversing, serving

__all__ = [
    "PORT",
    "PUBLIC",
    "Gateway",
    "Upstream",
    "conversing",
    "serving",
    "upstreams",
]
