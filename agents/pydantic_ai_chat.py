"""Models of any provider that Pydantic AI knows: Google, Mistral, Groq, Bedrock, xAI, Cohere, OpenRouter and more.

Models are named as in Pydantic AI, `google:gemini-3.8-flash`. The provider's package comes with Pydantic AI's extra of
the same name (`pip install 'pydantic-ai-slim[google]'`), and the key from the environment variable that Pydantic AI
reads. Pydantic AI only makes the request for each answer: no agent loop, no tools. The conversation is append-only, as
in openai_chat.

For OpenAI's and Anthropic's own models, prefer `openai_chat`, `openai_responses` and `anthropic_chat`: they send less
and read more.
"""

import inspect
import re
import time
import typing
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any, Literal

import httpx2

from ltm_bench import AgentError, Finding, Reply, Usage
from ltm_bench.adapters import (
    Again,
    Attempt,
    ChatModel,
    ConfigError,
    Endpoint,
    Inheriting,
    Prompt,
    begin,
    client,
    declines,
    installed,
    is_too_long,
    json_of,
    need,
    object_set,
    passing,
    provider_at,
    retrying,
    spoken_usage,
    tell,
    usage_in,
)

# Upper bound of a model's tokens per token of our counter (cl100k_base), for any model.
_RATIO = 1.5

_PAUSE = 0.5
"""Seconds before the first retry."""


class PydanticAIChat(Inheriting, ChatModel):
    """A conversation with one model. Sends only the settings that are given: by default no temperature, no effort.

    Args:
        model: The provider and the model, `provider:model`, as Pydantic AI names them.
        base_url: Another server that speaks the provider's protocol, if the provider allows one.
        key_variable: The environment variable that holds the key; default: the one that Pydantic AI reads.
        window: The model's context window in its own tokens; history beyond it is dropped in steps. Default: what the
            server says, if it is not the provider's own, or else 128,000.
        max_output: Maximum tokens of one reply, reasoning included; subtracted from the window. Default: 4,096, or a
            quarter of a smaller window.
        effort: How much the model thinks (minimal, low, medium, high, …); not sent unless set.
        temperature: Sampling temperature, for models that still accept one.
        settings: More of Pydantic AI's model settings, as JSON: `{"google_safety_settings": []}`.
        cache: Whether Pydantic AI marks what to cache, for providers that need this.
        timeout: Seconds to wait for one reply.
        max_retries: Retries of a failed request (rate limits, server errors, broken connections).
        shared: Those of every `ChatModel`.
    """

    usual_output = 4096
    lacks_settings = frozenset({"ratio"})

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        key_variable: str = "",
        window: int | None = None,
        max_output: int | None = None,
        effort: str | None = None,
        temperature: float | None = None,
        settings: str = "{}",
        cache: bool = True,
        timeout: float = 120.0,
        max_retries: int = 4,
        **shared: Any,
    ) -> None:
        self._kind, _, self._model_name = model.partition(":")
        if not self._kind or not self._model_name:
            raise ConfigError(f"model={model!r}: write it as provider:model, such as google:gemini-3.8-flash")
        # The server's address is known only once the package is imported; until then the name represents it.
        endpoint = Endpoint(
            model=model,
            base_url=base_url or f"https://{self._kind.replace('/', '.')}",
            url_variable="",
            vendor_url="",
            key_variable=key_variable or "the environment",
            timeout=timeout,
            max_retries=max_retries,
        )
        super().__init__(endpoint, window=window, max_output=max_output, ratio=_RATIO, **shared)
        more = object_set("pydantic_ai_chat", "settings", settings)
        self._base_url, self._key_variable = base_url, key_variable
        self.settings: dict[str, Any] = {"max_tokens": self._max_output, "request_timeout": timeout}
        """The settings passed to Pydantic AI with the messages; complete after `open`."""
        if cache:
            self.settings["cache"] = True
        if effort is not None:
            self.settings["thinking"] = effort
        if temperature is not None:
            self.settings["temperature"] = temperature
        self._more = more
        self._model: Any = None
        self._client: httpx2.AsyncClient | None = None
        self._priced: str | None = None

    @property
    def model(self) -> str:
        """The model's name, without the provider's."""
        return self._model_name

    @property
    def provider(self) -> str | None:
        """The provider whose prices apply at the address; known after `open`."""
        return self._priced

    async def find_window(self) -> int | None:
        """Ask a server whose address is given; the others' addresses are known only once they are open."""
        return await super().find_window() if self._base_url else None

    async def open(self, home: Path) -> None:
        """Import Pydantic AI and make the provider's client. Nothing is sent yet."""
        self._direct = need("pydantic-ai", "pydantic_ai.direct")
        self._errors = need("pydantic-ai", "pydantic_ai.exceptions")
        self._parts = need("pydantic-ai", "pydantic_ai.messages")
        self._model = self._connect()
        self.endpoint = copy(self.endpoint)
        self.endpoint.move(str(self._model.base_url or self.endpoint.url))
        self._priced = provider_at(self.endpoint.url)
        # The SDKs' retries differ, and some have none: we retry ourselves, alike for all providers.
        if "max_retries" not in self._model.unsupported_settings:
            self.settings["max_retries"] = 0
        if self._priced == "openai":
            self.settings["openai_store"] = False
            self.settings["openai_prompt_cache_key"] = f"ltm-bench/{home.parent.name}"[:64]
        self.settings |= self._more

    def _connect(self) -> Any:
        """Return Pydantic AI's model. Raises ConfigError if a package or a key is missing."""
        models = need("pydantic-ai", "pydantic_ai.models")
        providers = need("pydantic-ai", "pydantic_ai.providers")
        name = self.endpoint.model
        try:
            if self._kind.startswith("gateway/"):  # has settings of its own
                return models.infer_model(name)
            return models.infer_model(name, lambda kind: self._provider(providers.infer_provider_class(kind)))
        except ImportError as error:
            said = str(error).partition(", you can")[0]
            raise ConfigError(f"{name}: {said}: pip install 'pydantic-ai-slim[{self._kind}]'") from error
        # an unknown provider; UserError, which names the variable
        except (ValueError, RuntimeError) as error:
            said = re.sub(r"\s+", " ", str(error)).partition(" To try Pydantic AI without")[0]
            raise ConfigError(f"{name}: {said}") from error

    def _provider(self, kind: type[Any]) -> Any:
        """Make one of Pydantic AI's providers, with our address, key and HTTP client where it accepts them."""
        takes = inspect.signature(kind.__init__).parameters
        given: dict[str, Any] = {}
        if self._base_url is not None:
            if "base_url" not in takes:
                raise ConfigError(f"{self.endpoint.model}: this provider of Pydantic AI takes no base_url")
            given["base_url"] = self._base_url
        if self._key_variable:
            given["api_key"] = self.endpoint.key
        if "http_client" in takes and _takes_httpx2(kind):
            timeout = httpx2.Timeout(self.endpoint.timeout, pool=None)  # one request at a time
            given["http_client"] = self._client = client(httpx2.AsyncClient, timeout=timeout)
        try:
            return kind(**given)
        except RuntimeError:  # no key; a private server may need none
            if self._base_url is None or "api_key" in given:
                raise
            return kind(**given, api_key=self.endpoint.key)

    async def examine(self) -> list[Finding]:
        """Check that Pydantic AI, the provider's package and a key are there; providers have no more in common."""
        found = installed("pydantic-ai", "pydantic-ai-slim")
        if not found.ok:
            return [found]
        try:
            model = self._connect()
        except ConfigError as error:
            return [found, Finding(False, str(error))]
        await self.close()
        return [found, Finding(True, f"model {self.endpoint.model} would be asked at {model.base_url}")]

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
        elif self._model is not None and (own := getattr(self._model, "provider", None)) is not None:
            async with own:
                pass

    async def ask(self, prompt: Prompt) -> Reply:
        """Send a request, and turn the errors of all SDKs into ours."""
        if self._model is None:
            raise RuntimeError("open() was not called")
        errors = self._errors
        try:
            return await self._once_more(lambda: self._request(prompt), self._read, [])
        except AgentError:
            raise
        except errors.UserError as error:
            raise ConfigError(f"{self.endpoint.model}: {error.message}") from error
        except Exception as error:  # every SDK has its own, and Pydantic AI does not translate all of them
            status = getattr(error, "status_code", None)
            detail, codes = _said(error)
            if isinstance(error, errors.ModelContextWindowExceededError) or is_too_long(
                status, detail, *codes
            ):
                return self._overflow()
            if isinstance(error, errors.ContentFilterError) or declines(status, detail, *codes):
                return self._refusal()
            if isinstance(status, int):
                raise self.endpoint.rejected(status, detail) from error
            raise self.endpoint.explain(error) from error

    async def _request(self, prompt: Prompt) -> Any:
        """Ask, and retry where that may help."""
        messages = self._messages(prompt)

        async def once() -> Any:
            begun = time.perf_counter()
            if self._client is None:
                begin()
            try:
                answer = await self._direct.model_request(self._model, messages, model_settings=self.settings)
            except self._errors.ModelAPIError as error:
                self._told(begun, error)
                raise
            self._told(begun, None)
            return answer

        return await retrying(once, retries=self.endpoint.max_retries, pause=_PAUSE, again=self._again)

    def _again(self, error: Exception) -> Again | None:
        errors = self._errors
        if not isinstance(error, errors.ModelAPIError):
            return None
        status, hint = (getattr(error, name, None) for name in ("status_code", "provider_retry_hint"))
        if status is None:
            useful = isinstance(error, errors.ModelConnectionError | errors.ModelRequestTimeout)
        else:
            useful = passing(status) if hint is None else bool(hint)
        return Again(getattr(error, "retry_after", None)) if useful else None

    def _messages(self, prompt: Prompt) -> list[Any]:
        kinds = self._parts
        messages: list[Any] = []
        first: list[Any] = [kinds.SystemPromptPart(prompt.system)] if prompt.system else []
        for exchange in prompt.history:
            messages.append(kinds.ModelRequest([*first, kinds.UserPromptPart(exchange.message)]))
            messages.append(kinds.ModelResponse([kinds.TextPart(exchange.reply)]))
            first = []
        messages.append(kinds.ModelRequest([*first, kinds.UserPromptPart(prompt.message)]))
        return messages

    def _told(self, begun: float, error: Any) -> None:
        """Report an attempt, unless the toolkit's HTTP client has done so."""
        if self._client is None:
            status = 200 if error is None else getattr(error, "status_code", None)
            kind = type(error).__name__ if status is None else ""
            after = getattr(error, "retry_after", None)
            seconds = time.perf_counter() - begun
            tell(Attempt(seconds, status, kind, "" if after is None else f"{after:g}"))

    def _read(self, answer: Any) -> Reply:
        details = answer.provider_details or {}
        text = "".join(part.content for part in answer.parts if part.part_kind == "text")
        usage = self._usage(answer)
        said, word = answer.finish_reason, details.get("finish_reason")
        refusal = str(details.get("refusal") or text) if said == "content_filter" else ""
        usual = "stop" if said is word is None else _MEANS.get(said)
        return self._ended(
            "messages" if self._kind == "anthropic" else "chat", word, text, usage, refusal, usual
        )

    def _usage(self, answer: Any) -> Usage | None:
        model = answer.model_name or self.model
        if self._client is not None and (spoken := spoken_usage()) is not None:
            return usage_in(
                *spoken, model=model, provider=self.provider
            )  # Pydantic AI makes up what is missing
        spent = answer.usage
        if spent.unmeasured_requests or not (spent.input_tokens or spent.output_tokens):
            return None
        reported = {
            "prompt_tokens": spent.input_tokens,
            "completion_tokens": spent.output_tokens,
            "prompt_tokens_details": {
                "cached_tokens": spent.cache_read_tokens,
                "cache_write_tokens": spent.cache_write_tokens,
            },
            "completion_tokens_details": {"reasoning_tokens": spent.output_reasoning_tokens},
        }
        return usage_in(reported, "chat", model=model, provider=self.provider)


def _takes_httpx2(provider: type[Any]) -> bool:
    """Say whether a provider's SDK works with httpx2; some still want the old httpx."""
    try:
        wanted = typing.get_type_hints(provider.__init__)["http_client"]
    except (NameError, KeyError):
        return False
    return httpx2.AsyncClient in typing.get_args(wanted)


_MEANS: Mapping[str | None, Literal["stop", "tools", "length", "refusal"]] = {
    "stop": "stop",
    "tool_call": "tools",
    "length": "length",
    "content_filter": "refusal",
}
"""What Pydantic AI's words for endings mean, where no server's word is known; not `error`."""


def _said(error: Exception) -> tuple[str, tuple[object, ...]]:
    """Extract the provider's own error message, code and type from what Pydantic AI makes of its body."""
    body = getattr(error, "body", None)
    if isinstance(body, str) and body.startswith("{"):
        with suppress(ValueError):
            body = json_of(body)
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if isinstance(body, dict) and body.get("message"):
        return str(body["message"]), (body.get("code"), body.get("type"))
    return str(body or error), ()
