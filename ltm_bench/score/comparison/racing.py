"""A race: agents on the same examples, round by round of seeds, until the data tells them apart."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import combinations

from pydantic import BaseModel, Field

from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.pairs import differences, readers_of
from ltm_bench.score.statistics.intervals import CONFIDENCE, Clusters
from ltm_bench.score.statistics.power import noise_of, seeds_needed, size_of
from ltm_bench.score.statistics.sequential import Interim, look


class Preference(StrEnum):
    """What a race says about two agents."""

    FIRST = "the first is better"
    SECOND = "the second is better"
    EQUAL = "no difference that matters"
    OPEN = "not decided"


class End(StrEnum):
    """Why a race ended."""

    DECIDED = "decided"
    MOST = "most"
    BUDGET = "budget"


class Rules(BaseModel, frozen=True):
    """When a race ends."""

    most: int = Field(ge=2)
    """Maximum number of rounds."""
    least: float = Field(gt=0)
    """The smallest difference that matters, in points."""


class Duel(BaseModel):
    """Two agents of a race."""

    first: str
    second: str
    looks: list[Interim] = Field(default_factory=list)
    """After every round from the second on: the first minus the second, if all that is undecided were wrong."""
    if_right: list[Interim] = Field(default_factory=list)
    """The same if all that is undecided were right."""
    decision: Preference = Preference.OPEN
    readers: list[str] = Field(default_factory=list)
    """Who read the replies that are for a blind reader, if not the same for both: then nothing is decided."""
    planned: int | None = None
    """How many seeds `plan-size` would plan to show the smallest difference that matters, with the noise seen here.

    None if that is not known, or too many.
    """

    @property
    def ends(self) -> list[tuple[float, float]]:
        """The ends of the interval after each round, whatever the undecided replies are worth."""
        return [
            (min(wrong.interval.low, right.interval.low), max(wrong.interval.high, right.interval.high))
            for wrong, right in zip(self.looks, self.if_right, strict=True)
        ]

    @property
    def verdict(self) -> str:
        """The decision in words."""
        match self.decision:
            case Preference.FIRST:
                return f"{self.first} is better than {self.second}"
            case Preference.SECOND:
                return f"{self.second} is better than {self.first}"
            case Preference.EQUAL:
                return f"{self.first} and {self.second}: no difference that matters"
            case Preference.OPEN:
                return f"{self.first} and {self.second}: not decided"


class Race(BaseModel):
    """A race, as far as it has come."""

    agents: list[str]
    rules: Rules
    suite: str = ""
    """What is asked, in brief."""
    span: int | None = None
    """In tokens; None if every example is asked alone."""
    out_of: int = 0
    rounds: int = 0
    """Complete rounds."""
    racing: list[str]
    """Agents that have not been dropped."""
    duels: list[Duel]
    end: End | None = None
    runs: dict[str, list[str]] = Field(default_factory=dict)
    """The names of each agent's runs."""
    dollars: float | None = 0.0
    """What all its runs have cost; None if a price is unknown."""

    @classmethod
    def of(cls, agents: Sequence[str], rules: Rules) -> "Race":
        """Return a race that has not begun."""
        duels = [Duel(first=one, second=other) for one, other in combinations(agents, 2)]
        return cls(agents=list(agents), rules=rules, racing=list(agents), duels=duels)

    @property
    def error(self) -> float:
        """The probability of an error in each pair: 5 % divided over all pairs."""
        return (1 - CONFIDENCE) / len(self.duels)

    @property
    def open(self) -> list[Duel]:
        """The pairs that go on: not decided, and neither agent dropped."""
        return [
            duel
            for duel in self.duels
            if duel.decision is Preference.OPEN and {duel.first, duel.second} <= {*self.racing}
        ]

    def take(self, runs: Mapping[str, Sequence[Scored]]) -> None:
        """Look at all complete rounds.

        Args:
            runs: The complete runs of every agent, a round each, in the same order of seeds.
        """
        self.runs = {agent: [run.results.run for run in of] for agent, of in runs.items()}
        self.rounds = max(map(len, runs.values()))
        for duel in self.open:
            a, b = runs[duel.first], runs[duel.second]
            wrong, right, _, _ = differences(a, b)
            duel.readers = readers_of((*a, *b))
            self.see(duel, wrong, right)
            noise = noise_of(wrong)
            if noise is not None:
                size = size_of(wrong)
                duel.planned = seeds_needed(self.rules.least, size.scenarios, size.examples, noise)
        self.drop()

    def see(self, duel: Duel, wrong: Clusters, right: Clusters) -> None:
        """Look at a pair's differences by round, and decide if they tell."""
        low, high = (look(each, self.rules.most, self.error) for each in (wrong, right))
        if low is None or high is None:
            return
        duel.looks.append(low)
        duel.if_right.append(high)
        if not duel.readers:
            duel.decision = decide(low, high, self.rules.least)

    def drop(self) -> None:
        """Drop the agents that are worse than another one, and end the race if nothing is left to decide."""
        for duel in self.duels:
            worse = {Preference.FIRST: duel.second, Preference.SECOND: duel.first}.get(duel.decision)
            if worse in self.racing:
                self.racing.remove(worse)
        if not self.open:
            self.end = End.DECIDED
        elif self.rounds >= self.rules.most:
            self.end = End.MOST


def decide(wrong: Interim, right: Interim, least: float) -> Preference:
    """Return what a look says, whatever the undecided replies are worth."""
    low = min(wrong.interval.low, right.interval.low)
    high = max(wrong.interval.high, right.interval.high)
    if low > 0:
        return Preference.FIRST
    if high < 0:
        return Preference.SECOND
    return Preference.EQUAL if -least < low and high < least else Preference.OPEN
