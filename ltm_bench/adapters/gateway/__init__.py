"""The gateway: what an agent's own calls cost, whatever the agent is.

- `server.Gateway` is the endpoint; `routing.serving` makes it that of all runs inside a block.
- `routing.conversing` gives a conversation its route.
- `upstreams`: where it forwards to.
"""
