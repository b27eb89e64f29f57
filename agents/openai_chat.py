"""OpenAI's chat models, and every server that speaks OpenAI's Chat Completions protocol (set base_url).

The key is read from OPENAI_API_KEY, or from the variable that key_variable names.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import openai
from openai.types.chat import ChatCompletion

from ltm_bench import Finding, Reply, Usage
from ltm_bench.adapters import (
    ConfigError,
    Endpoint,
    Inheriting,
    Prompt,
    SdkChatModel,
    ToolAnswer,
    ToolCall,
    ToolUse,
    object_in,
    spoken,
    usage_in,
)

# Upper bound of the model's tokens per token of our counter (cl100k_base). OpenAI's newer vocabularies are larger, so
# their counts are lower except in rare languages; models on other servers often have smaller ones.
_VENDOR_RATIO = 1.05
_OTHER_RATIO = 1.25

_UNKNOWN = r"\b(un(support|recogni[sz]|known|expected)|extra|not (support|permit|allow|recogni))"
_FIELD = r"\bmax_(completion_)?tokens\b"
_REFUSED = re.compile(rf"(?is){_UNKNOWN}.{{0,80}}{_FIELD}|{_FIELD}.{{0,80}}{_UNKNOWN}")
"""How servers refuse a field of requests."""


class OpenAIChat(Inheriting, SdkChatModel):
    """A conversation with one model. Sends only the settings that are given: by default no temperature, no effort.

    Args:
        model: The model's name, as the server knows it.
        base_url: Another server that speaks the protocol; default: OPENAI_BASE_URL, else OpenAI's.
        key_variable: The environment variable that holds the key.
        output_field: The field of requests that holds max_output, max_tokens or max_completion_tokens; default: the
            second at OpenAI, where reasoning models take no other, and the first elsewhere.
        window: The model's context window in its own tokens; history beyond it is dropped in steps. Default: what the
            server says, if it is not OpenAI's own, or else 128,000.
        max_output: Maximum tokens of one reply, reasoning included; subtracted from the window. Default: 1,024, or a
            quarter of a smaller window.
        effort: Reasoning effort, for models that have it.
        temperature: Sampling temperature, for models that still accept one.
        timeout: Seconds to wait for one reply.
        max_retries: Retries of a failed request (rate limits, server errors, broken connections).
        settings: Those of every `ChatModel`.
    """

    sdk = openai
    client_class = openai.AsyncOpenAI
    sdk_error = openai.OpenAIError
    lacks_settings = frozenset({"ratio"})

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        key_variable: str = "OPENAI_API_KEY",
        output_field: Literal["max_tokens", "max_completion_tokens"] | None = None,
        window: int | None = None,
        max_output: int | None = None,
        effort: str | None = None,
        temperature: float | None = None,
        timeout: float = 120.0,
        max_retries: int = 4,
        **settings: Any,
    ) -> None:
        endpoint = Endpoint.openai(
            model, base_url=base_url, key_variable=key_variable, timeout=timeout, max_retries=max_retries
        )
        ratio = _VENDOR_RATIO if endpoint.is_vendor else _OTHER_RATIO
        super().__init__(endpoint, window=window, max_output=max_output, ratio=ratio, **settings)
        self.lists_models = endpoint.is_vendor
        self._effort, self._temperature = effort, temperature
        if output_field not in (None, "max_tokens", "max_completion_tokens"):
            raise ConfigError(
                f"{model}: output_field = {output_field!r}: use 'max_tokens' or 'max_completion_tokens'"
            )
        self._output_field = output_field or ("max_completion_tokens" if endpoint.is_vendor else "max_tokens")
        other = "max_tokens" if self._output_field == "max_completion_tokens" else "max_completion_tokens"
        endpoint.hint = (_REFUSED, f"set output_field={other}")
        self._cache_key = ""

    @property
    def provider(self) -> str | None:
        """OpenAI, at its own server."""
        return "openai" if self.endpoint.is_list_priced else None

    async def open(self, home: Path) -> None:
        """Make the client. Nothing is sent yet."""
        self._cache_key = f"ltm-bench/{home.parent.name}"[:64]
        await super().open(home)

    async def request(self, client: openai.AsyncOpenAI, prompt: Prompt, use: ToolUse | None = None) -> Any:
        """Send a request, with tools if there are any, and return the answer as the SDK parses it."""
        vendor = self.endpoint.is_vendor
        body: dict[str, object] = {"model": self.model, self._output_field: self._max_output}
        if vendor:
            body["prompt_cache_key"] = self._cache_key
        if self._temperature is not None:
            body["temperature"] = self._temperature
        if vendor and self.schema is not None:
            form = {"name": "answer", "strict": True, "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if self._effort is not None:
            body["reasoning_effort"] = self._effort
        if use is not None:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": t.name, "description": t.description, "parameters": t.schema},
                }
                for t in use.tools
            ]
            if not use.allowed:
                body["tool_choice"] = "none"
        # The SDK's own create() inspects every message of every request: 30 ms for 200 messages, compared with 1 ms.
        content = prompt.request(body, "messages", system=True, more=use.messages if use else ())
        return await client.post("/chat/completions", content=content, cast_to=ChatCompletion)

    def read(self, answer: Any) -> Reply:
        """Read an answer; the SDK validates neither its type nor its fields."""
        with self.endpoint.reading():
            if not isinstance(answer, ChatCompletion):
                raise ValueError(f"it is not JSON: {answer!r}")
            choice, word = answer.choices[0], answer.choices[0].finish_reason
            said = choice.message  # which is left out where nothing was said
            text, refusal = ("", None) if said is None and word else (spoken(said.content), said.refusal)
            if not isinstance(refusal, str | None):
                raise ValueError("the refusal is not a string")
            usage = self.used(answer)
        return self._ended("chat", word, text, usage, refusal or "")

    def calls(self, answer: Any) -> list[ToolCall]:
        """Return the tool calls in an answer."""
        with self.endpoint.reading():
            found = answer.choices[0].message.tool_calls or []
            return [
                ToolCall(each.id, each.function.name, object_in(each.function.arguments)) for each in found
            ]

    def called(self, answer: Any, done: Sequence[tuple[ToolCall, ToolAnswer]]) -> list[dict[str, Any]]:
        """Return an answer that calls tools, and the calls' results, as messages for the next request."""
        message = answer.choices[0].message
        made = [
            {
                "id": each.id,
                "type": "function",
                "function": {"name": each.function.name, "arguments": each.function.arguments},
            }
            for each in message.tool_calls
        ]
        said = {"role": "assistant", "content": message.content or None, "tool_calls": made}
        results = [{"role": "tool", "tool_call_id": call.id, "content": text} for call, (text, _) in done]
        return [said, *results]

    def used(self, answer: Any) -> Usage | None:
        """Return an answer's usage; None if it does not report any."""
        return usage_in(answer.usage, "chat", model=answer.model or self.model, provider=self.provider)

    def describe(self, model: Any) -> list[Finding]:
        """Report how long the server will offer the model."""
        ends = model.shutdown_date
        until = "; no shutdown date is announced" if ends is None else f", and will be shut down on {ends}"
        return [Finding(True, f"model {self.model} exists{until}")]
