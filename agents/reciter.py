"""Reciter: answers every question with its last messages. A scorer that takes such a heap for an answer is broken."""

from collections import deque
from collections.abc import Awaitable, Callable

from ltm_bench import Agent, Message, Reply, Turn


class Reciter(Agent):
    """Recites its last messages, oldest first.

    Args:
        messages: How many messages it recites.
    """

    free = True
    forks = "snapshot"

    def __init__(self, *, messages: int = 40) -> None:
        self._heard: deque[str] = deque(maxlen=messages)

    async def reply(self, message: Message) -> Reply:
        """Acknowledge statements; to questions, recite what came before."""
        reply = self._recite(message)
        self._heard.append(message.text)
        return reply

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze what is recited, and hear nothing."""
        reply = self._recite(message)

        async def answer() -> Reply:
            return reply

        return answer

    def _recite(self, message: Message) -> Reply:
        asked = "?" in message.text or "JSON" in message.text
        return Reply("\n".join(self._heard) if asked and self._heard else "Okay.")

    async def observe(self, turn: Turn) -> None:
        """Hear a message."""
        self._heard.append(turn.message.text)
