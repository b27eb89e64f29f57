"""An agent that remembers nothing scores no more than chance."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from ltm_bench.core.tokens import counter
from ltm_bench.filler.filler import shipped
from ltm_bench.plan.suites import read_suite
from ltm_bench.plugins.agents import make_agent
from ltm_bench.plugins.files import bundled
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.runner.references import play, play_alone
from ltm_bench.script.scenario import Example

ABILITIES = tuple(read_suite(bundled("configs") / "abilities.toml").scenarios)
TRUST = ("planted", "gone_for_good", "roles", "too_soon")
CONSEQUENCES = tuple(read_suite(bundled("configs") / "consequences.toml").scenarios)
BESIDES = ("who_said_it", "revised_plan", "the_third_poem")
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.mark.proof(scenarios="name")
@pytest.mark.parametrize("agent", ["goldfish", "parrot"])
@pytest.mark.parametrize("name", [*ABILITIES, *TRUST, *CONSEQUENCES, *BESIDES])
def test_an_agent_that_remembers_nothing_scores_no_more_than_chance(
    name: str, agent: str, seeds: Callable[[int], range]
) -> None:
    examples = [Example(scenario(name), 0, seed, {}) for seed in seeds(40)]
    played = asyncio.run(play_alone(examples, lambda: make_agent(agent, {}), START))
    assert sum(each.score - each.chance for each in played) <= 0
    if name in (*ABILITIES, *TRUST, *CONSEQUENCES):  # luck earns nothing either
        assert sum(each.score for each in played) < 0.5


@pytest.mark.slow
@pytest.mark.proof(scenarios="names")
@pytest.mark.parametrize("span", [2_000, 32_000, 120_000])
@pytest.mark.parametrize("agent", ["goldfish", "parrot", "reciter"])
@pytest.mark.parametrize(
    "names",
    [ABILITIES, TRUST, CONSEQUENCES, BESIDES],
    ids=["abilities", "trust", "consequences", "besides"],
)
def test_the_floor_scores_no_more_than_chance_at_every_span(
    names: tuple[str, ...], agent: str, span: int, seeds: Callable[[int], range]
) -> None:
    for name in names:
        parameters = {"span": span} if "span" in scenario(name).parameters else {}
        found = []
        for seed in seeds(20 if span <= 2_000 else 3):
            talk = play(
                [Example(scenario(name), 0, seed, parameters)],
                make_agent(agent, {}),
                span=span,
                seed=seed,
                counter=counter(),
                bank=shipped(),
                start=START,
            )
            found += [each.score - each.chance for each in asyncio.run(talk)]
        assert sum(found) <= 0, name


FORMS = [
    ("jokes", {"by": "time", "time": "stamp"}),
    ("jokes", {"by": "time", "time": "words"}),
    ("prospective_memory", {"due": "count"}),
    ("chapter_break", {"chapters": 8, "page": 2000}),
    ("sally_anne", {"kinds": ("memory", "reality")}),
]
"""The forms of the papers that are not a scenario's own."""


@pytest.mark.parametrize(("name", "chosen"), FORMS, ids=lambda each: str(each))
@pytest.mark.parametrize("agent", ["goldfish", "parrot", "reciter", "perfect"])
def test_the_forms_of_the_papers_have_the_same_floor_and_ceiling(
    name: str, chosen: dict[str, object], agent: str, seeds: Callable[[int], range]
) -> None:
    examples = [Example(scenario(name), 0, seed, chosen) for seed in seeds(40)]
    played = asyncio.run(play_alone(examples, lambda: make_agent(agent, {}), START))
    if agent == "perfect":
        assert {each.score for each in played} == {1.0}
    else:
        assert sum(each.score - each.chance for each in played) <= 0
