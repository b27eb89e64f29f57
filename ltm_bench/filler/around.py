"""Puts needles inside longer messages, composed as filler with decoys is, and as long as filler between them is."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Buried, Line, Tell
from ltm_bench.core.tokens import Counter
from ltm_bench.filler.filler import ALONE, SMALLEST, Filler, shipped
from ltm_bench.filler.kinds import HOLDING, KINDS
from ltm_bench.script.decoys import LONGEST, is_plain

SHARES = {"quiz": 0.8, "lists": 0.52}
"""What a message is of it and its reply, in kinds with long replies, which hold nothing: their lengths would tell."""


class Room(NamedTuple):
    """How much room a conversation leaves."""

    gap: float
    """Mean tokens of filler between two messages of examples. Where many examples are mixed, gaps are as good as
    exponential, and so is what remains of one after messages of full length.
    """
    limits: Mapping[str, int]
    """How long the messages of each example may be."""
    alone: float = ALONE
    """The share of needles that stand alone, of those that need not."""


class Around:
    """Puts most needles of a conversation inside longer messages; a script gets the same one whenever it is played.

    Args:
        counter: Counts tokens.
        room: Returns how much room there is; called once a needle is told.
    """

    def __init__(self, counter: Counter, room: Callable[[], Room]) -> None:
        self._counter, self._room = counter, cache(room)
        self._known: dict[tuple[str, object], Tell] = {}

    def __call__(self, example: str, line: Line, dice: Dice) -> Line:
        """Return a line inside a longer message, or as it is: alone, or because it is no plain needle."""
        if line.at is None or not is_plain(line):
            return line
        known = self._known.get((dice.name, line.text))
        if known is None:
            known = self._known[dice.name, line.text] = self._placed(example, line, dice)
        return replace(known, at=line.at, after=line.after)

    def _placed(self, example: str, line: Tell, dice: Dice) -> Tell:
        text, count, room = str(line.text), self._counter.count, self._room()
        size = min(room.limits[example], int(-room.gap * math.log(1 - dice.fraction())))
        size = int(size * SHARES.get(dice.choice(KINDS + HOLDING), 1))
        own = count(text)
        if dice.chance(room.alone) or own > LONGEST or size < own + SMALLEST:
            return line
        message = Filler(shipped(), dice.child("filler"), self._counter, size).holding(text, size).text
        before = message.partition(text)[0]
        return replace(line, text=message, buried=(Buried(text, count(before)),), inside=True)


def gap_between(room: int, events: int, needles: int, max_tokens: int) -> float:
    """Return the mean gap between messages if needles stand inside messages as long as gaps, which thus become shorter.

    Args:
        room: Tokens that nothing fills yet.
        events: Messages of examples that have a position.
        needles: Those of them that may stand inside longer messages.
        max_tokens: Maximum tokens of a filler message.
    """
    gap = room / max(1, events)
    for _ in range(50):
        gap = room / max(1.0, events + (1 - ALONE) * needles * -math.expm1(-max_tokens / max(gap, 1.0)))
    return gap
