"""OpenAI's models through the Responses API, which reasoning models are made for. Settings are those of openai_chat.

Every request is whole and nothing is stored at the provider, so that a run can be resumed from its log alone; the
conversation is append-only, as in openai_chat, so that the prompt cache holds.
"""

from typing import TYPE_CHECKING, Any

import openai
from openai.types.responses import Response

from ltm_bench.adapters.window import Prompt
from ltm_bench.core.messages import Finish, Reply, Usage
from ltm_bench.plugins.files import agent_class

if TYPE_CHECKING:
    from agents.openai_chat import OpenAIChat  # noqa: TID251 - for its type alone
else:
    OpenAIChat = agent_class("openai_chat")


class OpenAIResponses(OpenAIChat):
    """A conversation with one model, through another API."""

    async def _create(self, client: openai.AsyncOpenAI, prompt: Prompt) -> Any:
        body: dict[str, object] = {
            "model": self._endpoint.model,
            "max_output_tokens": self._max_output,
            "store": False,
        }
        if prompt.system:
            body["instructions"] = prompt.system
        if self._endpoint.is_vendor:
            body["prompt_cache_key"] = self._cache_key
        if self._temperature is not None:
            body["temperature"] = self._temperature
        if self._effort is not None:
            body["reasoning"] = {"effort": self._effort}
        content = prompt.request(body, "input", system=False)
        return await client.post("/responses", content=content, cast_to=Response)

    def _read(self, completion: Any) -> Reply:
        """Read an answer, of which the SDK validates neither the type nor the fields."""
        try:
            if not isinstance(completion, Response):
                raise TypeError(f"it is not JSON: {completion!r}")
            if completion.error is not None:
                raise TypeError(f"{completion.error.code}: {completion.error.message}")
            parts = [part for item in completion.output if item.type == "message" for part in item.content]
            text = "".join(part.text for part in parts if part.type == "output_text")
            refusal = "".join(part.refusal for part in parts if part.type == "refusal")
            why = None if completion.incomplete_details is None else completion.incomplete_details.reason
            usage = None if completion.usage is None else self._spent(completion)
        except (AttributeError, TypeError) as error:
            raise self._endpoint.unreadable(str(error)) from error
        if refusal or why == "content_filter":
            return Reply(refusal or text, usage, Finish.REFUSAL)
        cut = why == "max_output_tokens"
        if not text.strip():
            raise self._endpoint.silent("length" if cut else str(completion.status), self._max_output)
        return Reply(text, usage, Finish.LENGTH if cut else Finish.STOP)

    def _spent(self, completion: Response) -> Usage:
        """Take the cached tokens out of the prompt's."""
        spent = completion.usage
        if spent is None:
            return self._usage(None)
        details = spent.input_tokens_details
        read = (details.cached_tokens or 0) if details is not None else 0
        written = (getattr(details, "cache_write_tokens", 0) or 0) if details is not None else 0
        if read + written > spent.input_tokens:  # no such thing: bill it all at the full price
            read = written = 0
        reasoned = spent.output_tokens_details
        return Usage(
            uncached=spent.input_tokens - read - written,
            cache_read=read,
            cache_write=written,
            output=spent.output_tokens,
            reasoning=0 if reasoned is None else reasoned.reasoning_tokens or 0,
            model=completion.model or self._endpoint.model,
            provider=self._provider,
        )
