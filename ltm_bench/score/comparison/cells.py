"""Sums up the runs of an entrant at one span, and ranks the entrants there."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from ltm_bench.core.grouping import grouped
from ltm_bench.core.messages import Outcome
from ltm_bench.core.seeds import Seed
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.pairs import Pair
from ltm_bench.score.comparison.retest import Retest, retest
from ltm_bench.score.results.aspects import Aspect, aspects
from ltm_bench.score.results.controls import Controls, pooled_controls
from ltm_bench.score.results.delays import DelayCurve, delays
from ltm_bench.score.results.examples import ExampleResult
from ltm_bench.score.results.figures import Skill, skills
from ltm_bench.score.results.headline import by_scenario, worth_of_undecided
from ltm_bench.score.results.run import Results
from ltm_bench.score.statistics.intervals import (
    Interval,
    Spread,
    amount_interval,
    clustered_sum_interval,
    spread,
    wilson,
)


class Operated(BaseModel):
    """The time and cost of one kind of operation, averaged over a cell's runs."""

    name: str
    calls: float
    p50: float | None
    """Seconds; None if they are not measured."""
    p95: float | None
    tokens: float
    dollars: float | None
    """None if a price is unknown."""


def operated(results: Sequence[Results]) -> list[Operated]:
    """Average the operations of runs, by name."""
    by_name = grouped((operation.name, operation) for each in results for operation in each.operations)
    averaged = ("calls", "p50", "p95", "tokens", "dollars")
    return [
        Operated.model_validate(
            {"name": name} | {field: _mean([getattr(each, field) for each in of]) for field in averaged}
        )
        for name, of in by_name.items()
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean, or None if one of them is unknown, or there is none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _mean_interval(intervals: Sequence[Interval | None]) -> Interval | None:
    """Return the means of both ends; None if one of the intervals is unknown, or there is none."""
    known = [each for each in intervals if each is not None]
    if not known or len(known) < len(intervals):
        return None
    low, high = (sum(getattr(each, end) for each in known) / len(known) for end in ("low", "high"))
    return Interval(low=low, high=high)


class Cell(BaseModel):
    """An entrant at one span, over all its runs."""

    entrant: str
    span: int
    runs: list[str]
    seeds: list[Seed]
    """One for each run."""
    scores: list[float | None]
    """One for each run; None for an incomplete one."""
    complete: bool
    score: float
    """Sum over scenarios of the mean over all scored examples; provisional unless `complete`."""
    if_right: float = 0.0
    """The same if all that is undecided were right."""
    out_of: int
    interval: Interval | None
    """None if a run is incomplete, or a scenario has a single example."""
    by_scenario: dict[str, float] = Field(default_factory=dict)
    """Mean over the scored examples of each scenario."""
    scenario_intervals: dict[str, Interval] = Field(default_factory=dict)
    """95 % intervals of these means."""
    n: int
    """Number of scored examples."""
    chance: float | None
    """None if a question was not reached."""
    dollars: float | None
    """Mean over the runs; None if a price is unknown."""
    dollars_interval: Interval | None = None
    """95 % interval of that mean; None for fewer than four runs, which say too little."""
    context: float | None = None
    """Context tokens of a question, averaged over the runs; None if they are unknown in one of them."""
    context_interval: Interval | None = None
    """95 % interval of that mean; None for fewer than four runs."""
    latency: float | None
    """Median latency of a reply in seconds, averaged over the runs."""
    latency_interval: Interval | None = None
    """95 % interval of it, at most: the mean of those of the runs."""
    spread: Spread | None
    """How much the runs or their judges differ; None for one run with one judge, or if a run is incomplete."""
    retest: Retest | None = None
    """How far the agent moves by itself; None if no seed was run twice."""
    controls: Controls | None = None
    """What the controls of its runs show, over all of them; None if none has any."""
    operations: list[Operated] = Field(default_factory=list)
    """Time and cost of the agent's operations, averaged over the runs."""
    skills: list[Skill] = Field(default_factory=list)
    """Scores by ability, over the examples of all runs."""
    aspects: list[Aspect] = Field(default_factory=list)
    """Questions counted apart over all runs, whatever else their examples showed."""
    delays: list[DelayCurve] = Field(default_factory=list)
    """How long a thing takes to become readable, over all runs."""
    rank: tuple[int, int] | None = None
    """Best and worst place that the data allows, among the complete entrants at this span."""
    frontier: bool = False
    """On the Pareto frontier: no entrant at this span is as good in score, cost and latency and better in one."""


def cell_of(entrant: str, span: int, runs: Sequence[Scored]) -> Cell:
    """Sum up the runs of an entrant at one span."""
    results = [run.results for run in runs]
    examples = [example for each in results for example in each.examples]
    clusters = [each.by_scenario for each in results]
    scenarios = {scenario.name: scenario for each in results for scenario in each.scenarios}
    known = by_scenario(examples)
    pooled = {name: known[name] for name in scenarios if name in known}  # in the order of the suite
    means = {name: sum(scores) / len(scores) for name, scores in pooled.items()}
    complete = all(each.complete for each in results)
    waits = [each.latency for each in results if each.latency is not None]
    dollars, contexts = zip(*((each.costs.dollars, each.context.mean) for each in results), strict=True)
    return Cell(
        entrant=entrant,
        span=span,
        runs=[each.run for each in results],
        seeds=[each.seed for each in results],
        scores=[each.score for each in results],
        complete=complete,
        score=sum(means.values()),
        if_right=sum(means.values()) + _worth_of(examples),
        out_of=len(scenarios),
        interval=clustered_sum_interval(clusters) if complete else None,
        by_scenario=means,
        scenario_intervals={name: wilson(mean, len(pooled[name])) for name, mean in means.items()},
        n=sum(map(len, pooled.values())),
        chance=_mean([None if Outcome.NOT_REACHED in each.outcomes else each.chance for each in results]),
        dollars=_mean(dollars),
        dollars_interval=amount_interval(dollars),
        context=_mean(contexts),
        context_interval=amount_interval(contexts),
        latency=_mean([each.median for each in waits]),
        latency_interval=_mean_interval([each.interval for each in waits]),
        controls=pooled_controls([(each.controls, each.examples) for each in results], [*scenarios.values()]),
        operations=operated(results),
        skills=skills(list(scenarios.values()), examples),
        aspects=aspects(examples),
        delays=delays(examples),
        spread=_spread(results) if complete else None,
        retest=retest(results),
    )


def _spread(results: Sequence[Results]) -> Spread | None:
    by_seed = grouped((each.seed, each.score_so_far) for each in results)
    return spread(by_seed, [list(each.by_judge.values()) for each in results])


def _worth_of(examples: Sequence[ExampleResult]) -> float:
    """Return how much higher the score over several runs would be if all that is undecided were right."""
    return worth_of_undecided([each for each in examples if each.score is not None])


def rank(cells: Sequence[Cell], pairs: Sequence[Pair]) -> None:
    """Set each cell's range of places: nobody ranks above another unless the data separates the two."""
    ranked = [cell for cell in cells if cell.complete]
    names = {cell.entrant for cell in ranked}
    between = [pair for pair in pairs if pair.separated and {pair.first, pair.second} <= names]
    for cell in ranked:
        # Not a sort by score: the places that the data allows overlap, and being separated is not transitive.
        above = sum(pair.second == cell.entrant for pair in between)
        below = sum(pair.first == cell.entrant for pair in between)
        cell.rank = (1 + above, len(ranked) - below)


def mark_frontier(cells: Sequence[Cell]) -> None:
    """Mark the cells that no other beats in score, cost and latency."""

    def figures(cell: Cell) -> tuple[float, float, float]:
        assert cell.dollars is not None
        assert cell.latency is not None
        return (-cell.score / cell.out_of, cell.dollars, cell.latency)

    known = [c for c in cells if c.complete and c.dollars is not None and c.latency is not None]
    for cell in known:
        mine = figures(cell)
        cell.frontier = not any(
            figures(other) != mine and all(x <= y for x, y in zip(figures(other), mine, strict=True))
            for other in known
        )
