"""Notebook: writes everything down, and reads out the newest note that shares most words with the message."""

from ltm_bench import Agent, Message, Reply, Turn


class Notebook(Agent):
    free = True  # it runs on this machine and costs nothing

    def __init__(self, *, pages: int = 1000) -> None:
        self.pages, self.notes = pages, ["Noted."]

    async def reply(self, message: Message) -> Reply:
        words = set(message.text.lower().split())
        best = max(reversed(self.notes), key=lambda note: len(words & set(note.lower().split())))
        self.notes = [*self.notes, message.text][-self.pages :]
        return Reply(best)

    async def observe(self, turn: Turn) -> None:
        self.notes = [*self.notes, turn.message.text][-self.pages :]
