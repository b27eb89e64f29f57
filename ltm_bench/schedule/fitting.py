"""Whether scripts fit into a span, by their rehearsals: alone, and how late several would be together."""

import heapq
import math
from collections.abc import Mapping, Sequence

from ltm_bench.core.errors import SpanTooSmall
from ltm_bench.core.messages import Ask
from ltm_bench.core.tokens import Counter
from ltm_bench.script.rehearsal import Rehearsed, rehearse
from ltm_bench.script.scenario import Example

USABLE = 0.9
"""Fraction of a span in which messages are placed; the rest is room for talkative agents."""

GRAIN = 50
"""How far filler can overshoot a position, in tokens."""


def load_of(steps: Sequence[Rehearsed]) -> int:
    """Return the tokens of all messages and expected replies of a script that are part of the conversation."""
    return sum(step.room for step in steps)


def smallest_span(steps: Sequence[Rehearsed]) -> int:
    """Return the smallest span in which a script, on its own, can place all its messages on time."""
    need, said = 1.0, 0
    for step in steps:
        if step.line.at:
            need = max(need, said / (USABLE * step.line.at))
        if isinstance(step.line, Ask):
            # A question must be complete before the span ends, even if a filler turn overshoots.
            complete = said + step.message_tokens
            need = max(need, complete, (step.message_tokens + GRAIN) / (1 - USABLE * (step.line.at or 0.0)))
        said += step.room
    return math.ceil(need)


Rehearsals = Mapping[str, Sequence[Rehearsed]]
"""The expected steps of each example, by its id."""


def rehearse_all(
    examples: Sequence[Example], counter: Counter, *, span: int | None, forked: bool = False
) -> Rehearsals:
    """Rehearse all examples. Raises SpanTooSmall, naming the most demanding one, if `span` is given and too small."""
    rehearsals = {example.id: rehearse(example, counter, forked=forked) for example in examples}
    if span is not None and rehearsals:
        need, name = max((smallest_span(steps), name) for name, steps in rehearsals.items())
        if need > span:
            raise SpanTooSmall(
                f"a span of {span} tokens is too small for scenario {name.rpartition('/')[0]} (example {name}): "
                f"the smallest that works is {need}"
            )
    return rehearsals


def due_position(start: int, at: float, span: int) -> int:
    """Return the position at which a message is due."""
    return start + math.floor(at * USABLE * span)


Talk = tuple[int, Sequence[Rehearsed]]
"""An example's start position, and its remaining steps."""


def expected_lateness(
    talks: Sequence[Talk], position: int, span: int, reply_tokens: int, *, limit: float = math.inf
) -> int:
    """Simulate these examples from `position` on, and return how late the latest message will be, in tokens.

    Args:
        talks: The examples.
        position: Tokens of the conversation so far.
        span: Span in tokens.
        reply_tokens: Expected length of a reply; used where the rehearsed reply is shorter.
        limit: Where to stop: of what is later than this, only that much is told.
    """
    waiting = [
        (max(position, due_position(start, steps[0].line.at or 0.0, span)), i, 0)
        for i, (start, steps) in enumerate(talks)
        if steps
    ]
    heapq.heapify(waiting)
    latest = 0
    while waiting and latest <= limit:
        due, i, k = heapq.heappop(waiting)
        start, steps = talks[i]
        position = max(position, due)
        latest = max(latest, position - due)
        while True:  # messages without a position follow at once
            if isinstance(steps[k].line, Ask):  # a question must be complete in time, not just begun
                latest = max(latest, position + steps[k].message_tokens - due)
            if not steps[k].beside:
                position += steps[k].message_tokens + max(steps[k].reply_tokens, reply_tokens)
            k += 1
            if k == len(steps) or steps[k].line.at is not None or steps[k].line.after is not None:
                break
        if k < len(steps):
            at = steps[k].line.at
            heapq.heappush(waiting, (position if at is None else due_position(start, at, span), i, k))
    return latest
