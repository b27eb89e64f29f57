"""The scheduler: a pure state machine over the examples of one conversation.

What it decides, and what follows from that, are plain values.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, cast

from ltm_bench.core.clock import Clock, later
from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Ask, Line, Reply
from ltm_bench.core.seeds import Seed
from ltm_bench.core.tokens import Counter
from ltm_bench.schedule.fitting import USABLE, Rehearsals, due_position, expected_lateness, rehearse_all
from ltm_bench.script.rehearsal import Rehearsed
from ltm_bench.script.scenario import Example, Script
from ltm_bench.script.sealed import SealedReply, is_beside


class Send(NamedTuple):
    """Send a message of an example."""

    example: Example
    line: Line
    text: str
    due: int | None
    """The position, in tokens, at which it was due; None if no scheduler sent it."""
    first: bool
    """Whether it is the example's first message."""
    tokens: int | None
    """Length of the text; None if no rehearsal has counted it."""


class Fork(NamedTuple):
    """Ask a question of an example beside the conversation: it adds no tokens and no time, and nobody waits for it."""

    id: int
    """Turns and forks are numbered together, so that one number names a question wherever it is shown."""
    example: Example
    line: Ask
    text: str
    due: int
    """The position, in tokens, at which it was due."""
    at: datetime
    position: int
    """Tokens of the conversation before it."""
    tokens: int | None
    """Length of the text; None if no rehearsal has counted it."""


class Fill(NamedTuple):
    """Send about this many tokens of filler, message and reply together."""

    tokens: int


class Jump(NamedTuple):
    """Move the benchmark's clock forward."""

    to: datetime


class AllSaid(NamedTuple):
    """Everything has been said."""


Decision = Send | Fork | Fill | Jump | AllSaid


class Completed(NamedTuple):
    """An example has said its last message."""

    example: Example
    span: int
    """Tokens from its first message up to and including its last question."""
    overrun: int
    """Tokens by which its last question came too late; 0 if it came within the span."""


LATE = 0.05
"""Maximum expected lateness with which an example may start, as a fraction of the span."""

NEAR = 25
"""Look-ahead, in tokens: a message due this soon is sent at once, since filler would make it at least as late."""

RETRY = 0.05
"""How long to wait before retrying an example that would make others late, as a fraction of the span."""

SLACK = 0.02
"""Maximum by which all staggering together may lengthen a conversation, as a fraction of its lower bound."""


@dataclass
class _Active:
    example: Example
    order: int
    start: int
    script: Script
    planned: Sequence[Rehearsed]
    sent: int = 0
    line: Line = field(init=False)
    due: int = 0
    due_time: datetime | None = None
    begun: bool = False
    first: int = 0
    last_question: int = 0


class Scheduler:
    """The state of one conversation: its position in tokens, its clock, and what each example says next.

    Args:
        examples: What to run, in rounds by `Example.index`.
        span: Span in tokens.
        seed: Seed of the run; decides the order within a round.
        counter: Counts tokens, for rehearsals.
        start: Benchmark time of the first message, timezone-aware.
        stagger: Minimum distance between two starts, as a fraction of the span; shrinks if there are many scenarios.
        opening: Whether something is said before all examples.
        filler: False in isolated mode: positions have no meaning, and messages are due at once.
        forked: Whether questions are asked beside the conversation.
        rehearsals: Results of `rehearse_all` for this span, if it has been called before.

    Raises SpanTooSmall if a script does not fit, and ConfigError if a script places a message outside 0..1.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        *,
        span: int,
        seed: Seed,
        counter: Counter,
        start: datetime,
        stagger: float = 0.01,
        opening: bool = False,
        filler: bool = True,
        forked: bool = False,
        rehearsals: Rehearsals | None = None,
    ) -> None:
        self.position = 0
        self.clock = Clock(start)
        self.number = 0
        """The number of the next turn or fork: they are numbered together."""
        self._span = span
        self._opening = opening
        self._filler = filler
        self._forked = forked
        if rehearsals is None:
            rehearsals = rehearse_all(examples, counter, span=span if filler else None, forked=forked)
        self.rehearsals = rehearsals
        """The expected steps of each example."""
        order = Dice(f"{seed}/schedule")
        # One round after another: no scenario starts its second example before all have had their first turn.
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
        # The order of the starts decides between equals, so that two examples are never compared themselves.
        self._by_position: list[tuple[int, int, _Active]] = []
        self._by_time: list[tuple[datetime, int, _Active]] = []
        self._ready: list[tuple[int, int, _Active]] = []
        self._next: _Active | None = None
        self._decision: Decision | None = None
        self._ended: list[Completed] = []

    def decide(self) -> Decision:
        """Return what happens next. Calling it again before `take` returns the same decision."""
        if self._decision is None:
            self._decision = self._decide()
        return self._decision

    def take(
        self, message_tokens: int = 0, reply: Reply | None = None, reply_tokens: int = 0
    ) -> list[Completed]:
        """Record that the decision was carried out, and return the examples that ended with it.

        Args:
            message_tokens: Length of the message that was sent.
            reply: The agent's reply to it; scripts receive an empty one if it is None.
            reply_tokens: Length of the reply.

        A `Jump` needs no arguments, and a `Fork` no reply.
        """
        decision, self._decision = self.decide(), None
        if isinstance(decision, Jump):
            self.clock.jump(decision.to)
            return []
        if isinstance(decision, AllSaid):
            return []
        self.number += 1
        if isinstance(decision, Fill):
            self._pass(message_tokens + reply_tokens)
            return []
        active, now = cast(_Active, self._next), self.clock.now
        if not active.begun:
            active.first = self.position
        if isinstance(decision.line, Ask):
            active.last_question = self.position + message_tokens
        active.sent += 1
        if isinstance(decision, Fork):
            answer: Reply = SealedReply(now)
        else:
            answer = replace(reply or Reply(""), at=now)
            self._replies += 1
            self._reply_tokens += reply_tokens
            self._pass(message_tokens + reply_tokens)
        self._advance(active, answer, now)
        ended, self._ended = self._ended, []
        return ended

    def _pass(self, tokens: int) -> None:
        self.position += tokens
        self.clock.advance(tokens)

    def _decide(self) -> Decision:
        if self._opening and not self.number:
            return Fill(0)
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
            return AllSaid()
        return Fill(min(goals) - self.position)

    def _send(self, active: _Active) -> Send | Fork:
        line = active.line
        text = line.text if isinstance(line.text, str) else line.text(self.clock.now)
        planned = active.planned[active.sent] if active.sent < len(active.planned) else None
        tokens = planned.message_tokens if planned is not None and planned.text == text else None
        if self._forked and isinstance(line, Ask) and is_beside(line):
            now, position = self.clock.now, self.position
            return Fork(self.number, active.example, line, text, active.due, now, position, tokens)
        return Send(active.example, line, text, active.due, not active.begun, tokens)

    def _promote(self) -> None:
        """Move messages that have become due to the next heap."""
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
            planned = self.rehearsals[example.id]
            if self._active and self._would_be_late(planned):
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
            self._may_start = False  # until an example ends and releases its topics
        return None

    def _would_be_late(self, planned: Sequence[Rehearsed]) -> bool:
        talks = [(active.start, active.planned[active.sent :]) for active in self._active.values()]
        usual = self._reply_tokens // max(self._replies, 1)
        told, late = [*talks, (self.position, planned)], LATE * self._span
        return expected_lateness(told, self.position, self._span, usual, limit=late) > late

    def _advance(self, active: _Active, reply: Reply | None, sent_at: datetime | None) -> None:
        """Fetch an example's next line and queue it for when it is due."""
        self._next = None
        active.begun = reply is not None
        try:
            active.line = active.script.send(cast(Reply, reply))  # a fresh generator takes None
        except StopIteration:
            self._end(active)
            return
        line = active.line
        at = line.at if self._filler else None  # without filler, no position could be reached
        active.due, active.due_time = self.position, None
        if at is None and line.after is None:
            if active.begun:
                self._next = active  # follows at once; nothing comes between
            else:
                heapq.heappush(self._ready, (active.due, active.order, active))
            return
        if at is not None:
            if not 0.0 <= at <= 1.0:
                raise ConfigError(f"example {active.example.id}: at={at} lies outside 0..1")
            active.due = due_position(active.start, at, self._span)
        if line.after is not None and sent_at is not None:
            active.due_time = later(sent_at, line.after)
        heapq.heappush(self._by_position, (active.due, active.order, active))

    def _end(self, active: _Active) -> None:
        del self._active[active.order]
        self._topics.difference_update(active.example.scenario.topics)
        self._may_start = True
        self._next_start = min(self._next_start, self._last_start + self._stagger)
        last = active.last_question or self.position
        overrun = max(0, last - active.start - self._span) if self._filler else 0
        self._ended.append(Completed(active.example, last - active.first, overrun))
