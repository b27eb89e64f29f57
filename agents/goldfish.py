"""Goldfish: remembers nothing, and says so. The floor of every comparison."""

from ltm_bench import Agent, Message, Reply, Turn


class Goldfish(Agent):
    """Answers every message as if it were the first one."""

    free = True
    observes = True  # what it observes it has forgotten, as it has what it is asked

    async def reply(self, message: Message) -> Reply:
        """Acknowledge statements; of questions, say that the answer is not known."""
        asked = "?" in message.text or "JSON" in message.text
        return Reply("I do not know: I remember nothing of our conversation." if asked else "Okay.")

    async def observe(self, turn: Turn) -> None:
        """Hear a turn, and forget it."""
