"""How often a race is wrong, and how many seeds it takes beside a fixed plan of equal power: simulated races.

    python -m perf.races [--races 1000] [--most 20] [--agents 2 3 5]

Agents answer eleven scenarios of three examples, right, partly or not, by a latent normal variable. What a round and an
example have in common for all agents has the given correlation; how much a round's score varies from seed to seed is
calibrated. One agent is better by the given share of all points, the others are alike. Differences, intervals and
decisions are those of the code. `planned` is the difference that a fixed plan of `--most` seeds would show with a power
of 80 %; the fixed plan beside a race has the power that the race turned out to have.
"""

from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ltm_bench.score.comparison.racing import Preference, Race, Rules, decide
from ltm_bench.score.statistics.intervals import Interval
from ltm_bench.score.statistics.power import Noise, Size, power, smallest, smallest_difference
from ltm_bench.score.statistics.sequential import FIRST, Interim, arm
from perf.arguments import parser_for

SCENARIOS, EXAMPLES = 11, 3
SPREADS = (0.08, 0.15, 0.3)
CORRELATIONS = (0.0, 0.4, 0.8)
DIFFERENCES = (0.0, 0.05, 0.1, 0.2)
EASE = np.linspace(-0.9, 0.9, SCENARIOS)
"""How easy each scenario is, on the scale of the latent variable."""
HALF = 0.2
"""Below this distance from 0, a reply is worth half a point."""

Scores = np.ndarray


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


def looks(gaps: Scores, most: int, error: float) -> list[Interim]:
    """Return the looks at a pair's differences: round, scenario, example. The sums are `Pool`'s, over all rounds."""
    totals, found = gaps.mean(axis=2).sum(axis=1), []
    for rounds in range(FIRST, most + 1):
        here, total = totals[:rounds], float(totals[:rounds].mean())
        half = arm(float(here.var(ddof=1) / rounds), EXAMPLES * rounds, rounds, most, error)
        interval = Interval(low=total - half, high=total + half)
        found.append(Interim(rounds=rounds, difference=total, interval=interval))
    return found


def raced(scores: Scores, rules: Rules) -> Race:
    """Run a race on scores: agent, round, scenario, example."""
    race = Race.of([str(i) for i in range(len(scores))], rules)
    seen = {
        pair: looks(scores[pair[0]] - scores[pair[1]], rules.most, race.error)
        for pair in combinations(range(len(scores)), 2)
    }
    for rounds in range(FIRST, rules.most + 1):
        race.rounds = rounds
        for duel in race.open:
            found = seen[int(duel.first), int(duel.second)][rounds - FIRST]
            duel.decision = decide(found, found, rules.least)
        race.drop()
        if race.end is not None:
            break
    return race


def wrong(race: Race, difference: float) -> bool:
    """Whether any decision of a race is wrong: the first agent is better by this share of all points, or is not."""
    for duel in race.duels:
        gap = difference * SCENARIOS if duel.first == "0" else 0.0
        allowed = {Preference.OPEN, *([Preference.FIRST] if gap else [])}
        allowed |= {Preference.EQUAL} if gap < race.rules.least - 1e-9 else set()
        if duel.decision not in allowed:
            return True
    return False


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


def show(setting: Setting, rules: Rules, races: int, *, name: str = "", plan: int = 0) -> int:
    """Simulate a cell, and print its line. Returns the fixed plan: the given one, or else the one of equal power."""
    agents, difference, spread, correlation = setting
    tau, shift = calibrated(spread, difference)
    noise = noise_in(tau, correlation, shift)
    rng = np.random.default_rng([round(1000 * each) for each in setting])
    done = [
        raced(draw(rng, (1, agents, rules.most), tau, shift, correlation)[0], rules) for _ in range(races)
    ]
    best = [all(each.decision is Preference.FIRST for each in race.duels[: agents - 1]) for race in done]
    equal = sum(race.duels[-1].decision is Preference.EQUAL for race in done) / races
    share = sum(best) / races
    rounds = float(np.median([race.rounds for race in done]))
    plan = fixed_plan(share, difference * SCENARIOS, noise) if name == "planned" else plan
    beside = f"{plan:>6} {rounds / plan:>6.2f}" if plan else f"{'–':>6} {'–':>6}"
    print(
        f"{name:>8} {agents:>6} {difference:>6.3f} {spread:>6} {correlation:>5} {races:>6} "
        f"{sum(wrong(race, difference) for race in done):>5} {share:>7.3f} {equal:>6.3f} {rounds:>6.1f} {beside}",
        flush=True,
    )
    return plan


def main() -> None:
    """Simulate and print."""
    parser = parser_for(__doc__, races=1000, most=20)
    parser.add_argument("--agents", type=int, nargs="+", default=[2, 3, 5])
    asked = parser.parse_args()
    print(
        f"{'':>8} {'agents':>6} {'better':>6} {'spread':>6} {'corr':>5} {'races':>6} {'wrong':>5} {'decided':>7} "
        f"{'equal':>6} {'seeds':>6} {'fixed':>6} {'ratio':>6}"
    )
    for agents in asked.agents:
        for spread in SPREADS:
            for correlation in CORRELATIONS if agents == 2 else CORRELATIONS[1:2]:
                rules = Rules(most=asked.most, least=0.1 * SCENARIOS)
                for difference in DIFFERENCES:
                    show(Setting(agents, difference, spread, correlation), rules, asked.races)
                if agents > 2:
                    continue
                size = Size(scenarios=SCENARIOS, examples=EXAMPLES, seeds=asked.most)
                points = smallest_difference(size, noise_in(calibrated(spread, 0.0)[0], correlation))
                rules, plan = Rules(most=asked.most, least=points), 0
                for name, times in (("planned", 1), ("twice", 2), ("equal", 0)):
                    setting = Setting(agents, times * points / SCENARIOS, spread, correlation)
                    plan = show(setting, rules, asked.races, name=name, plan=plan)


if __name__ == "__main__":
    main()
