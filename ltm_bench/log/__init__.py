"""The event log: append-only JSON lines, the only truth about a run. Everything else is derived from it.

`events.jsonl` starts with the manifest. In an isolated run every example is a conversation with a log of its own,
`isolated/<scenario>-<index>.jsonl`, beside an `events.jsonl` that holds the manifest alone. What differs between equal
runs (wall-clock times, say) stands in side files. This room knows nothing of scores.
"""
