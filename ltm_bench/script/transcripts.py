"""Turns of a conversation held elsewhere, read from the shapes in which chats are stored. Pure.

Read are OpenAI's messages and items, Anthropic's messages, LangChain's in all their forms, and ShareGPT's
conversations: one JSON value, or one on each line. Conversations in one file follow each other, and so do their turns.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ltm_bench.core.limits import MARKS, charset_of, json_of

_USERS = ("user", "human")
_AGENTS = ("assistant", "ai", "gpt", "model", "AIMessageChunk")


class StoredTurn(NamedTuple):
    """What a user said, and all that was replied to it."""

    number: int
    """From 0 on; in a run of ours, the number that it has there."""
    text: str
    reply: str


def stored_turns(content: bytes) -> list[StoredTurn]:
    """Return the turns in a file's content. Raises ValueError if it is not JSON, or has no message of a user."""
    turns: list[tuple[str, list[str]]] = []
    if content.startswith(tuple(MARKS)):
        content = content.decode(charset_of(content), "surrogatepass").encode("utf-8", "surrogatepass")
    for role, text in _messages(_parsed(content)):
        if role in _USERS:
            turns.append((text, []))
        elif role in _AGENTS and turns:
            turns[-1][1].append(text)
    if not turns:
        raise ValueError(
            "no message of a user is in it; what is read are messages of OpenAI, Anthropic and LangChain, "
            "conversations of ShareGPT, and runs of ltm-bench"
        )
    return [StoredTurn(number, text, "\n".join(said)) for number, (text, said) in enumerate(turns)]


def _parsed(content: bytes) -> Any:
    """Return JSON, or a list of what the lines hold. Raises ValueError."""
    try:
        return json_of(content)
    except ValueError:
        lines = [(n, line) for n, line in enumerate(content.splitlines(), start=1) if line.strip()]
        found = []
        for place, (number, line) in enumerate(lines):
            try:
                found.append(json_of(line))
            except ValueError as error:
                if not place:
                    raise  # it is not one value on each line, so the error of the whole says more
                raise ValueError(f"line {number}: {error}") from error
        return found


def _messages(data: Any) -> Iterator[tuple[str, str]]:
    """Yield role and text of every message, wherever it stands."""
    match data:
        case list():
            for each in data:
                yield from _messages(each)
        case dict():
            role = data.get("role") or data.get("from") or data.get("type")
            said = data.get("content", data.get("value"))
            if isinstance(role, str) and isinstance(said, str | list):
                if text := _text(said):
                    yield role, text
            else:
                for each in data.values():
                    yield from _messages(each)


def _text(said: str | list[Any]) -> str:
    """Return the text of a message's content; calls of tools, their results, pictures and thoughts have none."""
    parts = [said] if isinstance(said, str) else said
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()
