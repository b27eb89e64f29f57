"""A run's progress: one frozen value after every turn."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Ask, Turn, Verdict
from ltm_bench.plan.planning import Plan
from ltm_bench.schedule.fitting import USABLE
from ltm_bench.schedule.scheduler import Completed
from ltm_bench.score.results.headline import counted, headline, mean
from ltm_bench.script.scenario import Example

OVERHEAD = 1.04
"""Usual ratio of a conversation's length to its lower bound, rounds times the usable span."""


_NOT_YET = 0.99
"""Maximum fraction of an unfinished run: scripts may say more than in their rehearsal."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    turns: int
    tokens: int
    """Tokens of the conversation so far, or of all conversations."""
    done: int
    """Examples that said their last message."""
    examples: int
    fraction: float
    """From 0 to 1; an estimate until the run is complete, and 1 only then."""
    score: float
    """The headline so far; what is still to be asked counts 0."""
    out_of: int
    spent: Decimal
    """US dollars."""
    cost_known: bool
    """Whether the price of every reply is known; otherwise `spent` is a lower bound."""
    replaying: bool
    """Whether the last turn came from the log."""


Report = Callable[[Progress], None]


class Tracker:
    """Observes a run, and reports its progress."""

    def __init__(self, plan: Plan, budget: Budget, report: Report) -> None:
        self._report = report
        self._budget = budget
        examples = plan.examples
        self._examples = len(examples)
        self._isolated = plan.manifest.suite.isolated
        rounds = max((example.index for example in examples), default=0) + 1
        length = int(rounds * USABLE * plan.manifest.span * OVERHEAD)
        self._expected = max(1, len(examples) if self._isolated else length)
        self._messages = sum(map(len, plan.rehearsals.values())) if plan.rehearsals is not None else 0
        self._said = 0
        self._planned = Counter(example.scenario.name for example in examples)
        self._out_of = len(self._planned)
        self._turns = self._tokens = self._position = self._done = 0
        self._replaying = False
        self._asked: dict[str, list[tuple[str | None, str | None, float]]] = {}
        self._unscored: set[str] = set()
        self._scores: dict[str, dict[str, float | None]] = {}
        self._score = 0.0

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Count a turn."""
        self._turns += 1
        self._tokens += tokens
        self._position = position
        self._said += turn.example is not None
        self._replaying = replayed
        self._report(self.progress())

    def verdict(self, example: Example, asked: Ask, verdict: Verdict) -> None:
        """Record a score. Undecided counts 0, as in the results."""
        if verdict.outcome.infrastructure:
            self._unscored.add(example.id)
        of_example = self._asked.setdefault(example.id, [])
        of_example.append((asked.shows, asked.needs, verdict.score or 0.0))
        score = None if example.id in self._unscored else mean(counted(of_example))
        self._scores.setdefault(example.scenario.name, {})[example.id] = score
        # What is still to come counts 0: a mean of those that were asked could be higher than the run's in the end.
        to_come = {name: [0.0] * (self._planned[name] - len(of)) for name, of in self._scores.items()}
        self._score = headline({name: [*of.values(), *to_come[name]] for name, of in self._scores.items()})

    def ended(self, ended: Completed) -> None:
        """Count an example."""
        self._done += 1
        self._report(self.progress())

    def progress(self) -> Progress:
        """Return the current progress."""
        return Progress(
            turns=self._turns,
            tokens=self._tokens,
            done=self._done,
            examples=self._examples,
            fraction=self._fraction(),
            score=self._score,
            out_of=self._out_of,
            spent=self._budget.spent,
            cost_known=not self._budget.unknown,
            replaying=self._replaying,
        )

    def _fraction(self) -> float:
        """Return the fraction done: by tokens, or by messages if those lag behind, as in overruns."""
        if self._done == self._examples:
            return 1.0
        parts = [(self._done if self._isolated else self._position) / self._expected]
        if self._messages and not self._isolated:
            parts.append(self._said / self._messages)
        return min(_NOT_YET, *parts)
