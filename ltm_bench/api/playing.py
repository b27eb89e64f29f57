"""Plays an episode with an agent at hand: an object of this process instead of a name, such as a test's."""

from pathlib import Path
from typing import Any

from ltm_bench.api import load_run
from ltm_bench.api.environment import Environment
from ltm_bench.api.runs import Run
from ltm_bench.core.seeds import Seed
from ltm_bench.plugins.agents import player_of


def play(player: object, folder: Path, *, seed: Seed = 0, timeout: float = 300.0, **arguments: Any) -> Run:
    """Play a conversation with an agent, and return it as a run.

    Args:
        player: The agent, its class, or a function, a class or an object that takes a message and returns the reply.
        folder: The run's folder, which is made.
        seed: The conversation's seed.
        timeout: Seconds for each of the agent's calls.
        arguments: Further ones of `Environment`.

    Raises:
        ConfigError: An argument is invalid, or it is no agent.
        AgentError: The agent failed.
    """
    agent = player_of(player, timeout)
    filler = {} if agent.observes else {"filler": "live"}  # it hears what it is asked alone
    environment = Environment(seed=seed, **{**filler, **arguments})
    environment.reset()
    (folder / "agent").mkdir(parents=True)
    try:
        environment.play(agent, home=folder / "agent", timeout=timeout)
    finally:
        (folder / "events.jsonl").write_bytes(environment.save())
    return load_run(folder)
