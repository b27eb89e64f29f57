"""Chat models: the whole conversation is kept in a window and sent with every message.

Prompts are append-only, except when the window drops its oldest turns. The date goes into the user's message, never
into the system message, so that the provider's prompt cache holds.

The window is that of the model, as its server says it, if that is not the vendor's own: vLLM and most gateways put it
into their list of models, llama.cpp into its properties, and Ollama into its list of models that are loaded.
"""

import hashlib
import json
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ltm_bench.adapters.endpoint import EXAMINING, Endpoint
from ltm_bench.adapters.http.answers import keep, kept
from ltm_bench.adapters.http.shared import bounded
from ltm_bench.adapters.http.traffic import heard
from ltm_bench.adapters.text import stamped
from ltm_bench.adapters.window import KEPT, Prompt, Window
from ltm_bench.core.agent import Agent, UsageModel
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Finish, Message, Reply, Turn, Usage
from ltm_bench.core.servers import Ending, Protocol, without_thinking
from ltm_bench.core.tokens import counter

SYSTEM = (
    "You are a helpful assistant in one long conversation with one person. Every message of theirs begins with "
    "the date and time at which it was sent, in brackets; the program adds it, so do not write one yourself. "
    "Answer the newest message, and be brief unless you are asked for more."
)
"""The default system message of chat adapters."""


_FAR = 2
"""How many times as many tokens our counter finds in a prompt that a server has surely cut."""

_SHORT = 1000
"""Prompts of fewer tokens, times `_FAR`, are not compared."""


class ChatModel(Agent):
    """A conversation with one model, in a window. Subclasses write `ask`, and `provider` where prices are known."""

    forks = "snapshot"
    writes_cost = False
    """Whether the provider charges for writing to its prompt cache."""

    usual_window = 128_000
    """The window if no setting gives one."""
    usual_output = 1024
    """Most tokens of one reply if no setting says, in a window that has room for them."""

    schema: Mapping[str, Any] | None = None
    """A JSON schema for replies, if they have to follow one; the vendors' own servers enforce it."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        system: str = SYSTEM,
        window: int | None,
        max_output: int | None,
        ratio: float,
        truncate: str = "step",
        keep: float = KEPT,
    ) -> None:
        """Set up the window.

        Args:
            endpoint: The model and where it is.
            system: The system message.
            window: The model's context window, in its own tokens; None for `usual_window`, before a run for what the
                server says, unless it is the vendor's own.
            max_output: Maximum tokens of one reply, reserved in the window; None for `usual_output`, or a quarter of
                a window in which that would leave too little for the prompt.
            ratio: The model's tokens per token of the benchmark's counter, at worst.
            truncate: How to fit a conversation that outgrows the window (see `Window`); `step` by default.
            keep: The share of the window that stays in use after turns are dropped; 0.75 by default.
        """
        self.endpoint = endpoint
        self.connections = endpoint.connections
        self._assumed = window is None and not endpoint.is_vendor
        self._system = system
        self._window = self.usual_window if window is None else window
        self._max_output = min(self.usual_output, self._window // 4) if max_output is None else max_output
        self._ratio, self._truncate, self._keep = ratio, truncate, keep
        self._conversation = self._new_conversation()
        self._cut = False

    def _new_conversation(self) -> Window:
        return Window(
            system=self._system,
            window=self._window,
            max_output=self._max_output,
            counter=counter(),
            ratio=self._ratio,
            truncate=self._truncate,
            keep=self._keep,
        )

    @property
    def model(self) -> str:
        """The model, as its provider calls it."""
        return self.endpoint.model

    @property
    def provider(self) -> str | None:
        """Whose list prices apply; None if unknown."""
        return None

    async def ask(self, prompt: Prompt) -> Reply:
        """Send one request. Raises AgentError if it gets no reply."""
        raise TypeError(f"{type(self).__name__} does not define ask()")

    async def reply(self, message: Message) -> Reply:
        """Send the conversation with this message at its end. If that fails, neither is remembered."""
        said = stamped(message)
        sent = self._conversation.most_tokens(said) / self._ratio
        prompt = self._conversation.prompt(said, continues=True)
        reply = self._overflow() if prompt is None else await self.ask_next(prompt)
        self._conversation.take(said, reply)
        self._look_for_cuts(message.turn, sent, reply.usage)
        return reply

    def _look_for_cuts(self, turn: int, sent: float, usage: Usage | None) -> None:
        """Note, and warn once, if the server counts far fewer tokens than were sent: it cuts prompts without a word."""
        # A provider that compacts the conversation counts what it makes of it.
        if self.usage_model() is None or usage is None or not _SHORT < usage.prompt * _FAR < sent:
            return
        if (traffic := heard()) is not None:
            traffic.sent = round(sent)
        if self._cut:
            return
        self._cut = True
        warnings.warn(
            f"{self.endpoint!r} counted {usage.prompt:,} tokens in the prompt of turn {turn}, where about {sent:,.0f} "
            "were sent: it cuts prompts, so the agent has not seen all that it was told; raise the server's window, or "
            "set window=",
            stacklevel=2,
        )

    async def _once_more(
        self, send: Callable[[], Awaitable[Any]], read: Callable[[Any], Reply], spent: list[Usage | None]
    ) -> Reply:
        """Send a request and read the reply; if that says nothing, once more, and then it has said nothing."""
        reply = read(await send())
        if without_thinking(reply.text).strip() or reply.finish is not Finish.STOP:
            return reply
        spent.append(reply.usage)
        return summed(spent, read(await send()))

    async def ask_next(self, prompt: Prompt) -> Reply:
        """Send the request whose reply becomes a part of the conversation; those of forks only go through `ask`."""
        return await self.ask(prompt)

    def frozen(self, message: Message, *, continues: bool = False) -> Prompt | None:
        """Return the prompt for a message; None if it does not fit. Arguments as for `Window.prompt`."""
        return self._conversation.prompt(stamped(message), continues=continues)

    def take(self, message: Message, reply: Reply) -> None:
        """Add a message and its reply to the conversation."""
        self._conversation.take(stamped(message), reply)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze the conversation with this message at its end; the prompt cache holds for everything before it."""
        prompt = self.frozen(message)

        async def answer() -> Reply:
            return self._overflow() if prompt is None else await self.ask(prompt)

        return answer

    async def observe(self, turn: Turn) -> None:
        """Remember a turn as if it had been answered here."""
        self.take(turn.message, turn.reply)

    def reserve(self, message: Message) -> Usage:
        """Return the most that a reply can use: all of the prompt written to the cache, and a full reply."""
        prompt = self._conversation.most_tokens(stamped(message))
        return Usage(
            cache_write=prompt,
            output=self._max_output if prompt else 0,
            model=self.model,
            provider=self.provider,
        )

    async def find_window(self) -> int | None:
        """Ask the server for the model's window, unless a setting gives it or the server is the vendor's own."""
        return await model_window(self.endpoint) if self._assumed else None

    def usage_model(self) -> UsageModel | None:
        """Return what `ltm-bench estimate` needs to simulate the conversation."""
        return UsageModel(
            model=self.model,
            provider=self.provider,
            system=self._system,
            window=self._window,
            max_output=self._max_output,
            writes_cost=self.writes_cost,
            ratio=self._ratio,
            truncate=self._truncate,
            keep=self._keep,
            assumed=self._assumed,
        )

    def _unused(self) -> Usage:
        """Return the usage of a request that was never sent: nothing."""
        return Usage(model=self.model, provider=self.provider)

    def _overflow(self) -> Reply:
        return Reply("", self._unused(), Finish.OVERFLOW)

    def _ended(
        self,
        protocol: Protocol,
        word: object,
        text: str,
        usage: Usage | None,
        refusal: str = "",
        usual: Ending | None = None,
    ) -> Reply:
        """Return a reply that ended with a word of the protocol. Raises AgentError if it did not end well."""
        finish = Finish.REFUSAL if refusal else self.endpoint.ended(protocol, word, usual)
        if finish is Finish.LENGTH and not text.strip():
            raise self.endpoint.silent(self._max_output)
        return Reply(refusal or text, usage, finish)

    def _refusal(self) -> Reply:
        return Reply("", self._unused(), Finish.REFUSAL)


def summed(spent: Sequence[Usage | None], reply: Reply) -> Reply:
    """Return a reply whose usage includes the requests before it; unknown if that of any of them is."""
    calls = [*spent, reply.usage]
    known = [each for each in calls if each is not None]
    return replace(reply, usage=Usage.of(known) if len(known) == len(calls) else None)


_PLACES = ("/v1/models", "/props", "/api/ps")
"""Where servers say it, below their root."""

_FIELDS = ("max_model_len", "context_length", "context_window", "max_input_tokens")
"""What they call it."""


async def model_window(endpoint: Endpoint) -> int | None:
    """Ask a server for its model's window, in the model's tokens; None if it cannot be asked or does not say.

    What it says is kept where providers' answers are.
    """
    import httpx2

    answers, about = kept(), hashlib.sha256(f"window {endpoint.url} {endpoint.model}".encode()).hexdigest()
    if answers is not None and (known := answers.get(about)) is not None:
        found = json.loads(known)
        return found if type(found) is int else None
    try:
        found = await _ask(endpoint)
    except (httpx2.HTTPError, httpx2.InvalidURL, ConfigError, ValueError, ExceptionGroup):
        return None
    keep({about: json.dumps(found).encode()})
    return found


async def _ask(endpoint: Endpoint) -> int | None:
    import httpx2

    root = endpoint.url.rstrip("/").removesuffix("/v1")
    async with bounded(
        httpx2.AsyncClient,
        timeout=min(EXAMINING, endpoint.timeout),
        headers={"authorization": f"Bearer {endpoint.key}"},
    ) as client:
        for place in _PLACES:
            answer = await client.get(root + place)
            if answer.status_code == 200:
                for found in _windows(json_of(answer.content), endpoint.model):
                    if type(found) is int and found > 0:
                        return found
    return None


def _windows(content: Any, model: str) -> Iterator[object]:
    """Yield whatever an answer has at the places of a window."""
    if not isinstance(content, dict):
        return
    if isinstance(settings := content.get("default_generation_settings"), dict):
        yield settings.get("n_ctx")  # of each slot; `n_ctx_train` elsewhere is what the model could have
    for models in (content.get("data"), content.get("models")):
        for each in models if isinstance(models, list) else ():
            names = [each.get(key) for key in ("id", "name", "model")] if isinstance(each, dict) else []
            if model in names or f"{model}:latest" in names:
                yield from map(each.get, _FIELDS)
