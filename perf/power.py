"""How often a difference is detected if the formula of `score.statistics.power` promises 80 %: simulated runs.

    python -m perf.power [--simulations 1000]

Two agents are simulated by the differences of their scores on the same examples: 1, 0 or -1, with the requested mean
and variance, and a mean that shifts from run to run.
"""

from collections.abc import Iterator

import numpy as np

from ltm_bench.score.statistics.intervals import paired_clusters
from ltm_bench.score.statistics.power import Noise, Size, power, smallest_difference
from perf.harness import Arguments, measurement, table

SIZES = ((11, 3), (11, 15), (5, 20), (1, 100))
NOISES = (Noise(within=0.5), Noise(within=0.2), Noise(within=0.2, between=0.0025))


def differences(
    rng: np.random.Generator, difference: float, size: Size, noise: Noise
) -> Iterator[dict[str, list[float]]]:
    """Draw the differences of each pair of runs, by scenario."""
    mean = difference / size.scenarios
    moved = max(noise.within + mean**2, abs(mean))  # how often the two agents differ at all
    for _ in range(size.seeds):
        here = float(np.clip(mean + rng.normal(0, noise.between**0.5), -moved, moved))
        luck = rng.random((size.scenarios, round(size.examples)))
        drawn = (luck < (moved + here) / 2).astype(float) - (luck > 1 - (moved - here) / 2)
        yield {str(i): row.tolist() for i, row in enumerate(drawn)}


def simulated(difference: float, size: Size, noise: Noise, times: int, seed: int = 0) -> float:
    """Return the share of comparisons that show a difference."""
    rng = np.random.default_rng(seed)
    return (
        sum(paired_clusters(list(differences(rng, difference, size, noise))).shown for _ in range(times))
        / times
    )


@measurement(__doc__, simulations=1000)
def main(asked: Arguments) -> None:
    """Simulate and print."""
    row = table(*"scenarios examples seeds within between points shown formula".split(), names=0)
    for scenarios, examples in SIZES:
        for noise in NOISES:
            for seeds in (1, 2, 3, 5, 10):
                size = Size(scenarios=scenarios, examples=examples, seeds=seeds)
                points = smallest_difference(size, noise)
                shown = simulated(points, size, noise, asked.simulations)
                figures = (f"{points:.2f}", f"{shown:.3f}", f"{power(points, size, noise):.2f}")
                row(scenarios, examples, seeds, noise.within, noise.between, *figures)
