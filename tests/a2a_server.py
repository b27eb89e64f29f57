"""Two agents behind A2A: one by the SDK's own server, one written from the specification, which can misbehave."""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ltm_bench.adapters.testing import quote

_STATES = ("failed", "rejected", "canceled", "input_required", "auth_required", "completed")


def _undated(text: str) -> str:
    return text.rpartition("]\n")[2]


@dataclass
class Behind:
    """What is behind a server: what it heard, by context, and how it misbehaves."""

    url: str = ""
    heard: defaultdict[str, list[dict[str, str]]] = field(default_factory=lambda: defaultdict(list))
    seen: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    """Methods or paths, headers and bodies of what was asked."""
    mode: str = ""
    version: str = "1.0.0"
    tasks: dict[str, int] = field(default_factory=dict)

    def answer(self, context: str, text: str) -> str:
        said = self.heard[context]
        said.append({"role": "user", "content": _undated(text)})
        found = quote(said)
        said.append({"role": "assistant", "content": found})
        return found


@contextmanager
def sdk_server(behind: Behind) -> Iterator[Behind]:
    """Run a server of the SDK: both bindings, 1.0 and 0.3, tasks and messages."""
    import uvicorn
    from a2a.helpers import new_task_from_user_message, new_text_message
    from a2a.server.agent_execution import AgentExecutor, RequestContext
    from a2a.server.events import EventQueue
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
    from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
    from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, TaskState
    from starlette.applications import Starlette

    class Quoting(AgentExecutor):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            text, place = context.get_user_input(), context.context_id or ""
            answer = behind.answer(place, text)
            wanted = next((each for each in _STATES if each in text), "")
            if not wanted:
                await event_queue.enqueue_event(new_text_message(answer, context_id=place))
                return
            assert context.message is not None
            task = context.current_task or new_task_from_user_message(context.message)
            if context.current_task is None:
                await event_queue.enqueue_event(task)
            updater = TaskUpdater(event_queue, task.id, place)
            await updater.start_work()
            if wanted == "completed":
                for piece in (answer[:5], answer[5:]):
                    await updater.add_artifact([Part(text=piece)])
                await updater.complete()
                return
            said = new_text_message(f"It is {wanted}.", context_id=place, task_id=task.id)
            await updater.update_status(TaskState.Value(f"TASK_STATE_{wanted.upper()}"), said)

        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
            raise NotImplementedError

    # the port is known before the card is
    config = uvicorn.Config(Starlette(), port=0, log_level="critical", lifespan="off")
    listening = config.bind_socket()
    listening.listen()
    behind.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    card = AgentCard(
        name="quoting",
        version=behind.version,
        description="quotes",
        capabilities=AgentCapabilities(streaming=True),
        skills=[AgentSkill(id="quote", name="quote", description="quotes", tags=["quote"])],
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        supported_interfaces=[
            AgentInterface(url=f"{behind.url}{path}", protocol_binding=binding, protocol_version=version)
            for binding, path in (("JSONRPC", "/rpc"), ("HTTP+JSON", ""))
            for version in ((behind.mode,) if behind.mode else ("1.0", "0.3"))
        ],
    )
    handler = DefaultRequestHandler(Quoting(), InMemoryTaskStore(), card)
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True),
        *create_rest_routes(handler, enable_v0_3_compat=True),
    ]
    config.app = Starlette(routes=routes)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield behind
    finally:
        server.should_exit = True
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """The protocol as its specification shows it, in plain JSON."""

    behind: Behind
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None: ...

    def _send(self, content: Any, status: int = 200, **headers: str) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        mode, url = self.behind.mode, self.behind.url
        self.behind.seen.append((self.path, dict(self.headers), {}))
        if self.path.startswith("/tasks/"):
            self._send(self._task(self.path.rpartition("/")[2]))
        elif mode == "no card":
            self._send({"error": "nothing here"}, 404)
        elif mode == "moved":
            self._send({}, 302, Location="http://127.0.0.2:1/.well-known/agent-card.json")
        elif mode == "0.3":
            self._send(
                {
                    "name": "by hand", "version": self.behind.version, "url": f"{url}/rpc", "protocolVersion": "0.3.0",
                    "description": "", "capabilities": {}, "skills": [],
                }
            )  # fmt: skip
        else:
            there = "http://127.0.0.2:1" if mode == "elsewhere" else url
            bindings = {"JSONRPC": "/rpc", "HTTP+JSON": ""}
            self._send(
                {
                    "name": "by hand", "version": self.behind.version, "capabilities": {}, "skills": [],
                    "supportedInterfaces": [
                        {"url": f"{there}{path}", "protocolBinding": binding, "protocolVersion": "1.0"}
                        for binding, path in bindings.items()
                    ],
                }
            )  # fmt: skip

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method = body.get("method", self.path)
        self.behind.seen.append((method, dict(self.headers), body))
        params = body.get("params", body)
        if method in ("SendMessage", "message/send", "/message:send"):
            result = self._heard(params["message"])
        elif method == "GetTask":
            result = self._task(params["id"])
        else:
            result = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_CANCELED"}}
        if result is None:
            return
        if self.behind.mode == "errs":
            error = {"code": -32603, "message": "out of\ncheese"}
            self._send({"jsonrpc": "2.0", "id": body.get("id"), "error": error})
        elif self.path == "/rpc":
            self._send({"jsonrpc": "2.0", "id": body["id"], "result": result})
        else:
            self._send(result)

    def _heard(self, message: dict[str, Any]) -> dict[str, Any] | None:
        mode = self.behind.mode
        text = "".join(part.get("text", "") for part in message["parts"])
        context = message.get("contextId") or f"context-{len(self.behind.heard)}"
        if mode == "dies":
            self.close_connection = True
            return None
        if mode == "floods":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Connection", "close")
            self.end_headers()
            try:
                for _ in range(100):
                    self.wfile.write(b" " * 1_000_000)
            except OSError:
                pass
            self.close_connection = True
            return None
        if mode in ("endless", "slow"):
            return {"task": self._task("t")}
        if mode == "strays":
            context = f"context-{len(self.behind.seen)}"
        answer = self.behind.answer(context, text)
        if mode == "0.3":
            parts: list[Any] = [{"kind": "text", "text": answer}]
            return {
                "kind": "message",
                "messageId": "m",
                "role": "agent",
                "parts": parts,
                "contextId": context,
            }
        parts = [
            {"text": answer[:3]},
            {"text": answer[3:]},
            {"url": "http://nowhere/"},
            {"data": {"b": 1, "a": [2]}},
        ]
        if mode != "parts":
            parts = [{"text": answer}]
        named = {} if mode == "loose" else {"contextId": context}
        return {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": parts, **named}}

    def _task(self, name: str) -> dict[str, Any]:
        seen = self.behind.tasks[name] = self.behind.tasks.get(name, 0) + 1
        done = self.behind.mode == "slow" and seen > 4
        state = "COMPLETED" if done else "WORKING"
        made = [{"artifactId": "a", "parts": [{"text": "At last."}]}] if done else []
        return {"id": name, "contextId": "c", "status": {"state": f"TASK_STATE_{state}"}, "artifacts": made}


@contextmanager
def own_server(behind: Behind) -> Iterator[Behind]:
    """Run the server that is written from the specification."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (_Handler,), {"behind": behind}))
    server.daemon_threads = True
    behind.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield behind
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
