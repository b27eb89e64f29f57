"""From a request to a plan: suites, presets, scenarios and agents are resolved once, into a manifest.

A plan is everything that a run needs except its folder. This room calls no agent and writes nothing.
"""
