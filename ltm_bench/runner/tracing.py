"""The trace of retrieval: at which rank each needle was found for a question, and what was found instead."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.agent import Agent, Memory
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Ask, Message, Turn
from ltm_bench.log.journal import Journal, retrieval_trace_of
from ltm_bench.matchers.reading import COMMON, words
from ltm_bench.matchers.sameness import singular
from ltm_bench.runner.guarding import guarded
from ltm_bench.script.rehearsal import holding, ideal_reply
from ltm_bench.script.scenario import Example

DEPTH = 50
"""Memories requested from retrieval, to find out how deep needles lie."""

INSTEAD = 5
"""Maximum number of retrieved non-needles recorded."""

SHOWN = 300
"""Characters recorded of each."""


class Found(NamedTuple):
    """What retrieval gave for a question."""

    deep: Sequence[Memory]
    """The first memories, to a depth of 50, or of what the agent uses if that is more."""
    used: Sequence[Memory]
    """The memories that the agent uses; all of them if it does not say how many."""
    k: int | None
    """How many it uses, as it says."""


class SoughtNeedle(NamedTuple):
    """A needle that retrieval is to find for a question."""

    turn: Turn
    text: str
    """Its own words, without the filler around it."""
    gives: frozenset[str]
    """The words of the right answer that it gives. If it gives none, such as an instruction: its own words if filler
    stands around it, else none."""

    def came_to(self, memory: Memory) -> bool:
        """Whether a memory comes from it: by its turn if known, else by its text."""
        if memory.turn is not None:
            first = memory.turn if memory.since is None else memory.since
            return first <= self.turn.message.turn <= memory.turn
        return " ".join(self.text.split()) in " ".join(memory.text.split())

    def is_in(self, memory: Memory) -> bool:
        """Whether a memory comes from it and has at least half of the answer's words that it gives.

        A product that extracts what it keeps may make a memory of a turn, and leave out what will be asked.
        """
        if not self.came_to(memory):
            return False
        return 2 * len(self.gives & _said(memory.text)) >= len(self.gives)


def needles_of(
    line: Ask, question: Message, heard: Sequence[Turn], example: Example, inside: Mapping[int, str]
) -> list[SoughtNeedle]:
    """Return what retrieval is to find for a question: the needles before it; of a record, those that hold its answer.

    Nothing if a record's set does not name these: most of a long history has nothing to do with a question.

    Args:
        line: The question.
        question: Its message.
        heard: The example's turns.
        example: The example.
        inside: The needles that stand inside longer messages, by turn.
    """
    spoken = [turn for turn in heard if turn.kind != "ask"]
    if not line.evidence and any(turn.session is not None for turn in spoken):
        return []
    told = [spoken[place] for place in holding(line, len(spoken), example)]
    answer = _said(ideal_reply(line)) - _said(question.query)
    found = []
    for turn in (each for each in told if each.kind == "tell"):
        hidden = inside.get(turn.message.turn)
        text = turn.message.text if hidden is None else hidden
        gives = answer & _said(text)
        found.append(SoughtNeedle(turn, text, gives if gives or hidden is None else _said(text)))
    return found


def _said(text: str) -> frozenset[str]:
    return frozenset(singular(word) for word in words(text) if word not in COMMON)


class Tracing:
    """The evidence of one conversation about where answers were lost, in a side file of its log."""

    def __init__(self, agent: Agent, log: Path, clock: Callable[[], float]) -> None:
        self.agent = agent
        self._journal = Journal(retrieval_trace_of(log), clock)
        # What each needle's own words found of it since anything but a question was said, so that many questions about
        # one history need not look for each of them again.
        self._found: dict[int, list[Memory]] = {}

    def close(self) -> None:
        """Close the side file."""
        self._journal.close()

    def store_changes(self) -> None:
        """Note that the agent hears something, so that its store may hold more needles from now on."""
        self._found.clear()

    async def recalled(self, message: Message) -> Found | None:
        """Return what retrieval gives for a question; None if there is no retrieval."""
        if type(self.agent).recall is Agent.recall:
            return None
        given: object = self.agent.uses
        k = given if type(given) is int and given > 0 else None  # an adapter can set anything
        deep = used = await self._recall(message.query, message.turn, max(DEPTH, k or 0))
        if deep is not None and k is not None and k < DEPTH:
            # Not the first of the deep ones: some products divide what is asked for among kinds of memories.
            used = await self._recall(message.query, message.turn, k)
        return None if deep is None or used is None else Found(deep, used[:k], k)

    async def _recall(self, query: str, turn: int, limit: int = DEPTH) -> Sequence[Memory] | None:
        """Return what retrieval gives; None if it fails or gives no memories, since this is evidence, not the run."""
        try:
            found: object = await guarded(lambda: self.agent.recall(query, limit), turn)
        except AgentError:
            return None
        if not isinstance(found, Sequence) or not all(isinstance(each, Memory) for each in found):
            return None
        return found

    async def trace(
        self, question: Message, sought: Sequence[SoughtNeedle], found: Found, *, failed: bool
    ) -> None:
        """Record at which rank each needle was retrieved for a question, which ones the agent uses, and what else came.

        If the question failed, also record whether each needle was stored, that is, found by its own words, and if
        not, whether a memory of its turn was found that lacks the answer. This is evidence beside the log, not part of
        it: retrieval cannot be replayed.
        """
        needles, empty = [], []
        for needle in sought:
            turn, stored = needle.turn.message.turn, None
            if failed:
                own = await self._found_by_itself(needle)
                if own is None:
                    return
                stored = _rank(needle, own) is not None
                empty += [turn] if not stored and any(map(needle.came_to, [*own, *found.deep])) else []
            needles.append([turn, stored, _rank(needle, found.deep)])
        others = [
            {
                "rank": rank,
                "turn": memory.turn,
                "relevance": _finite(memory.relevance),
                "text": memory.text[:SHOWN],
            }
            for rank, memory in enumerate(found.deep, start=1)
            if not any(needle.is_in(memory) for needle in sought)
        ]
        record = {"turn": question.turn, "needles": needles, "instead": others[:INSTEAD]}
        if found.k is not None:
            used = [each.turn.message.turn for each in sought if _rank(each, found.used) is not None]
            record |= {"k": found.k, "used": used}
        if empty:
            record["empty"] = empty
        self._journal.put(record)

    async def _found_by_itself(self, needle: SoughtNeedle) -> Sequence[Memory] | None:
        """Return what of a needle its own words find, or else the agent lists; None if retrieval fails."""
        number = needle.turn.message.turn
        if number not in self._found:
            found = await self._recall(needle.text, number)
            if found is None:
                return None
            own = [memory for memory in found if needle.came_to(memory)]
            if not any(map(needle.is_in, own)):
                own += await self._listed(needle)  # many messages of its form may be nearer to its words
            if not own:  # it may be indexed a while later
                return own
            self._found[number] = own
        return self._found[number]

    async def _listed(self, needle: SoughtNeedle) -> list[Memory]:
        """Return the memories of a needle among all that the agent lists; none if it lists nothing."""
        try:
            return [memory async for memory in self.agent.memories() if needle.came_to(memory)]
        except Exception:  # an adapter can raise anything, and this is evidence, not the run
            return []


def _rank(needle: SoughtNeedle, memories: Sequence[Memory]) -> int | None:
    """Return a needle's rank among memories, from 1; None if it is not among them."""
    return next((rank for rank, memory in enumerate(memories, start=1) if needle.is_in(memory)), None)


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
