"""Agents that repeat what they heard score no more than chance in any scenario.

The chance level is subtracted from every example's score, and the mean of the differences must not exceed 0 (Student,
one-sided). `alone` is one example of a scenario with filler over a span of 8k, so that its needles are among the last
messages; `together` is an example of every scenario, interleaved, over a span of 32k. `python -m perf.validity`
measures more seeds and more guessers.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.agent import Agent
from ltm_bench.core.messages import Turn
from ltm_bench.core.tokens import counter
from ltm_bench.filler.filler import shipped
from ltm_bench.plugins.agents import make_agent
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.runner.references import play
from ltm_bench.score.statistics.intervals import above_zero
from ltm_bench.script.scenario import Example

if TYPE_CHECKING:
    from tests.echo import Echo
else:
    from echo import Echo

SEEDS = 12
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
PUBLISHED = {"infinitebench", "swim"}
"""Scored as their publishers score them, by the words of the answer alone."""
SCENARIOS = sorted(
    path.stem
    for path in (Path(__file__).parents[2] / "scenarios").iterdir()
    if path.suffix in (".py", ".toml") and path.stem not in PUBLISHED
)


def reciter() -> Agent:
    return make_agent("reciter", {})


def reciter_of_scenarios() -> Agent:
    """Return a reciter whose last messages are not filled up with filler."""
    agent = reciter()

    async def ignore(turn: Turn) -> None:
        """Ignore the turn."""

    agent.observe = ignore  # type: ignore[method-assign]  # only this one
    return agent


AGENTS = {"reciter": reciter, "reciter of scenarios": reciter_of_scenarios, "echo": Echo}


def above_chance(agent: str, names: Sequence[str], span: int, seeds: range) -> Mapping[str, float]:
    """Return the scenarios of these in which an agent scores above chance, and by how much on average."""
    found = defaultdict(list)
    for seed in seeds:
        talk = play(
            [Example(scenario(name), 0, seed, {}) for name in names],
            AGENTS[agent](),
            span=span,
            seed=seed,
            counter=counter(),
            bank=shipped(),
            start=START,
        )
        for each in asyncio.run(talk):
            found[each.example.scenario.name].append(each.score - each.chance)
    assert set(found) == set(names)
    return {name: sum(each) / len(seeds) for name, each in found.items() if above_zero(each)}


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_repeats_what_it_heard_scores_no_more_than_chance_with_all_scenarios_together(
    agent: str, seeds: Callable[[int], range]
) -> None:
    assert above_chance(agent, SCENARIOS, 32_000, seeds(SEEDS)) == {}


@pytest.mark.slow
@pytest.mark.proof(scenarios="name")
@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("agent", ["reciter", "echo"])
def test_an_agent_that_repeats_what_it_heard_scores_no_more_than_chance_with_a_scenario_alone(
    agent: str, name: str, seeds: Callable[[int], range]
) -> None:
    assert above_chance(agent, [name], 8_000, seeds(SEEDS)) == {}
