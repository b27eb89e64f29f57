"""A model provider on this machine: speaks OpenAI's and Anthropic's protocols, and fails when it is told to.

    with provider() as server:
        server.fail(status=429)     # the first request fails, the second is answered
        OpenAIChat(model="any", base_url=server.openai_url)

Requests are recorded in the order of their arrival. Usage is real (counted with the shipped counter), and so is the
prompt cache: the longest run of messages that an earlier request to the same model began with, from the provider's
minimum on; Anthropic's holds only what a request with `cache_control` has put there.
"""

import contextlib
import hashlib
import json
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple

from ltm_bench.adapters.embedding import embed
from ltm_bench.core.tokens import counter

CACHE_MINIMUM = 1024
"""Tokens from which OpenAI caches a prompt, and Anthropic unless the model is one of these."""

CACHE_MINIMA = {
    512: ("claude-opus-5", "claude-fable-5", "claude-mythos-5"),
    2048: ("claude-opus-4-7",),
    4096: ("claude-haiku-4-5", "claude-opus-4-5", "claude-opus-4-6"),
}
"""As Anthropic's documentation has them, November 2026; a shorter prompt is silently not cached."""

OVERHEAD = 4
PIECES = 10
"""In which a slow answer comes."""

Said = dict[str, str]
"""A message as it is sent: `role` and `content`."""


class Calls(str):
    """A reply that calls tools instead of saying something: JSON, a list of `{"name": …, "arguments": {…}}`."""


Answer = Callable[[Sequence[Said]], str]
"""Makes the reply from all the messages of a request, the system message included."""


def quote(messages: Sequence[Said]) -> str:
    """Repeat the sentence of the conversation that shares most words with the newest message."""
    wanted = _words(messages[-1]["content"])
    best, shared = "", 0
    for message in messages[:-1]:
        if message["role"] == "user":
            for sentence in re.split(r"(?<=[.!?])\s+|\n", message["content"]):
                if len(both := _words(sentence) & wanted) >= max(shared, 1):
                    best, shared = sentence, len(both)
    return f"You said: {best}" if best else "I do not know."


def _words(text: str) -> set[str]:
    undated = re.sub(r"\[.*?\]", "", text)  # every message shares those words
    return {word for word in re.findall(r"\w+", undated.lower()) if len(word) > 3}


FaultKind = Literal["error", "hang", "slow", "cut", "garbage", "text", "empty", "refusal"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to one request in place of an answer. Without a `kind` it is an HTTP error with this status."""

    kind: FaultKind = "error"
    """hang: no answer for `seconds`; slow: a good answer, in pieces that take `seconds`; cut: half a body; garbage: no
    JSON; text: not even called JSON; empty: no text, finished with `finish`; refusal: the model declines."""
    status: int = 500
    message: str = "Something went wrong."
    code: str | None = None
    seconds: float = 10.0
    finish: str = "length"
    """In the protocol's own words."""
    retry_after: str | None = None
    """When to come again: seconds, or a date of HTTP. None, with no milliseconds either: at once."""
    retry_after_ms: str | None = None
    """The same in milliseconds, which the SDKs believe before the other."""


class Request(NamedTuple):
    """One recorded request."""

    path: str
    headers: dict[str, str]
    """By their names in lower case."""
    body: dict[str, Any]

    @property
    def messages(self) -> list[Said]:
        """Its messages, the system message first wherever the protocol puts it, and their blocks joined."""
        system = self.body.get("system") or self.body.get("instructions")
        said = self.body.get("messages") or self.body["input"]
        first = [{"role": "system", "content": system}] if system else []
        return [{"role": one["role"], "content": _joined(one["content"])} for one in (*first, *said)]

    @property
    def caches(self) -> bool:
        """Whether it asks Anthropic to cache: of itself, or in one of its blocks."""
        said = [self.body.get("system"), *(one["content"] for one in self.body.get("messages", ()))]
        blocks = [block for content in said if isinstance(content, list) for block in content]
        return any("cache_control" in each for each in (self.body, *blocks))


def _joined(content: str | Sequence[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


class Tokens(NamedTuple):
    """What a request and its answer cost."""

    prompt: int
    cached: int
    output: int


@dataclass
class Provider:
    """The server's state and its switches, all of which may be changed between two requests."""

    url: str = ""
    answer: Answer = quote
    context: int | None = None
    """Prompts of more tokens are too long."""
    faults: deque[Fault] = field(default_factory=deque)
    """Each is used up by one request."""
    cache_minimum: int | None = None
    """Tokens from which a prompt is cached; None: as the provider does."""
    edit: Callable[[dict[str, Any]], dict[str, Any]] = lambda body: body
    """Changes an answer before it is sent."""
    requests: list[Request] = field(default_factory=list)
    models: list[str] = field(default_factory=lambda: ["some-model"])
    details: dict[str, Any] = field(default_factory=dict)
    """What is said of a model beyond its name."""
    stopping: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _cache: set[bytes] = field(default_factory=set)
    _counts: dict[str, int] = field(default_factory=dict)

    @property
    def openai_url(self) -> str:
        """For the base_url of an OpenAI client."""
        return f"{self.url}/v1"

    @property
    def chats(self) -> list[Request]:
        """The requests for a reply, without those for the list of models, for embeddings and for a count."""
        return [request for request in self.requests if request.body and request.path in PROTOCOLS]

    def _count(self, text: str) -> int:
        if text not in self._counts:
            self._counts[text] = counter().count(text)
        return self._counts[text]

    def fail(self, *kinds: FaultKind, times: int = 1, **details: Any) -> None:
        """Let the next requests go wrong: one after the other with these kinds, and so on `times` over."""
        self.faults.extend(Fault(kind=kind, **details) for kind in (kinds or ("error",)) * times)

    def receive(self, request: Request) -> Fault | None:
        """Record a request, and say what is to go wrong with it."""
        with self._lock:
            self.requests.append(request)
            return self.faults.popleft() if request.body and self.faults else None

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        """Embed as ltm-bench itself does."""
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
        """Return how many tokens a prompt must have to be cached."""
        if self.cache_minimum is not None:
            return self.cache_minimum
        known = (least for least, models in CACHE_MINIMA.items() if model.startswith(models))
        return next(known, CACHE_MINIMUM)

    def measure(
        self, messages: Sequence[Said], reply: str, *, model: str = "some-model", caches: bool = True
    ) -> Tokens:
        """Count the tokens, those that are in the cache, and put the request into the cache."""
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


class OpenAIProtocol:
    """The shapes of OpenAI's Chat Completions."""

    too_long = Fault(
        status=400,
        message="This model's maximum context length is smaller than your messages.",
        code="context_length_exceeded",
    )
    stop = "stop"

    def error(self, fault: Fault) -> dict[str, Any]:
        return {"error": {"message": fault.message, "type": "error", "param": None, "code": fault.code}}

    def answer(
        self, body: dict[str, Any], text: str, finish: str, tokens: Tokens, least: int | None = None
    ) -> dict[str, Any]:
        refused = finish == "refusal"
        calls = [
            {
                "id": f"call_{n}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for n, call in enumerate(json.loads(text) if isinstance(text, Calls) else ())
        ]
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop" if refused else finish,
                    "message": {
                        "role": "assistant",
                        "content": None if refused or calls else text,
                        "refusal": text if refused else None,
                        **({"tool_calls": calls} if calls else {}),
                    },
                }
            ],
            "usage": {
                "prompt_tokens": tokens.prompt,
                "completion_tokens": tokens.output,
                "total_tokens": tokens.prompt + tokens.output,
                "prompt_tokens_details": {"cached_tokens": tokens.cached},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        }


class ResponsesProtocol(OpenAIProtocol):
    """The shapes of OpenAI's Responses."""

    stop = "completed"

    def answer(
        self, body: dict[str, Any], text: str, finish: str, tokens: Tokens, least: int | None = None
    ) -> dict[str, Any]:
        refused, cut = finish == "refusal", finish == "max_output_tokens"
        part = (
            {"type": "refusal", "refusal": text}
            if refused
            else {"type": "output_text", "text": text, "annotations": []}
        )
        message = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": body["model"],
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "error": None,
            "output": [message] if text else [],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": tokens.prompt,
                "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": 0},
                "output_tokens": tokens.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": tokens.prompt + tokens.output,
            },
        }


class AnthropicProtocol:
    """The shapes of Anthropic's Messages; `least`: tokens from which this request is cached, None: it is not to be."""

    too_long = Fault(status=400, message="prompt is too long: it has more tokens than the maximum")
    stop = "end_turn"

    def error(self, fault: Fault) -> dict[str, Any]:
        kind = fault.code or "invalid_request_error"
        return {"type": "error", "error": {"type": kind, "message": fault.message}, "request_id": "req_1"}

    def answer(
        self, body: dict[str, Any], text: str, finish: str, tokens: Tokens, least: int | None = None
    ) -> dict[str, Any]:
        fresh = tokens.prompt - tokens.cached
        written = fresh if least is not None and tokens.prompt >= least else 0
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": finish,
            "stop_sequence": None,
            "usage": {
                "input_tokens": fresh - written,
                "cache_read_input_tokens": tokens.cached,
                "cache_creation_input_tokens": written,
                "output_tokens": tokens.output,
            },
        }


PROTOCOLS: dict[str, OpenAIProtocol | AnthropicProtocol] = {
    "/v1/chat/completions": OpenAIProtocol(),
    "/v1/responses": ResponsesProtocol(),
    "/v1/messages": AnthropicProtocol(),
}


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "Server"

    def do_GET(self) -> None:
        server = self.server.provider
        server.receive(Request(self.path, self._headers(), {}))
        anthropic = "anthropic-version" in self.headers
        if self.path == "/v1/models":
            self._send(200, {"object": "list", "data": [_model(name, anthropic) for name in server.models]})
        elif (name := self.path.removeprefix("/v1/models/")) in server.models:
            self._send(200, _model(name, anthropic) | server.details)
        else:
            protocol = AnthropicProtocol() if anthropic else OpenAIProtocol()
            code = "not_found_error" if anthropic else "model_not_found"
            self._send(404, protocol.error(Fault(message=f"There is nothing at {self.path}.", code=code)))

    def do_POST(self) -> None:
        server = self.server.provider
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        request = Request(self.path, self._headers(), body)
        fault = server.receive(request)
        if self.path == "/v1/embeddings" and fault is None:
            self._send(200, server.embeddings(body))
            return
        path = self.path.partition("?")[0]
        counting = path == "/v1/messages/count_tokens"
        if counting and fault is None:
            self._send(200, {"input_tokens": server.count(request.messages)})
            return
        protocol = PROTOCOLS.get("/v1/messages" if counting else path)
        if self.path == "/v1/embeddings":
            protocol = OpenAIProtocol()
        if protocol is None:
            self._send(404, {"error": {"message": f"There is nothing at {self.path}.", "type": "error"}})
            return
        finish = protocol.stop
        kind = "" if fault is None else fault.kind
        text = server.answer(request.messages) if kind in ("", "slow") else ""
        if fault is not None and kind == "empty":
            finish = fault.finish
        elif fault is not None and kind == "refusal":
            finish, text = "refusal", fault.message
        elif fault is not None and kind != "slow":
            self._fail(fault, protocol)
            return
        if server.context is not None and server.count(request.messages) > server.context:
            self._fail(protocol.too_long, protocol)
            return
        caches = not isinstance(protocol, AnthropicProtocol) or request.caches
        tokens = server.measure(request.messages, text, model=body["model"], caches=caches)
        least = server.least_cached(body["model"]) if caches else None
        answer = server.edit(protocol.answer(body, text, finish, tokens, least))
        self._send(200, answer, seconds=fault.seconds if fault is not None and kind == "slow" else 0.0)

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _fail(self, fault: Fault, protocol: OpenAIProtocol | AnthropicProtocol) -> None:
        match fault.kind:
            case "hang":
                self.server.provider.stopping.wait(fault.seconds)
                self.close_connection = True
            case "cut":
                self.wfile.write(
                    b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"id":'
                )
                self.close_connection = True
            case "garbage":
                self._send(200, b'{"id": "chatcmpl-1", "choices": [')
            case "text":
                self._send(200, b"<html>Welcome to the hotel's network</html>", kind="text/html")
            case _:
                self._send(
                    fault.status, protocol.error(fault), later=(fault.retry_after, fault.retry_after_ms)
                )

    def _send(
        self,
        status: int,
        body: Any,
        kind: str = "application/json",
        *,
        seconds: float = 0.0,
        later: tuple[str | None, str | None] = (None, None),
    ) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} -", f"Content-Type: {kind}", f"Content-Length: {len(data)}"]
        if status != 200:
            # `retry-after-ms` besides `retry-after`: the SDKs take 0 seconds for "not said", and would wait.
            said = ("0", "1") if later == (None, None) else later
            names = ("retry-after", "retry-after-ms")
            lines += [
                f"{name}: {value}" for name, value in zip(names, said, strict=True) if value is not None
            ]
        head = "\r\n".join([*lines, "", ""]).encode()
        if not seconds:
            self.wfile.write(head + data)  # in one piece: two would meet a delayed ACK
            return
        self.wfile.write(head)
        size = -(-len(data) // PIECES)
        for start in range(0, len(data), size):
            if self.server.provider.stopping.wait(seconds / PIECES):
                self.close_connection = True
                return
            self.wfile.write(data[start : start + size])

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _model(name: str, anthropic: bool) -> dict[str, Any]:
    if anthropic:
        return {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "active",
            "max_input_tokens": 200_000,
            "max_tokens": 64_000,
        }
    return {"id": name, "object": "model", "created": 1, "owned_by": "nobody", "shutdown_date": None}


class Server(ThreadingHTTPServer):
    """Threads that nobody waits for, and clients that may go away."""

    daemon_threads = True
    provider: Provider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let clients hang up; show everything else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def provider(answer: Answer = quote, *, context: int | None = None) -> Iterator[Provider]:
    """Run a provider for as long as the block lasts."""
    server = Server(("127.0.0.1", 0), Handler)
    server.provider = Provider(f"http://127.0.0.1:{server.server_port}", answer, context)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.provider
    finally:
        server.provider.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()
