"""The basis of a planned comparison: how much scores vary, measured in earlier runs or assumed."""

from collections.abc import Sequence
from typing import NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare
from ltm_bench.score.statistics.power import UNKNOWN, Noise, against_unknown, size_of

_ONE_SEED = (
    " Not included: runs may differ by more than their examples do. Runs with several seeds show by how much."
)


class Basis(NamedTuple):
    """The basis of a plan."""

    scenarios: int
    examples: float
    """Examples per scenario and run; the harmonic mean if scenarios differ."""
    noise: Noise
    source: str
    """The source of the noise, in words."""


def assumed(counts: Sequence[int]) -> Basis:
    """Return a basis without earlier runs.

    Args:
        counts: The number of examples of each scenario.
    """
    return Basis(
        len(counts),
        round(len(counts) / sum(1 / count for count in counts), 9),
        UNKNOWN,
        "Assumed: both agents are right half of the time, each independently of the other, which is the most that "
        "scores can vary. Agents that succeed on the same examples take fewer: name earlier runs to measure it."
        + _ONE_SEED,
    )


def measured(runs: Sequence[Scored]) -> Basis:
    """Return a basis from runs: the variance of several agents' differences, or of one agent's scores.

    Raises:
        ConfigError: The runs cannot tell.
    """
    comparison = compare(runs)
    found = [
        (pair.size, pair.noise)
        for pair in comparison.pairs
        if pair.complete and pair.size is not None and pair.noise is not None
    ]
    several = f"in {len(runs)} run{'s' * (len(runs) > 1)}"
    if found:
        between = [noise.between for size, noise in found if size.seeds > 1]
        return Basis(
            min(size.scenarios for size, _ in found),
            min(size.examples for size, _ in found),
            Noise(
                within=sum(noise.within for _, noise in found) / len(found),
                between=sum(between) / max(1, len(between)),
            ),
            f"Measured: how much the differences of {len(found)} pair{'s' * (len(found) > 1)} of agents vary, "
            f"{several}.{'' if between else _ONE_SEED}",
        )
    own = [run.results.by_scenario for run in runs if run.results.complete]
    noise = against_unknown(own) if own and len(comparison.cells) == 1 else None
    if noise is None:
        raise ConfigError(
            "these runs cannot show differences: name complete runs of one agent, or of several agents at the "
            "same span on the same examples, with at least two examples of each scenario"
        )
    size = size_of(own)
    return Basis(
        size.scenarios,
        size.examples,
        noise,
        f"Measured: how much the scores of {comparison.entrants[0]} vary, {several}; assumed: the other agent is right "
        f"half of the time, independently of it.{'' if len({run.manifest.seed for run in runs}) > 1 else _ONE_SEED}",
    )
