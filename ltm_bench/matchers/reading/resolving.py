"""The one place where rivals are weighed: which of the things that a reply names is its answer, and is that certain?"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ltm_bench.matchers.reading.mention import Mention, Time


class Decision(NamedTuple):
    """What a reply gives as its answer."""

    values: tuple[str, ...]
    """The answer; several if the reply gives several, none if it gives none."""
    sure: bool
    """Whether text alone can tell. If not, the first value is the best guess."""
    evidence: tuple[Mention, ...] = ()
    """The mentions that decided it."""
    reason: str = ""


FEW = 3
"""Maximum number of values side by side among which a reply may still mean one; more is a recital."""


def resolve(found: Sequence[Mention]) -> Decision:
    """Weigh what is named: conclusions, then what is said first alone, then what holds now, then the rest.

    Denied and replaced values are not answers. Two or three values side by side, or a beginning and a conclusion that
    disagree, are uncertain. An open choice (`red or blue`) is certainly not one answer.
    """
    standing = _present([m for m in found if m.asserted])
    if not standing:
        return _unasserted([m for m in found if not m.denied])
    top = max(map(_rank, standing))
    group = _narrowed(standing, found, top)
    values, evidence = _distinct(group), tuple(group)
    if len(values) > 1:
        open_choice = all(m.choice for m in group)
        reason = "the reply does not choose" if open_choice else "several values are given"
        return Decision(values, open_choice or len(values) > FEW, evidence, reason)
    if against := _against(group, standing, found, top):
        return against
    if all(m.attached for m in group):
        return Decision(values, False, evidence, "the reply gives only part of its name")
    return Decision(values, True, evidence, "given")


def _against(
    group: Sequence[Mention], standing: Sequence[Mention], found: Sequence[Mention], top: int
) -> Decision | None:
    """Return what a reply gives that says elsewhere what goes against its one answer; None if nothing does."""
    values, evidence = _distinct(group), tuple(group)
    rivals = _distinct(m for m in found if m.choice)
    if group[0].choice and top <= _LEADS and len(rivals) > 1:
        return Decision(rivals, True, evidence, "the reply does not choose")
    leading = _distinct(m for m in standing if _rank(m) == _LEADS and m.value not in values)
    if top > _LEADS and leading and all(m.asserted for m in found if m.value in leading):
        return Decision((*values, *leading), False, evidence, "the reply's beginning and end disagree")
    later = [m for m in standing if m.contrast and m.start > group[-1].start and _rank(m) > 1]
    if against := _distinct(m for m in later if m.value not in values):
        return Decision((*values, *against), False, evidence, "the reply goes on with “but”")
    return None


def _present(standing: Sequence[Mention]) -> Sequence[Mention]:
    """Let a conclusion about the past yield to one about now: `answer: red. Long answer: it was blue`."""
    if {m.time is Time.PAST for m in standing if m.final} != {True, False}:
        return standing
    return [m._replace(final=m.final and m.time is not Time.PAST) for m in standing]


def _unasserted(found: Sequence[Mention]) -> Decision:
    weak = [m for m in found if m.time is not Time.REPLACED]
    values = _distinct(weak) or _distinct(found)
    return Decision(values, not values, tuple(weak), "nothing is surely said to hold")


def _narrowed(standing: Sequence[Mention], found: Sequence[Mention], top: int) -> list[Mention]:
    """Leave the last of several conclusions, or of what came one after the other, and what is not denied elsewhere."""
    group = [m for m in standing if _rank(m) == top]
    if top > _LEADS:
        group = [m for m in group if m.sentence == group[-1].sentence]
    elif top < _LEADS and any(m.next for m in group):
        last = group[-1]
        group = [m for m in group if (m.sentence, m.group, m.next) == (last.sentence, last.group, last.next)]
    if top > _LEADS and len({(m.group, m.value) for m in group}) > len({m.group for m in group}):
        return group  # `so both: red and blue`, whatever was said of them before
    gone = {m.value for m in found if m.denied or m.time is Time.REPLACED}
    group = [m for m in group if m.value not in gone] or group
    return [m for m in group if m.exact] or group


_LEADS = 4


def _rank(mention: Mention) -> int:
    """Return how much a mention weighs as the answer, from 0 to 5."""
    if mention.final or mention.lead:
        return _LEADS + mention.final
    return {Time.NOW: 3, Time.PLAIN: 2, Time.PAST: 1, Time.REPLACED: 0}[mention.time]


def _distinct(found: Iterable[Mention]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(m.value for m in found))
