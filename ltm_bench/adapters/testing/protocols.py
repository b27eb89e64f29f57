"""The shapes of answers and errors in the protocols that the provider speaks."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any, NamedTuple

from ltm_bench.adapters.testing.faults import Fault


class Calls(str):
    """A reply that calls tools instead of saying something: a JSON list of `{"name": …, "arguments": {…}}`."""


def _called(text: str) -> list[dict[str, Any]]:
    """Return the calls in a reply; none if it says something."""
    return json.loads(text) if isinstance(text, Calls) else []


class Tokens(NamedTuple):
    """The tokens of a request and its answer."""

    prompt: int
    cached: int
    output: int


class Summary(NamedTuple):
    """A replacement for a conversation, and the tokens that writing it used."""

    text: str
    tokens: Tokens


class OpenAIProtocol:
    """The shapes of OpenAI's Chat Completions."""

    too_long = Fault(
        status=400,
        message="This model's maximum context length is smaller than your messages.",
        code="context_length_exceeded",
    )
    stop = "stop"

    def error(self, fault: Fault) -> dict[str, Any]:
        """Return the body of an error."""
        return {"error": {"message": fault.message, "type": "error", "param": None, "code": fault.code}}

    def answer(
        self,
        body: dict[str, Any],
        text: str,
        finish: str,
        tokens: Tokens,
        least: int | None = None,
        summary: Summary | None = None,
    ) -> dict[str, Any]:
        """Return the body of an answer.

        Args:
            body: The request's body.
            text: The reply.
            finish: Why the model stopped, in the protocol's own words; `refusal` if it declined.
            tokens: The tokens of the request and its answer.
            least: Minimum tokens to cache this request; None if it is not cached.
            summary: The replacement for the conversation, made before answering.
        """
        refused = finish == "refusal"
        calls = [
            {
                "id": f"call_{n}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for n, call in enumerate(_called(text))
        ]
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls" if calls else "stop" if refused else finish,
                    "message": {
                        "role": "assistant",
                        "content": None if refused or calls else text,
                        "refusal": text if refused else None,
                        **({"tool_calls": calls} if calls else {}),
                    },
                }
            ],
            "usage": {
                "prompt_tokens": tokens.prompt,
                "completion_tokens": tokens.output,
                "total_tokens": tokens.prompt + tokens.output,
                "prompt_tokens_details": {"cached_tokens": tokens.cached},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        }


class ResponsesProtocol(OpenAIProtocol):
    """The shapes of OpenAI's Responses."""

    stop = "completed"

    def answer(
        self,
        body: dict[str, Any],
        text: str,
        finish: str,
        tokens: Tokens,
        least: int | None = None,
        summary: Summary | None = None,
    ) -> dict[str, Any]:
        """Return the body of an answer; the arguments are those of OpenAI's protocol above."""
        refused, cut = finish == "refusal", finish == "max_output_tokens"
        part = (
            {"type": "refusal", "refusal": text}
            if refused
            else {"type": "output_text", "text": text, "annotations": []}
        )
        calls = [
            {
                "type": "function_call",
                "id": f"fc_{n}",
                "call_id": f"call_{n}",
                "name": call["name"],
                "arguments": json.dumps(call["arguments"]),
                "status": "completed",
            }
            for n, call in enumerate(_called(text))
        ]
        message = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        first: list[dict[str, Any]] = []
        if summary is not None:  # one sum of tokens is told for both
            sealed = b64encode(summary.text.encode()).decode()
            first = [{"type": "compaction", "id": "cmp_1", "encrypted_content": sealed}]
            tokens = Tokens(*map(sum, zip(tokens, summary.tokens, strict=True)))
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": body["model"],
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "error": None,
            "output": [*first, *(calls or ([message] if text else []))],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": tokens.prompt,
                "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": 0},
                "output_tokens": tokens.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": tokens.prompt + tokens.output,
            },
        }


class AnthropicProtocol:
    """The shapes of Anthropic's Messages."""

    too_long = Fault(status=400, message="prompt is too long: it has more tokens than the maximum")
    stop = "end_turn"

    def error(self, fault: Fault) -> dict[str, Any]:
        """Return the body of an error."""
        kind = fault.code or "invalid_request_error"
        return {"type": "error", "error": {"type": kind, "message": fault.message}, "request_id": "req_1"}

    def answer(
        self,
        body: dict[str, Any],
        text: str,
        finish: str,
        tokens: Tokens,
        least: int | None = None,
        summary: Summary | None = None,
    ) -> dict[str, Any]:
        """Return the body of an answer; the arguments are those of OpenAI's protocol above."""
        fresh = tokens.prompt - tokens.cached
        written = fresh if least is not None and tokens.prompt >= least else 0
        calls = [
            {"type": "tool_use", "id": f"toolu_{n}", "name": call["name"], "input": call["arguments"]}
            for n, call in enumerate(_called(text))
        ]
        first: list[dict[str, Any]] = []
        passes: dict[str, Any] = {}
        if summary is not None:
            first = [{"type": "compaction", "content": summary.text, "encrypted_content": "sealed"}]
            passes = {"iterations": [_spent("compaction", summary.tokens), _spent("message", tokens)]}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [*first, *(calls or ([{"type": "text", "text": text}] if text else []))],
            "stop_reason": "tool_use" if calls else finish,
            "stop_sequence": None,
            "usage": {
                "input_tokens": fresh - written,
                "cache_read_input_tokens": tokens.cached,
                "cache_creation_input_tokens": written,
                "output_tokens": tokens.output,
                **passes,
            },
        }


def _spent(kind: str, tokens: Tokens) -> dict[str, Any]:
    return {
        "type": kind,
        "input_tokens": tokens.prompt - tokens.cached,
        "cache_read_input_tokens": tokens.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": tokens.output,
    }


PROTOCOLS: dict[str, OpenAIProtocol | AnthropicProtocol] = {
    "/v1/chat/completions": OpenAIProtocol(),
    "/v1/responses": ResponsesProtocol(),
    "/v1/messages": AnthropicProtocol(),
}


def described(name: str, *, anthropic: bool) -> dict[str, Any]:
    """Return a server's description of a model."""
    if anthropic:
        return {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "active",
            "max_input_tokens": 200_000,
            "max_tokens": 64_000,
        }
    return {"id": name, "object": "model", "created": 1, "owned_by": "nobody", "shutdown_date": None}
