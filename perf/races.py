"""How often a race is wrong, and how many seeds it takes beside a fixed plan of equal power: simulated races.

    python -m perf.races [--races 1000] [--most 40] [--agents 2 3 5]

Agents answer eleven scenarios of three examples, right, partly or not, by a latent normal variable. What a round and an
example have in common for all agents has the given correlation; how much a round's score varies from seed to seed is
calibrated. One agent is better by the given share of all points, the others are alike. The arms of intervals are those
of the code, and a test compares the decisions. `planned` is the difference that a fixed plan of `--most` seeds would
show with a power of 80 %; the fixed plan beside a race has the power that the race turned out to have.
"""

from collections.abc import Callable
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ltm_bench.api.racing import MOST
from ltm_bench.score.comparison.racing import Preference, Rules
from ltm_bench.score.statistics.intervals import CONFIDENCE
from ltm_bench.score.statistics.power import Noise, Size, power, smallest, smallest_difference
from ltm_bench.score.statistics.sequential import FIRST, arm
from perf.harness import Arguments, measurement, table

SCENARIOS, EXAMPLES = 11, 3
SPREADS = (0.08, 0.15, 0.3)
CORRELATIONS = (0.0, 0.4, 0.8)
DIFFERENCES = (0.0, 0.05, 0.1, 0.2)
EASE = np.linspace(-0.9, 0.9, SCENARIOS)
"""How easy each scenario is, on the scale of the latent variable."""
HALF = 0.2
"""Below this distance from 0, a reply is worth half a point."""

Scores = np.ndarray

Decisions = dict[tuple[int, int], np.ndarray]
"""What every race says of each pair of agents: values of `Preference`."""

Row = Callable[..., None]
"""Prints a row of the table."""

_SAID = [Preference.FIRST, Preference.SECOND, Preference.EQUAL]
_arms = np.vectorize(arm, otypes=[float])


class Setting(NamedTuple):
    """A cell of the simulation."""

    agents: int
    difference: float
    """How much better the first agent is, as a share of all points."""
    spread: float
    """Standard deviation of a round's score over seeds, as a share of all points."""
    correlation: float


def draw(rng: np.random.Generator, shape: tuple[int, int, int], tau: float, shift: float, r: float) -> Scores:
    """Draw scores: race, agent, round, scenario, example. The first agent's latent variable is shifted."""
    races, agents, rounds = shape

    def common(*size: int) -> Scores:
        alone, shared = rng.normal(size=(races, agents, *size)), rng.normal(size=(races, 1, *size))
        mixed: Scores = (1 - r) ** 0.5 * alone + r**0.5 * shared
        return mixed

    latent = tau * common(rounds, 1, 1) + common(rounds, SCENARIOS, EXAMPLES) + EASE[:, None]
    latent[:, 0] += shift
    scores: Scores = ((latent > -HALF).astype(float) + (latent > HALF)) / 2
    return scores


def calibrated(spread: float, difference: float) -> tuple[float, float]:
    """Return the deviation of rounds, and the shift of the first agent, that give a spread and a difference."""
    normal = NormalDist()

    def mean(tau: float, shift: float) -> float:
        scale = (1 + tau**2) ** 0.5
        ends = [normal.cdf((ease + shift + side) / scale) for ease in EASE for side in (-HALF, HALF)]
        return sum(ends) / len(ends)

    def deviation(tau: float) -> float:
        found = draw(np.random.default_rng(1), (1, 1, 4000), tau, 0.0, 0.0)
        return float(found.mean(axis=(3, 4)).std())

    tau = smallest(lambda each: deviation(each) >= spread, 5.0)
    return tau, smallest(lambda shift: mean(tau, shift) - mean(tau, 0.0) >= difference, 10.0)


def points(rng: np.random.Generator, races: int, setting: Setting, most: int) -> Scores:
    """Draw the points of rounds: race, agent, round; a hundred races at a time."""
    tau, shift = calibrated(setting.spread, setting.difference)
    shape = (100, setting.agents, most)
    drawn = (draw(rng, shape, tau, shift, setting.correlation) for _ in range(0, races, 100))
    return np.concatenate([scores.mean(axis=4).sum(axis=3) for scores in drawn])[:races]


def raced(points: Scores, rules: Rules) -> tuple[Scores, Decisions]:
    """Run races on the points of their rounds: race, agent, round. Returns the rounds that each took, and decided."""
    races, agents, _ = points.shape
    racing, taken = np.full((races, agents), True), np.zeros(races)
    decided = {pair: np.full(races, Preference.OPEN.value, "U30") for pair in combinations(range(agents), 2)}
    error = (1 - CONFIDENCE) / len(decided)
    for rounds in range(FIRST, rules.most + 1):
        for pair, decision in decided.items():
            live = (decision == Preference.OPEN) & racing[:, pair].all(axis=1)
            taken[live] = rounds
            gaps = points[live, pair[0], :rounds] - points[live, pair[1], :rounds]
            half = _arms(gaps.var(axis=1, ddof=1) / rounds, EXAMPLES * rounds, rounds, rules.most, error)
            low, high = gaps.mean(axis=1) - half, gaps.mean(axis=1) + half
            equal = (-rules.least < low) & (high < rules.least)
            decision[live] = np.select([low > 0, high < 0, equal], _SAID, Preference.OPEN)
        for (one, other), decision in decided.items():
            racing[decision == Preference.FIRST, other] = False
            racing[decision == Preference.SECOND, one] = False
    return taken, decided


def wrong(decided: Decisions, difference: float, least: float) -> Scores:
    """Which races decide anything wrong: the first agent is better by this share of all points, or is not."""
    found = []
    for (one, _), decision in decided.items():
        gap = difference * SCENARIOS if one == 0 else 0.0
        false = {Preference.SECOND} if gap else {Preference.FIRST, Preference.SECOND}
        false |= {Preference.EQUAL} if gap >= least - 1e-9 else set()
        found.append(np.isin(decision, list(false)))
    any_wrong: Scores = np.any(found, axis=0)
    return any_wrong


def fixed_plan(share: float, points: float, noise: Noise) -> int:
    """Return the number of seeds of a fixed plan that shows a difference with this power."""
    plans = (Size(scenarios=SCENARIOS, examples=EXAMPLES, seeds=seeds) for seeds in range(1, 1000))
    return next((size.seeds for size in plans if power(points, size, noise) >= share), 1000)


def noise_in(tau: float, correlation: float, shift: float = 0.0) -> Noise:
    """Return the noise of a difference between two agents, of which the first is shifted."""
    gaps = draw(np.random.default_rng(2), (1, 2, 20000), tau, shift, correlation)
    gap = gaps[0, 0] - gaps[0, 1]
    within = float(gap.var(axis=2, ddof=1).mean())
    between = float(gap.mean(axis=(1, 2)).var(ddof=1)) - within / (SCENARIOS * EXAMPLES)
    return Noise(within=within, between=max(0.0, between))


def show(row: Row, setting: Setting, rules: Rules, races: int, *, name: str = "", plan: int = 0) -> int:
    """Simulate a cell, and print its line. Returns the fixed plan: the given one, or else the one of equal power."""
    agents, difference, spread, correlation = setting
    rng = np.random.default_rng([round(1000 * each) for each in setting])
    taken, decided = raced(points(rng, races, setting, rules.most), rules)
    best = [decided[0, other] == Preference.FIRST for other in range(1, agents)]
    share = float(np.all(best, axis=0).mean())
    equal = float((decided[agents - 2, agents - 1] == Preference.EQUAL).mean())
    rounds = float(np.median(taken))
    if name == "planned":
        tau, shift = calibrated(spread, difference)
        plan = fixed_plan(share, difference * SCENARIOS, noise_in(tau, correlation, shift))
    beside = (plan, f"{rounds / plan:.2f}") if plan else ("–", "–")
    found = (int(wrong(decided, difference, rules.least).sum()), f"{share:.3f}", f"{equal:.3f}", rounds)
    row(name, agents, f"{difference:.3f}", spread, correlation, races, *found, *beside)
    return plan


@measurement(__doc__, races=1000, most=MOST, agents={"type": int, "nargs": "+", "default": [2, 3, 5]})
def main(asked: Arguments) -> None:
    """Simulate and print."""
    row = table(*"which agents better spread corr races wrong decided equal seeds fixed ratio".split())
    for agents in asked.agents:
        for spread in SPREADS:
            for correlation in CORRELATIONS if agents == 2 else CORRELATIONS[1:2]:
                rules = Rules(most=asked.most, least=0.1 * SCENARIOS)
                for difference in DIFFERENCES:
                    show(row, Setting(agents, difference, spread, correlation), rules, asked.races)
                if agents > 2:
                    continue
                size = Size(scenarios=SCENARIOS, examples=EXAMPLES, seeds=asked.most)
                least = smallest_difference(size, noise_in(calibrated(spread, 0.0)[0], correlation))
                rules, plan = Rules(most=asked.most, least=least), 0
                for name, times in (("planned", 1), ("twice", 2), ("equal", 0)):
                    setting = Setting(agents, times * least / SCENARIOS, spread, correlation)
                    plan = show(row, setting, rules, asked.races, name=name, plan=plan)
