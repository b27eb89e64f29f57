"""Goldfish: remembers nothing, and says so. The floor of every comparison."""

from collections.abc import Awaitable, Callable
from functools import partial

from ltm_bench import Agent, Message, Reply


class Goldfish(Agent):
    """Answers every message as if it were the first one."""

    free = True
    forks = "snapshot"
    can_reopen = True
    observes = True  # it forgets what it observes, as it forgets what it is asked

    async def reply(self, message: Message) -> Reply:
        """Acknowledge statements; to questions, say that the answer is not known."""
        asked = "?" in message.text or "JSON" in message.text
        return Reply("I do not know: I remember nothing of our conversation." if asked else "Okay.")

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze nothing: it answers every message alike."""
        return partial(self.reply, message)
