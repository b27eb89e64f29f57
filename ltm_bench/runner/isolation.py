"""Tries whether a conversation knows what it was told, and a second one does not, for `check` and `doctor`.

The runs of a sweep and isolated examples share a process, and so do their agents' modules.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from ltm_bench.core.agent import Agent, Finding
from ltm_bench.core.errors import AgentError, CannotResume, LtmBenchError
from ltm_bench.core.messages import Message
from ltm_bench.runner.guarding import guarded, placed, unusable

PATIENCE = 120.0
"""Seconds that an agent gets for a reply, or for whatever else it is to do here."""

_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_CODE = "4417-verbena"
_TOLD = f"Please remember the code of my locker: it is {_CODE}."
_ASKED = "What is the code of my locker?"
_OTHERWISE = "Which number opens it, my locker?"
"""What the second is asked: in other words, since a first's question that it repeats was not said to it either."""


T = TypeVar("T")


async def in_time(done: Awaitable[T]) -> T:
    """Return what an agent does. Raises AgentError if it takes too long."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await guarded(lambda: done)
    except TimeoutError:  # one of its own would be an AgentError
        raise AgentError(f"it has not answered within {PATIENCE:g} seconds") from None


def said_of(error: Exception) -> str:
    """Return what an agent's error says."""
    said = str(error) if isinstance(error, LtmBenchError) else placed(error)
    return said.removeprefix("the agent failed: ")


async def second_conversation(make: Callable[[], Agent], folder: Path) -> Finding:
    """Tell an agent something, ask it and another one of the same kind, and report which of them knows it.

    Args:
        make: Makes the agents, one for each conversation.
        folder: Gets a folder for each of them.
    """
    said: list[str] = []  # by the first and by the second, when they were asked
    try:
        async with AsyncExitStack() as opened:
            for number, texts in enumerate(((_TOLD, _ASKED), (_OTHERWISE,)), 1):
                agent, home = make(), folder / f"conversation-{number}"
                home.mkdir(parents=True)
                opened.push_async_callback(agent.close)
                await in_time(agent.open(home))
                for turn, text in enumerate(texts):
                    ideal = text if agent.told_ideal else None
                    message = Message(text, _START + timedelta(minutes=turn), turn, ideal)
                    reply = await in_time(agent.reply(message))
                    if problem := unusable(reply, agent.max_bytes):
                        raise AgentError(f"reply() returned {problem}")
                said.append(reply.text)
    except CannotResume as error:  # one that answers nothing but its own conversation, such as `transcript`
        return Finding(True, f"two conversations could not be tried: {error}", lacks=True)
    except Exception as error:  # it can raise anything
        return Finding(False, f"failed in one of two conversations: {said_of(error)}")
    own, other = said
    if _CODE in other or _ASKED in other:
        return Finding(
            False,
            f"conversations are not apart: a second one was asked {_OTHERWISE!r}, and knew what the first was told: "
            f"{other!r:.80}; keep what an agent remembers in its instance (python:module:Class), not in its module",
        )
    if _CODE not in own:
        return Finding(
            True,
            f"a conversation that was told a code and then asked {_ASKED!r} did not name it: {own!r:.80}; one that "
            "remembers would, so see that messages arrive and are kept",
            lacks=True,
        )
    return Finding(True, "conversations are apart: one knows what it was told, and a second one does not")
