"""Anthropic's Claude models, through the Messages API.

The key is read from ANTHROPIC_API_KEY. What is sent is append-only, apart from the steps in which the window
drops the oldest turns: the date stands in the user's message, never in the system message, so that automatic prompt
caching, which is switched on, holds. Claude takes no temperature any more, so there is no such setting.
"""

import re
from copy import copy
from pathlib import Path
from typing import Any, Literal

import anthropic

from ltm_bench.adapters.endpoint import EXAMINING, SYSTEM, Endpoint, stamped
from ltm_bench.adapters.http import client as watched
from ltm_bench.adapters.window import KEPT, Prompt, Window
from ltm_bench.core.agent import Agent, Finding
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Finish, Message, Reply, Turn, Usage
from ltm_bench.core.tokens import counter

# How many of Claude's tokens one token of our counter (cl100k_base) can become. Anthropic publishes no tokenizer;
# since Claude 4.7 the same text counts about 30 % more than before, and it was the larger count before that.
_RATIO = 1.5

_TOO_LONG = re.compile(r"prompt is too long|exceeds? (the )?context|context.?window", re.IGNORECASE)


class AnthropicChat(Agent):
    """A conversation with one model.

    model        the model's name
    base_url     another server that speaks the Messages API; default: ANTHROPIC_BASE_URL, else Anthropic's
    system       the system message
    window       the model's context window in its own tokens; history beyond it is dropped in steps
    max_output   the most tokens of one reply, thinking included; taken off the window
    effort       how much the model thinks and writes (low, medium, high, …); not sent unless it is set
    truncate     what a conversation that outgrows the window loses: step (its oldest turns), middle, none (it ends)
    keep         the part of the window that is still used after a step
    ttl          how long the provider's prompt cache holds, 5m or 1h; the price of an hour is not known here
    timeout      seconds to wait for one reply
    max_retries  how often a failed request is sent again (rate limits, server errors, broken connections)
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        system: str = SYSTEM,
        window: int = 200_000,
        max_output: int = 4096,
        effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None,
        truncate: str = "step",
        keep: float = KEPT,
        ttl: Literal["5m", "1h"] = "5m",
        timeout: float = 120.0,
        max_retries: int = 4,
    ) -> None:
        self._endpoint = Endpoint(
            model=model,
            base_url=base_url,
            url_variable="ANTHROPIC_BASE_URL",
            vendor_url="https://api.anthropic.com",
            key_variable="ANTHROPIC_API_KEY",
            timeout=timeout,
            max_retries=max_retries,
        )
        self._conversation = Window(
            system=system,
            window=window,
            max_output=max_output,
            counter=counter(),
            ratio=_RATIO,
            truncate=truncate,
            keep=keep,
        )
        if ttl not in ("5m", "1h"):
            raise ConfigError(f"{model}: ttl = {ttl!r}: it is '5m' or '1h'")
        self._ttl = ttl
        self._max_output = max_output
        self._window = window
        self._effort = effort
        self._client: anthropic.AsyncAnthropic | None = None

    async def open(self, home: Path) -> None:
        """Make the client. Nothing is sent yet."""
        self._client = self._connect(self._endpoint)

    def _connect(self, endpoint: Endpoint) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(
            api_key=endpoint.key,
            base_url=endpoint.url,
            timeout=endpoint.timeout,
            max_retries=endpoint.max_retries,
            http_client=watched(anthropic.DefaultAsyncHttpxClient),
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
        """Ask the server whether it has the model, until when, and how large its window is."""
        name = self._endpoint.model
        endpoint = copy(self._endpoint)
        endpoint.timeout, endpoint.max_retries = EXAMINING, 1
        async with self._connect(endpoint) as client:
            try:
                model = await client.models.retrieve(name)
            except (anthropic.AnthropicError, ValueError) as error:
                return [Finding(False, str(self._problem(error, endpoint)))]
        if not isinstance(model, anthropic.types.ModelInfo):  # what is no JSON comes through as text
            return [Finding(False, str(endpoint.unreadable("it is not JSON")))]
        # The SDK validates none of these, and other servers that speak the protocol may say less.
        life, ends, window = (
            getattr(model, field, None) for field in ("lifecycle", "retires_at", "max_input_tokens")
        )
        state = f": it is {life}" if life else ""
        until = f", retires on {str(ends)[:10]}" if ends else ""
        found = [Finding(life != "retired", f"model {name} exists{state}{until}")]
        if isinstance(window, int):
            wanted = self._window
            what = f"the provider's window is {window:,} tokens, window={wanted:,}"
            found.append(
                Finding(wanted <= window, what + ("" if wanted <= window else " is larger: lower it"))
            )
        return found

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    @property
    def _provider(self) -> str | None:
        # Written for an hour a token costs more, and usage does not tell the two apart: unknown stays unknown.
        return "anthropic" if self._endpoint.is_list_priced and self._ttl == "5m" else None

    async def _ask(self, prompt: Prompt) -> Reply:
        if self._client is None:
            raise RuntimeError("open() was not called")
        try:
            body: dict[str, object] = {
                "model": self._endpoint.model,
                "max_tokens": self._max_output,
                "cache_control": {"type": "ephemeral"}
                if self._ttl == "5m"
                else {"type": "ephemeral", "ttl": self._ttl},
            }
            if prompt.system:
                body["system"] = prompt.system
            if self._effort is not None:
                body["output_config"] = {"effort": self._effort}
            # The SDK's own create() looks through every message of every request, which takes longer than all else.
            content = prompt.request(body, "messages", system=False)
            answer = await self._client.post("/v1/messages", content=content, cast_to=anthropic.types.Message)
            return self._read(answer)
        except anthropic.APIStatusError as error:
            if error.status_code == 413 or (error.status_code == 400 and _TOO_LONG.search(error.message)):
                return Reply("", self._usage(None), Finish.OVERFLOW)
            raise self._problem(error, self._endpoint) from error
        except (anthropic.AnthropicError, ValueError) as error:
            raise self._problem(error, self._endpoint) from error

    def _problem(self, error: Exception, endpoint: Endpoint) -> AgentError:
        """Say what went wrong with a request. The SDK lets the JSON decoder's own ValueError through."""
        if isinstance(error, anthropic.APIStatusError):
            return endpoint.rejected(error.status_code, error.api_message or error.message)
        if isinstance(error, anthropic.APITimeoutError):
            return endpoint.timed_out()
        if isinstance(error, anthropic.APIConnectionError):
            return endpoint.unreachable(error.__cause__ or error)
        return endpoint.unreadable(str(error))

    def _read(self, answer: Any) -> Reply:
        """Read an answer, of which the SDK validates neither the type nor the fields."""
        try:
            if not isinstance(answer, anthropic.types.Message):
                raise TypeError(f"it is not JSON: {answer!r}")
            text = "".join(block.text for block in answer.content if block.type == "text")
            finish = answer.stop_reason
            usage = None if answer.usage is None else self._usage(answer.usage, answer.model)
        except (AttributeError, TypeError) as error:
            raise self._endpoint.unreadable(str(error)) from error
        match finish:
            case "refusal":
                return Reply(text, usage, Finish.REFUSAL)
            case "model_context_window_exceeded":
                return Reply(text, usage, Finish.OVERFLOW)
        if not text.strip():
            raise self._endpoint.silent("length" if finish == "max_tokens" else str(finish), self._max_output)
        return Reply(text, usage, Finish.LENGTH if finish == "max_tokens" else Finish.STOP)

    def _usage(self, spent: anthropic.types.Usage | None, model: str | None = None) -> Usage:
        """Rename the figures, which do not overlap; None: the request was never answered, and costs nothing."""
        if spent is None:
            return Usage(model=self._endpoint.model, provider=self._provider)
        details = spent.output_tokens_details
        return Usage(
            uncached=spent.input_tokens,
            cache_read=spent.cache_read_input_tokens or 0,
            cache_write=spent.cache_creation_input_tokens or 0,
            output=spent.output_tokens,
            reasoning=0 if details is None else details.thinking_tokens,
            model=model or self._endpoint.model,
            provider=self._provider,
        )
