"""Plays an episode with an agent at hand: an object of this process instead of a name, such as a test's."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ltm_bench.api import load_run
from ltm_bench.api.environment import Environment
from ltm_bench.api.runs import Run
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.seeds import Seed
from ltm_bench.plugins.functions import FunctionAgent
from ltm_bench.runner.guarding import guarded

T = TypeVar("T")

Player = Agent | type[Agent] | Callable[..., Any]
"""An agent, its class, or a function that takes a message and returns the reply."""


def play(player: Player, folder: Path, *, seed: Seed = 0, timeout: float = 300.0, **arguments: Any) -> Run:
    """Play a conversation with an agent, and return it as a run.

    Args:
        player: The agent.
        folder: The run's folder, which is made.
        seed: The conversation's seed.
        timeout: Seconds for each of the agent's calls; one that blocks its thread cannot be stopped.
        arguments: Further ones of `Environment`.

    Raises:
        ConfigError: An argument is invalid, or it is no agent.
        AgentError: The agent failed.
    """
    agent = _agent(player)
    filler = {} if agent.observes else {"filler": "live"}  # it hears what it is asked alone
    environment = Environment(seed=seed, **{**filler, **arguments})
    _, info = environment.reset()
    folder.mkdir(parents=True)
    try:
        asyncio.run(_talk(agent, environment, folder / "agent", info, timeout))
    finally:
        (folder / "events.jsonl").write_bytes(environment.save())
    return load_run(folder)


def _agent(player: Player) -> Agent:
    made = player() if isinstance(player, type) else player
    if isinstance(made, Agent):
        return made
    if not callable(made):
        raise ConfigError(
            f"{made!r:.60} is no agent: pass a name, an Agent, or a function that takes a message and returns a reply"
        )
    try:
        return FunctionAgent(made, getattr(made, "__name__", type(made).__name__))
    except ValueError as error:
        raise ConfigError(str(error)) from error


async def _talk(
    agent: Agent, environment: Environment, home: Path, info: Mapping[str, Any], timeout: float
) -> None:
    home.mkdir()
    turn = None

    async def within(call: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(timeout):
                return await guarded(call, turn)
        except TimeoutError:
            where = "" if turn is None else f" at turn {turn}"
            raise AgentError(
                f"the agent took more than {timeout:g} s{where}; raise it with timeout="
            ) from None

    try:
        await within(partial(agent.open, home))
        while (asked := info["message"]) is not None:
            for each in info["observed"]:
                turn = each.message.turn
                await within(partial(agent.observe, each))
            turn = asked.turn
            await within(agent.settle)
            *_, info = environment.step(await within(partial(agent.reply, asked)))
    finally:
        await guarded(agent.close)
