"""Parrot: repeats every message word by word. A scorer that is taken in by an echo is broken."""

from ltm_bench import Agent, Message, Reply, Turn


class Parrot(Agent):
    """Echoes."""

    free = True

    async def reply(self, message: Message) -> Reply:
        """Return the message's own text."""
        return Reply(message.text)

    async def observe(self, turn: Turn) -> None:
        """Hear a turn, and forget it."""
