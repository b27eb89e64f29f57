"""The event log: append-only JSON lines, the single source of truth about a run. Everything else is derived from it.

`events.jsonl` starts with the manifest. In an isolated run every example is a conversation with its own log,
`isolated/<scenario>-<index>.jsonl`, beside an `events.jsonl` that holds the manifest alone. Side files hold what
differs between equal runs, such as wall-clock times. This room knows nothing of scores.
"""
