"""How many examples and seeds it takes to show a difference: the formula agrees with simulated comparisons."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Outcome
from ltm_bench.score.comparison.sizing import assumed, measured
from ltm_bench.score.statistics.intervals import paired_clusters
from ltm_bench.score.statistics.power import (
    MOST,
    UNKNOWN,
    Noise,
    Size,
    against_unknown,
    examples_needed,
    noise_of,
    power,
    seeds_in_words,
    seeds_needed,
    size_of,
    smallest_difference,
)
from perf.power import differences, simulated

if TYPE_CHECKING:
    from tests.made import Made

pytestmark = pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*"))

RIGHT, WRONG = Outcome.CORRECT, Outcome.WRONG


@pytest.mark.parametrize("within", [0.2, 0.5])
@pytest.mark.parametrize("between", [0.0, 0.0025])
@pytest.mark.parametrize(
    ("scenarios", "examples", "seeds"), [(11, 3, 1), (11, 15, 1), (11, 3, 3), (5, 20, 2), (11, 3, 10)]
)
def test_a_difference_of_the_smallest_size_is_shown_in_about_four_of_five_comparisons(
    scenarios: int, examples: int, seeds: int, within: float, between: float
) -> None:
    size, noise = (
        Size(scenarios=scenarios, examples=examples, seeds=seeds),
        Noise(within=within, between=between),
    )
    found = smallest_difference(size, noise)
    assert 0.72 <= simulated(found, size, noise, times=200) <= 0.92
    assert simulated(0.6 * found, size, noise, times=100) < 0.55


@pytest.mark.parametrize("seeds", [1, 3])
def test_the_planned_number_of_examples_shows_the_difference_and_half_of_it_does_not(seeds: int) -> None:
    each = examples_needed(0.5, 11, seeds, UNKNOWN)
    assert each is not None
    size = Size(scenarios=11, examples=each, seeds=seeds)
    assert 0.7 <= simulated(0.5, size, UNKNOWN, times=200) <= 0.9
    half = Size(scenarios=11, examples=each // 2, seeds=seeds)
    assert simulated(0.5, half, UNKNOWN, times=200) < 0.65


def test_the_planned_number_of_seeds_shows_the_difference() -> None:
    noise = Noise(within=0.3, between=0.002)
    seeds = seeds_needed(1.0, 11, 3, noise)
    assert seeds is not None
    size = Size(scenarios=11, examples=3, seeds=seeds)
    assert 0.72 <= simulated(1.0, size, noise, times=300) <= 0.9
    assert power(1.0, size.model_copy(update={"seeds": seeds - 1}), noise) < 0.8


def test_agents_that_are_right_half_of_the_time_are_told_apart_as_planned() -> None:
    """Simulates the scores of two independent agents, not their differences."""
    each = examples_needed(1.0, 11, 1, UNKNOWN)
    assert each is not None
    dice, shown = np.random.default_rng(3), 0
    for _ in range(300):
        ours, theirs = dice.random((11, each)) < 0.5 + 1 / 22, dice.random((11, each)) < 0.5 - 1 / 22
        gaps = ours.astype(float) - theirs
        shown += paired_clusters([{str(i): row.tolist() for i, row in enumerate(gaps)}]).shown
    assert 0.72 <= shown / 300 <= 0.9


def test_the_measured_noise_is_the_true_noise() -> None:
    true, dice = Noise(within=0.4, between=0.01), np.random.default_rng(1)
    size = Size(scenarios=5, examples=20, seeds=40)
    found = noise_of(list(differences(dice, 0.5, size, true)))
    assert found is not None
    assert found.within == pytest.approx(
        true.within + true.between, rel=0.1
    )  # pooled over runs, it holds both
    assert found.between == pytest.approx(true.between, rel=0.35)
    assert size_of(list(differences(dice, 0.5, size, true))) == size


def test_agreement_of_few_examples_is_not_taken_for_certainty() -> None:
    found = noise_of([{"a": [0.0, 0.0, 0.0]}])
    assert found is not None
    assert found.within > 0.3
    assert noise_of([{"a": [0.0]}]) is None
    assert noise_of([]) is None


def test_an_unreachable_difference_is_reported_as_such() -> None:
    assert examples_needed(0.01, 11, 1, UNKNOWN) is None
    assert seeds_needed(0.001, 11, 3, UNKNOWN) is None
    restless = Noise(within=0.2, between=0.04)
    assert examples_needed(0.5, 11, 2, restless) is None, "more examples do not help when runs differ"
    assert seeds_needed(0.5, 11, MOST, restless) is not None


def test_the_smallest_difference_is_no_larger_than_the_highest_score() -> None:
    noise = against_unknown([{"x": [0.0, 1.0]}])
    assert noise is not None
    assert smallest_difference(Size(scenarios=1, examples=2, seeds=1), noise) == 1


def test_more_of_anything_never_shows_less_except_the_second_seed() -> None:
    def shown(examples: int, seeds: int) -> float:
        return smallest_difference(Size(scenarios=11, examples=examples, seeds=seeds), UNKNOWN)

    assert shown(3, 1) > shown(6, 1) > shown(12, 1)
    assert shown(3, 2) > shown(3, 3) > shown(3, 9)
    assert shown(3, 2) == pytest.approx(shown(3, 1), rel=0.05), (
        "two runs say little about the variation between runs"
    )


def test_runs_that_agree_on_examples_need_fewer_than_is_assumed(made: "Made") -> None:
    mixed = [RIGHT, WRONG, RIGHT, RIGHT, WRONG, WRONG, RIGHT]
    one, other = made.run("one", mixed), made.run("other", [*mixed[:6], WRONG])
    basis = measured([one, other])
    assert (basis.scenarios, basis.examples) == (5, 6)
    assert basis.noise.within < UNKNOWN.within
    assert "1 pair of agents" in basis.source
    alone = measured([one])
    assert basis.noise.within < alone.noise.within
    assert "the scores of one" in alone.source


@pytest.mark.unkept
def test_how_much_runs_differ_is_taken_from_the_pairs_that_have_several_seeds(made: "Made") -> None:
    good, bad = [[RIGHT], [RIGHT, WRONG], [RIGHT]], [[WRONG], [RIGHT, WRONG], [WRONG]]
    one, other = (
        [made.run(name, outcomes, seed=seed) for seed, outcomes in enumerate(of)]
        for name, of in (("one", good), ("other", bad))
    )
    several = measured([*one, *other])
    assert several.noise.between > 0
    assert "Not included" not in several.source
    with_third = measured([*one, *other, made.run("third", [WRONG, RIGHT], seed=0)])
    assert with_third.noise.between == pytest.approx(several.noise.between), (
        "two of three pairs cannot show it"
    )
    assert "Not included" not in with_third.source


def test_what_was_measured_as_zero_is_not_called_left_out(made: "Made") -> None:
    mixed = [RIGHT, WRONG, RIGHT, RIGHT, WRONG]
    runs = [
        made.run(name, of, seed=seed) for seed in (0, 1) for name, of in (("one", mixed), ("other", [WRONG]))
    ]
    both = measured(runs)
    assert both.noise.between == 0
    assert "Not included" not in both.source
    for few in (measured(runs[:2]), measured(runs[:1]), measured([runs[0], runs[0]]), assumed([3])):
        assert few.source.endswith("Runs with several seeds show by how much.")
    assert "Not included" not in measured([runs[0], runs[2]]).source


def test_runs_without_information_are_refused(made: "Made") -> None:
    short = made.run("a", each=1)
    with pytest.raises(ConfigError, match="cannot show differences"):
        measured([short])
    with pytest.raises(ConfigError, match="cannot show differences"):
        measured([made.run("a"), made.run("b", span=2_000)])


def test_a_suite_whose_scenarios_have_different_numbers_counts_its_small_ones() -> None:
    assert assumed([3, 3, 3]).examples == pytest.approx(3)
    assert assumed([1, 9]).examples == pytest.approx(1.8)


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        (1, "about 1 seed"),
        (12, "about 12 seeds"),
        (MOST, "about 1,000 seeds"),
        (None, "more than 1,000 seeds"),
    ],
)
def test_a_number_of_seeds_in_words(seeds: int | None, words: str) -> None:
    assert seeds_in_words(seeds) == words
