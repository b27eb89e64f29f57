"""Tools that a model may call while it replies.

A `Toolbox` holds them. `SdkChatModel.ask` takes one, sends the tools' answers back to the model, and stops after a
number of rounds, so that a reply always ends.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ltm_bench.core.limits import json_of


@dataclass(frozen=True)
class Tool:
    """A tool, as described to a model."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON schema of its arguments, an object."""
    native: Mapping[str, Any] | None = None
    """The provider's name for a tool built into it; the fields above are then not sent."""


class ToolCall(NamedTuple):
    """A model's call of a tool."""

    id: str
    """The provider's id; the answer repeats it."""
    name: str
    arguments: Mapping[str, Any] | None
    """None if they could not be read."""


class ToolAnswer(NamedTuple):
    """The result of a call."""

    text: str
    failed: bool = False


class Toolbox(ABC):
    """A set of tools, and their implementation."""

    rounds: int = 8
    """Rounds of tool calls per reply; after that the model is asked for the reply itself."""
    room: int = 8192
    """Tokens that calls and answers may take up in the prompt, by our counter."""

    @property
    @abstractmethod
    def tools(self) -> Sequence[Tool]:
        """The tools."""

    @abstractmethod
    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Execute a call. The model's mistakes become failed answers; anything else raises AgentError."""

    async def use(self, call: ToolCall) -> ToolAnswer:
        """Execute a model's call, which may name any tool."""
        if call.arguments is None:
            return ToolAnswer("The arguments are not a JSON object.", failed=True)
        if call.name not in (known := [tool.name for tool in self.tools]):
            return ToolAnswer(f"There is no tool {call.name!r}, only {', '.join(known)}.", failed=True)
        return await self.call(call.name, call.arguments)


@dataclass(frozen=True)
class ToolUse:
    """The tools part of a request."""

    tools: Sequence[Tool]
    messages: Sequence[Mapping[str, Any]]
    """Calls so far and their answers, in the provider's form, oldest first."""
    allowed: bool
    """Whether the model may still call any."""


def object_in(text: str) -> dict[str, Any] | None:
    """Parse arguments that a model wrote as text; None if they are not a JSON object."""
    try:
        found = json_of(text or "{}")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
