"""Executes plans: one conversation, the examples of an isolated run, or many runs at once, here or on a cluster.

`holding` executes one run from wherever its log ends; `conversation` is its main loop, `calls` makes every call to its
agent. `sweep` and `ray` execute many. `estimate`, `references` and `checking` play scripts without a run folder. This
room writes logs, but nothing derived from them.
"""
