"""The one place where rivals are weighed: which of the things that a reply names is its answer, and is that certain?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ltm_bench.matchers.reading.mention import Force, Mention, Time


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reply gives as its answer."""

    values: tuple[str, ...]
    """The answer; several if the reply gives several, none if it gives none."""
    sure: bool
    """Whether text alone can tell. If not, the first value is the best guess."""
    evidence: tuple[Mention, ...] = ()
    """The mentions that decided it."""
    reason: str = ""


_FEW = 3
"""Maximum number of values side by side among which a reply may still mean one; more is a recital."""


def resolve(found: Sequence[Mention]) -> Decision:
    """Weigh what is named: conclusions, then what is said first or last alone, then what holds now, then the rest.

    Denied and replaced values are not answers. Two or three values side by side, or a beginning and a conclusion that
    disagree, are uncertain. An open choice (`red or blue`) is certainly not one answer.
    """
    standing = [m for m in found if m.asserted]
    if not standing:
        weak = [m for m in found if not m.denied and m.time is not Time.REPLACED]
        values = _distinct(m.value for m in weak) or _distinct(m.value for m in found if not m.denied)
        return Decision(values, sure=not values, evidence=tuple(weak), reason="nothing is asserted")
    ranked = {rank: [m for m in standing if _rank(m) == rank] for rank in range(6)}
    top = max(rank for rank, group in ranked.items() if group)
    group = ranked[top]
    values = _distinct(m.value for m in group)
    if top == 5 and len(values) > 1:
        group = [m for m in group if m.sentence == group[-1].sentence]
        values = _distinct(m.value for m in group)
    if top in (1, 3) and len(values) > 1 and any(m.next for m in group):
        group = [m for m in group if m.sentence == group[-1].sentence and m.value == group[-1].value]
        values = _distinct(m.value for m in group)
    if len(values) > 1:
        if all(m.choice for m in group):
            return Decision(values, sure=True, evidence=tuple(group), reason="the reply does not choose")
        group, values = _narrowed(group, found)
    if len(values) > 1:
        return Decision(
            values, sure=len(values) > _FEW, evidence=tuple(group), reason="several values are given"
        )
    value = values[0]
    if top == 5:
        leading = {m.value for m in ranked[4]} - {value}
        if leading and not any(m.value in leading and not m.asserted for m in found):
            return Decision(
                (value, *leading),
                sure=False,
                evidence=tuple(group),
                reason="the reply's beginning and end disagree",
            )
    rivals = _distinct(m.value for m in found if m.choice or (group[0].choice and m.force is Force.QUESTION))
    if top < 5 and group[0].choice and len(rivals) > 1:
        values = rivals
        return Decision(values, sure=True, evidence=tuple(group), reason="the reply does not choose")
    if all(m.attached for m in group):
        return Decision(
            (value,), sure=False, evidence=tuple(group), reason="the reply gives only part of its name"
        )
    return Decision((value,), sure=True, evidence=tuple(group), reason="given")


def _narrowed(group: Sequence[Mention], found: Sequence[Mention]) -> tuple[list[Mention], tuple[str, ...]]:
    """Leave out what is replaced or denied elsewhere in the reply, then what is off the question's topic."""
    kept = list(group)
    gone = {m.value for m in found if m.denied or m.time is Time.REPLACED}
    on_topic = {m.value for m in found if m.on_topic and not m.denied}
    for choose in (
        lambda m: m.value not in gone,
        lambda m: m.on_topic,
        lambda m: m.value in on_topic,
        lambda m: m.exact,
    ):
        fewer = [m for m in kept if choose(m)]
        if fewer:
            kept = fewer
    return kept, _distinct(m.value for m in kept)


def _rank(mention: Mention) -> int:
    """Return how much a mention weighs as the answer, from 0 to 5."""
    if mention.final:
        return 5
    if mention.lead:
        return 4
    if mention.force is Force.CONCEDED:
        return 1
    return {Time.NOW: 3, Time.PLAIN: 2, Time.PAST: 1, Time.REPLACED: 0}[mention.time]


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
