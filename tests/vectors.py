"""For tests of the agent `vector_memory`: a short way to talk to it, and a conversation."""

import asyncio
import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.messages import Turn
from ltm_bench.filler.filler import shipped
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import turn
else:
    from memories import turn


def trivia(first: int, count: int) -> str:
    items = shipped().items
    picked = [items[i % len(items)] for i in range(first, first + count)]
    return "\n".join(f"Q: {question} A: {answer}" for question, answer in picked)


CONVERSATION = [
    "My favourite soup is made with beetroot.",
    "I was born in a lighthouse. It stands on the coast of Jutland.",
    trivia(0, 30),
    "What is my favourite soup made with?",
    "From today my favourite soup is made with leeks.",
    trivia(30, 30),
    "What is my favourite soup made with?",
    "Where was I born?",
    "List all my favourite soups as a JSON list of strings.",
    "What is my blood type?",
    trivia(60, 600),  # more than one write
    "What did I tell you 8 minutes ago?",
    "Where was I born?",
]


class Conversation:
    """An agent in a folder; `say` takes a list of messages and numbers the turns."""

    def __init__(self, home: Path, turns: list[Turn] | None = None, **settings: Any) -> None:
        self.agent: Any = make_agent("vector_memory", settings)
        self.turns = list(turns or [])
        asyncio.run(self.agent.open(home))
        if turns is not None:
            asyncio.run(self.agent.restore(turns))

    def say(self, *texts: str) -> list[str]:
        for text in texts:
            message = turn(len(self.turns), text).message
            self.turns.append(Turn(message, asyncio.run(self.agent.reply(message))))
        return [each.reply.text for each in self.turns[len(self.turns) - len(texts) :]]

    def stored(self) -> dict[str, str]:
        return {key: each.text for key, each in self.agent.store.load().items()}

    def recall(self, query: str, limit: int = 10) -> Any:
        return asyncio.run(self.agent.recall(query, limit))

    def close(self) -> None:
        asyncio.run(self.agent.close())


Converse = Callable[..., Conversation]


@pytest.fixture
def converse(tmp_path: Path) -> Iterator[Callable[..., Conversation]]:
    gc.freeze()  # what was there before is not looked through below
    started: list[Conversation] = []

    def start(
        turns: list[Turn] | None = None, home: Path = tmp_path / "home", **settings: Any
    ) -> Conversation:
        home.mkdir(exist_ok=True)
        started.append(Conversation(home, turns, **settings))
        return started[-1]

    yield start
    for each in started:
        each.close()
    gc.collect()  # anything left open warns here, and warnings are errors
