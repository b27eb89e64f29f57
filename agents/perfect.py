"""Perfect: is told the ideal reply before every message. The ceiling of every comparison."""

from collections.abc import Awaitable, Callable
from functools import partial

from ltm_bench import Agent, AgentError, Message, Reply


class Perfect(Agent):
    """The one agent whose messages carry the ideal reply."""

    free = True
    forks = "snapshot"
    can_reopen = True
    observes = True  # it remembers nothing, so observing would add nothing
    told_ideal = True

    async def reply(self, message: Message) -> Reply:
        """Return the ideal reply."""
        if message.ideal is None:
            raise AgentError(f"perfect was not told the ideal reply to turn {message.turn}")
        return Reply(message.ideal)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze nothing: it answers every message alike."""
        return partial(self.reply, message)
