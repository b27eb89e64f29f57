"""Agents that repeat what they heard: no score should mistake them for agents that remember."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from ltm_bench import Agent, Message, Reply, Turn

_WORD = re.compile(r"\w+")
_K, _B = 1.5, 0.75


class Echo(Agent):
    """Answers every question with the stored message that BM25 ranks best, the newest of equals."""

    free = True

    def __init__(self) -> None:
        self._messages: list[str] = []
        self._counts: list[Counter[str]] = []
        self._having: Counter[str] = Counter()

    async def reply(self, message: Message) -> Reply:
        asked = "?" in message.text or "JSON" in message.text
        reply = self._best(message.text) if asked and self._messages else "Okay."
        self._keep(message.text)
        return Reply(reply)

    async def observe(self, turn: Turn) -> None:
        self._keep(turn.message.text)

    def _keep(self, text: str) -> None:
        counts = Counter(_words(text))
        self._messages.append(text)
        self._counts.append(counts)
        self._having.update(counts.keys())

    def _best(self, question: str) -> str:
        words, many = set(_words(question)), len(self._messages)
        usual = sum(each.total() for each in self._counts) / many
        weights = {
            word: math.log(1 + (many - having + 0.5) / (having + 0.5))
            for word in sorted(words)
            if (having := self._having[word])
        }

        def relevance(place: int) -> tuple[float, int]:
            counts = self._counts[place]
            length = _K * (1 - _B + _B * counts.total() / usual)
            score = sum(
                weight * counts[word] * (_K + 1) / (counts[word] + length) for word, weight in weights.items()
            )
            return score, place

        return self._messages[max(range(many), key=relevance)]


def _words(text: str) -> Iterator[str]:
    return (found[0].lower() for found in _WORD.finditer(text))
