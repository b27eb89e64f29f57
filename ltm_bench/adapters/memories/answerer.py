"""A core: another adapter that answers from a prompt, for agents that remember but have no model of their own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from inspect import signature
from pathlib import Path
from typing import Any

from ltm_bench.adapters.passages import Passage
from ltm_bench.core.agent import Agent, Memory
from ltm_bench.core.clock import spoken_duration, stamp
from ltm_bench.core.messages import Message, Reply, Turn, Usage
from ltm_bench.core.tokens import counter
from ltm_bench.plugins.agents import adapter_of, agent_class, make_agent
from ltm_bench.plugins.files import catalogue

_PASSAGES = (
    "You are in one long conversation with a user. You do not see all of it: below are passages from it that may "
    "matter now, oldest first, each with its time, then the latest turns, then the user's new message. Where passages "
    "contradict each other, the latest one holds. Answer the new message, and it alone, as the conversation demands."
)
_MEMORIES = (
    "You are in one long conversation with a user. You do not see all of it: below is what your memory holds of it "
    "that may matter now, oldest first, with times where they are known, then the latest turns, then the user's new "
    "message. Where memories contradict each other, the latest one holds. Answer the new message, and it alone, as the "
    "conversation demands."
)


def core_agent(name: str, settings: Mapping[str, Any]) -> Agent:
    """Make an agent from an adapter or a provider, with an optional model; settings that are None keep its defaults.

    `timeout` and `max_retries` are dropped for adapters without them, which make no calls.
    """
    provider, _, model = name.partition(":")
    adapter = adapter_of(provider, catalogue("agents")) or provider
    known = signature(agent_class(adapter)).parameters
    patience = {each for each in ("timeout", "max_retries") if each not in known}
    given = {"model": model or None, **{k: v for k, v in settings.items() if k not in patience}}
    return make_agent(adapter, {key: value for key, value in given.items() if value is not None})


class Core:
    """Another adapter that answers from a prompt. Every turn gets a new instance, so that it remembers nothing."""

    def __init__(self, name: str, settings: Mapping[str, Any], window: int) -> None:
        """Set up `name`, an adapter or a provider with an optional model (see `core_agent`)."""
        self._name, self._settings = name, settings
        self._window = window
        self._count = counter().count
        self._last: Agent | None = None
        """The last prompt's agent, kept open until the next one is: adapters on one loop share their connections."""
        agent = self._new()  # a wrong setting fails here, not in the first reply
        self.connections = agent.connections
        """What its calls connect to (see `Agent.connections`)."""
        self.metered = agent.metered
        """Whether each of its requests is budgeted (see `Agent.metered`)."""

    def _new(self) -> Agent:
        return core_agent(self._name, self._settings)

    async def reply(self, home: Path, prompt: Message) -> Reply:
        """Answer one prompt."""
        agent = self._new()
        home.mkdir(parents=True, exist_ok=True)
        await agent.open(home)
        await self.close()
        self._last = agent
        return await agent.reply(prompt)

    async def reply_apart(self, home: Path, prompt: Message) -> Reply:
        """Answer one prompt concurrently with others."""
        agent = self._new()
        home.mkdir(parents=True, exist_ok=True)
        await agent.open(home)
        try:
            return await agent.reply(prompt)
        finally:
            await agent.close()

    async def close(self) -> None:
        """Close the connections."""
        last, self._last = self._last, None
        if last is not None:
            await last.close()

    def reserve(self, message: Message) -> Usage | None:
        """Return the usage of a prompt that fills the window, and of the longest reply."""
        return self._new().reserve(replace(message, text=" a" * max(self._window, self._count(message.text))))

    def fitting(self, instructions: str, text: str) -> str:
        """Return instructions and a text, without the text's middle if it is too long for the window."""
        most = max(64, self._window - self._count(instructions) - 16)
        if self._count(text) > most:
            text = " … ".join(counter().ends(text, most // 2, most // 2))
        return f"{instructions}\n\n{text}"

    def prompt(
        self,
        message: Message,
        memories: Sequence[Passage] | Sequence[Memory],
        recent: Iterable[Turn],
        pad: str = "",
        instructions: str = "",
    ) -> str:
        """Compose what the model sees, within the window: half of what is left for the newest turns, then memories.

        Args:
            message: The message to answer; it is always shown whole.
            memories: Passages (the conversation's own words; left out if the newest turns show them) or a product's
                memories of the conversation, the most relevant first.
            recent: The newest turns, oldest first.
            pad: Notes of the model's own, for instance a scratchpad.
            instructions: How to answer; empty for what all memories say.
        """
        worded = all(isinstance(memory, Passage) for memory in memories)
        instructions = instructions or (_PASSAGES if worded else _MEMORIES)
        asked = f"# The new message, {stamp(message.at)}\n{message.text}"
        notes = f"# Your own notes\n{pad}" if pad else ""
        left = self._window - self._count(instructions) - self._count(asked) - self._count(notes) - 40
        latest: list[str] = []
        shown: set[int] = set()
        for turn in reversed(list(recent)):
            said = f"User: {turn.message.text}\nYou: {turn.reply.text}"
            if (cost := self._count(said) + 1) > left // 2:
                break
            left -= cost
            latest.insert(0, said)
            shown.add(turn.message.turn)
        lines: list[tuple[tuple[float, int], str]] = []
        for memory in memories:
            if isinstance(memory, Passage) and memory.turn in shown:
                continue
            line = _line(memory, message.at)
            if (cost := self._count(line) + 1) <= left:
                left -= cost
                lines.append((_order(memory), line))
        lines.sort(key=lambda pair: pair[0])
        blocks = [instructions, *([notes] if notes else [])]
        if lines:
            heading = "# From earlier in the conversation" if worded else "# What your memory holds"
            blocks.append("\n".join([heading, *(line for _, line in lines)]))
        if latest:
            blocks.append("# The latest turns\n" + "\n".join(latest))
        return "\n\n".join([*blocks, asked])


def _line(memory: Passage | Memory, now: datetime) -> str:
    who = ""
    if isinstance(memory, Passage):
        who = "User: " if memory.speaker == "user" else "You: "
    if memory.at is None:
        return f"{who}{memory.text}"
    # A fact can lie in the future, and then has no age.
    age = f", {spoken_duration(now - memory.at)} ago" if memory.at <= now else ""
    return f"[{stamp(memory.at)}{age}] {who}{memory.text}"


def _order(memory: Passage | Memory) -> tuple[float, int]:
    if isinstance(memory, Passage):
        return (memory.turn, memory.part)
    return (memory.at.timestamp() if memory.at is not None else float("-inf"), 0)
