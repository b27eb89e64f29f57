"""OpenAI's models through the Responses API, which reasoning models are made for. Settings are those of openai_chat.

Every request is whole and nothing is stored at the provider, so that a run can be resumed from its log alone; the
conversation is append-only, as in openai_chat, so that the prompt cache holds.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import openai
from openai.types.responses import Response

from ltm_bench import Finish, Reply, Usage
from ltm_bench.adapters import Prompt, ToolAnswer, ToolCall, ToolUse, agent_class, object_in, usage_of

if TYPE_CHECKING:
    from agents.openai_chat import OpenAIChat  # noqa: TID251  # type checkers know the file by this name
else:
    OpenAIChat = agent_class("openai_chat")


class OpenAIResponses(OpenAIChat):
    """A conversation with one model, through another API."""

    async def request(self, client: openai.AsyncOpenAI, prompt: Prompt, use: ToolUse | None = None) -> Any:
        """Send a request, with tools if there are any, and return whatever the SDK makes of the answer."""
        body: dict[str, object] = {
            "model": self.model,
            "max_output_tokens": self._max_output,
            "store": False,
        }
        if prompt.system:
            body["instructions"] = prompt.system
        if self.endpoint.is_vendor:
            body["prompt_cache_key"] = self._cache_key
        if self._temperature is not None:
            body["temperature"] = self._temperature
        if self._effort is not None:
            body["reasoning"] = {"effort": self._effort}
        if use is not None:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                    "strict": False,
                }
                for tool in use.tools
            ]
            body["include"] = [
                "reasoning.encrypted_content"
            ]  # it goes back with the calls; nothing is stored
            if not use.allowed:
                body["tool_choice"] = "none"
        content = prompt.request(body, "input", system=False, more=use.messages if use else ())
        # OpenAI needs no type here, llama.cpp's server does. Quotes inside of texts are escaped.
        content = content.replace(b'{"role":"', b'{"type":"message","role":"')
        return await client.post("/responses", content=content, cast_to=Response)

    def read(self, answer: Any) -> Reply:
        """Read an answer, of which the SDK validates neither the type nor the fields."""
        try:
            if not isinstance(answer, Response):
                raise TypeError(f"it is not JSON: {answer!r}")
            if answer.error is not None:
                raise TypeError(f"{answer.error.code}: {answer.error.message}")
            parts = [part for item in answer.output if item.type == "message" for part in item.content]
            text = "".join(part.text for part in parts if part.type == "output_text")
            refusal = "".join(part.refusal for part in parts if part.type == "refusal")
            why = None if answer.incomplete_details is None else answer.incomplete_details.reason
            usage = self.used(answer)
        except (AttributeError, TypeError) as error:
            raise self.endpoint.unreadable(str(error)) from error
        if refusal or why == "content_filter":
            return Reply(refusal or text, usage, Finish.REFUSAL)
        # llama.cpp's server calls a reply complete that it has cut off.
        cut = why == "max_output_tokens" or (usage is not None and usage.output >= self._max_output)
        if not text.strip():
            raise self.endpoint.silent("length" if cut else str(answer.status), self._max_output)
        return Reply(text, usage, Finish.LENGTH if cut else Finish.STOP)

    def calls(self, answer: Any) -> list[ToolCall]:
        """Return the calls of tools in an answer."""
        try:
            found = [item for item in answer.output if item.type == "function_call"]
            return [ToolCall(each.call_id, each.name, object_in(each.arguments)) for each in found]
        except (AttributeError, TypeError) as error:
            raise self.endpoint.unreadable(str(error)) from error

    def called(self, answer: Any, done: Sequence[tuple[ToolCall, ToolAnswer]]) -> list[dict[str, Any]]:
        """Return an answer that calls tools, and what came of the calls, as items of the next request."""
        results = [
            {"type": "function_call_output", "call_id": call.id, "output": text} for call, (text, _) in done
        ]
        # As it came: what was reasoned before a call goes back with it.
        return [*(item.to_dict(mode="json") for item in answer.output), *results]

    def used(self, answer: Any) -> Usage | None:
        """Return what an answer used; None if it does not say."""
        spent = answer.usage
        if spent is None:
            return None
        prompt, output = spent.input_tokens_details, spent.output_tokens_details
        return usage_of(
            prompt=spent.input_tokens,
            output=spent.output_tokens,
            # Other servers that speak the protocol leave out what the SDK's types promise.
            cache_read=getattr(prompt, "cached_tokens", 0),
            cache_write=getattr(prompt, "cache_write_tokens", 0),
            reasoning=getattr(output, "reasoning_tokens", 0),
            model=answer.model or self.model,
            provider=self.provider,
        )
