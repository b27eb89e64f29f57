"""Every agent runs every suite: what it cannot play is left out by name, unless the user asked for that alone."""

from pathlib import Path

import pytest

from ltm_bench import compare, make_agent, run
from ltm_bench.core.errors import CannotCombine
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.script.scenario import Example

WHY = "reciter keeps nothing by itself (Agent.can_reopen)"


@pytest.mark.parametrize("agent", ["goldfish", "parrot", "perfect", "reciter", "reference", "vector_memory"])
@pytest.mark.parametrize("pace", [False, True])
def test_trust_is_planned_for_every_agent_with_a_reason_for_what_is_left_out(agent: str, pace: bool) -> None:
    plan = make_plan(Request(agent=agent, suite="trust", span="8k", examples=1, pace=pace))
    asked, left_out = plan.manifest.suite.scenarios, plan.manifest.suite.left_out or {}
    assert len(asked) + len(left_out) == 7 + pace
    assert all(f"{row} is left out: {why}." in plan.notes for row, why in left_out.items())
    sample = make_agent(agent, {})
    assert ("gone_for_good" in left_out) == (not sample.can_reopen)
    assert ("too_soon" in left_out) == (pace and not sample.answers_early)


def test_what_was_left_out_stands_in_the_results_and_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = [run(agent=name, suite="trust", span="8k", examples=1) for name in ("reciter", "perfect")]
    assert f"gone_for_good was left out: {WHY}" in done[0].results.remarks
    assert not [each for each in done[1].results.remarks if "left out" in each]
    assert done[0].folder.name == "trust-x1-8k-reciter-seed0"
    assert compare(*done).pairs[0].paired.n == len(done[0].examples) == len(done[1].examples) - 1


def test_a_scenario_that_was_asked_for_by_name_is_refused_and_not_left_out() -> None:
    with pytest.raises(CannotCombine, match=r"gone_for_good.*keeps nothing by itself \(Agent.can_reopen\)"):
        make_plan(Request(agent="reciter", suite="trust", span="8k", scenarios=["gone_for_good", "roles"]))


@pytest.mark.parametrize("suite", ["abilities", "paper", "standard", "trust"])
@pytest.mark.parametrize("seed", [0, 1])
def test_an_agent_of_few_words_overruns_nowhere_at_the_shortest_span(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suite: str, seed: int
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(agent="perfect", suite=suite, span="2k", seed=seed)
    assert [each.id for each in done.examples if each.overrun] == []


def test_a_spy_meeting_says_what_the_best_guess_earns() -> None:
    from ltm_bench import Ask
    from ltm_bench.core.tokens import counter
    from ltm_bench.script.rehearsal import rehearse

    asked = [
        step.line.expect
        for seed in range(400)
        for step in rehearse(Example(scenario("spy_meeting"), 0, seed, {}), counter())
        if isinstance(step.line, Ask)
    ]
    guesses = {
        guess: sum(each.verdict(guess, ()).score or 0 for each in asked) / len(asked)
        for guess in (
            "When: midnight",
            "Where: harbour",
            "midnight, harbour",
            "midnight at the harbour with a rope",
        )
    }
    assert asked[0].chance == pytest.approx(1 / 30)
    assert max(guesses.values()) <= asked[0].chance + 0.012, guesses
