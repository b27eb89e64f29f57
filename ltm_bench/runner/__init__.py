"""Executes plans: one conversation, the examples of an isolated run, or many runs at once, here or on a cluster.

`conversations` starts or resumes one run, which no other process can touch meanwhile; `conversation` is the main loop
of one, `calls` makes every call to its agent. `controls` says how questions of a run are asked again, `retelling` is a
conversation in which they are, `ladder` has an agent freeze them while the run goes on. `standing` says what a run has
cost so far. `sweep` and `ray` execute many runs. `estimate`, `references` and `checking` play scripts without a run
folder. This room writes logs, but nothing derived from them.
"""
