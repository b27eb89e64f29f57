"""How often 95 % intervals contain the truth: simulated agents whose true scores are known.

    python -m perf.coverage [--simulations 1000] [--only paired]

`coverage` should be 0.95 or a little more; `width` is the mean width of the interval. The means are over 33 and 100
scores of one kind. The sums over scenarios are those of the headline, "11 x 3" being 11 scenarios of 3 examples. The
differences are between two agents on the same examples, in one pair of runs or in several whose examples are
correlated (`between` is how far a run shifts all its examples). Memory, as a share of what could be had, is that of
agents that are *steady* (guess alike in all conditions), guess anew, or vary in what they know as well; beside it are
the questions of an example, the chances to guess and to know with evidence, and the true share.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from ltm_bench.score.statistics.intervals import (
    Interval,
    mean_interval,
    median_interval,
    paired_clusters,
    sum_interval,
    wilson,
)
from ltm_bench.score.statistics.memory import Triple, kept
from perf.harness import Arguments, measurement, table

Scores = np.ndarray

SIZES = ((5, 3), (11, 3), (5, 10), (11, 9), (5, 20))
PARTIAL = np.array([0.0, 0.5, 1.0])
MEMORY = (0.05, 0.3, 0.6, 0.8, 0.9, 0.95)
KINDS = (
    ("steady", 1, 0.1, 0.9), ("steady", 1, 0.25, 0.6), ("steady", 3, 0.2, 0.8), ("guesses", 1, 0.1, 0.9),
    ("guesses", 1, 0.25, 0.6), ("varies", 1, 0.1, 0.9),
)  # fmt: skip
"""How replies vary, questions an example, and the chance to guess and to know with evidence."""


class Case(NamedTuple):
    """A kind of figure with a known true value."""

    figure: str
    kind: str
    n: int
    truth: float
    draw: Callable[[], Interval | None]
    """Draw scores and return their interval."""


def means(rng: np.random.Generator) -> Iterator[Case]:
    """Give means of one kind of score."""
    chances = [0.3, 0.3, 0.4]
    for n in (33, 100):
        for truth in (0.2, 0.5, 0.8):

            def right(n: int = n, truth: float = truth) -> Interval:
                return wilson(rng.binomial(n, truth) / n, n)

            yield Case("wilson", f"right or wrong, {truth}", n, truth, right)

        def shares(n: int = n) -> Interval:
            return mean_interval(rng.choice(PARTIAL, n, p=chances).tolist())

        yield Case("mean", "partial scores", n, float(PARTIAL @ chances), shares)

        def seconds(n: int = n) -> Interval | None:
            return median_interval(rng.lognormal(0.5, 0.8, n).tolist())

        yield Case("median", "latencies", n, float(np.exp(0.5)), seconds)


def headlines(rng: np.random.Generator) -> Iterator[Case]:
    """Give sums over scenarios for agents of different kinds."""
    for scenarios, examples in SIZES:
        agents = {
            "middling": rng.uniform(0.3, 0.7, scenarios),
            "uneven": rng.beta(0.5, 0.5, scenarios),
            "nearly perfect": np.full(scenarios, 0.95),
            "all or nothing": np.resize([0.02, 0.98], scenarios),
        }
        for kind, truth in agents.items():

            def draw(truth: Scores = truth, examples: int = examples) -> Interval | None:
                scores = rng.random((len(truth), examples)) < truth[:, None]
                return sum_interval({str(i): row.astype(float).tolist() for i, row in enumerate(scores)})

            yield Case(f"sum, {scenarios} x {examples}", kind, scenarios * examples, float(truth.sum()), draw)


def differences(rng: np.random.Generator) -> Iterator[Case]:
    """Yield differences between two agents; the second is better by 0.1 in every scenario."""
    for scenarios, examples in ((11, 3), (5, 20)):
        for runs, between in ((1, 0.0), (3, 0.0), (2, 0.1), (3, 0.1), (5, 0.1), (10, 0.1)):
            base = rng.uniform(0.35, 0.55, scenarios)

            def draw(
                base: Scores = base, examples: int = examples, runs: int = runs, between: float = between
            ) -> Interval | None:
                clusters = []
                for _ in range(runs):
                    shift = rng.normal(0.0, between)
                    luck = rng.random((len(base), examples))
                    other = np.where(rng.random(luck.shape) < 0.5, luck, rng.random(luck.shape))
                    worse = luck < base[:, None]
                    better = other < base[:, None] + 0.1 + shift
                    gaps = better.astype(float) - worse.astype(float)
                    clusters.append({str(i): row.tolist() for i, row in enumerate(gaps)})
                return paired_clusters(clusters).interval

            yield Case(
                f"paired, {scenarios} x {examples}",
                f"{runs} runs, between {between}",
                runs * scenarios * examples,
                0.1 * scenarios,
                draw,
            )


def shares(rng: np.random.Generator) -> Iterator[Case]:
    """Yield memory as a share of what could be had; scenarios differ by as much as the ends allow."""
    kinds = product(KINDS, MEMORY, ((12, 3), (4, 10), (1, 20), (1, 50), (11, 9)))
    for (kind, questions, blind, evidence), memory, (scenarios, examples) in kinds:
        apart = min(memory, 1 - memory) / 2
        rates = (
            np.linspace(memory - apart, memory + apart, scenarios) if scenarios > 1 else np.full(1, memory)
        )

        def draw(
            kind: str = kind, questions: int = questions, blind: float = blind, evidence: float = evidence,
            rates: Scores = rates, examples: int = examples,
        ) -> Interval | None:  # fmt: skip
            def below(chance: float | Scores) -> Scores:
                return rng.random((len(rates), examples, questions)) < chance

            knows, guesses = below(evidence), [below(blind)] * 3
            if kind != "steady":
                guesses = [below(blind) for _ in range(3)]
            told = knows | guesses[0]
            if kind == "varies":
                knows = below(evidence)
            scored = knows & below(rates[:, None, None]) | guesses[1]
            triples = np.stack([scored, guesses[2], told], axis=-1).mean(axis=2).tolist()
            return kept([{str(i): [Triple(*each) for each in of] for i, of in enumerate(triples)}]).interval

        name = f"{kind}, {questions} of {blind}/{evidence}, {memory}"
        yield Case(f"memory, {scenarios} x {examples}", name, scenarios * examples, memory, draw)


@measurement(__doc__, simulations=1000, only=("", "only figures whose names begin like this"))
def main(asked: Arguments) -> None:
    """Simulate and print."""
    rng = np.random.default_rng(0)
    row = table("figure", "kind", "n", "coverage", "width", names=2)
    for case in (*means(rng), *headlines(rng), *differences(rng), *shares(rng)):
        if not case.figure.startswith(asked.only):
            continue
        intervals = [case.draw() for _ in range(asked.simulations)]
        known = [each for each in intervals if each is not None]
        held = sum(each.holds(case.truth) for each in known) / len(known)
        width = sum(each.high - each.low for each in known) / len(known)
        row(case.figure, case.kind, case.n, f"{held:.3f}", f"{width:.2f}")
