"""What a reply says about one thing that it names."""

from enum import StrEnum
from typing import NamedTuple

Time = StrEnum("Time", "PLAIN NOW PAST REPLACED")
"""When it holds. PAST is reported in the past tense, but perhaps still true: `you said red`."""

Force = StrEnum("Force", "FLAT HEDGED CONDITIONAL QUESTION")
"""How it is put forward."""


class Mention(NamedTuple):
    """One place where a reply names something."""

    value: str
    start: int
    """Its offset in `Reading.text`; -1 within JSON."""
    end: int
    block: int = 0
    """The number of its block."""
    sentence: int = 0
    """The number of its sentence, counted over the reply."""
    within: tuple[int, int] = (0, 0)
    """Where its sentence begins and ends in the text of its block."""
    group: int = 0
    """The number, within its sentence, of the things that are named side by side with it."""
    exact: bool = True
    """False if only a part of its name was said."""
    attached: str = ""
    """`before` or `after`, if only a part of its name was said and something else is attached to it there."""
    denied: bool = False
    time: Time = Time.PLAIN
    force: Force = Force.FLAT
    choice: bool = False
    """One of several that the reply does not decide between: `red or blue`."""
    next: bool = False
    """It is said to follow what was named before."""
    contrast: bool = False
    """It comes after `but`, and what stands before says more than a value."""
    bare: bool = False
    """Its sentence says nothing else."""
    lead: bool = False
    """The reply begins with it, or emphasises it alone."""
    final: bool = False
    """The reply concludes with it: `so it is red`, `Answer: red`, or ends with it alone."""
    taken_back: bool = False
    """The reply corrects itself later."""

    @property
    def asserted(self) -> bool:
        """Whether the reply puts it forward at all."""
        return not self.denied and self.time is not Time.REPLACED and self.force in (Force.FLAT, Force.HEDGED)
