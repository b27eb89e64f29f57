"""Tools that a model may call while it replies: what they are, who carries them out, and how often.

A `Toolbox` holds them. `SdkChatModel.ask` takes one, sends what the tools answer back to the model, and stops after so
many rounds, so that a reply always comes to an end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ltm_bench.core.limits import json_of


@dataclass(frozen=True)
class Tool:
    """A tool, as a model hears of it."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    """Of its arguments: a JSON schema of an object."""
    native: Mapping[str, Any] | None = None
    """What the provider calls a tool that it knows by itself; the fields above are then not sent."""


class ToolCall(NamedTuple):
    """What a model wants done."""

    id: str
    """The provider's; the answer carries it."""
    name: str
    arguments: Mapping[str, Any] | None
    """None if they could not be read."""


class ToolAnswer(NamedTuple):
    """What came of a call."""

    text: str
    failed: bool = False


class Toolbox(ABC):
    """Some tools, and what carries them out."""

    rounds: int = 8
    """How often the model may call tools for one reply; after that it is asked for the reply itself."""
    room: int = 8192
    """Tokens that the calls and their answers may take up in the prompt, as our counter has them."""

    @property
    @abstractmethod
    def tools(self) -> Sequence[Tool]:
        """The tools."""

    @abstractmethod
    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Carry out a call. What the model did wrong is an answer that failed; raises AgentError for all else."""

    async def use(self, call: ToolCall) -> ToolAnswer:
        """Carry out a call of a model, which may name anything."""
        if call.arguments is None:
            return ToolAnswer("The arguments are not a JSON object.", failed=True)
        if call.name not in (known := [tool.name for tool in self.tools]):
            return ToolAnswer(f"There is no tool {call.name!r}, only {', '.join(known)}.", failed=True)
        return await self.call(call.name, call.arguments)


@dataclass(frozen=True)
class ToolUse:
    """What a request carries of tools."""

    tools: Sequence[Tool]
    messages: Sequence[Mapping[str, Any]]
    """Calls so far and their answers, in the provider's form, oldest first."""
    allowed: bool
    """Whether the model may still call any."""


def object_in(text: str) -> dict[str, Any] | None:
    """Return the arguments that a model wrote as text; None if they are no JSON object."""
    try:
        found = json_of(text or "{}")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
