"""Carries out plans: one conversation, the examples of an isolated run, many runs at once, here or on a cluster.

`holding` carries out one run from wherever its log ends; `conversation` is its main loop, `calls` makes every call to
its agent. `sweep` and `ray` carry out many. `estimate`, `references` and `checking` play scripts without a run folder.
This room writes logs, but nothing derived from them.
"""
