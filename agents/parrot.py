"""Parrot: repeats every message word for word. A scorer that accepts an echo is broken."""

from collections.abc import Awaitable, Callable
from functools import partial

from ltm_bench import Agent, Message, Reply


class Parrot(Agent):
    """Echoes."""

    free = True
    forks = "snapshot"
    can_reopen = True
    observes = True  # it remembers nothing, so observing would add nothing

    async def reply(self, message: Message) -> Reply:
        """Return the message's own text."""
        return Reply(message.text)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze nothing: it answers every message alike."""
        return partial(self.reply, message)
