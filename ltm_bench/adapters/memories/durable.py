"""Agents whose memory outlives them, in files or on a server."""

import os
from collections.abc import Iterable
from pathlib import Path

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import CannotResume
from ltm_bench.core.messages import Turn
from ltm_bench.log.recorder import locked_folder

_held: dict[tuple[int, ...], list[int | None]] = {}
"""By process and folder as the system knows it: its lock, once for each agent in it. A path may be made anew."""


class DurableAgent(Agent):
    """Base of agents whose every conversation begins with `restore`, which sets `_restored`.

    So a new conversation in the folder of an abandoned one knows nothing of that.
    """

    _restored = False
    _place: tuple[int, ...] | None = None

    def _occupy(self, home: Path) -> None:
        """Lock a folder for this process: another would take what is there for leftovers. Raises CannotResume."""
        home.mkdir(parents=True, exist_ok=True)
        about = home.stat()
        # By process: one that was forked has this table, and no lock.
        self._place = (os.getpid(), about.st_dev, about.st_ino)
        holders = _held.setdefault(self._place, [])
        try:
            holders.append(holders[0] if holders else locked_folder(home))
        except BlockingIOError as error:
            said = "the memory there is in use by another process; wait for it, or use another folder"
            raise CannotResume(f"{home}: {said}") from error

    def _vacate(self) -> None:
        """Let other processes use the folder, if no other agent of this one does."""
        holders, self._place = _held.get(self._place or ()), None
        if holders and (opened := holders.pop()) is not None and not holders:
            os.close(opened)

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
