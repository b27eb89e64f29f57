"""Suites that say `decoys = true` hide their needles: among decoys, and inside longer messages."""

import statistics
from itertools import groupby, islice

import pytest

from ltm_bench.core.messages import Tell
from ltm_bench.plan.hiding import LEAST_SPAN, decoys_of
from ltm_bench.plan.planning import Plan, make_plan, reseeded
from ltm_bench.plan.request import Request
from ltm_bench.plan.suites import read_suite
from ltm_bench.plugins.files import bundled
from ltm_bench.script.decoys import LONGEST, decoys
from perf.filler import alike, learn, ranked, said, sides, told_apart


def planned(span: str = "32k", seed: int = 0, **chosen: object) -> Plan:
    return make_plan(Request(agent="goldfish", span=span, seed=seed, **chosen))  # type: ignore[arg-type]  # a test's


def needles(plan: Plan) -> list[tuple[Tell, int]]:
    assert plan.rehearsals is not None
    steps = [step for steps in plan.rehearsals.values() for step in steps]
    return [(step.line, step.message_tokens) for step in steps if isinstance(step.line, Tell)]


@pytest.mark.parametrize("span", ["32k", "120k", "500k"])
def test_at_least_half_of_all_needles_stand_inside_longer_messages(span: str) -> None:
    found = needles(planned(span))
    inside = [tokens for line, tokens in found if line.buried]
    assert len(inside) + sum(tokens > LONGEST for line, tokens in found if not line.buried) > len(found) / 2
    assert statistics.median(inside) > 100


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param({"span": "2k"}, id="2k"),
        pytest.param({"suite": "paper"}, id="paper"),
        pytest.param({"suite": "isolated"}, id="isolated"),
        pytest.param({"isolated": True}, id="each alone"),
        pytest.param({"suite": "smoke"}, id="smoke"),
    ],
)
def test_nothing_is_hidden_below_8k_in_papers_and_where_each_example_is_alone(
    plan: dict[str, object],
) -> None:
    found = planned(**plan)  # type: ignore[arg-type]  # what the options are
    assert found.manifest.suite.decoys is None
    assert all(example.around is None for example in found.examples)
    assert list(decoys_of(found.examples, found.manifest, found.counter)) == []
    assert b'"decoys"' not in found.manifest.line()


SUITES = [path for path in sorted(bundled("configs").glob("*.toml")) if path.stem != "agents"]
HIDING = [path.stem for path in SUITES if read_suite(path).decoys]


@pytest.mark.parametrize("suite", HIDING)
def test_each_scenario_of_a_shipped_suite_that_declares_decoys_has_some(suite: str) -> None:
    plan = planned(suite=suite)
    for name, row in groupby(plan.examples, lambda each: each.scenario.name):
        examples = list(row)
        if examples[0].scenario.decoys is not None:
            assert len({*islice(decoys(examples, plan.counter), 200)}) >= 20, name


def test_the_manifest_says_that_needles_are_hidden() -> None:
    assert planned(str(LEAST_SPAN)).manifest.suite.decoys is True
    assert b'"decoys":true' in planned().manifest.line()


def test_another_seed_hides_as_a_plan_of_that_seed_does() -> None:
    texts = [[line.text for line, _ in needles(plan)] for plan in (reseeded(planned(), 3), planned(seed=3))]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("scenario", ["tally", "counting_stars", "planted", "shopping_list"])
@pytest.mark.parametrize("span", ["8k", "16k"])
def test_what_fits_alone_fits_with_what_stands_around_it(scenario: str, span: str) -> None:
    for seed in range(3):
        found = planned(span, seed, scenarios=(scenario,))
        assert any(line.buried for line, _ in needles(found))


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "before"), [("abilities", 670), ("trust", 724)])
def test_abilities_and_trust_hide_their_needles_in_hardly_more_messages(suite: str, before: int) -> None:
    turns, found = said(planned("32k", 3, suite=suite))
    needles, decoys = (sum(getattr(each, name) for each in found) for name in ("needle", "decoy"))
    assert decoys > 0.7 * needles
    assert turns <= 1.2 * before


@pytest.mark.slow
@pytest.mark.parametrize(("span", "before"), [("32k", 471), ("120k", 706)])
def test_a_naive_classifier_keeps_as_much_filler_as_needles(span: str, before: int) -> None:
    learnt, seen = ([said(planned(span, seed)) for seed in seeds] for seeds in (range(3), range(3, 8)))
    weights = learn((each.text, each.needle) for _, found in learnt for each in found)
    precision, kept = ranked(weights, [each for _, found in seen for each in found])
    assert precision <= 0.6
    assert kept >= 0.5, "of the tokens that nobody asks about"
    earlier, later = ([each for _, found in runs for each in found] for runs in (learnt, seen))
    assert told_apart(earlier, later) <= 0.65
    assert statistics.mean(turns for turns, _ in seen) <= 1.2 * before, (
        "messages, and so calls, of an earlier version"
    )
    assert statistics.median(alike(*sides(found)) for _, found in seen) > 0.05
