"""OpenAI's models through the Responses API, which reasoning models are made for. Settings are those of openai_chat.

Every request is whole and nothing is stored at the provider, so that a run can be resumed from its log alone; the
conversation is append-only, as in openai_chat, so that the prompt cache holds.
"""

from typing import TYPE_CHECKING, Any

import openai
from openai.types.responses import Response

from ltm_bench import Finish, Reply, Usage
from ltm_bench.adapters import Prompt, agent_class, usage_of

if TYPE_CHECKING:
    from agents.openai_chat import OpenAIChat  # noqa: TID251  # type checkers know the file by this name
else:
    OpenAIChat = agent_class("openai_chat")


class OpenAIResponses(OpenAIChat):
    """A conversation with one model, through another API."""

    async def request(self, client: openai.AsyncOpenAI, prompt: Prompt) -> Any:
        """Send a request and return whatever the SDK makes of the answer."""
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
        # OpenAI needs no type here, llama.cpp's server does. Quotes inside of texts are escaped.
        content = prompt.request(body, "input", system=False).replace(
            b'{"role":', b'{"type":"message","role":'
        )
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
            usage = self._spent(answer)
        except (AttributeError, TypeError) as error:
            raise self.endpoint.unreadable(str(error)) from error
        if refusal or why == "content_filter":
            return Reply(refusal or text, usage, Finish.REFUSAL)
        # llama.cpp's server calls a reply complete that it has cut off.
        cut = why == "max_output_tokens" or (usage is not None and usage.output >= self._max_output)
        if not text.strip():
            raise self.endpoint.silent("length" if cut else str(answer.status), self._max_output)
        return Reply(text, usage, Finish.LENGTH if cut else Finish.STOP)

    def _spent(self, answer: Response) -> Usage | None:
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
