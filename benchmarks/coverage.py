"""How often the 95 % interval of a headline score holds the truth: simulated agents whose true scores are known.

    python benchmarks/coverage.py [--simulations 400]

Each row is a kind of agent at a number of scenarios and of examples per scenario. `coverage` should be 0.95 or a little
more; `width` is the mean width of the interval, in points of the sum.
"""

from __future__ import annotations

import argparse

import numpy as np

from ltm_bench.scoring import sum_interval

SIZES = ((5, 3), (11, 3), (5, 10), (11, 9), (5, 20))


def agents(scenarios: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return true scores by scenario for agents of different kinds."""
    return {
        "middling": rng.uniform(0.3, 0.7, scenarios),
        "uneven": rng.beta(0.5, 0.5, scenarios),
        "nearly perfect": np.full(scenarios, 0.95),
        "all or nothing": np.resize([0.02, 0.98], scenarios),
    }


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulations", type=int, default=400)
    count = parser.parse_args().simulations
    rng = np.random.default_rng(0)
    print(f"{'scenarios':>9} {'examples':>8}  {'agent':<15} {'coverage':>8} {'width':>6}")
    for scenarios, examples in SIZES:
        for kind, truth in agents(scenarios, rng).items():
            held, width = 0, 0.0
            for _ in range(count):
                scores = (rng.random((scenarios, examples)) < truth[:, None]).astype(float)
                interval = sum_interval({str(i): row.tolist() for i, row in enumerate(scores)})
                assert interval is not None
                held += interval.low <= truth.sum() <= interval.high
                width += interval.high - interval.low
            print(f"{scenarios:>9} {examples:>8}  {kind:<15} {held / count:>8.3f} {width / count:>6.2f}")


if __name__ == "__main__":
    main()
