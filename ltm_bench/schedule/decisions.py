"""What the scheduler decides, and what follows from it: plain values."""

from dataclasses import dataclass
from datetime import datetime

from ltm_bench.core.messages import Ask, Line
from ltm_bench.script.scenario import Example


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message of an example."""

    example: Example
    line: Line
    text: str
    due: int
    """The position, in tokens, at which it was due."""
    first: bool
    """Whether it is the example's first message."""
    tokens: int | None
    """Length of the text; None if no rehearsal has counted it."""


@dataclass(frozen=True, slots=True)
class Fork:
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


@dataclass(frozen=True, slots=True)
class Fill:
    """Send about this many tokens of filler, message and reply together."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Move the benchmark's clock forward."""

    to: datetime


@dataclass(frozen=True, slots=True)
class AllSaid:
    """Everything has been said."""


Decision = Send | Fork | Fill | Jump | AllSaid


@dataclass(frozen=True, slots=True)
class Completed:
    """An example has said its last message."""

    example: Example
    span: int
    """Tokens from its first message up to and including its last question."""
    overrun: int
    """Tokens by which its last question came too late; 0 if it came within the span."""
