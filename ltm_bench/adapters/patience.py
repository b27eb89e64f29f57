"""Waiting for a server that works in the background."""

import asyncio
import time


class Patience:
    """Pauses between polls, each twice as long as the one before, until patience runs out."""

    def __init__(self, seconds: float, *, first: float, longest: float) -> None:
        self._until, self._pause, self._longest = time.monotonic() + seconds, first, longest

    async def lasts(self) -> bool:
        """Pause, and return True; return False, without a pause, once the seconds are over."""
        if time.monotonic() > self._until:
            return False
        await asyncio.sleep(self._pause)
        self._pause = min(2 * self._pause, self._longest)
        return True
