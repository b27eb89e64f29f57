"""Chat models behind OpenAI's or Anthropic's SDK, which share one design: requests, tools, errors, models' entries."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from ltm_bench.adapters.chat import ChatModel, summed
from ltm_bench.adapters.compaction import SUMMARY, Compactions
from ltm_bench.adapters.endpoint import EXAMINING, Endpoint, declines, told_by
from ltm_bench.adapters.http.shared import client as shared
from ltm_bench.adapters.overflow import is_too_long
from ltm_bench.adapters.text import sendable
from ltm_bench.adapters.tools import ToolAnswer, Toolbox, ToolCall, ToolUse
from ltm_bench.adapters.window import MESSAGE_OVERHEAD, Prompt
from ltm_bench.core.agent import Finding, UsageModel
from ltm_bench.core.errors import AgentError, ConfigError, nearest
from ltm_bench.core.messages import Message, Reply, Turn, Usage
from ltm_bench.core.tokens import counter

_NOT_TOLD = (400, 404, 405, 501)
"""Statuses of servers that do not describe single models."""

_SOME = 8
"""Number of models that an error lists."""


class SdkChatModel(ChatModel):
    """A chat model behind OpenAI's or Anthropic's SDK, which share one design.

    Subclasses name the SDK's parts, and write `request`, `read` and `describe`.
    """

    sdk: ModuleType
    client_class: type[Any]
    """The SDK's asynchronous client."""
    sdk_error: type[Exception]
    """The base of the SDK's errors."""

    metered = True
    client: Any = None
    """The SDK's client, after `open`."""
    lists_models: bool = True
    """Whether the server's list of models is complete."""
    compact_at: int | None = None
    """Prompt tokens above which the provider compacts the conversation; None: never."""
    _compactions: Compactions | None = None

    async def request(self, client: Any, prompt: Prompt, use: ToolUse | None = None) -> Any:
        """Send a request, with tools if there are any, and return the SDK's answer object."""
        raise TypeError(f"{type(self).__name__} does not define request()")

    def read(self, answer: Any) -> Reply:
        """Read an answer, whose type and fields the SDK does not validate. Raises AgentError."""
        raise TypeError(f"{type(self).__name__} does not define read()")

    def calls(self, answer: Any) -> Sequence[ToolCall]:
        """Return an answer's tool calls. Raises AgentError if it cannot be read."""
        raise ConfigError(f"{type(self).__name__} calls no tools; use openai_chat or anthropic_chat")

    def called(self, answer: Any, done: Sequence[tuple[ToolCall, ToolAnswer]]) -> Sequence[Mapping[str, Any]]:
        """Return an answer's tool calls and their results, as messages for the next request."""
        raise TypeError(f"{type(self).__name__} does not define called()")

    def used(self, answer: Any) -> Usage | None:
        """Return an answer's usage; None if it reports none."""
        raise TypeError(f"{type(self).__name__} does not define used()")

    def describe(self, model: Any) -> Sequence[Finding]:
        """Describe the server's entry for the model. Raises AttributeError or ValueError if it is unreadable."""
        raise TypeError(f"{type(self).__name__} does not define describe()")

    async def open(self, home: Path) -> None:
        """Create the client. Sends nothing."""
        self.client = self._connect(self.endpoint)
        if self.compact_at is not None:
            self._compactions = Compactions(home / "compactions.jsonl")

    def compact(self, at: int | None) -> None:
        """Have the provider compact the conversation. Raises ConfigError if the window could be too small for that."""
        if at is None:
            return
        least = int(at * self._ratio) + self._max_output
        if at < 1 or self._window < least:
            raise ConfigError(
                f"compact_at={at} with window={self._window}: turns could be dropped before the provider compacts "
                f"them; set a window of {max(least, 1)} or more, or a smaller, positive compact_at"
            )
        self.compact_at = at

    async def reply(self, message: Message) -> Reply:
        """Send the conversation with this message at its end. If that fails, neither is remembered."""
        reply = await super().reply(message)
        if self._compactions is None:
            return reply
        self._compactions.note(message, reply)
        return Reply(reply.text, reply.usage, reply.finish)

    async def observe(self, turn: Turn) -> None:
        """Remember a turn as if it had been answered here; if it was, exactly as it was."""
        self.take(turn.message, turn.reply if self._compactions is None else self._compactions.found(turn))

    def reserve(self, message: Message) -> Usage:
        """Return the most that a reply can use; to compact the conversation, the provider may read all of it twice."""
        most = super().reserve(message)
        if self.compact_at is None or most.prompt < self.compact_at:
            return most
        return Usage.of([most, replace(most, output=SUMMARY)])

    def usage_model(self) -> UsageModel | None:
        """Return what a simulation needs; None if the provider compacts, to an unpredictable length."""
        return super().usage_model() if self.compact_at is None else None

    def _connect(self, endpoint: Endpoint) -> Any:
        return sdk_client(self.client_class, self.sdk.DefaultAsyncHttpxClient, endpoint)

    async def ask(self, prompt: Prompt, toolbox: Toolbox | None = None) -> Reply:
        """Send a request, repeat it while the model calls tools, and turn the SDK's errors into ours.

        The usage covers all of these requests.
        """
        if self.client is None:
            raise RuntimeError("open() was not called")
        spent: list[Usage | None] = []
        try:
            if toolbox is None:
                return await self._once_more(lambda: self.request(self.client, prompt), self.read, spent)
            return summed(spent, await self._converse(prompt, toolbox, spent))
        except (self.sdk_error, ValueError, RecursionError, ExceptionGroup) as error:
            # The JSON decoder's, anyio's.
            status = getattr(error, "status_code", None)
            code, kind = (getattr(error, name, None) for name in ("code", "type"))
            told = told_by(error)
            if is_too_long(status, told, code, kind):
                return summed(spent, self._overflow())
            if code == "content_filter" or declines(status, told, code, kind):
                return summed(spent, self._refusal())
            raise self.endpoint.explain(error) from error

    async def answer(self, prompt: Prompt | None, toolbox: Toolbox) -> Reply:
        """Answer a frozen prompt, with tools; the conversation does not change."""
        return self._overflow() if prompt is None else await self.ask(prompt, toolbox)

    async def _converse(self, prompt: Prompt, toolbox: Toolbox, spent: list[Usage | None]) -> Reply:
        """Send requests until the model stops calling tools; return its final reply, with that request's usage."""
        count, room, left = counter(), toolbox.room, toolbox.rounds
        messages: list[Mapping[str, Any]] = []
        while True:
            use = ToolUse(toolbox.tools, messages, allowed=left > 0 and room > 0)
            answer = await self.request(self.client, prompt, use)
            calls = self.calls(answer)
            if not calls or not use.allowed:
                return self.read(answer)
            done = []
            for call in calls:
                text, failed = await toolbox.use(call)
                text = sendable(text)
                if count.count(text) > (most := max(64, room)):
                    text = f"{count.ends(text, most, 0)[0]} … (cut: no room for more)"
                room -= count.count(text) + count.count(str(call.arguments)) + MESSAGE_OVERHEAD
                done.append((call, ToolAnswer(text, failed)))
            with self.endpoint.reading():
                spent.append(self.used(answer))
                messages += self.called(answer, done)
            left -= 1

    async def examine(self) -> Sequence[Finding]:
        """Ask the server about the model."""
        endpoint = copy(self.endpoint)
        endpoint.timeout, endpoint.max_retries = EXAMINING, 1
        async with self._connect(endpoint) as client:
            try:
                return self.describe(await client.models.retrieve(self.model))
            except (self.sdk_error, ValueError, AttributeError, ExceptionGroup) as error:
                if not self.lists_models and getattr(error, "status_code", None) in _NOT_TOLD:
                    return [await self._found_on(client, endpoint)]
                return [Finding(False, str(endpoint.explain(error)))]

    async def _found_on(self, client: Any, endpoint: Endpoint) -> Finding:
        """Look up the model in the server's list; if there is no list, ask the model for one reply."""
        try:
            known = [str(each.id) async for each in client.models.list()]
        except (self.sdk_error, ValueError, AttributeError, TypeError):
            known = []
        if self.model in known:
            return Finding(True, f"model {self.model} is among the {len(known)} that the server lists")
        if known:
            some = ", ".join(known[:_SOME]) + (", …" if len(known) > _SOME else "")
            return Finding(
                False, f"model {self.model}: the server does not list it{nearest(self.model, known)} ({some})"
            )
        prompt = self._conversation.prompt("Please answer with the word yes.")
        try:
            reply = None if prompt is None else self.read(await self.request(client, prompt))
        except (self.sdk_error, ValueError, AgentError) as error:
            return Finding(False, str(endpoint.explain(error)))
        said = "" if reply is None else f": {reply.text!r:.60}"
        return Finding(
            True, f"model {self.model} answers{said} (the server lists no models, so it was asked)"
        )

    async def close(self) -> None:
        """Close the connections."""
        if self.client is not None:
            await self.client.close()


def sdk_client(client_class: type[Any], http_class: type[Any], endpoint: Endpoint) -> Any:
    """Return a client of OpenAI's or Anthropic's SDK, over our shared HTTP client."""
    return client_class(
        api_key=endpoint.key,
        base_url=endpoint.url,
        timeout=endpoint.timeout,
        max_retries=endpoint.max_retries,
        http_client=shared(http_class),
    )
