"""Anthropic's Claude models, through the Messages API.

The key is read from ANTHROPIC_API_KEY. Prompts are cached: what later prompts begin with is written once, and of many
forked questions at one place the first goes alone. Claude no longer takes a temperature, so there is no such setting.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import anthropic

from ltm_bench import Finding, Message, Reply, Usage
from ltm_bench.adapters import (
    Compacted,
    ConfigError,
    Endpoint,
    Inheriting,
    Prompt,
    PromptCache,
    SdkChatModel,
    Tool,
    ToolAnswer,
    Toolbox,
    ToolCall,
    ToolUse,
    counter,
    sendable,
    usage_in,
)

# Upper bound of Claude's tokens per token of the benchmark's counter (cl100k_base). Anthropic publishes no tokenizer.
# Since Claude 4.7 the same text has about 30 % more tokens than before, and even before it had more than by this
# counter.
_RATIO = 1.5


_BETAS = {
    "compact_20260112": "compact-2026-01-12",
    "clear_tool_uses_20250919": "context-management-2025-06-27",
}
"""The context edits that Anthropic offers, each with its beta feature."""


def _edits(compact_at: int | None, clear_tools_at: int | None) -> list[dict[str, Any]]:
    """Return the context edits that Anthropic should apply to a conversation, and the tokens that trigger each."""
    wanted = zip(_BETAS, (compact_at, clear_tools_at), strict=True)
    return [
        {"type": kind, "trigger": {"type": "input_tokens", "value": at}}
        for kind, at in wanted
        if at is not None
    ]


def _tool(tool: Tool) -> dict[str, Any]:
    if tool.native is not None:
        return dict(tool.native)
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


class AnthropicChat(Inheriting, SdkChatModel):
    """A conversation with one model.

    Args:
        model: The model's name.
        base_url: Another server that speaks the Messages API; default: ANTHROPIC_BASE_URL, else Anthropic's.
        window: The model's context window in its own tokens; history beyond it is dropped in steps. Default: what the
            server says, if it is not Anthropic's own, or else 200,000.
        max_output: Maximum tokens of one reply, thinking included; subtracted from the window. Default: 4,096, or a
            quarter of a smaller window.
        effort: How much the model thinks and writes (low, medium, high, …); not sent unless set.
        compact_at: Prompt tokens above which Anthropic replaces the conversation by a summary (beta); default: never.
        clear_tools_at: Prompt tokens above which Anthropic removes older tool results (beta); only matters with tools.
        ttl: Lifetime of the provider's prompt cache, 5m or 1h; with 1h writing to it costs more.
        timeout: Seconds to wait for one reply.
        max_retries: Retries of a failed request (rate limits, server errors, broken connections).
        settings: Those of every `ChatModel`.
    """

    sdk = anthropic
    client_class = anthropic.AsyncAnthropic
    sdk_error = anthropic.AnthropicError
    writes_cost = True
    usual_window = 200_000
    usual_output = 4096
    lacks_settings = frozenset({"ratio"})

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        window: int | None = None,
        max_output: int | None = None,
        effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None,
        compact_at: int | None = None,
        clear_tools_at: int | None = None,
        ttl: Literal["5m", "1h"] = "5m",
        timeout: float = 120.0,
        max_retries: int = 4,
        **settings: Any,
    ) -> None:
        endpoint = Endpoint(
            model=model,
            base_url=base_url,
            url_variable="ANTHROPIC_BASE_URL",
            vendor_url="https://api.anthropic.com",
            key_variable="ANTHROPIC_API_KEY",
            timeout=timeout,
            max_retries=max_retries,
        )
        super().__init__(endpoint, window=window, max_output=max_output, ratio=_RATIO, **settings)
        if ttl not in ("5m", "1h"):
            raise ConfigError(f"{model}: ttl = {ttl!r}: use '5m' or '1h'")
        self.lists_models = endpoint.is_vendor
        self._ttl, self._effort = ttl, effort
        self._cache = PromptCache()
        self.compact(compact_at)
        self._edits = _edits(compact_at, clear_tools_at)

    @property
    def provider(self) -> str | None:
        """Anthropic, if it is its own server and the prices are known."""
        return "anthropic" if self.endpoint.is_list_priced else None

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze the conversation with this message at its end, once the cache holds what is being written of it."""
        prompt = self.frozen(message)
        if prompt is not None:
            await self._cache.wait(prompt)  # here, since a question's time counts from its request
        return await super().fork(message)

    async def ask(self, prompt: Prompt, toolbox: Toolbox | None = None) -> Reply:
        """Send a request as `SdkChatModel` does, with marks for the prompt cache."""
        async with self._cache.marked(prompt) as marked:
            return await super().ask(marked, toolbox)

    def reserve(self, message: Message) -> Usage:
        """Return the most that a reply can use: all of the prompt written to the cache, and a full reply."""
        most = super().reserve(message)
        return replace(most, cache_write_1h=most.cache_write if self._ttl == "1h" else 0)

    async def request(
        self, client: anthropic.AsyncAnthropic, prompt: Prompt, use: ToolUse | None = None
    ) -> Any:
        """Send a request, with tools if there are any, and return the answer as the SDK parses it."""
        caching = {"type": "ephemeral"} if self._ttl == "5m" else {"type": "ephemeral", "ttl": self._ttl}
        body: dict[str, object] = {
            "model": self.model,
            "max_tokens": self._max_output,
        }
        if prompt.continues or use is not None:  # or no later request begins with this one
            body["cache_control"] = caching
        if prompt.system:
            body["system"] = prompt.system
        output: dict[str, object] = {} if self._effort is None else {"effort": self._effort}
        if self.schema is not None and self.endpoint.is_vendor:
            output["format"] = {"type": "json_schema", "schema": self.schema}
        if output:
            body["output_config"] = output
        if use is not None:
            body["tools"] = [_tool(each) for each in use.tools]
            if not use.allowed:
                body["tool_choice"] = {"type": "none"}
        # The SDK's own create() inspects every message of every request, which takes longer than everything else.
        if self._edits:
            body["context_management"] = {"edits": self._edits}
        more = use.messages if use else ()
        content = prompt.request(body, "messages", system=False, more=more, mark=caching)
        if not self._edits:
            return await client.post("/v1/messages", content=content, cast_to=anthropic.types.Message)
        return await client.post(
            "/v1/messages?beta=true",
            content=content,
            cast_to=anthropic.types.beta.BetaMessage,
            options={
                "headers": {"anthropic-beta": ",".join(_BETAS[str(each["type"])] for each in self._edits)}
            },
        )

    def read(self, answer: Any) -> Reply:
        """Read an answer; the SDK validates neither its type nor its fields."""
        with self.endpoint.reading():
            if not isinstance(answer, anthropic.types.Message | anthropic.types.beta.BetaMessage):
                raise ValueError(f"it is not JSON: {answer!r}")
            # The SDK leaves blocks of a type that it does not know as they are.
            known = [block for block in answer.content if not isinstance(block, dict)]
            text = "".join(block.text for block in known if block.type == "text")
            word = answer.stop_reason
            usage = self.used(answer)
            # A failed one has no content, and means nothing.
            summaries = [block for block in known if block.type == "compaction" and block.content]
        # LiteLLM's proxy before llama.cpp's server calls a truncated reply complete. A summary is not limited.
        if word == "end_turn" and not summaries and usage is not None and usage.output >= self._max_output:
            word = "max_tokens"
        reply = self._ended("messages", word, text, usage)
        if not summaries or not text.strip():
            return reply
        blocks = [block.to_dict(mode="json") for block in summaries]
        said = {"role": "assistant", "content": [*blocks, {"type": "text", "text": sendable(text)}]}
        tokens = sum(map(counter().count, (text, *(block.content or "" for block in summaries))))
        return Compacted(text, usage, reply.finish, said=(said,), tokens=tokens)

    def calls(self, answer: Any) -> list[ToolCall]:
        """Return the tool calls in an answer."""
        with self.endpoint.reading():
            blocks = [block for block in answer.content if getattr(block, "type", None) == "tool_use"]
            return [
                ToolCall(block.id, block.name, block.input if isinstance(block.input, dict) else None)
                for block in blocks
            ]

    def called(self, answer: Any, done: Sequence[tuple[ToolCall, ToolAnswer]]) -> list[dict[str, Any]]:
        """Return an answer that calls tools, and the calls' results, as messages for the next request."""
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": failed}
            for call, (text, failed) in done
        ]
        # Unchanged: a thinking block must be sent back whole.
        said = [block if isinstance(block, dict) else block.to_dict(mode="json") for block in answer.content]
        return [{"role": "assistant", "content": said}, {"role": "user", "content": results}]

    def used(self, answer: Any) -> Usage | None:
        """Return an answer's usage; None if it does not report any."""
        spent = answer.usage
        used = usage_in(spent, "messages", model=answer.model or self.model, provider=self.provider)
        if used is None or self._ttl != "1h" or getattr(spent, "cache_creation", None) is not None:
            return used
        # Servers that do not tell do as they are asked.
        parts = tuple(replace(each, cache_write_1h=each.cache_write) for each in used.parts)
        return replace(used, cache_write_1h=used.cache_write, parts=parts)

    def describe(self, model: Any) -> list[Finding]:
        """Report how long the server will offer the model, and how large its window is."""
        if not isinstance(model, anthropic.types.ModelInfo):  # the SDK returns anything but JSON as text
            raise ValueError("it is not JSON")
        # The SDK validates none of these, and other servers that speak the protocol may omit some.
        life, ends, window = (
            getattr(model, field, None) for field in ("lifecycle", "retires_at", "max_input_tokens")
        )
        state = f": it is {life}" if life else ""
        until = f", retires on {str(ends)[:10]}" if ends else ""
        found = [Finding(life != "retired", f"model {self.model} exists{state}{until}")]
        if isinstance(window, int):
            fits = self._window <= window
            what = f"the provider's window is {window:,} tokens, window={self._window:,}"
            found.append(Finding(fits, what if fits else f"{what} is larger: lower it"))
        return found
