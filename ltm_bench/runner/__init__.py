"""Carries out plans: one conversation, the examples of an isolated run, many runs at once, here or on a cluster.

`holding` holds one run from wherever its log ends; `conversation` is its main line, `calls` every call to its agent.
`sweep` and `ray` hold many. `estimate`, `references` and `checking` play scripts without a run folder of the user's.
This room writes logs, and nothing that is derived from them.
"""
