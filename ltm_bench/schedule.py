"""Decides who speaks next. Pure: no I/O, no wall clock; every choice follows from the plan and the replies so far.

The runner asks `decide()`, carries out what it says, and reports back with `take()`:

1. of the messages of active examples that are due in tokens, the one due first; if one of them lacks only time,
   and no other was due before it, the clock jumps to its time;
2. else an unstarted example that shares no topic with an active one, once the stagger since the last start has
   passed, if no message is expected to be late because of it;
3. else filler, up to the nearest position at which something becomes due.

A message's due position is `start + floor(at * 0.9 * span)`. What is expected comes from a rehearsal of every script,
and from how much the agent has talked so far. A turn costs O(log n) in the number of examples; starting one costs a
look at what the active ones have yet to say.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from ltm_bench.core.clock import Clock
from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError, SpanTooSmall
from ltm_bench.core.messages import Ask, Line, Reply
from ltm_bench.core.tokens import Counter
from ltm_bench.script.rehearsal import Step, rehearse
from ltm_bench.script.scenario import Example, Script

USABLE = 0.9
"""The part of a span in which messages are placed; the rest is room for talkative agents."""

LATE = 0.05
"""An example starts only if then no message is expected to be late by more than this part of the span."""

NEAR = 25
"""Messages that are due within so many tokens are sent now: even the smallest filler would make them later."""

GRAIN = 50
"""Tokens by which filler can miss a position."""

RETRY = 0.05
"""An example that would make others late is tried again after this part of a span."""

SLACK = 0.02
"""All staggering together lengthens a conversation by at most this part of its lower bound."""


@dataclass(frozen=True, slots=True)
class Send:
    """Send this message of this example."""

    example: Example
    line: Line
    text: str
    due: int
    """Position in tokens at which it was due."""
    first: bool
    """Whether the example starts with it."""
    tokens: int | None
    """Of the text, where it is known from a rehearsal."""


@dataclass(frozen=True, slots=True)
class Fill:
    """Send filler of about so many tokens, message and reply together."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Let the benchmark's clock jump."""

    to: datetime


@dataclass(frozen=True, slots=True)
class Finish:
    """Everything has been said."""


Decision = Send | Fill | Jump | Finish


@dataclass(frozen=True, slots=True)
class Ended:
    """An example has said its last message."""

    example: Example
    span: int
    """Tokens from its first message up to and including its last question."""
    overrun: int
    """By how many tokens its last question came too late; 0 when it came within the span."""


@dataclass
class _Active:
    example: Example
    order: int
    start: int
    script: Script
    planned: Sequence[Step]
    sent: int = 0
    line: Line = field(init=False)
    due: int = 0
    due_time: datetime | None = None
    begun: bool = False
    first: int = 0
    last_question: int = 0


def load_of(steps: Sequence[Step]) -> int:
    """Return the tokens that a script says and hears."""
    return sum(step.message_tokens + step.reply_tokens for step in steps)


def smallest_span(steps: Sequence[Step]) -> int:
    """Return the smallest span in which a script can place its messages, its question included, alone."""
    need, said = 1.0, 0
    for step in steps:
        if step.line.at:
            need = max(need, said / (USABLE * step.line.at))
        said += step.message_tokens
        if isinstance(step.line, Ask):
            # Out before the span ends, even if a filler turn ends late.
            need = max(need, said, (step.message_tokens + GRAIN) / (1 - USABLE * (step.line.at or 0.0)))
        said += step.reply_tokens
    return math.ceil(need)


Rehearsals = Mapping[str, Sequence[Step]]
"""What each example is expected to say, by its id."""


def rehearse_all(examples: Sequence[Example], counter: Counter, *, span: int | None) -> Rehearsals:
    """Rehearse all examples. Raises SpanTooSmall, naming the one that needs most, if `span` is given and too small."""
    rehearsals = {example.id: rehearse(example, counter) for example in examples}
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


def expected_lateness(
    talks: Sequence[tuple[int, Sequence[Step]]], position: int, span: int, reply_tokens: int
) -> int:
    """Return by how many tokens the latest message will be late, if these examples go on from `position`.

    Args:
        talks: For each example where it started, and the steps that it has yet to say.
        position: Tokens of the conversation so far.
        span: In tokens.
        reply_tokens: The least that the agent is expected to answer to a message.
    """
    waiting = [(position, i, 0) for i, (_, steps) in enumerate(talks) if steps]
    waiting = [
        (max(due, due_position(talks[i][0], talks[i][1][0].line.at or 0.0, span)), i, k)
        for due, i, k in waiting
    ]
    heapq.heapify(waiting)
    latest = 0
    while waiting:
        due, i, k = heapq.heappop(waiting)
        start, steps = talks[i]
        position = max(position, due)
        latest = max(latest, position - due)
        while True:  # a message without a position follows at once
            if isinstance(steps[k].line, Ask):  # a question has to be out in time, not just begun
                latest = max(latest, position + steps[k].message_tokens - due)
            position += steps[k].message_tokens + max(steps[k].reply_tokens, reply_tokens)
            k += 1
            if k == len(steps) or steps[k].line.at is not None or steps[k].line.after is not None:
                break
        if k < len(steps):
            at = steps[k].line.at
            heapq.heappush(waiting, (position if at is None else due_position(start, at, span), i, k))
    return latest


class Scheduler:
    """The state of one conversation: its position in tokens, its clock, and what each example says next.

    Scripts that were rehearsed before for this span are not rehearsed again. Raises SpanTooSmall if a script does not
    fit, and ConfigError if a script places a message outside 0..1.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        *,
        span: int,
        seed: int,
        counter: Counter,
        start: datetime,
        stagger: float = 0.01,
        filler: bool = True,
        rehearsals: Rehearsals | None = None,
    ) -> None:
        # Without filler (isolated mode) positions mean nothing: messages are due at once.
        self.position = 0
        self.clock = Clock(start)
        self._span = span
        self._filler = filler
        if rehearsals is None:
            rehearsals = rehearse_all(examples, counter, span=span if filler else None)
        self._rehearsals = rehearsals
        order = Dice(f"{seed}/schedule")
        # One round after the other: the second examples come when all first ones have had their chance.
        rounds: dict[int, list[Example]] = {}
        for example in examples:
            rounds.setdefault(example.index, []).append(example)
        self._unstarted = [e for index in sorted(rounds) for e in order.shuffled(rounds[index])]
        chains = len({e.scenario.name for e in examples})
        self._stagger = int(span * min(stagger, SLACK * USABLE * max(len(rounds), 1) / max(chains - 1, 1)))
        self._topics: set[str] = set()
        self._active: dict[int, _Active] = {}
        self._orders = 0
        self._replies = self._reply_tokens = 0
        self._next_start = self._last_start = 0
        self._may_start = True
        self._by_position: list[tuple[int, int, _Active]] = []
        self._by_time: list[tuple[datetime, int, _Active]] = []
        self._ready: list[tuple[int, int, _Active]] = []
        self._next: _Active | None = None
        self._decision: Decision | None = None
        self._ended: list[Ended] = []

    def decide(self) -> Decision:
        """Say what happens next. Asking again without `take` gives the same answer."""
        if self._decision is None:
            self._decision = self._decide()
        return self._decision

    def take(self, message_tokens: int = 0, reply: Reply | None = None, reply_tokens: int = 0) -> list[Ended]:
        """Report that the decision was carried out; returns the examples that ended with it.

        `reply` is the agent's (for Send and Fill). A `Jump` needs no arguments.
        """
        decision, self._decision = self.decide(), None
        if isinstance(decision, Jump):
            self.clock.jump(decision.to)
            return []
        if isinstance(decision, Finish):
            return []
        sent_at = self.clock.now
        if isinstance(decision, Send):
            active = cast(_Active, self._next)
            if not active.begun:
                active.first = self.position
        self.position += message_tokens
        if isinstance(decision, Send) and isinstance(decision.line, Ask):
            active.last_question = self.position
        self.position += reply_tokens
        if isinstance(decision, Send):
            active.sent += 1
            self._replies += 1
            self._reply_tokens += reply_tokens
        self.clock.advance(message_tokens + reply_tokens)
        if isinstance(decision, Send):
            said = reply or Reply("")
            self._advance(active, Reply(said.text, said.usage, said.finish, sent_at), sent_at)
        ended, self._ended = self._ended, []
        return ended

    def _decide(self) -> Decision:
        if self._next is not None:
            return self._send(self._next)
        self._promote()
        if self._by_time and (not self._ready or self._by_time[0][2].due <= self._ready[0][0]):
            return Jump(self._by_time[0][0])
        if self._ready:
            self._next = heapq.heappop(self._ready)[2]
            return self._send(self._next)
        started = self._start()
        if started is not None:
            return started
        goals = [self._by_position[0][0]] if self._by_position else []
        if self._may_start and self._unstarted and self.position < self._next_start:
            goals.append(self._next_start)
        if not goals:
            return Finish()
        return Fill(min(goals) - self.position)

    def _send(self, active: _Active) -> Send:
        line = active.line
        text = line.text if isinstance(line.text, str) else line.text(self.clock.now)
        planned = active.planned[active.sent] if active.sent < len(active.planned) else None
        tokens = planned.message_tokens if planned is not None and planned.text == text else None
        return Send(active.example, line, text, active.due, not active.begun, tokens)

    def _promote(self) -> None:
        """Move what has become due from heap to heap."""
        while self._by_position and self._by_position[0][0] <= self.position + NEAR:
            due, order, active = heapq.heappop(self._by_position)
            if active.due_time is None:
                heapq.heappush(self._ready, (due, order, active))
            else:
                heapq.heappush(self._by_time, (active.due_time, order, active))
        while self._by_time and self._by_time[0][0] <= self.clock.now:
            _, order, active = heapq.heappop(self._by_time)
            heapq.heappush(self._ready, (active.due, order, active))

    def _start(self) -> Decision | None:
        if not self._may_start or self.position < self._next_start:
            return None
        crowded = False
        for i, example in enumerate(self._unstarted):
            if not self._topics.isdisjoint(example.scenario.topics):
                continue
            planned = self._rehearsals[example.id]
            if self._active and self._lateness_with(planned) > LATE * self._span:
                crowded = True
                continue
            del self._unstarted[i]
            self._orders += 1
            active = _Active(example, self._orders, self.position, example.script(), planned)
            self._active[active.order] = active
            self._topics.update(example.scenario.topics)
            self._last_start = self.position
            self._next_start = self.position + self._stagger
            self._advance(active, None, None)
            return self._decide()
        if crowded:
            self._next_start = self.position + max(1, int(RETRY * self._span))
        else:
            self._may_start = False  # until an example ends and frees its topics
        return None

    def _lateness_with(self, planned: Sequence[Step]) -> int:
        talks = [(active.start, active.planned[active.sent :]) for active in self._active.values()]
        usual = self._reply_tokens // max(self._replies, 1)
        return expected_lateness([*talks, (self.position, planned)], self.position, self._span, usual)

    def _advance(self, active: _Active, reply: Reply | None, sent_at: datetime | None) -> None:
        """Fetch an example's next line and file it under when it is due."""
        self._next = None
        active.begun = reply is not None
        try:
            active.line = active.script.send(cast(Reply, reply))  # a fresh generator takes None
        except StopIteration:
            self._end(active)
            return
        line = active.line
        at = line.at if self._filler else None  # without filler nothing could fill up to a position
        if at is None and line.after is None:
            active.due = self.position
            active.due_time = None
            if active.begun:
                self._next = active  # it follows at once, and nothing comes between
            else:
                heapq.heappush(self._ready, (active.due, active.order, active))
            return
        if at is not None and not 0.0 <= at <= 1.0:
            raise ConfigError(f"example {active.example.id}: at={at} lies outside 0..1")
        active.due = self.position
        if at is not None:
            active.due = due_position(active.start, at, self._span)
        active.due_time = sent_at + line.after if line.after is not None and sent_at is not None else None
        heapq.heappush(self._by_position, (active.due, active.order, active))

    def _end(self, active: _Active) -> None:
        del self._active[active.order]
        self._topics.difference_update(active.example.scenario.topics)
        self._may_start = True
        self._next_start = min(self._next_start, self._last_start + self._stagger)
        last = active.last_question or self.position
        overrun = max(0, last - active.start - self._span) if self._filler else 0
        self._ended.append(Ended(active.example, last - active.first, overrun))
