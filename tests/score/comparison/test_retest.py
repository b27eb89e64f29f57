"""Test-retest: how far one agent moves by itself, from runs of equal seeds."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Outcome
from ltm_bench.score.comparison.retest import Retest, retest
from ltm_bench.score.comparison.runs import compare

if TYPE_CHECKING:
    from tests.made import Made

RIGHT, WRONG, STALE = Outcome.CORRECT, Outcome.WRONG, Outcome.STALE


def again(made: "Made", *runs: Sequence[Outcome], seed: int = 0, each: int = 6) -> list[Retest]:
    """What runs of one seed say, each with these outcomes in turn."""
    found = retest([made.run("a", outcomes, seed=seed, each=each).results for outcomes in runs])
    assert found is not None
    return [found]


def test_runs_that_reply_alike_do_not_move_and_still_suggest_a_drop_above_nothing(made: "Made") -> None:
    [found] = again(made, [RIGHT, WRONG], [RIGHT, WRONG], [RIGHT, WRONG])
    assert (found.score, set(found.by_scenario.values()), found.moved) == (0.0, {0.0}, [])
    assert (found.same, found.questions, found.agreement) == (30, 30, 1.0)
    assert found.same_interval.low < 0.9
    assert 0 < found.max_drop < 0.05


def test_the_standard_deviations_are_those_of_scores_and_of_each_scenario(made: "Made") -> None:
    [found] = again(made, [RIGHT] * 30, [WRONG] * 6 + [RIGHT] * 24)
    assert found.score == pytest.approx(math.sqrt(0.5))
    assert list(found.by_scenario.values()) == pytest.approx([math.sqrt(0.5), 0, 0, 0, 0])
    assert (found.same, found.agreement, len(found.moved)) == (24, 0.8, 6)
    assert found.moved[0].outcomes == [RIGHT, WRONG]


def test_another_verdict_of_the_same_score_is_a_disagreement(made: "Made") -> None:
    [found] = again(made, [WRONG], [STALE], [STALE])
    assert (found.score, found.same) == (0.0, 0)
    assert found.agreement == pytest.approx(1 / 3)


def test_only_complete_runs_of_a_seed_that_was_run_twice_count(made: "Made") -> None:
    one, other = made.run("a", seed=0).results, made.run("a", seed=1).results
    assert retest([one, other]) is None
    unfinished = made.run("a", [Outcome.AGENT_ERROR, RIGHT], seed=0).results
    assert retest([one, other, unfinished]) is None
    found = retest([one, other, other])
    assert found is not None
    assert (found.seeds, found.runs) == ([1], 2)


def test_several_runs_on_either_side_allow_a_smaller_drop(made: "Made") -> None:
    [found] = again(made, [RIGHT] * 30, [WRONG, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT])
    assert found.drop() == found.max_drop > found.drop(3) > found.drop(3, 3)
    assert found.drop(3, 3) == pytest.approx(found.drop() / math.sqrt(3))


def test_an_unchanged_agent_falls_further_than_suggested_about_as_often_as_stated(made: "Made") -> None:
    """An agent that gets every question right with its own probability, measured with three runs, 120 times over."""
    dice = Dice("retest")
    chances = [0.5, 0.9, 0.7, 1.0, 0.2]
    fell = total = 0
    for _ in range(120):
        runs = []
        for _ in range(5):
            outcomes = [RIGHT if dice.chance(chances[i % 5]) else WRONG for i in range(25)]
            runs.append(made.run("a", outcomes, each=5).results)
        found = retest(runs[:3])
        assert found is not None
        before, now = (run.score_so_far / run.out_of for run in runs[3:])
        fell += before - now > found.max_drop
        total += 1
    assert fell / total <= 0.1  # binomial: more than 12 of 120 has a probability of 1 % at 5 %


def test_a_comparison_says_beside_a_difference_how_far_each_agent_moves_by_itself(made: "Made") -> None:
    runs = [made.run("a", [RIGHT] * 30), made.run("a", [WRONG] * 6 + [RIGHT] * 24), made.run("b", [WRONG])]
    found = compare(runs)
    [pair] = found.pairs
    assert pair.moves == {"a": pytest.approx(math.sqrt(0.5))}
    assert [cell.retest is not None for cell in found.cells] == [True, False]
    assert found.model_dump(mode="json")["cells"][0]["retest"]["agreement"] == 0.8
