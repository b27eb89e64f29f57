"""Runs side by side: which is better, and what the comparison says when it is undecided."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.log.manifest import IMPORTED
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import Comparison, compare
from ltm_bench.score.results.remarks import JudgeNote

if TYPE_CHECKING:
    from tests.made import Made

RIGHT, WRONG = Outcome.CORRECT, Outcome.WRONG

Make = Callable[..., Scored]


@pytest.fixture
def make(made: "Made") -> Make:
    return made.run


def only(comparison: Comparison) -> Any:
    [pair] = comparison.pairs
    return pair


def test_the_better_run_ranks_above_only_where_the_data_separate_them(make: Make) -> None:
    clear = compare([make("good"), make("bad", [WRONG])])
    assert [(c.entrant, c.rank) for c in clear.at(120_000)] == [("good", (1, 1)), ("bad", (2, 2))]
    assert only(clear).verdict == "good is better than bad"
    assert (only(clear).first, only(clear).second) == ("good", "bad")
    assert only(clear).paired.difference == 5.0
    assert len(only(clear).only_first) == 30
    close = compare([make("one", [RIGHT, WRONG]), make("other", [RIGHT, WRONG, RIGHT, RIGHT, WRONG, WRONG])])
    assert {c.rank for c in close.cells} == {(1, 2)}
    assert only(close).verdict == "no difference shown"
    assert only(close).paired.interval.holds(0.0)


@pytest.mark.parametrize(("beta", "order"), [(RIGHT, ("Beta", "alpha")), (WRONG, ("alpha", "Beta"))])
def test_the_better_of_a_pair_comes_first_and_of_equals_the_first_by_name(
    make: Make, beta: Outcome, order: tuple[str, str]
) -> None:
    runs = [make("Beta", [beta]), make("alpha", [WRONG])]
    one, other = only(compare(runs)), only(compare(runs[::-1]))
    assert one == other
    assert (one.first, one.second) == order
    assert one.paired.difference == (5.0 if beta is RIGHT else 0.0)


def test_examples_that_only_one_run_got_right_are_named(make: Make) -> None:
    first, second = make("first", [RIGHT, WRONG, WRONG]), make("second", [WRONG, RIGHT, WRONG])
    pair = only(compare([first, second]))
    assert {"colours/0", "colours/3"} <= set(pair.only_first)
    assert {"colours/1", "colours/4"} <= set(pair.only_second)
    assert not {"colours/2", "colours/5"} & {*pair.only_first, *pair.only_second}


def test_runs_that_differ_in_seed_and_span_alone_are_one_entrant(make: Make) -> None:
    runs = [make("a", seed=s, span=span) for s in (0, 1) for span in (2_000, 120_000)]
    found = compare([*runs, make("b", seed=1, span=2_000)])
    assert found.entrants == ["a", "b"]
    assert [(c.entrant, c.span, c.seeds) for c in found.cells] == [
        ("a", 2_000, [0, 1]),
        ("b", 2_000, [1]),
        ("a", 120_000, [0, 1]),
    ]
    assert only(found).paired.clusters == 1
    assert only(found).paired.n == 30
    assert found.warnings == []


def test_entrants_that_share_a_name_are_told_apart_by_their_differences(make: Make) -> None:
    other = make("a", run="other")
    settings = {"model": "gpt-4o", "window": 9}
    other = Scored(
        other.manifest.model_copy(
            update={"agent": other.manifest.agent.model_copy(update={"settings": settings})}
        ),
        other.results,
    )
    assert compare([make("a"), other]).entrants == ["a (window=128000)", "a (window=9)"]


def test_a_suite_may_be_called_after_its_span(make: Make) -> None:
    short, long = make("a", span=2_000, suite="two"), make("a", span=32_000, suite="thirty-two")
    assert compare([short, long]).entrants == ["a"]
    other = make("a", span=2_000, suite="another", run="x")
    assert compare([short, other, long]).entrants == [
        "a (suite=two)",
        "a (suite=another)",
        "a (suite=thirty-two)",
    ]


def test_runs_with_different_seeds_have_no_example_in_common(make: Make) -> None:
    pair = only(compare([make("a", seed=0), make("b", [WRONG], seed=1)]))
    assert pair.verdict == "no example in common"
    assert not pair.separated


def test_runs_made_differently_are_compared_with_a_warning(make: Make) -> None:
    other = make("b", manifest={"tokenizer": "o200k_base", "scorers": {"names_only": 2, "star_counts": 1}})
    entries = other.manifest.suite.scenarios
    changed = [entries[0].model_copy(update={"hash": "0123456789abcdef"}), *entries[1:-1]]
    suite = other.manifest.suite.model_copy(update={"scenarios": changed})
    other = Scored(other.manifest.model_copy(update={"suite": suite}), other.results)
    warnings = compare([make("a"), other]).warnings
    assert warnings == [
        "different token counter: cl100k_base in a-0-0; o200k_base in b-0-0",
        "different version of scorer names_only: 1 in a-0-0; 2 in b-0-0",
        "different content of scenario colours: 5d41402a in a-0-0; 01234567 in b-0-0",
        "scenario counting_stars is not in b-0-0",
    ]


def test_runs_of_other_versions_of_a_scenario_are_not_comparable(make: Make) -> None:
    other = make("b", [WRONG])
    entries = [entry.model_copy(update={"version": 2}) for entry in other.manifest.suite.scenarios]
    suite = other.manifest.suite.model_copy(update={"scenarios": entries})
    comparison = compare(
        [make("a"), Scored(other.manifest.model_copy(update={"suite": suite}), other.results)]
    )
    [warning] = comparison.warnings
    assert warning.startswith(
        "scores are not comparable, since other versions ask other questions: colours, "
    )
    assert warning.endswith("(version 1 in a-0-0; 2 in b-0-0)")
    assert only(comparison).paired.n == 0


def test_runs_judged_differently_are_compared_with_a_warning(make: Make) -> None:
    other = make("b")
    note = JudgeNote(name="wise", model=None, key="0123456789ab", replies=3, unreadable=0)
    other = Scored(other.manifest, other.results.model_copy(update={"judges": [note], "overridden": 2}))
    assert compare([make("a"), other]).warnings == [
        "different judges: no judge in a-0-0; wise (01234567) in b-0-0",
        "different number of manual verdicts: 0 in a-0-0; 2 in b-0-0",
    ]


def test_a_difference_that_undecided_replies_could_undo_is_not_claimed(make: Make) -> None:
    found = only(compare([make("a"), make("b", [Outcome.UNDECIDED])]))
    assert (found.paired.difference, found.if_right.difference) == (5.0, 0.0)
    assert found.paired.shown
    assert not found.shown
    assert not found.separated
    assert found.verdict == "no difference shown, since it depends on undecided replies"
    assert found.seeds_needed is None
    assert found.needed == ""


def test_a_difference_is_claimed_where_both_extremes_agree(make: Make) -> None:
    comparison = compare([make("a"), make("b", [WRONG, WRONG, WRONG, WRONG, Outcome.UNDECIDED])])
    found = only(comparison)
    assert found.paired.difference > found.if_right.difference > 0
    assert found.separated
    assert found.verdict == "a is better than b"
    assert [(c.score, c.if_right) for c in comparison.cells] == [(5.0, 5.0), (0.0, pytest.approx(1.0))]


def test_a_difference_that_turns_round_is_not_claimed(make: Make) -> None:
    found = only(compare([make("a", [RIGHT, WRONG]), make("b", [Outcome.UNDECIDED])]))
    assert found.paired.shown
    assert found.if_right.shown
    assert found.paired.difference > 0 > found.if_right.difference
    assert not found.shown
    assert not found.separated


def test_several_seeds_are_scored_together_and_each_by_itself(make: Make) -> None:
    runs = [make("a", [RIGHT], seed=0), make("a", [RIGHT, WRONG], seed=1)]
    comparison = compare(runs)
    [cell] = comparison.cells
    assert cell.scores == [5.0, 2.5]
    assert (cell.score, cell.n) == (3.75, 60)
    assert cell.interval is not None
    assert cell.interval.holds(3.75)
    assert cell.spread is not None
    assert cell.spread.total == pytest.approx(2.5 / 2**0.5)
    assert cell.spread.agent is None


def test_an_incomplete_run_has_no_score_and_no_rank_but_its_examples_are_compared(make: Make) -> None:
    found = compare([make("whole"), make("half", [WRONG, Outcome.NOT_REACHED])])
    half = found.cell("half", 120_000)
    assert half is not None
    assert (half.complete, half.rank, half.interval) == (False, None, None)
    assert only(found).paired.n == 15
    assert not only(found).complete
    assert found.at(120_000)[-1] is half


def test_the_frontier_holds_whoever_nobody_beats_in_everything(make: Make, made: "Made") -> None:
    def priced(agent: str, outcomes: Sequence[Outcome], dollars: float | None, seconds: float) -> Scored:
        run = make(agent, outcomes)
        costs = run.results.costs.model_copy(update={"dollars": dollars})
        assert run.results.latency is not None
        latency = run.results.latency.model_copy(update={"median": seconds})
        return Scored(run.manifest, run.results.model_copy(update={"costs": costs, "latency": latency}))

    found = compare(
        [
            priced("best", [RIGHT], 9.0, 2.0),
            priced("cheap", [WRONG], 0.0, 2.0),
            priced("dominated", [WRONG], 9.0, 3.0),
            priced("unknown", [RIGHT], None, 1.0),
        ]
    )
    assert [c.entrant for c in found.cells if c.frontier] == ["best", "cheap"]


def reworded(run: Scored, adapter: str, **changes: Any) -> Scored:
    """Return a run by another adapter, whose questions have other words or another expectation."""
    agent = run.manifest.agent.model_copy(update={"adapter": adapter})
    examples = [
        replace(each, questions=[replace(question, **changes) for question in each.questions])
        for each in run.results.examples
    ]
    return Scored(
        run.manifest.model_copy(update={"agent": agent}),
        run.results.model_copy(update={"examples": examples}),
    )


@pytest.mark.parametrize(
    ("adapter", "changes", "paired", "shown"),
    [
        ("made", {}, True, True),
        ("made", {"text": "And what was it 3 hours ago?"}, True, True),
        ("made", {"expected": "another"}, True, False),
        (IMPORTED, {}, True, True),
        (IMPORTED, {"text": "Another question?"}, False, False),
    ],
)
def test_a_played_question_is_known_by_what_it_expects_and_an_imported_one_by_its_words(
    make: Make, adapter: str, changes: dict[str, str], paired: bool, shown: bool
) -> None:
    first, second = reworded(make("a"), adapter), reworded(make("b", [WRONG]), adapter, **changes)
    found = compare([first, second])
    assert bool(only(found).paired.n) is paired
    assert {len(row.marks) for row in found.rows} == {2 if paired else 1}
    assert all(bool(row.question) is shown for row in found.rows)
