"""Intervals and tests agree with published figures, with scipy, and with what must always hold."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ltm_bench.score.statistics.intervals import (
    Interval,
    Pool,
    above_zero,
    clustered_sum_interval,
    mean_interval,
    median_interval,
    paired_clusters,
    percentile,
    spread,
    student,
    sum_interval,
    wilson,
)


@pytest.mark.parametrize(  # the second to fourth from Newcombe (1998), table I
    ("right", "n", "low", "high"),
    [(0, 3, 0.0, 0.5615), (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)],
)
def test_wilsons_interval_is_the_published_one(right: int, n: int, low: float, high: float) -> None:
    interval = wilson(right / n, n)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


def test_an_interval_holds_its_ends() -> None:
    interval = Interval(low=0.25, high=0.75)
    assert [interval.holds(value) for value in (0.24, 0.25, 0.5, 0.75, 0.76)] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_a_mean_that_rounding_put_outside_is_taken_for_the_end() -> None:
    assert wilson(1 + 1e-12, 7) == wilson(1.0, 7)
    assert wilson(-1e-12, 7) == wilson(0.0, 7)


def effective(groups: Sequence[Sequence[float]], surprise: float) -> tuple[float, float]:
    """Return the mean over strata and the effective number of scores, as `docs/design/statistics.md` defines them."""
    count, sizes = len(groups), [len(each) for each in groups]
    variance = sum(float(np.var(each, ddof=1)) / len(each) for each in groups) + (surprise / min(sizes)) ** 2
    mean = float(np.mean([np.mean(each) for each in groups]))
    real = count**2 / sum(1 / size for size in sizes)
    return mean, max(real, float(mean * (1 - mean) * count**2 / variance))


def score_interval(mean: float, number: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the shares that a score test does not reject: the roots of (mean - p)² = z² p (1 - p) / n."""
    ratio = stats.norm.ppf(0.5 + confidence / 2) ** 2 / number
    low, high = sorted(np.roots([1 + ratio, -2 * mean - ratio, mean**2]).real)
    return float(low), float(high)


GROUPS = [
    [[1.0, 0.0, 0.5, 1.0], [0.25, 0.75, 0.5]],
    [[1.0, 0.0] * 4, [0.5] * 9, [0.0, 0.0, 1.0, 0.5, 0.5]],
    [[0.5, 0.6, 0.4, 0.5] * 5, [0.5, 0.5, 0.45, 0.55] * 4],
]


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_interval_of_a_sum_is_that_of_a_score_test_with_the_effective_number(
    groups: list[list[float]], confidence: float
) -> None:
    found = sum_interval(dict(zip("abc", groups, strict=False)), confidence)
    assert found is not None
    low, high = score_interval(*effective(groups, 1.0), confidence)
    assert (found.low, found.high) == pytest.approx((len(groups) * low, len(groups) * high))
    if len(groups) == 2:
        one, theirs = mean_interval(groups[0]), score_interval(*effective(groups[:1], 1.0))
        assert (one.low, one.high) == pytest.approx(theirs)


STRATA = st.dictionaries(
    st.text(max_size=3),
    st.lists(st.floats(0, 1, allow_subnormal=False), min_size=2, max_size=6),
    min_size=1,
    max_size=5,
)


@given(strata=STRATA)
@settings(max_examples=40, deadline=None)
def test_the_interval_of_a_sum_holds_the_sum_and_never_collapses(strata: dict[str, list[float]]) -> None:
    interval = sum_interval(strata)
    assert interval is not None
    total = sum(sum(scores) / len(scores) for scores in strata.values())
    assert 0 <= interval.low <= total + 1e-9
    assert total - 1e-9 <= interval.high <= len(strata)
    assert interval.high - interval.low > 0.05
    assert interval == sum_interval(strata)


def test_a_single_example_has_no_interval() -> None:
    assert sum_interval({"a": [1.0], "b": [0.0, 1.0]}) is None
    assert sum_interval({}) is None


@pytest.mark.parametrize(("right", "n"), [(0, 3), (2, 3), (17, 33), (33, 33), (93, 100)])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_wilsons_interval_agrees_with_scipy(right: int, n: int, confidence: float) -> None:
    ours = wilson(right / n, n, confidence)
    theirs = stats.binomtest(right, n).proportion_ci(confidence, method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@pytest.mark.parametrize("freedom", [3, 4, 6, 11, 60])
@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
def test_students_quantile_agrees_with_scipy(freedom: int, confidence: float) -> None:
    theirs = stats.t.ppf(0.5 + confidence / 2, freedom)
    assert student(freedom, confidence) == pytest.approx(theirs, rel=2e-3)


@pytest.mark.parametrize("freedom", [0.5, 1.0, 7.0])
def test_students_quantile_is_the_published_expansion(freedom: float) -> None:
    """Abramowitz & Stegun 26.7.5; the quantile itself is too near to tell the terms apart."""
    z = stats.norm.ppf(0.975)
    published = {1: ([1, 0, 1, 0], 4), 2: ([5, 0, 16, 0, 3, 0], 96), 3: ([3, 0, 19, 0, 17, 0, -15, 0], 384)}
    published[4] = ([79, 0, 776, 0, 1482, 0, -1920, 0, -945, 0], 92160)
    terms = (np.polyval(each, z) / whole / freedom**power for power, (each, whole) in published.items())
    assert student(freedom) == pytest.approx(z + sum(terms), rel=1e-12)


@pytest.mark.parametrize(
    ("count", "confidence", "ends"),
    [(6, 0.95, (0, 5)), (7, 0.95, (0, 6)), (12, 0.95, (2, 10)), (100, 0.5, (46, 54)), (100, 0.95, (40, 60))],
)
def test_the_interval_of_a_median_is_a_pair_of_ranks(
    count: int, confidence: float, ends: tuple[int, int]
) -> None:
    found = median_interval([float(n) for n in reversed(range(count))], confidence)
    assert found is not None
    assert (found.low, found.high) == ends


def test_the_interval_of_a_median_consists_of_values_and_widens_with_few() -> None:
    assert median_interval([3.0, 1.0, 2.0, 5.0, 4.0]) is None
    few, many = (median_interval(list(map(float, range(n)))) for n in (9, 900))
    assert few is not None
    assert many is not None
    assert (few.low, few.high) == (1.0, 8.0)
    assert 0.46 < many.low / 900 < 0.5 < many.high / 900 < 0.54


def test_the_interval_of_a_median_contains_the_true_one_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    drawn = [median_interval(rng.lognormal(0.5, 0.8, 60).tolist()) for _ in range(2000)]
    held = sum(each.holds(np.exp(0.5)) for each in drawn if each is not None) / len(drawn)
    assert 0.94 <= held <= 0.985


def test_the_interval_of_a_mean_is_narrower_for_scores_that_vary_less_than_right_or_wrong() -> None:
    halves = mean_interval([0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0] * 4)
    whole = mean_interval([0.0, 1.0] * 16)
    assert halves.holds(0.5)
    assert whole.holds(0.5)
    assert halves.high - halves.low < 0.7 * (whole.high - whole.low)
    assert mean_interval([1.0] * 5).low < 1.0  # five that agree do not prove that the sixth would


def test_the_variance_of_runs_is_split_into_that_of_seeds_and_that_of_the_agent() -> None:
    rng = np.random.default_rng(5)
    runs = {seed: (rng.normal(0, 3) + rng.normal(0, 1, 4)).tolist() for seed in range(400)}
    found = spread(runs)
    assert found is not None
    assert found.seeds == pytest.approx(3, rel=0.1)
    assert found.agent == pytest.approx(1, rel=0.05)
    few = {0: [1.0, 2.0, 4.0], 1: [6.0, 7.0, 9.0]}  # with equal sizes, scipy's F is the same ratio
    ratio = stats.f_oneway(*few.values()).statistic
    split = spread(few)
    assert split is not None
    assert split.agent is not None
    assert split.seeds == pytest.approx(split.agent * ((ratio - 1) / 3) ** 0.5)


@pytest.mark.parametrize("n", [3, 9, 33])
@pytest.mark.parametrize("truth", [[0.5] * 8, [0.1, 0.9] * 4, [0.95] * 8])
def test_the_interval_of_a_sum_holds_the_truth_in_95_of_100_cases(n: int, truth: list[float]) -> None:
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(1000):
        scores = rng.random((8, n)) < np.array(truth)[:, None]
        interval = sum_interval({str(i): row.astype(float).tolist() for i, row in enumerate(scores)})
        assert interval is not None
        held += interval.holds(sum(truth))
    assert 920 <= held <= (999 if n == 3 else 985)  # three right-or-wrong scores move in coarse steps


def test_one_stratum_has_about_wilsons_interval() -> None:
    scores = [1.0] * 20 + [0.0] * 13
    ours, wilsons = sum_interval({"a": scores}), wilson(20 / 33, 33)
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((wilsons.low, wilsons.high), abs=0.02)


def test_spreads_of_unequal_groups_are_those_of_the_analysis_of_variance() -> None:
    seeds = {0: [1.0, 2.0, 4.0], 1: [6.0, 9.0], 2: [], 3: [3.0]}
    found = spread(seeds, [[1.0, 2.0, 6.0], [5.0], [2.0, 4.0]])
    groups = [each for each in seeds.values() if each]
    runs = [score for each in groups for score in each]
    within = sum(np.var(each) * len(each) for each in groups) / 3
    between = sum(len(each) * (np.mean(each) - np.mean(runs)) ** 2 for each in groups) / 2
    size = (6 - (9 + 4 + 1) / 6) / 2  # runs per seed, as unequal groups count
    assert found is not None
    assert found.total == pytest.approx(np.std(runs, ddof=1))
    assert found.agent == pytest.approx(within**0.5)
    assert found.seeds == pytest.approx(((between - within) / size) ** 0.5)
    assert found.judge == pytest.approx(((4 + 1 + 9 + 1 + 1) / 3) ** 0.5)
    alike = spread({0: [1.0, 5.0], 1: [2.0, 4.0]})
    assert alike is not None
    assert alike.seeds == 0


def test_the_effect_of_another_judge_is_a_separate_component() -> None:
    rng = np.random.default_rng(7)
    judged = [(base + rng.normal(0, 0.5, 3)).tolist() for base in rng.normal(0, 9, 300)]
    found = spread({0: [1.0, 3.0]}, judged)
    assert found is not None
    assert found.judge == pytest.approx(0.5, rel=0.1)
    assert found.agent == pytest.approx(2**0.5)
    alone = spread({0: [1.0]}, [[4.0, 6.0]])
    assert alone is not None
    assert (alone.total, alone.agent) == (None, None)
    assert alone.judge == pytest.approx(2**0.5)
    assert spread({0: [1.0]}, [[4.0]]) is None


def test_variance_is_not_split_without_enough_repeats() -> None:
    assert spread({0: [3.0]}) is None
    alone = spread({0: [3.0], 1: [5.0]})
    assert alone is not None
    assert (alone.seeds, alone.agent) == (None, None)
    assert alone.total == pytest.approx(2**0.5)
    one_seed = spread({0: [3.0, 5.0]})
    assert one_seed is not None
    assert (one_seed.seeds, one_seed.agent) == (None, one_seed.total)


@pytest.mark.parametrize("level", [0, 50, 95, 99, 100])
def test_percentiles_agree_with_numpy(level: float) -> None:
    for n in (1, 2, 7, 40):
        sample = np.random.default_rng(n).random(n).tolist()
        assert percentile(sample, level) == pytest.approx(np.percentile(sample, level))


def test_pairs_that_do_not_differ_are_not_evidence() -> None:
    assert paired_clusters([{"a": [0.0] * 40}]).p == 1.0
    assert paired_clusters([]).p is None
    assert paired_clusters([{"a": [1.0]}]).p is None


def test_for_one_scenario_and_one_run_the_test_is_the_score_test_of_a_share() -> None:
    """Wins and losses only, so many that the precaution for few examples is negligible: Pearson's chi-squared test."""
    wins, losses = 620, 540
    found = paired_clusters([{"a": [1.0] * wins + [-1.0] * losses}])
    theirs = stats.chisquare([wins, losses]).pvalue
    assert found.p == pytest.approx(theirs, abs=1e-3)


def test_a_paired_difference_is_in_points_of_the_sum_and_shown_only_where_it_is_clear() -> None:
    found = paired_clusters([{"a": [1.0] * 10, "b": [0.5, -0.5] * 5}])
    assert (found.difference, found.n, found.clusters) == (1.0, 20, 1)
    assert found.interval is not None
    assert found.interval.holds(1.0)
    assert found.shown
    assert not paired_clusters([{"a": [0.0] * 3, "b": [1.0, 0.0, -1.0]}]).shown
    alone = paired_clusters([{"a": [1.0]}])
    assert alone.interval is None
    assert alone.p is None
    assert not alone.shown


def width(runs: list[dict[str, list[float]]]) -> float:
    interval = paired_clusters(runs).interval
    assert interval is not None
    return interval.high - interval.low


def test_runs_that_disagree_widen_the_interval_and_runs_that_agree_do_not_narrow_it() -> None:
    one = [1.0, 0.0, 0.5, 0.0, 1.0] * 3
    other = [-d for d in one]
    pooled = width([{"a": one + other}])
    agree = width([{"a": one[:8] + other[:8]}, {"a": one[8:] + other[8:]}])
    disagree = width([{"a": one}, {"a": other}])
    assert pooled <= agree < 0.6 * disagree


def test_several_runs_together_have_an_interval_that_knows_how_much_they_vary() -> None:
    alike, apart = [{"a": [1.0, 0.0] * 8}] * 2, [{"a": [1.0] * 16}, {"a": [0.0] * 16}]
    narrow, wide, one = clustered_sum_interval(alike), clustered_sum_interval(apart), sum_interval(alike[0])
    assert narrow is not None
    assert wide is not None
    assert narrow.holds(0.5)
    assert (wide.low, wide.high) == (0.0, 1.0)
    assert clustered_sum_interval(alike[:1]) == one
    assert clustered_sum_interval([{"a": [1.0]}]) is None


RUNS = [
    {"a": [0.5, 0.25, 0.75, 0.5], "b": [0.4, 0.6]},
    {"a": [0.75, 1.0], "b": [0.6, 0.6, 0.9]},
    {"a": [0.25, 0.5]},
]
"""Three runs that differ; the third lacks a scenario."""


def test_runs_stretch_an_interval_by_how_much_they_differ_beyond_chance() -> None:
    pool = Pool(RUNS)
    strata = {name: [d for run in RUNS for d in run.get(name, [])] for name in "ab"}
    means = {name: float(np.mean(each)) for name, each in strata.items()}
    within = sum(np.var(each, ddof=1) / len(each) for each in strata.values())
    parts = [sum((d - means[name]) / len(strata[name]) for name in run for d in run[name]) for run in RUNS]
    between = 3 / 2 * sum(part**2 for part in parts)
    assert (pool.total, pool.within, pool.between) == pytest.approx((sum(means.values()), within, between))
    moderated = (2 * within + 2 * between) / 4  # the prior counts as two degrees of freedom
    factor = student(4) / stats.norm.ppf(0.975) * (moderated / within) ** 0.5
    assert factor > 1.1
    assert pool.stretch() == pytest.approx(factor)
    assert Pool(RUNS[:1]).stretch() == 1
    assert Pool([{"a": [1.0, 1.0]}] * 2).stretch() == 1
    assert Pool([{"a": [0.0, 1.0] * 3}] * 9).stretch() == 1  # runs that agree too well


def test_the_arms_of_an_interval_over_several_runs_are_stretched_up_to_the_bounds() -> None:
    pool = Pool(RUNS)
    plain, found = sum_interval(pool.strata), clustered_sum_interval(RUNS)
    assert plain is not None
    assert found is not None
    assert 0 < found.low < plain.low < pool.total < plain.high < found.high < 2
    assert pool.total - found.low == pytest.approx(pool.stretch() * (pool.total - plain.low))
    assert found.high - pool.total == pytest.approx(pool.stretch() * (plain.high - pool.total))


@pytest.mark.parametrize("clusters", [1, 3])
def test_the_interval_and_the_p_of_a_difference_are_those_of_one_score_test(clusters: int) -> None:
    runs = [{"a": [0.5, 0.0, 0.25, 0.5], "b": [0.0, 0.25, 0.75]}]
    if clusters > 1:
        runs = [{name: [d - 0.5 for d in each] for name, each in run.items()} for run in RUNS]
    pool, found = Pool(runs), paired_clusters(runs)
    mean, number = effective([[(d + 1) / 2 for d in each] for each in pool.strata.values()], 0.5)
    low, high = (4 * end - 2 for end in score_interval(mean, number))
    stretch = pool.stretch()
    assert (stretch > 1) == (clusters > 1)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(pool.total - stretch * (pool.total - low))
    assert found.interval.high == pytest.approx(pool.total + stretch * (high - pool.total))
    end = mean - (mean - 0.5) / stretch
    z = abs(mean - end) / (end * (1 - end) / number) ** 0.5
    assert found.p == pytest.approx(2 * stats.norm.sf(z))


def test_the_interval_of_a_difference_ends_where_differences_do() -> None:
    apart = paired_clusters([{"a": [1.0] * 3, "b": [1.0] * 3}, {"a": [-1.0] * 3, "b": [-1.0] * 3}])
    assert apart.interval == Interval(low=-2, high=2)


@pytest.mark.parametrize("count", [4, 9, 40])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_a_mean_lies_above_zero_where_students_one_sided_test_says_so(count: int, confidence: float) -> None:
    spreads = stats.zscore(np.arange(count) ** 1.5, ddof=1)
    limit = stats.t.ppf(confidence, count - 1) / count**0.5  # in standard deviations
    for factor, expected in ((0.97, False), (1.03, True), (-1.03, False)):
        differences = (spreads + factor * limit).tolist()
        assert above_zero(differences, confidence) is expected


def test_the_sign_decides_on_differences_that_are_all_alike() -> None:
    assert above_zero([0.1] * 4)
    assert not above_zero([0.0] * 4)
    assert not above_zero([-0.1] * 4)
    assert not above_zero([1e-10] * 4)  # nothing but rounding


PAIRS = st.dictionaries(
    st.text(max_size=2),
    st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=2, max_size=5),
    min_size=1,
    max_size=4,
)


@given(runs=st.lists(PAIRS, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_a_paired_difference_is_the_same_whichever_is_named_first(runs: list[dict[str, list[float]]]) -> None:
    found = paired_clusters(runs)
    turned = paired_clusters([{name: [-d for d in each] for name, each in run.items()} for run in runs])
    assert found.interval is not None
    assert turned.interval is not None
    assert turned.difference == pytest.approx(-found.difference)
    assert (turned.interval.low, turned.interval.high) == pytest.approx(
        (-found.interval.high, -found.interval.low)
    )
    assert turned.p == pytest.approx(found.p, abs=1e-6)
    assert found.p is not None
    assert (found.p < 0.05) == found.shown
    assert found.interval.low - 1e-9 <= found.difference <= found.interval.high + 1e-9
