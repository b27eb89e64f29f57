"""What requests to providers ask for, and what answers say they used: four protocols, without any I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from ltm_bench.adapters.routing import Family
from ltm_bench.adapters.usage import usage_of
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import context_window, dollars

MOST_OUTPUT = 16_384
"""The limit of tokens that a request without one gets, if there is a limit of dollars."""

_TEMPLATE = 2048
"""More tokens than a provider adds to a prompt of its own, to explain tools for example."""

_OWN = ("function", "custom", "bash_", "text_editor_", "memory_", "computer_")
"""Tools that the caller carries out itself."""

_EXTRA = (
    "audio", "background", "container", "inference_geo", "mcp_servers", "prediction", "speed", "web_search_options",
)  # fmt: skip
"""Fields of requests that are billed otherwise than by the price list's tokens."""

_ENDS = ("response.completed", "response.incomplete", "response.failed")

_KEPT = ("conversation", "previous_response_id", "prompt")
"""Fields that refer to text which the provider keeps."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """One of the protocols."""

    path: str
    """Below the base URL of its family."""
    family: Family
    limits: tuple[str, ...] = ()
    """Fields that limit the tokens of a reply; none if there is no reply."""
    ends: tuple[str, ...] = ()
    """Types of the event that ends a stream."""


PROTOCOLS = {
    each.path: each
    for each in (
        Protocol("/chat/completions", "openai", ("max_completion_tokens", "max_tokens")),
        Protocol("/responses", "openai", ("max_output_tokens",), _ENDS),
        Protocol("/embeddings", "openai"),
        Protocol("/messages", "anthropic", ("max_tokens",), ("message_stop",)),
    )
}
"""By path, below `/v1` in every agent's base URL."""


def refusal(family: Family, kind: str, text: str) -> dict[str, Any]:
    """Return an error in a provider's own form."""
    if family == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": text}, "request_id": None}
    return {"error": {"message": text, "type": kind, "param": None, "code": kind}}


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request for a reply or for embeddings."""

    protocol: Protocol
    body: Mapping[str, Any]
    size: int
    """Bytes of the body: no tokenizer makes more tokens of a text than it has bytes."""
    retry: int = 0
    """How often the caller's library has repeated it, if it says so."""
    unasked: bool = False
    """Whether the stream is asked for a usage that the caller did not ask for."""

    @classmethod
    def of(cls, protocol: Protocol, content: bytes, retry: str | None = None) -> ModelRequest:
        """Read a request. Raises ValueError."""
        body = json_of(content)
        if not isinstance(body, dict):
            raise ValueError("it is not an object")
        return cls(protocol, body, len(content), int(retry) if retry and retry.isdecimal() else 0)

    @property
    def model(self) -> str:
        """The model, as the caller names it."""
        return str(self.body.get("model", ""))

    @property
    def record(self) -> dict[str, Any]:
        """What the side file says of it."""
        again = {"retry": self.retry} if self.retry else {}
        return {"path": self.protocol.path, "model": self.model[:200], **again}

    @property
    def streams(self) -> bool:
        """Whether the answer comes in pieces."""
        return self.body.get("stream") is True

    @property
    def limit(self) -> int | None:
        """The most tokens of all replies; None if there is no limit."""
        if not self.protocol.limits:
            return 0
        given = [_figure(self.body, name) for name in self.protocol.limits]
        return (_figure(self.body, "n") or 1) * max(given) or None

    def measured(self) -> ModelRequest:
        """Return the request with a wish for the usage at the end of a stream, which only chats must express."""
        options = self.body.get("stream_options")
        options = options if isinstance(options, dict) else {}
        wished = options.get("include_usage") is True
        if not self.streams or self.protocol.path != "/chat/completions" or wished:
            return self
        body = {**self.body, "stream_options": {**options, "include_usage": True}}
        return replace(self, body=body, unasked=True)

    def limited(self, provider: str | None) -> ModelRequest:
        """Return the request with a limit of tokens."""
        if self.limit is not None:
            return self
        # Other servers may not know OpenAI's newer name, and what they do not know does not limit them.
        name = self.protocol.limits[0 if provider == "openai" else -1]
        return replace(self, body={**self.body, name: MOST_OUTPUT})

    @property
    def unlisted(self) -> str:
        """What it asks for that is billed otherwise than by tokens; empty if nothing."""
        body = self.body
        for name in _EXTRA:
            if body.get(name):
                return name
        if body.get("service_tier") not in (None, "auto", "default", "flex", "standard_only"):
            return "service_tier"
        if "-search-" in self.model:
            return "a model that searches"
        tools = body.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            kind = tool.get("type") if isinstance(tool, dict) else ""
            if kind is not None and not str(kind).startswith(_OWN):
                return f"the tool {kind!s:.40}"
        media = ("image", "input_image", "audio", "input_audio", "file", "input_file", "document", "video")
        said = _kinds([body.get("messages"), body.get("input"), body.get("system")])
        return next((f"content of type {kind}" for kind in said if kind in media or kind == "image_url"), "")

    def most(self, provider: str | None) -> Decimal | None:
        """Return the most that it can cost at a provider; None if that is unknown."""
        limit = self.limit
        if self.unlisted or limit is None:
            return None
        prompt: int | None = self.size + _TEMPLATE
        kinds = _kinds([self.body.get("input")])
        if any(self.body.get(name) for name in _KEPT) or "item_reference" in kinds:
            prompt = context_window(self.model, provider)
        if prompt is None:
            return None
        hour = prompt if '"1h"' in json.dumps(self.body) else 0
        most = Usage(
            cache_write=prompt, cache_write_1h=hour, output=limit, model=self.model, provider=provider
        )
        return dollars(most)


def _kinds(content: Any) -> Iterator[str]:
    """Yield the types of all parts of what is said, however deep; arguments of tools are not looked into."""
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            yield str(part.get("type", ""))
            yield from _kinds([part.get("content"), part.get("output")])
        else:
            yield from _kinds(part)


@dataclass(slots=True)
class Meter:
    """Reads the usage in an answer, or in the events of a stream."""

    protocol: Protocol
    provider: str | None
    """Whose prices apply; None if unknown."""
    figures: dict[str, Any] = field(default_factory=dict)
    model: str = ""
    ended: bool = False
    """Whether all of the answer has come."""

    def read(self, body: bytes) -> None:
        """Read a whole answer."""
        self._take(body)
        self.ended = True

    def event(self, event: bytes) -> bool:
        """Read an event of a stream; return whether it holds nothing but a chat's usage."""
        data = b"".join(line[5:] for line in event.splitlines() if line.startswith(b"data:")).strip()
        found = self._take(data)
        self.ended = self.ended or data == b"[DONE]" or found.get("type") in self.protocol.ends
        return bool(found.get("usage")) and found.get("choices") == []

    def _take(self, text: bytes) -> Mapping[str, Any]:
        try:
            body = json_of(text)
        except ValueError:
            return {}
        if not isinstance(body, dict):
            return {}
        for holder in (body, body.get("response"), body.get("message")):
            if isinstance(holder, dict):
                self.model = str(holder.get("model") or self.model)
                spent = holder.get("usage")
                if isinstance(
                    spent, dict
                ):  # Anthropic's last event repeats only some of the first one's figures
                    self.figures |= {name: value for name, value in spent.items() if value is not None}
        return body

    @property
    def usage(self) -> Usage | None:
        """The usage; None if the answer is not whole, or does not say."""
        figures, provider = self.figures, self.provider
        if not self.ended or not figures:
            return None
        if self.protocol.family == "anthropic":
            iterations = figures.get("iterations")
            summaries = [
                each
                for each in iterations or ()
                if isinstance(each, dict) and each.get("type") == "compaction"
            ]
            total = Usage(model=self.model, provider=provider)
            for each in (figures, *summaries):  # writing a summary is reported apart, and is not in the total
                total += self._messages(each)
            return total
        prompt, output = (
            _part(figures, name) for name in ("prompt_tokens_details", "completion_tokens_details")
        )
        prompt = prompt or _part(figures, "input_tokens_details")
        output = output or _part(figures, "output_tokens_details")
        if not {"prompt_tokens", "input_tokens"} & figures.keys():
            return None
        return usage_of(
            prompt=_figure(figures, "prompt_tokens") or _figure(figures, "input_tokens"),
            output=_figure(figures, "completion_tokens") or _figure(figures, "output_tokens"),
            cache_read=_figure(prompt, "cached_tokens"),
            cache_write=_figure(prompt, "cache_write_tokens"),
            reasoning=_figure(output, "reasoning_tokens"),
            model=self.model,
            provider=provider,
        )

    def _messages(self, figures: Mapping[str, Any]) -> Usage:
        return Usage(
            uncached=_figure(figures, "input_tokens"),
            cache_read=_figure(figures, "cache_read_input_tokens"),
            cache_write=_figure(figures, "cache_creation_input_tokens"),
            cache_write_1h=_figure(_part(figures, "cache_creation"), "ephemeral_1h_input_tokens"),
            output=_figure(figures, "output_tokens"),
            reasoning=_figure(_part(figures, "output_tokens_details"), "thinking_tokens"),
            model=self.model,
            provider=self.provider,
        )


def _part(figures: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = figures.get(name)
    return part if isinstance(part, dict) else {}


def _figure(figures: Mapping[str, Any], name: str) -> int:
    value = figures.get(name)
    return value if type(value) is int and value > 0 else 0
