"""What tests of questions that are asked again share: small runs, an agent that counts its calls, one that costs."""

from typing import Any

# Its replies tell all that it heard, so that a rung asked in the wrong place, or a turn told twice, shows.
DIARY = """
import os, signal
from ltm_bench import Agent, Message, Reply, Turn


class Diary(Agent):
    free = True
    forks = "FORKS"

    def __init__(self) -> None:
        self.heard = []

    def said(self, message, heard):
        with open("calls.txt", "a") as file:
            file.write(f"{message.turn} {len(message.text)}\\n")
        with open("calls.txt") as file:
            calls = sum(1 for _ in file)
        if calls == int(os.environ.get("DIES", 0)):
            os.kill(os.getpid(), signal.SIGKILL)
        return Reply(f"I do not know. ({len(heard)} turns, {sum(map(len, heard))} letters)")

    async def reply(self, message: Message) -> Reply:
        reply = self.said(message, self.heard)
        self.heard.append(message.text + reply.text)
        return reply

    async def observe(self, turn: Turn) -> None:
        self.heard.append(turn.message.text + turn.reply.text)

    async def fork(self, message):
        heard = [*self.heard]

        async def answer():
            return self.said(message, heard)

        return answer
"""
PAID = """
from ltm_bench import Agent, Message, Reply, Usage

USED = Usage(uncached=1000, output=100, model="gpt-4o", provider="openai")


class Paid(Agent):
    observes = True
    forks = "snapshot"
    def reserve(self, message: Message) -> Usage:
        return USED
    async def reply(self, message: Message) -> Reply:
        return Reply("I do not know.", USED)
    async def fork(self, message):
        return lambda: self.reply(message)
"""
SMALL: dict[str, Any] = {
    "span": "2k",
    "scenarios": ["colours", "who_said_it"],
    "suite": "abilities",
    "examples": 2,
    "name": "r",
}
