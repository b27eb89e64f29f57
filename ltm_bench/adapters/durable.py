"""Agents whose memory outlives them, in files or on a server."""

from collections.abc import Iterable

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import CannotResume
from ltm_bench.core.messages import Turn


class DurableAgent(Agent):
    """Base of agents whose every conversation begins with `restore`, which sets `_restored`.

    So a new conversation in the folder of an abandoned one knows nothing of that.
    """

    _restored = False

    async def _ready(self) -> None:
        """Begin a new conversation, unless one was restored."""
        if not self._restored:
            await self.restore(())


def require_scripted(turns: Iterable[Turn], lost: str) -> None:
    """Raise CannotResume if the agent itself answered one of these turns: nobody else can repeat what it then wrote.

    Args:
        turns: The turns that are missing in its memory.
        lost: What is lost with them, as the beginning of the error.
    """
    if any(turn.answered == "agent" for turn in turns):
        raise CannotResume(f"{lost}; start the run again, with --fresh")
