"""Scripted answers of a model that calls tools: it looks into a memory, writes what it was told, and quotes it.

with provider(keep_files) as server:
    agent = AnthropicMemory(model="any", base_url=server.url)
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from ltm_bench.adapters.testing.faults import Said
from ltm_bench.adapters.testing.protocols import Calls

NOTES = "/memories/notes.md"
"""The file in which `keep_files` writes."""


def call(name: str, **arguments: Any) -> Calls:
    """Return a reply that calls one tool."""
    return Calls(json.dumps([{"name": name, "arguments": arguments}]))


def keep_files(messages: Sequence[Said]) -> str:
    """Use Claude's memory tool: view the directory, then write the user's sentences to a file, or quote from it.

    Anything that is not in the file is quoted from the conversation.
    """
    asked, answers = newest(messages)
    if not answers:
        return call("memory", command="view", path="/memories")
    there = NOTES in answers[0]
    told = facts_in(asked)
    match len(answers):
        case 1 if "?" in asked and there:
            return call("memory", command="view", path=NOTES)
        case 1 if told and there:
            return call("memory", command="insert", path=NOTES, insert_line=0, insert_text="\n".join(told))
        case 1 if told:
            return call("memory", command="create", path=NOTES, file_text="\n".join(told) + "\n")
    if "?" not in asked:
        return "Noted."
    written = [line.partition("\t")[2] for line in answers[-1].splitlines()[1:]] if len(answers) > 1 else []
    return nearest(asked, [*written, *told_before(messages)])


def newest(messages: Sequence[Said]) -> tuple[str, list[str]]:
    """Return the user's newest message, and the tools' answers since."""
    last = max(n for n, message in enumerate(messages) if message["role"] == "user")
    answers = [message["content"] for message in messages[last + 1 :] if message["role"] == "tool"]
    return messages[last]["content"], answers


def told_before(messages: Sequence[Said]) -> list[str]:
    """Return what the user said before the newest message, without dates."""
    said = [message["content"] for message in messages if message["role"] == "user"]
    return [text.rpartition("]\n")[2] for text in said[:-1]]


def facts_in(said: str) -> list[str]:
    """Return the sentences in which speakers say something about themselves."""
    return re.findall(r"\b(?:My|I|From today my) [^.?\n]+\.", said)


def nearest(asked: str, lines: Sequence[str]) -> str:
    """Return the (first) line that shares the most long words with a question, or say that no line does."""
    wanted = _words(asked)
    best = max(lines, key=lambda line: len(_words(line) & wanted), default="")
    return best if _words(best) & wanted else "I do not know."


def _words(text: str) -> set[str]:
    undated = re.sub(r"\[.*?\]", "", text)  # every message shares those words
    return {word for word in re.findall(r"\w+", undated.lower()) if len(word) > 4}
