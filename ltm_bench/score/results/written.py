"""What an agent wrote down: compares the needles' facts with the content of its store. Pure.

The names of the shares are HaluMem's (Chen et al. 2025); there a model judges them, here the words of a memory decide.
A stored sentence with both the thing and the value need not mean it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from pydantic import BaseModel

from ltm_bench.core.agent import Memory
from ltm_bench.core.messages import Fact
from ltm_bench.matchers.reading import known_words, plain, spellings, words
from ltm_bench.matchers.sameness import singular


class Told(NamedTuple):
    """A fact that was told, or that was to be deleted."""

    fact: Fact
    user: str | None = None
    """The user who told it, if there are several."""


class State(StrEnum):
    """The state of a fact in the store."""

    PRESENT = "present"
    MISSING = "missing"
    STALE = "stale still present"
    """It was replaced, but is still there unchanged."""
    GONE = "replaced and gone"
    UNDELETED = "still there after deletion"
    DELETED = "deleted"
    NEVER = "never stored"
    """It was to be replaced or deleted, and the store did not have it just before."""
    INVENTED = "invented"
    """A value that was never told."""


class Held(BaseModel, frozen=True):
    """One fact's state in a store."""

    about: str
    value: str
    state: State
    leaked: bool = False
    """Whether another user's memory has it."""
    common: bool = False
    """Whether a memory that belongs to no user has it, although there are several users."""
    evidence: str = ""
    """The beginning of a memory that has it."""


class Written(BaseModel, frozen=True):
    """The content of a store about an example's facts, after its last question."""

    memories: int
    """Number of memories in the store."""
    facts: tuple[Held, ...]

    def count(self, *states: State) -> int:
        """Return the number of facts in any of these states."""
        return sum(fact.state in states for fact in self.facts)


class Share(BaseModel, frozen=True):
    """A fraction."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        """From 0 to 1; None if the total is 0."""
        return self.count / self.of if self.of else None


class Writing(BaseModel, frozen=True):
    """What a run's agent wrote down, summed over examples."""

    examples: int
    """Examples after which the store was read."""
    states: dict[State, int]
    recall: Share
    """Extraction recall: current facts that are present."""
    accuracy: Share
    """Extraction accuracy: values in the store that were told, of all its values for the same things."""
    updated: Share
    """Updates that are correct: the new value is present and the old ones are gone."""
    hallucinated: Share
    """Updates replaced by an invention."""
    omitted: Share
    """Updates that were not made: the new value is missing."""
    beside: Share
    """Updates after which an old value remains beside the new one; HaluMem's `other`."""
    leaked: Share
    """Facts of one user in a memory of another."""
    common: Share
    """Facts of one of several users in a memory that belongs to no user."""
    undeleted: Share
    """Facts that are still there after deletion."""


SHOWN = 160
"""Maximum characters of a memory shown as evidence."""


class _Text(NamedTuple):
    words: frozenset[str]
    said: str
    memory: Memory


Before = Mapping[tuple[str, str], bool]
"""Whether a store had facts just before they were replaced or deleted, by what they are about and their value."""


def held(facts: Iterable[Fact], memories: Iterable[Memory]) -> dict[tuple[str, str], bool]:
    """Return which facts a store has."""
    wanted = {(fact.about, fact.value): fact for fact in facts}
    texts = _read_those_with((fact.value for fact in wanted.values()), memories)
    return {key: any(_has(text, fact.words, fact.value) for text in texts) for key, fact in wanted.items()}


def examine(
    told: Sequence[Told],
    deleted: Iterable[str],
    memories: Sequence[Memory],
    others: Iterable[Fact],
    before: Before,
) -> Written:
    """Look for an example's facts in what a store holds.

    Args:
        told: Its facts, in order; a later one replaces those about the same thing.
        deleted: The subjects of the facts that were to be deleted.
        memories: The store's content.
        others: The facts of all examples of the conversation: a value told by any of them was not invented.
        before: What the store had of facts just before they were replaced or deleted. A fact that is gone now, and of
            which that is not known since the run was interrupted there, is left out.
    """
    texts = _read_those_with(
        chain.from_iterable((each.fact.value, *each.fact.among) for each in told), memories
    )
    gone, known = frozenset(deleted), list(others)
    last = {each.fact.about: each.fact for each in told}
    several = len({each.user for each in told if each.user is not None}) > 1
    facts = []
    for each in dict.fromkeys(told):
        fact = each.fact
        having = [text for text in texts if _has(text, fact.words, fact.value)]
        current = fact == last[fact.about]
        if not current and fact.value == last[fact.about].value:
            continue  # it came back
        if not current:
            new = last[fact.about].value
            # A memory with both values tells the change ("now green, no longer blue"), and is not stale.
            having = [text for text in having if not _has(text, fact.words, new)]
            state = State.STALE if having else State.GONE
        elif fact.about in gone:
            state = State.UNDELETED if having else State.DELETED
        else:
            state = State.PRESENT if having else State.MISSING
        if state in (State.GONE, State.DELETED):
            had = before.get((fact.about, fact.value))
            if had is None:
                continue
            state = state if had else State.NEVER
        whose = {text.memory.user for text in having} if several else {each.user}
        facts.append(
            Held(
                about=fact.about,
                value=fact.value,
                state=state,
                leaked=several and bool(whose - {each.user, None}),
                common=several and None in whose,
                evidence=having[0].memory.text[:SHOWN] if having else "",
            )
        )
    return Written(memories=len(memories), facts=(*facts, *_invented(last, known, texts)))


def _invented(last: Mapping[str, Fact], known: Sequence[Fact], texts: Sequence[_Text]) -> list[Held]:
    found = []
    said = {_plain(other.value) for other in known}
    for about, fact in last.items():
        if not fact.words:
            continue  # a value alone does not say what it is about
        for value in fact.among:
            if _plain(value) in said:
                continue
            held = next((text for text in texts if _has(text, fact.words, value)), None)
            if held is not None:
                evidence = held.memory.text[:SHOWN]
                found.append(Held(about=about, value=value, state=State.INVENTED, evidence=evidence))
    return found


def _read_those_with(values: Iterable[str], memories: Iterable[Memory]) -> list[_Text]:
    """Read the memories that may have any of these values: to look for the beginnings of words is far faster."""
    firsts = {word for value in values for word in _plain(value).split()[:1]}
    # Plurals differ in their ending, American words perhaps from the first letter on.
    starts = {each[: max(2, len(each) - 1)] for word in firsts for each in spellings(word)}
    near = re.compile("|".join(map(re.escape, sorted(starts)))).search if starts else bool
    return [_read(memory) for memory in memories if near(plain(memory.text))]


def _read(memory: Memory) -> _Text:
    said = [singular(word) for word in words(memory.text)]
    return _Text(frozenset(said), f" {' '.join(said)} ", memory)


def _plain(value: str) -> str:
    return f" {' '.join(singular(word) for word in known_words(value))} "


def _has(text: _Text, about: Sequence[str], value: str) -> bool:
    """Whether a memory names a thing, with its words in any order, and a value verbatim."""
    wanted = _plain(value)
    return wanted in text.said and all(
        singular(word) in text.words for phrase in about for word in known_words(phrase)
    )


class Examined(NamedTuple):
    """What was written about an example, and whether it has several users."""

    written: Written
    several: bool


def summed(examined: Sequence[Examined]) -> Writing | None:
    """Sum over examples; None if no store was read, or nothing told can be looked for."""
    found = [each.written for each in examined]
    if not any(each.facts for each in found):
        return None
    states = Counter(fact.state for each in found for fact in each.facts)
    held, missing = states[State.PRESENT], states[State.MISSING]
    told = sum(states[s] for s in (State.PRESENT, State.STALE, State.UNDELETED))
    updates = [update for each in found for update in _updates(each)]
    users = [fact for each in examined if each.several for fact in each.written.facts]
    deletions = states[State.UNDELETED] + states[State.DELETED]

    def updated(how: str) -> Share:
        return Share(count=updates.count(how), of=len(updates))

    return Writing(
        examples=len(found),
        states={state: states[state] for state in State if states[state]},
        recall=Share(count=held, of=held + missing),
        accuracy=Share(count=told, of=told + states[State.INVENTED]),
        updated=updated("correct"),
        hallucinated=updated("hallucinated"),
        omitted=updated("omitted"),
        beside=updated("beside"),
        leaked=Share(count=sum(fact.leaked for fact in users), of=len(users)),
        common=Share(count=sum(fact.common for fact in users), of=len(users)),
        undeleted=Share(count=states[State.UNDELETED], of=deletions),
    )


def _updates(written: Written) -> Iterable[str]:
    """Yield the state of each thing whose value was replaced."""
    by_about: dict[str, list[State]] = {}
    for fact in written.facts:
        by_about.setdefault(fact.about, []).append(fact.state)
    for states in by_about.values():
        if State.STALE not in states and State.GONE not in states:
            continue
        if State.PRESENT in states:
            yield "beside" if State.STALE in states else "correct"
        else:
            yield "hallucinated" if State.INVENTED in states else "omitted"
