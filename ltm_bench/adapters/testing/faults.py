"""What can go wrong with a request, and what of it is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Said = dict[str, str]
"""A message as it is sent: `role` and `content`."""

FaultKind = Literal["error", "hang", "slow", "cut", "garbage", "text", "empty", "refusal"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to one request in place of an answer. Without a `kind` it is an HTTP error with this status."""

    kind: FaultKind = "error"
    """hang: no answer for `seconds`; slow: a good answer, in pieces that take `seconds`; cut: half a body; garbage: no
    JSON; text: not even called JSON; empty: no text, finished with `finish`; refusal: the model declines."""
    status: int = 500
    message: str = "Something went wrong."
    code: str | None = None
    seconds: float = 10.0
    finish: str = "length"
    """In the protocol's own words."""
    retry_after: str | None = None
    """When to come again: seconds, or a date of HTTP. None, with no milliseconds either: at once."""
    retry_after_ms: str | None = None
    """The same in milliseconds, which the SDKs believe before the other."""


class Request(NamedTuple):
    """One recorded request."""

    path: str
    headers: dict[str, str]
    """By their names in lower case."""
    body: dict[str, Any]

    @property
    def messages(self) -> list[Said]:
        """Its messages, the system message first wherever the protocol puts it, and their blocks joined."""
        system = self.body.get("system") or self.body.get("instructions")
        said = self.body.get("messages") or self.body["input"]
        first = [{"role": "system", "content": system}] if system else []
        return [{"role": one["role"], "content": _joined(one["content"])} for one in (*first, *said)]

    @property
    def caches(self) -> bool:
        """Whether it asks Anthropic to cache: of itself, or in one of its blocks."""
        said = [self.body.get("system"), *(one["content"] for one in self.body.get("messages", ()))]
        blocks = [block for content in said if isinstance(content, list) for block in content]
        return any("cache_control" in each for each in (self.body, *blocks))


def _joined(content: str | Sequence[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)
