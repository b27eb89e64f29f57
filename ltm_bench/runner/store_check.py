"""Reads an agent's store after an example's last question, and records which of the example's facts it holds.

This is evidence beside the log, not part of it: a store's content cannot be replayed.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ltm_bench.core.agent import Agent
from ltm_bench.core.keys import cleaned
from ltm_bench.core.messages import Ask, Fact, Line, Tell
from ltm_bench.log.journal import Journal, written_of
from ltm_bench.score.results.evidence import changes, writings
from ltm_bench.score.results.written import Told, examine, held
from ltm_bench.script.rehearsal import Rehearsed


@dataclass
class _Planted:
    told: list[Told] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    asked: int = 0

    def changed_by(self, line: Line) -> list[Fact]:
        """Return what was told and a line replaces or has deleted."""
        if not isinstance(line, Tell):
            return []
        new = {fact.about: fact.value for fact in line.facts}
        last = {each.fact.about: each.fact for each in self.told}
        return [
            fact
            for about, fact in last.items()
            if about in line.deletes or new.get(about, fact.value) != fact.value
        ]


class StoreCheck:
    """The facts told by the examples of one conversation, to be looked for in the agent's store."""

    def __init__(
        self,
        agent: Agent,
        log: Path,
        clock: Callable[[], float],
        rehearsals: Mapping[str, Sequence[Rehearsed]],
    ) -> None:
        """Prepare.

        Args:
            agent: The agent whose store is checked.
            log: The conversation's log.
            clock: Seconds from any fixed moment.
            rehearsals: The expected steps of each example, for its number of questions.
        """
        self.agent = agent
        self._listable = type(agent).memories is not Agent.memories
        self._checked = set(writings(written_of(log)))
        self._before = changes(written_of(log))
        self._journal = Journal(written_of(log), clock)
        self._questions = Counter(
            {name: sum(isinstance(step.line, Ask) for step in steps) for name, steps in rehearsals.items()}
        )
        self._planted: dict[str, _Planted] = {}
        self._facts: list[Fact] = []

    async def look_before(self, example: str, line: Line, turn: int) -> None:
        """List the agent's store, if possible, before a line changes what was told, and record what it has of that.

        What a store never had is not "gone" when it is replaced, nor deleted.
        """
        changed = self._planted.setdefault(example, _Planted()).changed_by(line)
        if not self._listable or not changed or type(self.agent).settle is not Agent.settle:
            return  # one that has yet to settle may have stored what it cannot list
        try:
            found = held(changed, [memory async for memory in self.agent.memories()])
        except Exception:  # an adapter can raise anything, and this is evidence, not the run
            return
        self._before.setdefault(example, {}).update(found)
        before = [[about, value, had] for (about, value), had in found.items()]
        self._journal.put({"turn": turn, "example": example, "before": before})

    def due_after(self, example: str, line: Line) -> bool:
        """Take an example's line; return whether it is the last question and there are facts to look for."""
        planted = self._planted.setdefault(example, _Planted())
        if isinstance(line, Tell):
            planted.told += [Told(fact, line.user) for fact in line.facts]
            planted.deleted += line.deletes
            self._facts += line.facts
        planted.asked += isinstance(line, Ask)
        last = isinstance(line, Ask) and planted.asked == self._questions[example]
        return last and bool(planted.told)

    def lacks(self, example: str) -> bool:
        """Whether an interruption prevented the check for an example's facts."""
        return self._listable and example not in self._checked

    async def check(self, example: str, turn: int) -> None:
        """List the agent's store, if possible, and record which of an example's facts it holds."""
        if not self._listable:
            return
        try:
            memories = [cleaned(memory) async for memory in self.agent.memories()]
        except Exception:  # an adapter can raise anything, and this is evidence, not the run
            return
        planted = self._planted[example]
        before = self._before.get(example, {})
        written = examine(planted.told, planted.deleted, memories, self._facts, before)
        users = {told.user for told in planted.told if told.user is not None}
        record = {"turn": turn, "example": example, "users": len(users)}
        self._journal.put(record | written.model_dump(mode="json"))

    def close(self) -> None:
        """Close the side file."""
        self._journal.close()
