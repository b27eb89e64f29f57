"""Faults of requests, and records of requests."""

import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Said = dict[str, str]
"""A message as sent: `role` and `content`."""

FaultKind = Literal["error", "hang", "slow", "cut", "garbage", "text", "empty", "refusal", "moved"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to one request instead of an answer. Without a `kind`, an HTTP error with this status."""

    kind: FaultKind = "error"
    """hang: no answer for `seconds`; slow: a good answer, in pieces that take `seconds`; cut: half a body; garbage:
    invalid JSON; text: another content type; empty: no text, finished with `finish`; refusal: the model declines;
    moved: a redirect to the address in `message`.
    """
    status: int = 500
    message: str = "Something went wrong."
    code: str | None = None
    body: dict[str, Any] | None = None
    """The error's body, at servers with a shape of their own; None: the protocol's, with this message and code."""
    seconds: float = 10.0
    finish: str = "length"
    """The finish reason, in the protocol's own words."""
    retry_after: str | None = None
    """When to retry: seconds, or an HTTP date. At once if neither this nor `retry_ms` is set."""
    retry_after_ms: str | None = None
    """The same in milliseconds, which the SDKs prefer."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """More of them; with any, no header says by itself when to retry."""


class RecordedRequest(NamedTuple):
    """One recorded request."""

    path: str
    headers: dict[str, str]
    """By name, in lower case."""
    body: dict[str, Any]

    @property
    def messages(self) -> list[Said]:
        """Its messages, with the system message first wherever the protocol puts it, and with their blocks joined.

        A tool call is the assistant's message, as JSON (see `Calls`); its result has the role `tool`. A replacement for
        older messages has the role `compaction`.
        """
        system = self.body.get("system") or self.body.get("instructions")
        said = self.body.get("messages") or self.body["input"]
        first = [{"role": "system", "content": system}] if system else []
        return [*map(_said, first), *(part for one in said for part in _parts(one))]

    @property
    def seen(self) -> list[Said]:
        """The messages that the model sees: the system message, and those that were not compacted."""
        said = self.messages
        at = [n for n, one in enumerate(said) if one["role"] == "compaction"]
        return said if not at else [*(one for one in said[:1] if one["role"] == "system"), *said[at[-1] :]]

    @property
    def compact_at(self) -> int | None:
        """Tokens above which to compact it; None: never."""
        asked = self.body.get("context_management") or ()
        edits = asked["edits"] if isinstance(asked, dict) else asked
        for edit in edits:
            if edit["type"] == "compaction":
                return int(edit["compact_threshold"])
            if edit["type"].startswith("compact_"):
                return int((edit.get("trigger") or {"value": 150_000})["value"])
        return None

    @property
    def tools(self) -> list[str]:
        """The names of the tools offered."""
        if (choice := self.body.get("tool_choice")) == "none" or choice == {"type": "none"}:
            return []
        return [each.get("function", each)["name"] for each in self.body.get("tools") or ()]


def _parts(one: Mapping[str, Any]) -> list[Said]:
    """Return a message as it is, or as two if Anthropic put a summary in front of it."""
    content = one.get("content")
    if isinstance(content, str) or content is None:
        return [_said(one)]
    summaries = [block for block in content if block["type"] == "compaction"]
    left = [block for block in content if block["type"] != "compaction"]
    found = [{"role": "compaction", "content": block["content"]} for block in summaries]
    return [*found, _said({**one, "content": left})]


def _said(one: Mapping[str, Any]) -> Said:
    """Return a message in any of the protocols as a role and a text."""
    if one.get("type") == "function_call":  # OpenAI's Responses
        return {"role": "assistant", "content": _calls([(one["name"], json.loads(one["arguments"]))])}
    if one.get("type") == "function_call_output":
        return {"role": "tool", "content": one["output"]}
    if one.get("type") == "compaction":
        return {"role": "compaction", "content": b64decode(one["encrypted_content"]).decode()}
    if made := one.get("tool_calls"):
        called = [(each["function"]["name"], json.loads(each["function"]["arguments"])) for each in made]
        return {"role": one["role"], "content": _calls(called)}
    content = one["content"]
    if not isinstance(content, str):
        kinds = {block["type"] for block in content}
        if "tool_result" in kinds:
            return {"role": "tool", "content": "\n".join(_joined(block["content"]) for block in content)}
        if "tool_use" in kinds:
            used = [(block["name"], block["input"]) for block in content if block["type"] == "tool_use"]
            return {"role": one["role"], "content": _calls(used)}
    return {"role": one["role"], "content": _joined(content)}


def _calls(made: Sequence[tuple[str, Any]]) -> str:
    return json.dumps([{"name": name, "arguments": arguments} for name, arguments in made])


def _joined(content: str | Sequence[Mapping[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text") or block.get("content") or "" for block in content)
