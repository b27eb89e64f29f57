"""Compares runs: scores by agent and span, the differences that the data shows, and warnings where runs are not alike.

Runs that differ only in seed and span belong to one *entrant*. Two entrants are compared at one span, on the examples
that both were given: same scenario, same index, same seed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, computed_field

from ltm_bench.core.messages import Outcome
from ltm_bench.log.manifest import IN_LINE, Manifest
from ltm_bench.score.circumstances import made_otherwise, scored_otherwise
from ltm_bench.score.figures import skills
from ltm_bench.score.operations import Operation
from ltm_bench.score.power import MOST, Noise, Size, noise_of, seeds_needed, size_of
from ltm_bench.score.published import Compared
from ltm_bench.score.published_runs import compared_sets
from ltm_bench.score.results import ExampleResult, Results, Skill
from ltm_bench.score.shifts import Shift, shifted, shifts
from ltm_bench.score.statistics import (
    CONFIDENCE,
    TEST,
    Interval,
    Paired,
    Spread,
    clustered_sum_interval,
    paired,
    spread,
)

SCHEMA = 1
"""Version of the output of `compare --json`."""


class Scored(NamedTuple):
    """A run to be compared."""

    manifest: Manifest
    results: Results


class Operated(BaseModel):
    """What one kind of operation took, averaged over the runs of a cell."""

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
    by_name: dict[str, list[Operation]] = defaultdict(list)
    for each in results:
        for operation in each.operations:
            by_name[operation.name].append(operation)
    return [
        Operated(
            name=name,
            calls=sum(each.calls for each in of) / len(of),
            p50=_mean([each.p50 for each in of]),
            p95=_mean([each.p95 for each in of]),
            tokens=sum(each.tokens for each in of) / len(of),
            dollars=_mean([each.dollars for each in of]),
        )
        for name, of in by_name.items()
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


class Cell(BaseModel):
    """An entrant at one span, over all its runs."""

    entrant: str
    span: int
    runs: list[str]
    seeds: list[int]
    """One for each run."""
    scores: list[float | None]
    """One for each run; None for an incomplete one."""
    complete: bool
    score: float
    """Sum over scenarios of the mean over all scored examples; provisional unless `complete`."""
    out_of: int
    interval: Interval | None
    """None if a run is incomplete, or a scenario has a single example."""
    by_scenario: dict[str, float] = Field(default_factory=dict)
    """Mean over the scored examples of each scenario."""
    n: int
    """Number of scored examples."""
    chance: float | None
    """None if a question was not reached."""
    dollars: float | None
    """Mean over the runs; None if a price is unknown."""
    latency: float | None
    """Median latency of a reply in seconds, averaged over the runs."""
    spread: Spread | None
    """How much the runs, or their judges, differ; None for one run with one judge, or if a run is incomplete."""
    operations: list[Operated] = Field(default_factory=list)
    """What the agent's operations took, averaged over the runs."""
    skills: list[Skill] = Field(default_factory=list)
    """Scores by ability, over the examples of all runs."""
    rank: tuple[int, int] | None = None
    """Best and worst place that the data allows, among the complete entrants at this span."""
    frontier: bool = False
    """On the Pareto frontier: no entrant at this span is as good in score, cost and latency and better in one."""


class Pair(BaseModel):
    """Two entrants at one span, in the order of their names, on the examples that both were given."""

    span: int
    first: str
    second: str
    complete: bool
    paired: Paired
    """First minus second, in points of the sum over the scenarios in common."""
    separated: bool
    """Whether they differ even after correcting for all pairs at this span (Bonferroni)."""
    size: Size | None = None
    """Of the comparison; None without an example in common."""
    noise: Noise | None = None
    """How much the differences vary; None if a scenario has a single example in common."""
    only_first: list[str]
    """Examples that only the first got entirely right."""
    only_second: list[str]

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def verdict(self) -> str:
        """The result in words: who is better than whom, if the data shows it."""
        if self.paired.n == 0:
            return "no example in common"
        if self.paired.interval is None:
            return "too few examples to say"
        if not self.paired.shown:
            return "no difference shown"
        better, worse = sorted(
            (self.first, self.second), key=lambda name: (name == self.first) == (self.paired.difference < 0)
        )
        return f"{better} is better than {worse}"

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def seeds_needed(self) -> int | None:
        """How many seeds, with as many examples each, would probably show a difference as large as the one found.

        None if a difference is shown already, where there is none, and where it would take more than `MOST`.
        """
        if self.paired.shown or self.size is None or self.noise is None or not self.paired.difference:
            return None
        gap = abs(self.paired.difference)
        found = seeds_needed(gap, self.size.scenarios, self.size.examples, self.noise)
        return None if found is None else max(found, self.size.seeds + 1)  # these did not show it

    @property
    def needed(self) -> str:
        """What it would take to tell the two apart, in words; empty if they are, or where nothing is known."""
        if self.paired.shown or self.size is None or self.noise is None:
            return ""
        if not self.paired.difference:
            return "these two scored the same: nothing says how many examples it would take"
        each, seeds = self.size.examples, self.seeds_needed
        many = f"more than {MOST:,}" if seeds is None else f"about {seeds:,}"
        return (
            f"to tell these two apart you would need {many} seeds of {each:.3g} examples a scenario, "
            f"if they differ by as much as here ({self.size.seeds} so far)"
        )


class Mark(BaseModel):
    """How one entrant did on one example."""

    run: str
    score: float | None
    outcome: Outcome
    """Outcome of the question that cost most."""
    reply: str | None = None
    """The reply to that question, where the entrants disagree; None if there was none."""


class Row(BaseModel):
    """One example, with how every entrant at its span did."""

    span: int
    seed: int
    example: str
    question: str = ""
    """The question that cost most, of the entrant that it cost most; empty if the entrants agree."""
    expected: str = ""
    marks: dict[str, Mark]

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def disagree(self) -> bool:
        """Whether entrants did differently."""
        return len({mark.score for mark in self.marks.values() if mark.score is not None}) > 1


class Comparison(BaseModel):
    """Everything that `compare` shows."""

    schema_version: int = SCHEMA
    entrants: list[str]
    spans: list[int]
    warnings: list[str]
    """Differences in how the runs were made that may explain differences in score."""
    cells: list[Cell]
    pairs: list[Pair]
    test: str = TEST
    """The name of the test of each pair's difference: of its interval and of its p-value."""
    rows: list[Row]
    shifts: list[Shift] = Field(default_factory=list)
    """Questions that stand elsewhere in one mode than in another."""
    sets: list[Compared] = Field(default_factory=list)
    """Every two runs that asked the same questions of a public set, in any mode: question by question, by scorer."""

    def cell(self, entrant: str, span: int) -> Cell | None:
        """Return an entrant's cell at a span, if it has one."""
        return next((c for c in self.cells if (c.entrant, c.span) == (entrant, span)), None)

    def at(self, span: int) -> list[Cell]:
        """Return the cells of a span: complete ones first, then by score."""
        here = [cell for cell in self.cells if cell.span == span]
        return sorted(here, key=lambda cell: (not cell.complete, -cell.score / max(1, cell.out_of)))


def compare(runs: Sequence[Scored], *, say_mode: bool = True) -> Comparison:
    """Compare runs, in any number, with each other.

    Args:
        runs: Those to be compared.
        say_mode: Whether names say the mode where not all runs are in-line; not where it stands above them all.
    """
    names = entrants(runs, say_mode=say_mode)
    grouped: dict[tuple[str, int], list[Scored]] = defaultdict(list)
    for run, name in zip(runs, names, strict=True):
        grouped[name, run.results.span].append(run)
    known = list(dict.fromkeys(names))
    spans = sorted({run.results.span for run in runs})
    cells = {key: _cell(*key, group) for key, group in grouped.items()}
    pairs: list[Pair] = []
    for span in spans:
        here = [name for name in known if (name, span) in grouped]
        against = list(combinations(sorted(here, key=lambda name: (name.casefold(), name)), 2))
        found = [pair(span, a, b, grouped[a, span], grouped[b, span], len(against)) for a, b in against]
        pairs += found
        _rank([cells[name, span] for name in here], found)
        _mark_frontier([cells[name, span] for name in here])
    moved = shifts([run.results for run in runs])
    return Comparison(
        entrants=known,
        spans=spans,
        warnings=[
            *scored_otherwise([run.results for run in runs]),
            *made_otherwise({run.results.run: run.manifest for run in runs}),
            *shifted(moved),
        ],
        cells=[cells[key] for key in sorted(cells, key=lambda key: (key[1], known.index(key[0])))],
        pairs=pairs,
        rows=list(_rows(grouped)),
        shifts=moved,
        sets=compared_sets([run.results for run in runs]),
    )


def _identity(manifest: Manifest) -> dict[str, Any]:
    """Return what identifies a run up to seed and span."""
    suite, agent = manifest.suite, manifest.agent
    return {
        **agent.settings,
        "adapter": agent.adapter,
        "adapter's content": agent.hash[:8],
        "isolated": suite.isolated,
        "tokenizer": manifest.tokenizer,
        "suite": suite.name,
        "scenarios": ", ".join(entry.name for entry in suite.scenarios),
    }


_MAY_GO_WITH_SPAN = ("suite", "scenarios")
"""Keys that may change with the span: they set runs apart only if they differ at the same span."""


def entrants(runs: Sequence[Scored], *, say_mode: bool = True) -> list[str]:
    """Name the entrant of every run: its agent, with whatever distinguishes it from others of the same name.

    Where not all runs are in-line, every name says the run's mode, unless `say_mode` is false.
    """
    apart: dict[str, dict[str, None]] = defaultdict(dict)
    for one, other in combinations(runs, 2):
        if (agent := one.results.agent) != other.results.agent:
            continue
        ours, theirs = _identity(one.manifest), _identity(other.manifest)
        for key in (*ours, *theirs):
            alike = one.results.span == other.results.span or key not in _MAY_GO_WITH_SPAN
            if alike and ours.get(key) != theirs.get(key):
                apart[agent][key] = None
    for keys in apart.values():
        if "suite" in keys:  # which says whether its examples are isolated
            keys.pop("isolated", None)
    names = []
    say_mode = say_mode and any(run.manifest.mode != IN_LINE for run in runs)
    for run in runs:
        mine = _identity(run.manifest)
        spelt = "; ".join(f"{key}={mine.get(key)}" for key in apart[run.results.agent])
        name = f"{run.results.agent} ({spelt})" if spelt else run.results.agent
        names.append(f"{name} · {run.manifest.mode}" if say_mode else name)
    return names


def _cell(entrant: str, span: int, runs: Sequence[Scored]) -> Cell:
    results = [run.results for run in runs]
    clusters = [each.by_scenario for each in results]
    scenarios = dict.fromkeys(scenario.name for each in results for scenario in each.scenarios)
    pooled = {name: [s for cluster in clusters for s in cluster.get(name, ())] for name in scenarios}
    complete = all(each.complete for each in results)
    prices = [each.costs.dollars for each in results]
    known = [price for price in prices if price is not None]
    waits = [each.latency.median for each in results if each.latency is not None]
    reached = all(Outcome.NOT_REACHED not in each.outcomes for each in results)
    by_seed: dict[int, list[float]] = defaultdict(list)
    for each in results:
        by_seed[each.seed].append(each.score_so_far)
    return Cell(
        entrant=entrant,
        span=span,
        runs=[each.run for each in results],
        seeds=[each.seed for each in results],
        scores=[each.score for each in results],
        complete=complete,
        score=sum(sum(scores) / len(scores) for scores in pooled.values() if scores),
        out_of=len(scenarios),
        interval=clustered_sum_interval(clusters) if complete else None,
        by_scenario={name: sum(scores) / len(scores) for name, scores in pooled.items() if scores},
        n=sum(map(len, pooled.values())),
        chance=sum(each.chance for each in results) / len(results) if reached else None,
        dollars=sum(known) / len(known) if len(known) == len(prices) else None,
        latency=sum(waits) / len(waits) if waits else None,
        operations=operated(results),
        skills=skills(
            list({scenario.name: scenario for each in results for scenario in each.scenarios}.values()),
            [example for each in results for example in each.examples],
        ),
        spread=spread(by_seed, [list(each.by_judge.values()) for each in results]) if complete else None,
    )


_Asked = tuple[str, str]
"""An example's name and its scenario's content: only the same question can be compared."""


def _asked(runs: Sequence[Scored]) -> dict[int, dict[_Asked, float]]:
    """Return the scores by seed and example; runs of the same seed are averaged."""
    found: dict[int, dict[_Asked, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        content = {
            entry.name: json.dumps([entry.version, entry.hash, entry.parameters], sort_keys=True, default=str)
            for entry in run.manifest.suite.scenarios
        }
        for example in run.results.examples:
            if example.score is not None:
                found[run.results.seed][example.id, content.get(example.scenario, "")].append(example.score)
    return {
        seed: {name: sum(scores) / len(scores) for name, scores in each.items()}
        for seed, each in found.items()
    }


def pair(
    span: int, first: str, second: str, a: Sequence[Scored], b: Sequence[Scored], count: int = 1
) -> Pair:
    """Compare the runs of two entrants at one span, by the examples that both were given.

    Args:
        span: Of the runs.
        first: The name of the first entrant.
        second: The name of the second one.
        a: The runs of the first entrant.
        b: The runs of the second one.
        count: How many pairs are compared at this span, for the correction of `separated`.
    """
    ours, theirs = _asked(a), _asked(b)
    seeds = [seed for seed in ours if seed in theirs]
    clusters: list[dict[str, list[float]]] = []
    only_first: list[str] = []
    only_second: list[str] = []
    for seed in seeds:
        gaps: dict[str, list[float]] = defaultdict(list)
        for (name, content), score in ours[seed].items():
            if (other := theirs[seed].get((name, content))) is None:
                continue
            gaps[name.rpartition("/")[0]].append(score - other)
            if (score >= 1) != (other >= 1):
                winner = only_first if score >= 1 else only_second
                winner.append(name if len(seeds) == 1 else f"{name} (seed {seed})")
        if gaps:
            clusters.append(gaps)
    found = paired(clusters)
    return Pair(
        span=span,
        first=first,
        second=second,
        complete=all(run.results.complete for run in (*a, *b)),
        paired=found,
        separated=found.p is not None and found.p < (1 - CONFIDENCE) / count,
        size=size_of(clusters) if clusters else None,
        noise=noise_of(clusters),
        only_first=only_first,
        only_second=only_second,
    )


def _rank(cells: Sequence[Cell], pairs: Sequence[Pair]) -> None:
    """Set the range of places of each cell: nobody ranks above another unless the data separates the two."""
    ranked = [cell for cell in cells if cell.complete]
    names = {cell.entrant for cell in ranked}
    for cell in ranked:
        above = below = 0
        for pair in pairs:
            if (
                pair.separated
                and cell.entrant in (pair.first, pair.second)
                and {pair.first, pair.second} <= names
            ):
                won = (pair.paired.difference > 0) == (cell.entrant == pair.first)
                below, above = below + won, above + (not won)
        cell.rank = (1 + above, len(ranked) - below)


def _mark_frontier(cells: Sequence[Cell]) -> None:
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


def _worst(example: ExampleResult) -> int:
    """Return which question stands for an example: an infrastructure error first, then that of the lowest score."""
    questions = example.questions
    return min(
        range(len(questions)),
        key=lambda i: (
            not questions[i].outcome.infrastructure,
            1.0 if (score := questions[i].score) is None else score,
        ),
    )


def _rows(grouped: Mapping[tuple[str, int], Sequence[Scored]]) -> Iterator[Row]:
    """Yield every example with how each entrant did; a second run of the same seed counts in the cell, not here."""
    asked: dict[tuple[int, int, str], dict[str, tuple[Results, ExampleResult]]] = {}
    for (entrant, span), runs in grouped.items():
        for run in runs:
            for example in run.results.examples:
                key = (span, run.results.seed, example.id)
                asked.setdefault(key, {}).setdefault(entrant, (run.results, example))
    order = {name: i for i, name in enumerate(dict.fromkeys(key[2] for key in asked))}
    for key in sorted(asked, key=lambda key: (key[0], key[1], order[key[2]])):
        yield _row(key, asked[key])


def _row(key: tuple[int, int, str], by_entrant: Mapping[str, tuple[Results, ExampleResult]]) -> Row:
    span, seed, name = key
    examples = [example for _, example in by_entrant.values()]
    weakest = min(examples, key=lambda e: 1.0 if e.score is None else e.score)
    shown = _worst(weakest)
    question = weakest.questions[shown]
    same = all(len(e.questions) > shown and e.questions[shown].text == question.text for e in examples)
    row = Row(
        span=span,
        seed=seed,
        example=name,
        marks={
            entrant: Mark(
                run=results.run, score=example.score, outcome=example.questions[_worst(example)].outcome
            )
            for entrant, (results, example) in by_entrant.items()
        },
    )
    if not (row.disagree and same):
        return row
    marks = {
        entrant: mark.model_copy(update={"reply": by_entrant[entrant][1].questions[shown].reply})
        for entrant, mark in row.marks.items()
    }
    return row.model_copy(update={"question": question.text, "expected": question.expected, "marks": marks})
