"""Decides who speaks next. Pure: no I/O, no wall clock; every choice follows from the plan and the replies so far.

The runner asks the `Scheduler` to `decide()`, carries the decision out, and reports back with `take()`. In order of
preference:

1. send the message of an active example that has been due longest; if it lacks only time, jump the clock to that time;
2. start an example that shares no topic with an active one, once the stagger since the last start has passed, unless
   that is expected to make a message late;
3. send filler, up to the next position at which something becomes due.

A message's due position is `start + floor(at * 0.9 * span)`. Expected lengths come from a rehearsal of every script and
from how much the agent has talked so far. A turn costs O(log n) in the number of examples; starting an example takes a
look at what the active ones still have to say. The reasons are in `docs/design/scheduler.md`.
"""
