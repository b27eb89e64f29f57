"""The shapes of answers and errors in the protocols that the provider speaks."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
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
    written: int = 0
    """Tokens written to the cache, where that is billed."""
    for_an_hour: int = 0
    """The part of `written` with that lifetime."""


class Summary(NamedTuple):
    """A replacement for a conversation, and the tokens that writing it used."""

    text: str
    tokens: Tokens


class PlainAnswer(NamedTuple):
    """An answer, before it takes the shape of a protocol."""

    model: str
    text: str
    finish: str
    """Why the model stopped, in the protocol's own words; `refusal` if it declined."""
    tokens: Tokens
    """The tokens of the request and its answer."""
    summary: Summary | None = None
    """The replacement for the conversation, made before answering."""
    prompt: str = ""
    """A digest of the request; tells its calls from those of other answers, by which clients look up results."""

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls that it is; none if it says something."""
        return json.loads(self.text) if isinstance(self.text, Calls) else []


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

    def answer(self, given: PlainAnswer) -> dict[str, Any]:
        """Return the body of an answer."""
        tokens = given.tokens
        refused = given.finish == "refusal"
        calls = [
            {
                "id": f"call_{given.prompt}_{n}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for n, call in enumerate(given.calls)
        ]
        return {
            "id": f"chatcmpl-{given.prompt}",
            "object": "chat.completion",
            "created": 1,
            "model": given.model,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls" if calls else "stop" if refused else given.finish,
                    "message": {
                        "role": "assistant",
                        "content": None if refused or calls else given.text,
                        "refusal": given.text if refused else None,
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

    def stream(self, answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield an answer as the events of a stream: all of it in one, then why it stopped, then usage."""
        choice, usage = answer["choices"][0], answer["usage"]
        said = {key: value for key, value in choice["message"].items() if value is not None}
        said["tool_calls"] = [{"index": n, **call} for n, call in enumerate(said.get("tool_calls", ()))]
        head = {**answer, "object": "chat.completion.chunk", "usage": None}
        yield {**head, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}
        yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
        yield {**head, "choices": [], "usage": usage}


class ResponsesProtocol(OpenAIProtocol):
    """The shapes of OpenAI's Responses."""

    stop = "completed"

    def answer(self, given: PlainAnswer) -> dict[str, Any]:
        """Return the body of an answer."""
        tokens = given.tokens
        refused, cut = given.finish == "refusal", given.finish == "max_output_tokens"
        part = (
            {"type": "refusal", "refusal": given.text}
            if refused
            else {"type": "output_text", "text": given.text, "annotations": []}
        )
        calls = [
            {
                "type": "function_call",
                "id": f"fc_{given.prompt}_{n}",
                "call_id": f"call_{given.prompt}_{n}",
                "name": call["name"],
                "arguments": json.dumps(call["arguments"]),
                "status": "completed",
            }
            for n, call in enumerate(given.calls)
        ]
        message = {
            "type": "message",
            "id": f"msg_{given.prompt}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        first: list[dict[str, Any]] = []
        if given.summary is not None:  # one sum of tokens is told for both
            sealed = b64encode(given.summary.text.encode()).decode()
            first = [{"type": "compaction", "id": f"cmp_{given.prompt}", "encrypted_content": sealed}]
            tokens = Tokens(*map(sum, zip(tokens, given.summary.tokens, strict=True)))
        return {
            "id": f"resp_{given.prompt}",
            "object": "response",
            "created_at": 1,
            "model": given.model,
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "error": None,
            "output": [*first, *(calls or ([message] if given.text else []))],
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

    def stream(self, answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield an answer as the events of a stream: each text and each call's arguments in one, then all of it."""
        begun = {**answer, "status": "in_progress", "output": [], "usage": None}
        events: list[dict[str, Any]] = [
            {"type": f"response.{state}", "response": begun} for state in ("created", "in_progress")
        ]
        for place, item in enumerate(answer["output"]):
            at = {"item_id": item["id"], "output_index": place}
            empty = {name: type(item[name])() for name in ("arguments", "content") if name in item}
            started = {**item, **empty} | ({"status": "in_progress"} if empty else {})
            events.append({"type": "response.output_item.added", "output_index": place, "item": started})
            for part in item.get("content", ()):
                events += _part(part, {**at, "content_index": 0})
            if (arguments := item.get("arguments")) is not None:
                kind = "response.function_call_arguments"
                events.append({"type": f"{kind}.delta", "delta": arguments, **at})
                events.append({"type": f"{kind}.done", "arguments": arguments, "name": item["name"], **at})
            events.append({"type": "response.output_item.done", "output_index": place, "item": item})
        events.append({"type": f"response.{answer['status']}", "response": answer})
        yield from ({**each, "sequence_number": number} for number, each in enumerate(events))


def _part(part: dict[str, Any], at: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a message's text, or of its refusal."""
    kind, name = part["type"], "refusal" if part["type"] == "refusal" else "text"
    more: dict[str, Any] = {"logprobs": []} if name == "text" else {}
    return [
        {"type": "response.content_part.added", "part": {**part, name: ""}, **at},
        {"type": f"response.{kind}.delta", "delta": part[name], **more, **at},
        {"type": f"response.{kind}.done", name: part[name], **more, **at},
        {"type": "response.content_part.done", "part": part, **at},
    ]


class AnthropicProtocol:
    """The shapes of Anthropic's Messages."""

    too_long = Fault(status=400, message="prompt is too long: it has more tokens than the maximum")
    stop = "end_turn"

    def error(self, fault: Fault) -> dict[str, Any]:
        """Return the body of an error."""
        kind = fault.code or "invalid_request_error"
        return {"type": "error", "error": {"type": kind, "message": fault.message}, "request_id": "req_1"}

    def answer(self, given: PlainAnswer) -> dict[str, Any]:
        """Return the body of an answer."""
        tokens = given.tokens
        calls = [
            {
                "type": "tool_use",
                "id": f"toolu_{given.prompt}_{n}",
                "name": call["name"],
                "input": call["arguments"],
            }
            for n, call in enumerate(given.calls)
        ]
        first: list[dict[str, Any]] = []
        passes: dict[str, Any] = {}
        if given.summary is not None:
            first = [{"type": "compaction", "content": given.summary.text, "encrypted_content": "sealed"}]
            spent = (("compaction", given.summary.tokens), ("message", tokens))
            passes = {"iterations": [{"type": kind, **_spent(each)} for kind, each in spent]}
        return {
            "id": f"msg_{given.prompt}",
            "type": "message",
            "role": "assistant",
            "model": given.model,
            "content": [*first, *(calls or ([{"type": "text", "text": given.text}] if given.text else []))],
            "stop_reason": "tool_use" if calls else given.finish,
            "stop_sequence": None,
            "usage": {**_spent(tokens), **passes},
        }

    def stream(self, answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield an answer as the events of a stream: each block in one, then why it stopped."""
        usage = answer["usage"]
        begun = {**answer, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        yield {"type": "message_start", "message": begun}
        for place, block in enumerate(answer["content"]):
            text = "text" in block
            empty = {**block, "text": ""} if text else {**block, "input": {}}
            said = (
                {"type": "text_delta", "text": block["text"]}
                if text
                else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            )
            yield {"type": "content_block_start", "index": place, "content_block": empty}
            yield {"type": "content_block_delta", "index": place, "delta": said}
            yield {"type": "content_block_stop", "index": place}
        ended = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": usage["output_tokens"]}}
        yield {"type": "message_stop"}


def _spent(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.prompt - tokens.cached - tokens.written,
        "cache_read_input_tokens": tokens.cached,
        "cache_creation_input_tokens": tokens.written,
        "cache_creation": {
            "ephemeral_5m_input_tokens": tokens.written - tokens.for_an_hour,
            "ephemeral_1h_input_tokens": tokens.for_an_hour,
        },
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


def streamed(events: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the events of a stream as they are sent."""
    lines = ((each.get("type"), json.dumps(each)) for each in events)
    named = (f"event: {kind}\ndata: {line}\n\n" if kind else f"data: {line}\n\n" for kind, line in lines)
    return "".join(named).encode()
