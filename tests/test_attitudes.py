"""`perf/attitudes.py`: no attitude earns more than chance, or more than the memory that it speaks for."""

from collections import Counter
from collections.abc import Callable

import pytest

from perf import attitudes
from perf.attitudes import (
    ATTITUDES,
    HONEST,
    OVER_KEYWORDS,
    RECALLED,
    RESTRAINT,
    STRICT,
    WITH_RECALL,
    Asked,
    bounded,
    scored,
)
from perf.validity import Scored, ours


def test_every_scenario_of_ours_has_a_bound_of_its_kind() -> None:
    assert set(RESTRAINT) < STRICT < set(ours())
    assert set(HONEST) < set(OVER_KEYWORDS)


@pytest.mark.slow
@pytest.mark.proof(scenarios="name", files=("configs/*.toml",))
@pytest.mark.parametrize("name", ours())
def test_no_attitude_over_keywords_earns_more_than_chance_or_the_memory(
    name: str, seeds: Callable[[int], range]
) -> None:
    runs = [scored([name], False, seed) for seed in seeds(40)]
    ((_, row),) = bounded(runs, False, of=len(ours())).values()
    assert [each for each in row if each.above] == []
    assert {each.guesser for each in row} == set(OVER_KEYWORDS)


@pytest.mark.slow
@pytest.mark.proof(scenarios="name", files=("configs/*.toml",))
@pytest.mark.parametrize("name", RECALLED)
def test_no_attitude_with_perfect_recall_earns_more_than_half(
    name: str, seeds: Callable[[int], range]
) -> None:
    runs = [scored([name], True, seed) for seed in seeds(40)]
    ((_, row),) = bounded(runs, True, of=len(RECALLED)).values()
    assert [each for each in row if each.above] == []
    assert {each.guesser for each in row} == set(WITH_RECALL)


def test_the_memory_under_the_attitudes_finds_what_was_told() -> None:
    """It would prove nothing of attitudes if it found nothing."""
    runs = [scored(["colours", "delayed_recall", "trigger_response"], False, seed) for seed in range(5)]
    means = {name: max(each.mean for each in row) for name, (_, row) in bounded(runs, False).items()}
    assert min(means.values()) == 1.0


@pytest.mark.parametrize(
    ("scenario", "recall", "above"),
    [("roles", True, True), ("roles", False, True), ("colours", False, False)],
)
def test_an_attitude_is_above_where_it_earns_more_than_its_bound(
    scenario: str, recall: bool, above: bool
) -> None:
    every = ATTITUDES[recall]
    runs = [
        {
            name: [Scored(scenario, 0.9 if name not in HONEST or scenario == "colours" else 0.0, 0.01)]
            for name in every
        }
    ] * 40
    ((_, row),) = bounded(runs, recall).values()
    assert any(each.above for each in row) is above


@pytest.mark.parametrize("name", ["trigger_response", "prospective_memory", "contradiction"])
def test_who_quotes_what_was_told_has_not_carried_it_out(name: str) -> None:
    runs = [scored([name], False, seed)["quotes the instruction"] for seed in range(10)]
    assert sum(each.score for run in runs for each in run) == 0.0


def test_a_table_has_a_row_for_each_scenario_and_a_column_for_each_attitude() -> None:
    rows = bounded([scored(["colours", "roles"], False, seed) for seed in range(2)], False)
    lines = attitudes.written(rows, OVER_KEYWORDS).splitlines()
    assert [line.count("|") for line in lines] == [len(OVER_KEYWORDS) + 3] * 4
    assert lines[2].startswith("| `colours` | 0.07 |")


def test_attitudes_do_not_read_the_ideal_reply() -> None:
    asked = Asked(
        "Which one?",
        ["It's red.", "It's blue."],
        ["red", "blue"],
        (),
        "green",
        "It's blue.",
        Counter(),
    )
    said = {name: how(asked) for name, how in OVER_KEYWORDS.items()}
    assert said["always a contradiction"] == "blue, but earlier you said red."
    assert said["newest"] == "blue"
    assert said["oldest"] == "red"
    assert said["repeats the last message"] == "It's blue."
