"""The provider's state and switches: how it answers, counts, caches and fails."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ltm_bench.adapters.hashing import embed
from ltm_bench.adapters.testing.caching import BlockCache, Looked, blocks_of
from ltm_bench.adapters.testing.faults import Fault, FaultKind, RecordedRequest, Said
from ltm_bench.adapters.testing.protocols import PROTOCOLS, Summary, Tokens
from ltm_bench.core.tokens import counter

CACHE_MINIMUM = 1024
"""Minimum tokens of a cached prompt at OpenAI, and at Anthropic except for these models."""

CACHE_MINIMA = {
    512: ("claude-opus-5", "claude-fable-5", "claude-mythos-5"),
    2048: ("claude-opus-4-7",),
    4096: ("claude-haiku-4-5", "claude-opus-4-5", "claude-opus-4-6"),
}
"""From Anthropic's documentation, November 2026; a shorter prompt is silently not cached."""

CONVERSATIONS = "/v1/conversations"

OVERHEAD = 4
"""Tokens counted for each message besides its text."""

Answer = Callable[[Sequence[Said]], str]
"""Makes the reply from all messages of a request, the system message included."""


def quote(messages: Sequence[Said]) -> str:
    """Repeat the sentence of the conversation that shares the most words with the newest message."""
    wanted = _words(messages[-1]["content"])
    best, shared = "", 0
    for message in messages[:-1]:
        if message["role"] in ("user", "compaction"):
            for sentence in _sentences(message["content"]):
                if message["role"] == "compaction" and sentence in messages[-1]["content"]:
                    continue  # the newest message is in it, too
                if len(both := _words(sentence) & wanted) >= max(shared, 1):
                    best, shared = sentence, len(both)
    return f"You said: {best}" if best else "I do not know."


def _sentences(text: str) -> list[str]:
    undated = re.sub(r"^\[.*?\]\n", "", text)
    return [each for each in re.split(r"(?<=[.!?])\s+|\n", undated) if each]


def _words(text: str) -> set[str]:
    undated = re.sub(r"\[.*?\]", "", text)  # every message shares those words
    return {word for word in re.findall(r"\w+", undated.lower()) if len(word) > 3}


@dataclass
class Provider:
    """The server's state and switches; change them at any time between requests."""

    url: str = ""
    answer: Answer = quote
    context: int | None = None
    """Prompts with more tokens are too long."""
    faults: deque[Fault] = field(default_factory=deque)
    """Each is used up by one request."""
    cache_minimum: int | None = None
    """Minimum tokens of a cached prompt; None: as at the provider."""
    edit: Callable[[dict[str, Any]], dict[str, Any]] = lambda body: body
    """Changes an answer before it is sent."""
    requests: list[RecordedRequest] = field(default_factory=list)
    models: list[str] = field(default_factory=lambda: ["some-model"])
    details: dict[str, Any] = field(default_factory=dict)
    """A model's description, besides its name."""
    stopping: threading.Event = field(default_factory=threading.Event)
    conversations: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """OpenAI's conversations, and the items in each."""
    _always: Fault | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    spent: list[Tokens] = field(default_factory=list)
    """What is billed for every answer, in order."""
    _cache: set[bytes] = field(default_factory=set)
    _blocks: BlockCache = field(default_factory=BlockCache)
    _counts: dict[str, int] = field(default_factory=dict)

    @property
    def openai_url(self) -> str:
        """For the base_url of an OpenAI client."""
        return f"{self.url}/v1"

    @property
    def chats(self) -> list[RecordedRequest]:
        """The requests for a reply, without those for the list of models, embeddings or a token count."""
        return [
            request
            for request in self.requests
            if request.body and request.path.partition("?")[0] in PROTOCOLS
        ]

    def _count(self, text: str) -> int:
        if text not in self._counts:
            self._counts[text] = counter().count(text)
        return self._counts[text]

    def fail(self, *kinds: FaultKind, times: int = 1, **details: Any) -> None:
        """Make the next requests fail: one after the other with these kinds, the whole sequence `times` times."""
        self.faults.extend(Fault(kind=kind, **details) for kind in (kinds or ("error",)) * times)

    @contextmanager
    def failing(self, kind: FaultKind = "error", **details: Any) -> Iterator[Provider]:
        """Make every request inside the block fail in this way."""
        self._always = Fault(kind=kind, **details)
        try:
            yield self
        finally:
            self._always = None

    def receive(self, request: RecordedRequest) -> Fault | None:
        """Record a request, and return its fault, if any."""
        with self._lock:
            self.requests.append(request)
            if not request.body:
                return None
            return self._always or (self.faults.popleft() if self.faults else None)

    def converse(self) -> str:
        """Create a conversation, and return its name."""
        with self._lock:
            name = f"conv_{sum(request.path == CONVERSATIONS for request in self.requests)}"
            self.conversations[name] = []
            return name

    def whole(self, request: RecordedRequest) -> RecordedRequest | None:
        """Return a request preceded by its conversation's items; None if there is no such conversation."""
        if (name := request.body.get("conversation")) is None:
            return request
        if name not in self.conversations:
            return None
        return request._replace(
            body={**request.body, "input": [*self.conversations[name], *request.body["input"]]}
        )

    def keep(self, request: RecordedRequest, output: Sequence[dict[str, Any]]) -> None:
        """Add the message and its answer to the request's conversation, if it has one."""
        if (name := request.body.get("conversation")) in self.conversations:
            self.conversations[name] += [*request.body["input"], *output]

    def summary(self, request: RecordedRequest) -> Summary | None:
        """Return the replacement for a request's messages, if it asks for one and is long enough.

        It consists of what the user said, every sentence once, without dates.
        """
        said = request.seen
        if request.compact_at is None or self.count(said) < request.compact_at:
            return None
        words = [one["content"] for one in said if one["role"] in ("user", "compaction")]
        text = "\n".join(dict.fromkeys(each for one in words for each in _sentences(one)))
        return Summary(text, self.measure(said, text, caches=False))

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        """Embed as ltm-bench's local embedder does."""
        texts = body["input"]
        rows = [
            {"object": "embedding", "index": n, "embedding": row}
            for n, row in enumerate(embed(texts).tolist())
        ]
        tokens = sum(map(self._count, texts))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": rows, "model": body["model"], "usage": usage}

    def count(self, messages: Sequence[Said]) -> int:
        """Count the tokens of a prompt."""
        with self._lock:
            return sum(self._count(message["content"]) + OVERHEAD for message in messages)

    def least_cached(self, model: str) -> int:
        """Return the minimum tokens of a cached prompt."""
        if self.cache_minimum is not None:
            return self.cache_minimum
        known = (least for least, models in CACHE_MINIMA.items() if model.startswith(models))
        return next(known, CACHE_MINIMUM)

    def measure(
        self, messages: Sequence[Said], reply: str, *, model: str = "some-model", caches: bool = True
    ) -> Tokens:
        """Count the tokens and the cached ones among them, and add the request to the cache."""
        with self._lock:
            prompt, cached, digest = 0, 0, hashlib.sha256(model.encode())
            for message in messages:
                prompt += self._count(message["content"]) + OVERHEAD
                digest.update(json.dumps([message["role"], message["content"]]).encode())
                prefix = digest.digest()
                if prefix in self._cache:
                    cached = prompt
                if caches:
                    self._cache.add(prefix)
            cached = cached if caches and cached >= self.least_cached(model) else 0
            return Tokens(prompt, cached, self._count(reply))

    def look_up(self, body: dict[str, Any]) -> Looked:
        """Return what a request to Anthropic reads from the cache, and what it will write."""
        with self._lock:
            blocks = [(each, self._count(each.text) + OVERHEAD * each.begins) for each in blocks_of(body)]
            return self._blocks.look_up(body["model"], blocks, self.least_cached(body["model"]))

    def begin(self, looked: Looked, reply: str) -> Tokens:
        """Begin the response to a request to Anthropic: from now on, others read what it writes."""
        with self._lock:
            self._blocks.write(looked)
            return Tokens(looked.prompt, looked.read, self._count(reply), looked.written, looked.for_an_hour)
