"""Tries whether a second conversation knows what the first was told, for `ltm-bench check` and `doctor`.

The runs of a sweep and isolated examples share a process, and so do their agents' modules.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from ltm_bench.core.agent import Agent, Finding
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Message
from ltm_bench.runner.guarding import placed

_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_CODE = "4417-verbena"
_TOLD = f"Please remember the code of my locker: it is {_CODE}."
_ASKED = "What is the code of my locker?"


async def second_conversation(make: Callable[[], Agent], folder: Path) -> Finding:
    """Tell an agent something, ask another one of the same kind, and report whether that one knows it.

    Args:
        make: Makes the agents, one for each conversation.
        folder: Gets a folder for each of them.
    """
    said = ""
    try:
        async with AsyncExitStack() as opened:
            for number, text in enumerate((_TOLD, _ASKED), 1):
                agent, home = make(), folder / f"conversation-{number}"
                home.mkdir(parents=True)
                opened.push_async_callback(agent.close)
                await agent.open(home)
                said = (await agent.reply(Message(text, _START, 0, text if agent.told_ideal else None))).text
    except AgentError as error:  # one that answers nothing but its own conversation, such as `transcript`
        return Finding(True, f"two conversations could not be tried: {placed(error)}", lacks=True)
    except Exception as error:  # it can raise anything
        return Finding(False, f"failed in one of two conversations: {placed(error)}")
    if _CODE in said:
        return Finding(
            False,
            f"conversations are not apart: a second one was asked {_ASKED!r}, and knew what the first was told: "
            f"{said!r:.80}; keep what an agent remembers in its instance (python:module:Class), not in its module",
        )
    return Finding(True, "conversations are apart: a second one does not know what the first was told")
