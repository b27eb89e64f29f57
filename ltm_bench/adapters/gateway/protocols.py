"""What requests to providers ask for, and what answers say they used: four protocols, without any I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from ltm_bench.adapters.routing import Family
from ltm_bench.adapters.usage import MOST, usage_in
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import context_window, dollars

MOST_OUTPUT = 16_384
"""The limit of tokens that a request without one gets, if there is a limit of dollars."""

_TEMPLATE = 2048
"""More tokens than a provider adds to a prompt of its own, to explain tools for example."""

_OWN = re.compile(r"function|custom|(?:bash|text_editor|memory|computer)_\w+")
"""Tools that the caller carries out itself."""

_PRICED = frozenset(
    """model messages input instructions system conversation previous_response_id max_completion_tokens
    max_output_tokens max_tokens n best_of stop stop_sequences truncation temperature top_p top_k min_p seed
    logit_bias logprobs top_logprobs frequency_penalty presence_penalty repetition_penalty response_format text
    verbosity output_config output_format reasoning reasoning_effort reasoning_format include_reasoning thinking
    tools tool_choice functions function_call parallel_tool_calls max_tool_calls stream stream_options include usage
    store metadata user safety_identifier service_tier prompt_cache_key prompt_cache_retention cache_control
    context_management dimensions encoding_format input_type modalities chat_template_kwargs""".split()
)
"""Fields that cost nothing but tokens. A field that nobody knows could choose another model, or search the web."""

_SAID = re.compile(
    r"message|refusal|reasoning|compaction|(?:\w{1,40}_)?(?:text|thinking|use|result|reference|call|call_output)"
)
"""Types of what is said in text: how many tokens anything else has, an image say, does not follow from its bytes."""

_TIERS = ("auto", "default", "flex", "standard_only")
"""Those that cost no more than the price list says."""

_ENDS = ("response.completed", "response.incomplete", "response.failed")

_KEPT = ("conversation", "previous_response_id")
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
    free: bool = False
    """Whether it costs nothing."""


PROTOCOLS = {
    each.path: each
    for each in (
        Protocol("/chat/completions", "openai", ("max_completion_tokens", "max_tokens")),
        Protocol("/responses", "openai", ("max_output_tokens",), _ENDS),
        Protocol("/embeddings", "openai"),
        Protocol("/messages", "anthropic", ("max_tokens",), ("message_stop",)),
        Protocol("/messages/count_tokens", "anthropic", free=True),
    )
}
"""By path, below `/v1` in every agent's base URL."""


def refusal(family: Family, kind: str, text: str) -> dict[str, Any]:
    """Return an error in a provider's own form."""
    if family == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": text}, "request_id": None}
    return {"error": {"message": text, "type": kind, "param": None, "code": kind}}


@dataclass(frozen=True)
class ModelRequest:
    """A request for a reply or for embeddings."""

    protocol: Protocol
    body: Mapping[str, Any]
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
        known = re.match(r"[0-9]{1,4}\Z", retry or "")
        return cls(protocol, body, int(known[0]) if known else 0)

    @cached_property
    def content(self) -> bytes:
        """The body as it is sent, and judged: a name that came twice is in it once. Raises ValueError for NaN."""
        text = json.dumps(self.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")  # half of a surrogate pair, as JSON writes it

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
    def limit(self) -> int | None:
        """The most tokens of all replies; None if there is no limit."""
        if not self.protocol.limits:
            return 0
        given = [_count(self.body, name) for name in self.protocol.limits]
        replies = max(1, _count(self.body, "n"), _count(self.body, "best_of"))
        return replies * max(given) or None

    def measured(self) -> ModelRequest:
        """Return the request with a wish for the usage at the end of a stream, which only chats must express."""
        options = self.body.get("stream_options")
        options = options if isinstance(options, dict) else {}
        wished = options.get("include_usage") is True
        if self.body.get("stream") is not True or self.protocol.path != "/chat/completions" or wished:
            return self
        body = {**self.body, "stream_options": {**options, "include_usage": True}}
        return replace(self, body=body, unasked=True)

    def limited(self, provider: str | None) -> ModelRequest:
        """Return the request with a limit of tokens, unless it names one, if only an odd one."""
        names = self.protocol.limits
        if not names or any(self.body.get(name) is not None for name in names):
            return self
        # Other servers may not know OpenAI's newer name, and what they do not know does not limit them.
        return replace(self, body={**self.body, names[0 if provider == "openai" else -1]: MOST_OUTPUT})

    @cached_property
    def unlisted(self) -> str:
        """What it asks for that may be billed otherwise than by the tokens that it limits; empty if nothing."""
        body = self.body
        # Libraries send some fields that they do not use as null or false.
        given = {name: value for name, value in body.items() if value is not None and value is not False}
        if strange := given.keys() - _PRICED:
            return f"the field {min(strange)!r:.40}"
        for name in (*self.protocol.limits, "n", "best_of"):
            if name in given and not _count(body, name):
                return f"{name} = {body[name]!r:.40}"
        for name, plain in (("service_tier", _TIERS), ("modalities", (["text"],))):
            if name in given and body[name] not in plain:
                return f"{name} = {body[name]!r:.40}"
        if "-search-" in self.model or self.model.endswith(":online"):
            return "a model that searches"
        tools = given.get("tools") or []
        for tool in tools if isinstance(tools, list) else [tools]:
            kind = tool.get("type") if isinstance(tool, dict) else ""
            own = kind is None and self.protocol.family == "anthropic" and "input_schema" in tool
            if not own and not _OWN.fullmatch(str(kind)):
                return f"a tool of type {kind!r:.40}"
        said = _kinds([body.get("messages"), body.get("input"), body.get("system")])
        return next((f"content of type {kind!r:.40}" for kind in said if not _SAID.fullmatch(kind)), "")

    def most(self, provider: str | None) -> Decimal | None:
        """Return the most that it can cost at a provider; None if that is unknown."""
        limit = self.limit
        if self.unlisted or limit is None:
            return None
        # No tokenizer makes more tokens of a text than it has bytes.
        prompt: int | None = len(self.content) + _TEMPLATE
        kinds = _kinds([self.body.get("input")])
        if any(self.body.get(name) for name in _KEPT) or "item_reference" in kinds:
            prompt = context_window(self.model, provider)
        if prompt is None:
            return None
        hour = prompt if b'"1h"' in self.content else 0
        used = Usage(
            cache_write=prompt, cache_write_1h=hour, output=limit, model=self.model, provider=provider
        )
        most = dollars(used)
        # A conversation that is summarised on the way is read once more, and the summary is written besides.
        again = 2 if "compact" in json.dumps(self.body.get("context_management")) else 1
        return None if most is None else again * most


def _count(body: Mapping[str, Any], name: str) -> int:
    """Return a number that limits a request; 0 if it names none, or none that limits it."""
    value = body.get(name)
    return value if type(value) is int and 0 < value <= MOST else 0


def _kinds(content: Any) -> Iterator[str]:
    """Yield the types of all parts of what is said, however deep; arguments of tools are not looked into."""
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            yield str(part.get("type") or ("message" if "role" in part else ""))
            yield from (name for name in ("audio", "images") if part.get(name))
            yield from _kinds([part.get("content"), part.get("output")])
        else:
            yield from _kinds(part)


def data_of(event: bytes) -> bytes:
    """Return what an event of a stream says."""
    return b"".join(line[5:] for line in event.splitlines() if line.startswith(b"data:")).strip()


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
    stated: bool = False
    """Whether its last word on the usage can be read, and is not that of a stream's beginning."""

    def read(self, body: bytes) -> None:
        """Read a whole answer."""
        self._take(body)
        self.ended = True

    def event(self, event: bytes) -> bool:
        """Read an event of a stream; return whether it holds nothing but a chat's usage."""
        data = data_of(event)
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
        for holder in (body.get("message"), body.get("response"), body):
            if isinstance(holder, dict):
                named, spent = holder.get("model"), holder.get("usage")
                self.model = named if named and isinstance(named, str) else self.model
                if isinstance(spent, dict):
                    # Anthropic's last event repeats only some of the first one's figures
                    self.figures |= {name: value for name, value in spent.items() if value is not None}
                if spent is not None:  # the beginning of Anthropic's streams knows of the first token alone
                    known = isinstance(spent, dict) and holder is not body.get("message")
                    openai = self.protocol.family == "openai"
                    self.stated = known and (openai or spent.get("output_tokens") is not None)
        return body

    @property
    def usage(self) -> Usage | None:
        """The usage; None if the answer is not whole, or does not say it, or says what cannot be."""
        if not (self.ended and self.stated):
            return None
        found = usage_in(
            self.figures,
            "messages" if self.protocol.family == "anthropic" else "chat",
            model=self.model,
            provider=self.provider,
            replies=bool(self.protocol.limits),
        )
        return found if found is not None and found.prompt else None  # nothing was asked without a word
