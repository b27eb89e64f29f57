"""The course of a run: tokens and cost along the conversation, filler, and jumps of time."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from pydantic import BaseModel

from ltm_bench.core.messages import Usage
from ltm_bench.log.events import Jumped, Replied, Sent

MOST_STEPS = 160
"""Maximum points of a chart of a conversation."""

MOST_STRETCHES = 500
"""Maximum parts of a conversation that a chart can resolve."""


class Step(BaseModel, frozen=True):
    """A group of consecutive calls; token figures are means over them."""

    position: int
    """Tokens of the conversation before the last of them; in an isolated run, the number of calls so far."""
    prompt: float
    cached: float
    """Part of `prompt` that was read from the provider's cache."""
    dollars: float | None
    """Total spent so far; None if a price is unknown."""


class Pause(BaseModel, frozen=True):
    """Benchmark time that passed without a message."""

    position: int
    seconds: float


class Course(BaseModel, frozen=True):
    """How a run went, from its first turn to its last."""

    steps: Sequence[Step] = ()
    """Steps; empty if the adapter reports no usage."""
    filler: Sequence[tuple[int, int]] = ()
    """Start and end position of each stretch of filler; gaps too short to see are closed. Empty in isolated runs."""
    jumps: Sequence[Pause] = ()
    """The jumps of benchmark time."""


def thinned(course: Course, most: int = 16) -> Course:
    """Return a course in few steps, without filler and jumps. What was spent up to each of them is as it was."""
    every = -(-len(course.steps) // most) or 1
    return Course(steps=course.steps[(len(course.steps) - 1) % every :: every])  # the last one among them


class _CallGroup(NamedTuple):
    """Consecutive calls, and the sums over them."""

    calls: int
    prompt: int
    cached: int
    position: int
    """Position of the last call."""
    dollars: float | None


class CallGroups:
    """Calls in consecutive groups. Groups are merged in pairs when there are too many, so memory stays constant."""

    def __init__(self) -> None:
        self.count = 0
        self._groups: list[_CallGroup] = []
        self._size = 1

    def add(self, position: int, usage: Usage, spent: Decimal | None) -> None:
        """Add a call, with the total spent up to and including it."""
        self.count += 1
        call = _CallGroup(
            1, usage.prompt, usage.cache_read, position, None if spent is None else float(spent)
        )
        if self._groups and self._groups[-1].calls < self._size:
            call = _together(self._groups.pop(), call)
        elif len(self._groups) == 2 * MOST_STEPS:
            # A chart has no room for more, and a conversation of ten million tokens has a hundred thousand calls.
            self._halve()
        self._groups.append(call)

    def _halve(self) -> None:
        self._size *= 2
        groups = self._groups
        self._groups = [_together(*groups[i : i + 2]) for i in range(0, len(groups), 2)]

    def steps(self) -> list[Step]:
        """Return the means over each group."""
        if len(self._groups) > MOST_STEPS:
            self._halve()
        return [
            Step(
                position=each.position,
                prompt=each.prompt / each.calls,
                cached=each.cached / each.calls,
                dollars=each.dollars,
            )
            for each in self._groups
        ]


def _together(first: _CallGroup, second: _CallGroup | None = None) -> _CallGroup:
    if second is None:
        return first
    return _CallGroup(
        first.calls + second.calls,
        first.prompt + second.prompt,
        first.cached + second.cached,
        second.position,
        second.dollars,
    )


class CourseFold:
    """Collects the course of a run while its log is read, in memory that does not grow with the conversation."""

    def __init__(self, *, isolated: bool) -> None:
        self._isolated = isolated
        self._calls = CallGroups()
        self._spent: Decimal | None = Decimal()
        self._filler: list[tuple[int, int]] = []
        self._jumps: list[Pause] = []

    def called(self, sent: Sent, usage: Usage | None, price: Decimal | None) -> None:
        """Add a reply that the agent gave itself, with its price."""
        if usage is None:
            return
        self._spent = None if price is None or self._spent is None else self._spent + price
        self._calls.add(self._calls.count + 1 if self._isolated else sent.position, usage, self._spent)

    def filled(self, sent: Sent, replied: Replied) -> None:
        """Add a turn of filler."""
        end = sent.position + sent.tokens + replied.tokens
        _stretch(self._filler, sent.position, end, end)

    def jumped(self, sent: Sent, jumped: Jumped) -> None:
        """Add a jump of the clock after a message."""
        self._jumps.append(Pause(position=jumped.position, seconds=(jumped.to - sent.at).total_seconds()))

    def course(self) -> Course:
        """Return the course of the run."""
        if self._isolated:
            return Course(steps=self._calls.steps())
        joined: list[tuple[int, int]] = []
        for start, end in self._filler:
            _stretch(joined, start, end, self._filler[-1][1])
        return Course(steps=self._calls.steps(), filler=joined, jumps=self._jumps)


def _stretch(filler: list[tuple[int, int]], start: int, end: int, length: int) -> None:
    """Add a stretch of filler, joined to the last one if the gap is too short to be seen at this length in tokens.

    A gap that cannot be seen in the conversation so far cannot be seen in the whole of it.
    """
    if filler and start - filler[-1][1] <= length // MOST_STRETCHES:
        filler[-1] = (filler[-1][0], end)
    else:
        filler.append((start, end))
