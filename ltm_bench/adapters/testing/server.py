"""The provider's HTTP server."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from ltm_bench.adapters.testing.caching import BREAKPOINTS
from ltm_bench.adapters.testing.faults import Fault, RecordedRequest
from ltm_bench.adapters.testing.protocols import (
    PROTOCOLS,
    AnthropicProtocol,
    OpenAIProtocol,
    PlainAnswer,
    described,
    streamed,
)
from ltm_bench.adapters.testing.provider import CONVERSATIONS, Answer, Provider, quote

P = TypeVar("P", bound=Provider)

COUNTS = "/v1/messages/count_tokens"
"""Where tokens are counted."""

_TOO_MANY = f"A maximum of {BREAKPOINTS} blocks with cache_control may be provided. Found {{}}."

_AT_ONCE = {"retry-after": "0", "retry-after-ms": "1"}
"""When to retry if nothing else is said; both, since the SDKs take 0 seconds as "not given", and would wait."""

PIECES = 10
"""Number of pieces of a slow answer."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        """Answer a request about models."""
        server = self.server.provider
        server.receive(RecordedRequest(self.path, self._headers(), {}))
        anthropic = "anthropic-version" in self.headers
        if self.path == "/v1/models":
            self._send(
                200,
                {
                    "object": "list",
                    "data": [described(name, anthropic=anthropic) | server.details for name in server.models],
                },
            )
        elif (name := self.path.removeprefix("/v1/models/")) in server.models:
            self._send(200, described(name, anthropic=anthropic) | server.details)
        else:
            protocol = AnthropicProtocol() if anthropic else OpenAIProtocol()
            code = "not_found_error" if anthropic else "model_not_found"
            self._send(404, protocol.error(Fault(message=f"There is nothing at {self.path}.", code=code)))

    def do_POST(self) -> None:
        """Answer a request for a reply, embeddings or a token count, or make it fail."""
        server = self.server.provider
        length = int(self.headers["content-length"])
        if len(content := self.rfile.read(length)) < length:  # the client was killed
            self.close_connection = True
            return
        body = json.loads(content)
        request = RecordedRequest(self.path, self._headers(), body)
        fault = server.receive(request)
        path = self.path.partition("?")[0]
        plain = self._plain(path, request)
        if plain is not None and (fault is None or (fault.kind == "slow" and path == CONVERSATIONS)):
            self._send(200, plain())
            return
        others = {
            COUNTS: PROTOCOLS["/v1/messages"],
            "/v1/embeddings": OpenAIProtocol(),
            CONVERSATIONS: OpenAIProtocol(),
        }
        protocol = (PROTOCOLS | others).get(path)
        if protocol is None:
            self._send(404, {"error": {"message": f"There is nothing at {self.path}.", "type": "error"}})
            return
        whole = server.whole(request) if path in PROTOCOLS else None
        if path in PROTOCOLS and whole is None:
            self._send(404, protocol.error(Fault(message="There is no such conversation.")))
            return
        if fault is not None and fault.kind not in ("slow", "empty", "refusal"):
            if fault.kind in ("hang", "cut"):  # answered, as far as its conversation knows
                server.keep(request, [{"role": "assistant", "content": "This answer never arrived."}])
            self._fail(fault, protocol, streams=bool(body.get("stream")))
            return
        self._reply(request, protocol, whole, fault)

    def _plain(self, path: str, request: RecordedRequest) -> Callable[[], Any] | None:
        """Return what answers a request that no model replies to; None for the others."""
        server = self.server.provider
        if self.path == "/v1/embeddings":
            return lambda: server.embeddings(request.body)
        if path == CONVERSATIONS:
            return lambda: {
                "object": "conversation",
                "created_at": 1,
                "metadata": {},
                "id": server.converse(),
            }
        if path == COUNTS:
            return lambda: {"input_tokens": server.count(request.messages)}
        return None

    def _reply(
        self,
        request: RecordedRequest,
        protocol: OpenAIProtocol | AnthropicProtocol,
        whole: RecordedRequest | None,
        fault: Fault | None,
    ) -> None:
        """Answer with a model's reply, or with an empty one or a refusal."""
        server, body = self.server.provider, request.body
        finish, text = protocol.stop, ""
        said = [] if whole is None else whole.seen
        summary = None
        looked = server.look_up(body) if isinstance(protocol, AnthropicProtocol) else None
        slow = fault is not None and fault.kind == "slow"
        if fault is None or slow:
            if whole is not None and (summary := server.summary(whole)):
                system = [one for one in said[:1] if one["role"] == "system"]
                said = [*system, {"role": "compaction", "content": summary.text}, said[-1]]
            text = server.answer(said)
        elif fault.kind == "empty":
            finish = fault.finish
        else:
            finish, text = "refusal", fault.message
        if server.context is not None and server.count(said) > server.context:
            self._fail(protocol.too_long, protocol)
            return
        if looked is not None and looked.breakpoints > BREAKPOINTS:
            self._fail(Fault(status=400, message=_TOO_MANY.format(looked.breakpoints)), protocol)
            return
        if looked is None or summary is not None:
            tokens = server.measure(said, text, model=body["model"], caches=looked is None)
        else:
            tokens = server.begin(looked, text)
        server.spent += [tokens, *([summary.tokens] if summary else [])]
        asked = json.dumps(body.get("messages") or body.get("input")).encode()
        prompt = hashlib.sha256(asked).hexdigest()[:16]
        given = PlainAnswer(body["model"], text, finish, tokens, summary, prompt)
        answer = server.edit(protocol.answer(given))
        server.keep(request, answer.get("output", ()))
        if body.get("stream"):
            self._stream(
                protocol.stream(answer), chat="choices" in answer, options=body.get("stream_options")
            )
            return
        self._send(200, answer, seconds=fault.seconds if fault is not None and slow else 0.0)

    def _stream(self, events: Iterator[dict[str, Any]], *, chat: bool, options: Any) -> None:
        """Answer with the events of a stream; a chat's usage comes only if it is asked for."""
        wished = bool((options or {}).get("include_usage"))
        sent = streamed(each for each in events if wished or each.get("choices") != [])
        self._send(200, sent + b"data: [DONE]\n\n" if chat else sent, kind="text/event-stream")

    def do_DELETE(self) -> None:
        """Delete a conversation."""
        server = self.server.provider
        server.receive(RecordedRequest(self.path, self._headers(), {}))
        name = self.path.removeprefix(f"{CONVERSATIONS}/")
        if server.conversations.pop(name, None) is None:
            self._send(404, OpenAIProtocol().error(Fault(message="There is no such conversation.")))
            return
        self._send(200, {"id": name, "object": "conversation.deleted", "deleted": True})

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _fail(
        self, fault: Fault, protocol: OpenAIProtocol | AnthropicProtocol, *, streams: bool = False
    ) -> None:
        match fault.kind:
            case "hang":
                self.server.provider.stopping.wait(fault.seconds)
                self.close_connection = True
            case "cut":
                kind, half = (
                    (b"text/event-stream", b": it begins\n\n")
                    if streams
                    else (b"application/json", b'{"id":')
                )
                self.wfile.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\nContent-Length: 999\r\n\r\n" + half
                )
                self.close_connection = True
            case "garbage":
                self._send(200, b'{"id": "chatcmpl-1", "choices": [')
            case "text":
                self._send(200, b"<html>Welcome to the hotel's network</html>", kind="text/html")
            case "moved":
                lines = (f"HTTP/1.1 {fault.status} -", f"Location: {fault.message}", "Content-Length: 0")
                self.wfile.write("\r\n".join([*lines, "", ""]).encode())
            case _:
                self._send(
                    fault.status,
                    fault.body or protocol.error(fault),
                    later={
                        "retry-after": fault.retry_after,
                        "retry-after-ms": fault.retry_after_ms,
                        **fault.headers,
                    },
                )

    def _send(
        self,
        status: int,
        body: Any,
        kind: str = "application/json",
        *,
        seconds: float = 0.0,
        later: Mapping[str, str | None] = _AT_ONCE,
    ) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} -", f"Content-Type: {kind}", f"Content-Length: {len(data)}"]
        if status != 200:
            said = later if any(later.values()) else _AT_ONCE
            lines += [f"{name}: {value}" for name, value in said.items() if value is not None]
        head = "\r\n".join([*lines, "", ""]).encode()
        if not seconds:
            self.wfile.write(head + data)  # in one piece: two would run into a delayed ACK
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


class Server(ThreadingHTTPServer):
    """A server whose threads need no joining, and whose clients may disconnect."""

    daemon_threads = True
    provider: Provider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; show all other errors."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def provider(
    answer: Answer = quote, *, context: int | None = None
) -> contextlib.AbstractContextManager[Provider]:
    """Run a provider inside the block."""
    return serving(Provider(answer=answer, context=context))


@contextlib.contextmanager
def serving(state: P) -> Iterator[P]:
    """Run a provider with this state inside the block."""
    server = Server(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    server.provider = state
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()
