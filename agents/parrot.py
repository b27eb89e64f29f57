"""Parrot: repeats every message word by word. A scorer that is taken in by an echo is broken."""

from ltm_bench import Agent, Message, Reply, Turn


class Parrot(Agent):
    """Echoes."""

    free = True
    observes = True  # it remembers nothing, so there is nothing that observing could add

    async def reply(self, message: Message) -> Reply:
        """Return the message's own text."""
        return Reply(message.text)

    async def observe(self, turn: Turn) -> None:
        """Hear a turn, and forget it."""
