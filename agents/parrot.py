"""Parrot: repeats every message word by word. A scorer that is taken in by an echo is broken."""

from collections.abc import Awaitable, Callable
from functools import partial

from ltm_bench import Agent, Message, Reply


class Parrot(Agent):
    """Echoes."""

    free = True
    forks = "snapshot"
    observes = True  # it remembers nothing, so there is nothing that observing could add

    async def reply(self, message: Message) -> Reply:
        """Return the message's own text."""
        return Reply(message.text)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze nothing: every message is answered alike."""
        return partial(self.reply, message)
