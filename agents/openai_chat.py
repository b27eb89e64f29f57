"""OpenAI's chat models, and every server that speaks OpenAI's Chat Completions protocol (set base_url).

The key is read from OPENAI_API_KEY (or the variable named by key_variable). What is sent is append-only, apart from
the steps in which the window drops the oldest turns: the date stands in the user's message, never in the
system message, so that the provider's prompt cache holds.
"""

import re
from copy import copy
from pathlib import Path
from typing import Any

import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion

from ltm_bench.adapters.endpoint import EXAMINING, SYSTEM, Endpoint, stamped
from ltm_bench.adapters.http import client as watched
from ltm_bench.adapters.window import KEPT, Prompt, Window
from ltm_bench.core.agent import Agent, Finding
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Finish, Message, Reply, Turn, Usage
from ltm_bench.core.tokens import counter

# How many of the model's tokens one token of our counter (cl100k_base) can become. OpenAI's own newer vocabularies
# are larger, so their counts are lower but for odd languages; models on other servers often have smaller ones.
_VENDOR_RATIO = 1.05
_OTHER_RATIO = 1.25

_TOO_LONG = re.compile(r"context.?length|context.?size|context.?window|prompt is too long", re.IGNORECASE)


class OpenAIChat(Agent):
    """A conversation with one model. Nothing is sent that was not set: no temperature, no effort.

    model         the model's name, as the server knows it
    base_url      another server that speaks the protocol; default: OPENAI_BASE_URL, else OpenAI's
    key_variable  the environment variable that holds the key
    system        the system message
    window        the model's context window in its own tokens; history beyond it is dropped in steps
    max_output    the most tokens of one reply, reasoning included; taken off the window
    effort        reasoning effort, for models that have it
    temperature   sampling temperature, for models that still accept one
    truncate      what a conversation that outgrows the window loses: step (its oldest turns), middle, none (it ends)
    keep          the part of the window that is still used after a step
    timeout       seconds to wait for one reply
    max_retries   how often a failed request is sent again (rate limits, server errors, broken connections)
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        key_variable: str = "OPENAI_API_KEY",
        system: str = SYSTEM,
        window: int = 128_000,
        max_output: int = 1024,
        effort: str | None = None,
        temperature: float | None = None,
        truncate: str = "step",
        keep: float = KEPT,
        timeout: float = 120.0,
        max_retries: int = 4,
    ) -> None:
        self._endpoint = Endpoint(
            model=model,
            base_url=base_url,
            url_variable="OPENAI_BASE_URL",
            vendor_url="https://api.openai.com/v1",
            key_variable=key_variable,
            timeout=timeout,
            max_retries=max_retries,
        )
        self._conversation = Window(
            system=system,
            window=window,
            max_output=max_output,
            counter=counter(),
            ratio=_VENDOR_RATIO if self._endpoint.is_vendor else _OTHER_RATIO,
            truncate=truncate,
            keep=keep,
        )
        self._max_output = max_output
        self._effort = effort
        self._temperature = temperature
        self._cache_key = ""
        self._client: openai.AsyncOpenAI | None = None

    async def open(self, home: Path) -> None:
        """Make the client. Nothing is sent yet."""
        self._cache_key = f"ltm-bench/{home.parent.name}"[:64]
        self._client = self._connect(self._endpoint)

    def _connect(self, endpoint: Endpoint) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            api_key=endpoint.key,
            base_url=endpoint.url,
            timeout=endpoint.timeout,
            max_retries=endpoint.max_retries,
            http_client=watched(openai.DefaultAsyncHttpxClient),
        )

    async def reply(self, message: Message) -> Reply:
        """Send the conversation with this message at its end. Where that fails, nothing is remembered of it."""
        said = stamped(message)
        prompt = self._conversation.prompt(said)
        reply = Reply("", self._usage(None), Finish.OVERFLOW) if prompt is None else await self._ask(prompt)
        self._conversation.take(said, reply)
        return reply

    async def observe(self, turn: Turn) -> None:
        """Remember a turn as if it had been answered here."""
        self._conversation.take(stamped(turn.message), turn.reply)

    def reserve(self, message: Message) -> Usage:
        """Return the most that replying can use: all of the prompt newly cached, the dearest kind, and a full reply."""
        prompt = self._conversation.most_tokens(stamped(message))
        return Usage(
            cache_write=prompt,
            output=self._max_output if prompt else 0,
            model=self._endpoint.model,
            provider=self._provider,
        )

    async def examine(self) -> list[Finding]:
        """Ask the server whether it has the model, and until when."""
        name = self._endpoint.model
        endpoint = copy(self._endpoint)
        endpoint.timeout, endpoint.max_retries = EXAMINING, 1
        async with self._connect(endpoint) as client:
            try:
                model = await client.models.retrieve(name)
                ends = model.shutdown_date
            except openai.NotFoundError as error:
                if self._endpoint.is_vendor:
                    return [Finding(False, str(self._problem(error, endpoint)))]
                return [Finding(True, f"model {name}: this server does not say whether it has it")]
            except (openai.OpenAIError, ValueError, AttributeError) as error:
                return [Finding(False, str(self._problem(error, endpoint)))]
        if ends is None:
            return [Finding(True, f"model {name} exists; no shutdown date is announced")]
        return [Finding(True, f"model {name} exists, and will be shut down on {ends}")]

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    @property
    def _provider(self) -> str | None:
        return "openai" if self._endpoint.is_list_priced else None

    async def _ask(self, prompt: Prompt) -> Reply:
        if self._client is None:
            raise RuntimeError("open() was not called")
        try:
            completion = await self._create(self._client, prompt)
            return self._read(completion)
        except openai.APIStatusError as error:
            if error.status_code == 413 or (error.status_code == 400 and _is_overflow(error)):
                return Reply("", self._usage(None), Finish.OVERFLOW)
            if error.code == "content_filter":
                return Reply("", self._usage(None), Finish.REFUSAL)
            raise self._problem(error, self._endpoint) from error
        except (openai.OpenAIError, ValueError) as error:
            raise self._problem(error, self._endpoint) from error

    async def _create(self, client: openai.AsyncOpenAI, prompt: Prompt) -> Any:
        """Send a request, and return whatever the SDK makes of the answer."""
        vendor = self._endpoint.is_vendor
        body: dict[str, object] = {
            "model": self._endpoint.model,
            # Reasoning models know only the first of these two, most other servers only the second.
            "max_completion_tokens" if vendor else "max_tokens": self._max_output,
        }
        if vendor:
            body["prompt_cache_key"] = self._cache_key
        if self._temperature is not None:
            body["temperature"] = self._temperature
        if self._effort is not None:
            body["reasoning_effort"] = self._effort
        # The SDK's own create() looks through every message of every request: 30 ms for 200 of them, against 1.
        content = prompt.request(body, "messages", system=True)
        return await client.post("/chat/completions", content=content, cast_to=ChatCompletion)

    def _problem(self, error: Exception, endpoint: Endpoint) -> AgentError:
        """Say what went wrong with a request. The SDK lets the JSON decoder's own ValueError through."""
        if isinstance(error, openai.APIStatusError):
            return endpoint.rejected(error.status_code, error.message)
        if isinstance(error, openai.APITimeoutError):
            return endpoint.timed_out()
        if isinstance(error, openai.APIConnectionError):
            return endpoint.unreachable(error.__cause__ or error)
        return endpoint.unreadable(str(error))

    def _read(self, completion: Any) -> Reply:
        """Read an answer, of which the SDK validates neither the type nor the fields."""
        try:
            if not isinstance(completion, ChatCompletion):
                raise TypeError(f"it is not JSON: {completion!r}")
            choice = completion.choices[0]
            text, refusal, finish = choice.message.content or "", choice.message.refusal, choice.finish_reason
            usage = None if completion.usage is None else self._usage(completion.usage, completion.model)
        except (AttributeError, IndexError, TypeError) as error:
            raise self._endpoint.unreadable(str(error)) from error
        if refusal or finish == "content_filter":
            return Reply(refusal or text, usage, Finish.REFUSAL)
        if not text.strip():
            raise self._endpoint.silent(str(finish), self._max_output)
        return Reply(text, usage, Finish.LENGTH if finish == "length" else Finish.STOP)

    def _usage(self, spent: CompletionUsage | None, model: str | None = None) -> Usage:
        """Take the cached tokens out of the prompt's; None: the request was never answered, and costs nothing."""
        uncached = read = written = output = reasoning = 0
        if spent is not None:
            if (details := spent.prompt_tokens_details) is not None:
                read, written = details.cached_tokens or 0, details.cache_write_tokens or 0
            if read + written > spent.prompt_tokens:  # no such thing: bill it all at the full price
                read = written = 0
            uncached, output = spent.prompt_tokens - read - written, spent.completion_tokens
            if spent.completion_tokens_details is not None:
                reasoning = spent.completion_tokens_details.reasoning_tokens or 0
        return Usage(
            uncached=uncached,
            cache_read=read,
            cache_write=written,
            output=output,
            reasoning=reasoning,
            model=model or self._endpoint.model,
            provider=self._provider,
        )


def _is_overflow(error: openai.APIStatusError) -> bool:
    return error.code == "context_length_exceeded" or _TOO_LONG.search(error.message) is not None
