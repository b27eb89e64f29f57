"""OpenAI's models through the Responses API, which is made for reasoning models.

Every request is complete and the provider stores nothing, so a run can be resumed from its log alone. The conversation
is append-only, as in openai_chat, so that the prompt cache stays valid.

With `conversation` OpenAI keeps the conversation, and each request adds only what is new. It is recreated from the
window whenever the two could differ: after a failure, when turns are dropped, and when a run is resumed. Forked
questions are sent in full, and stored nowhere.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import openai
from openai.types.conversations import Conversation, ConversationDeletedResource
from openai.types.responses import Response

from ltm_bench import Reply, Usage
from ltm_bench.adapters import (
    EXAMINING,
    Again,
    Compacted,
    ConfigError,
    Prompt,
    ToolAnswer,
    ToolCall,
    ToolUse,
    agent_class,
    counter,
    object_in,
    passing,
    retrying,
    sendable,
    usage_in,
)

if TYPE_CHECKING:
    from agents.openai_chat import OpenAIChat  # noqa: TID251  # type checkers know the file by this name
else:
    OpenAIChat = agent_class("openai_chat")


_OPAQUE = 4
"""Characters per token of content that only OpenAI can read, estimated as if it were text."""

_PAUSE = 0.5
"""Seconds before a failed request is retried here, where the SDK must not retry by itself."""


def _again(error: Exception) -> Again | None:
    if isinstance(error, openai.APIConnectionError):
        return Again()
    if not isinstance(error, openai.APIStatusError) or not passing(error.status_code):
        return None
    seconds = error.response.headers.get("retry-after", "")
    return Again(float(seconds) if seconds.isdecimal() else None)


class OpenAIResponses(OpenAIChat):
    """A conversation with one model, through another API.

    Args:
        compact_at: Prompt tokens above which OpenAI compacts the conversation; default: never.
        conversation: Where the conversation is kept: here, or there, as one of OpenAI's conversations.
        settings: Those of `openai_chat`.
    """

    lacks_settings = frozenset({"output_field"})

    def __init__(
        self,
        *,
        compact_at: int | None = None,
        conversation: Literal["here", "there"] = "here",
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.compact(compact_at)
        if conversation not in ("here", "there"):
            raise ConfigError(f"{self.model}: conversation = {conversation!r}: it is 'here' or 'there'")
        self._stored = conversation == "there"
        self._id: str | None = None
        """OpenAI's name for the conversation that it keeps, if there is one."""
        self._said: tuple[Prompt, str] | None = None
        """The newest prompt in it, and the reply; None if its contents are unknown."""

    async def ask_next(self, prompt: Prompt) -> Reply:
        """Continue the conversation, wherever it is kept."""
        if not self._stored:
            return await self.ask(prompt)
        reply = await self.ask(prompt)
        self._said = (prompt, sendable(reply.text))
        return reply

    async def request(self, client: openai.AsyncOpenAI, prompt: Prompt, use: ToolUse | None = None) -> Any:
        """Send a request, with tools if there are any, and return the answer as the SDK parses it."""
        if not (self._stored and prompt.continues):
            return await self._post(client, prompt, use, {"store": False})
        # The SDK would retry a request whose answer was lost, although the server had answered it: the message would
        # be in the conversation twice.
        once = client.with_options(max_retries=0)

        async def send() -> Any:
            known, self._said = self._known(prompt), None  # until it is answered, its contents are unknown
            if not known:
                await self._delete()
                run = {"metadata": {"run": self._cache_key}}
                self._id = (await once.post("/conversations", body=run, cast_to=Conversation)).id
            new = replace(prompt, history=prompt.history[known:])
            return await self._post(once, new, None, {"conversation": self._id})

        return await retrying(send, retries=self.endpoint.max_retries, pause=_PAUSE, again=_again)

    def _known(self, prompt: Prompt) -> int:
        """Return how much of a prompt's history OpenAI's conversation has; 0 if the prompt does not begin with it."""
        if self._id is None or self._said is None:
            return 0
        (before, reply), history = self._said, prompt.history
        old, n = before.history, len(before.history)
        if len(history) <= n or (history[n].message, history[n].reply) != (before.message, reply):
            return 0
        same = not n or (history[0] is old[0] and history[n - 1] is old[n - 1])
        return n + 1 if same else 0

    async def _delete(self) -> None:
        """Delete the conversation that OpenAI keeps; if that fails it stays, but is no longer used."""
        name, self._id = self._id, None
        if name is not None:
            patience = min(EXAMINING, self.endpoint.timeout)
            hasty = self.client.with_options(max_retries=0, timeout=patience)
            with suppress(openai.OpenAIError, ValueError):
                await hasty.delete(f"/conversations/{name}", cast_to=ConversationDeletedResource)

    async def close(self) -> None:
        """Delete the conversation that OpenAI keeps, and close the connections; the log has all of it."""
        await self._delete()
        await super().close()

    async def _post(
        self, client: openai.AsyncOpenAI, prompt: Prompt, use: ToolUse | None, where: Mapping[str, object]
    ) -> Any:
        body: dict[str, object] = {"model": self.model, "max_output_tokens": self._max_output, **where}
        if self.compact_at is not None:
            body["context_management"] = [{"type": "compaction", "compact_threshold": self.compact_at}]
        if prompt.system:
            body["instructions"] = prompt.system
        if self.endpoint.is_vendor:
            body["prompt_cache_key"] = self._cache_key
        if self._temperature is not None:
            body["temperature"] = self._temperature
        if self.endpoint.is_vendor and self.schema is not None:
            form = {"type": "json_schema", "name": "answer", "strict": True, "schema": self.schema}
            body["text"] = {"format": form}
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
            body["include"] = ["reasoning.encrypted_content"]  # sent back with the calls; nothing is stored
            if not use.allowed:
                body["tool_choice"] = "none"
        content = prompt.request(body, "input", system=False, more=use.messages if use else ())
        # OpenAI needs no type here, llama.cpp's server does. Quotes inside texts are escaped.
        content = content.replace(b'{"role":"', b'{"type":"message","role":"')
        return await client.post("/responses", content=content, cast_to=Response)

    def read(self, answer: Any) -> Reply:
        """Read an answer; the SDK validates neither its type nor its fields."""
        with self.endpoint.reading():
            if not isinstance(answer, Response):
                raise ValueError(f"it is not JSON: {answer!r}")
            parts = [part for item in answer.output if item.type == "message" for part in item.content]
            text = "".join(part.text for part in parts if part.type == "output_text")
            refusal = "".join(part.refusal for part in parts if part.type == "refusal")
            why = None if answer.incomplete_details is None else answer.incomplete_details.reason
            word = f"{answer.status}: {why}" if why else answer.status
            usage = self.used(answer)
            summaries = [item for item in answer.output if item.type == "compaction"]
        # llama.cpp's server calls a truncated reply complete.
        if word == "completed" and usage is not None and usage.output >= self._max_output:
            word = "incomplete: max_output_tokens"
        reply = self._ended("responses", word, text, usage, refusal)
        if not summaries or not text.strip():
            return reply
        items = [item.to_dict(mode="json") for item in summaries]
        tokens = sum(len(item.encrypted_content) for item in summaries) // _OPAQUE + counter().count(text)
        said: tuple[Mapping[str, Any], ...] = (*items, {"role": "assistant", "content": sendable(text)})
        return Compacted(text, usage, reply.finish, said=said, tokens=tokens)

    def calls(self, answer: Any) -> list[ToolCall]:
        """Return the tool calls in an answer."""
        with self.endpoint.reading():
            found = [item for item in answer.output if item.type == "function_call"]
            return [ToolCall(each.call_id, each.name, object_in(each.arguments)) for each in found]

    def called(self, answer: Any, done: Sequence[tuple[ToolCall, ToolAnswer]]) -> list[dict[str, Any]]:
        """Return an answer that calls tools, and the calls' results, as items for the next request."""
        results = [
            {"type": "function_call_output", "call_id": call.id, "output": text} for call, (text, _) in done
        ]
        # Unchanged: the reasoning before a call goes back with it.
        return [*(item.to_dict(mode="json") for item in answer.output), *results]

    def used(self, answer: Any) -> Usage | None:
        """Return an answer's usage; None if it does not report any."""
        return usage_in(answer.usage, "responses", model=answer.model or self.model, provider=self.provider)
