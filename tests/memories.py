"""A model for memory products: it takes sentences of the user's for facts, and answers with the nearest line."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ltm_bench.adapters.testing import Calls
from ltm_bench.core.messages import Message, Reply, Turn

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def turn(number: int, text: str, reply: str = "Noted.") -> Turn:
    return Turn(Message(text, START + timedelta(minutes=number), number), Reply(reply))


def model(messages: Sequence[dict[str, str]]) -> str:
    """Do what the request is about: Mem0's extraction, LangMem's, or a core's answer."""
    system, asked = messages[0]["content"], messages[-1]["content"]
    if "## New Messages" in asked:
        facts = facts_in(asked.partition("## New Messages\n")[2].partition("\n\n## Observation Date")[0])
        return json.dumps(
            {
                "memory": [
                    {"id": str(n), "text": fact, "attributed_to": "user"} for n, fact in enumerate(facts)
                ]
            }
        )
    if system.startswith("You are a memory subroutine"):
        said = asked.partition("<session_")[2].partition("Ai Message")[0]
        return Calls(
            json.dumps([{"name": "Memory", "arguments": {"content": fact}} for fact in facts_in(said)])
        )
    return answer(asked)


def facts_in(said: str) -> list[str]:
    return [f"User says: {fact}" for fact in re.findall(r"\b(?:My|I) [^.?\n]+\.", said)]


def answer(prompt: str) -> str:
    """Return the line of a core's prompt that shares most words with the new message."""
    before, _, message = prompt.partition("# The new message")
    wanted = _words(message)
    lines = [line for line in before.splitlines() if line.startswith(("[", "User"))]
    best = max(lines, key=lambda line: len(_words(line) & wanted), default="")
    return best if _words(best) & wanted else "I do not know."


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", re.sub(r"\[.*?\]", "", text).lower()) if len(word) > 4}
