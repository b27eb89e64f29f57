"""Small fakes of the servers of memory products, with as much of their protocols as the adapters use."""

import contextlib
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit


class Call(NamedTuple):
    """One request."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


Answer = tuple[int, Any]
Route = Callable[..., Answer]


class Product:
    """A server: `routes` maps a method and a pattern of paths to a handler."""

    def __init__(self) -> None:
        self.url = ""
        self.calls: list[Call] = []
        self.faults: list[Answer] = []
        """Each is used up by the next request that `fails` accepts."""
        self.fails: Callable[[Call], bool] = lambda call: True
        self.routes: list[tuple[str, str, Route]] = []
        self.number = itertools.count(1)
        self.stopping = threading.Event()
        self._always: Answer | None = None
        self._hangs = 0.0

    @contextlib.contextmanager
    def failing(self, kind: str = "error", **details: Any) -> Iterator[None]:
        """Fail every request for as long as the block lasts."""
        said = details.get("message", "Something went wrong.")
        self._always = details.get("status", 500), {"detail": said, "error": {"message": said}}
        self._hangs = details.get("seconds", 10.0) if kind == "hang" else 0.0
        try:
            yield
        finally:
            self._always, self._hangs = None, 0.0

    def answer(self, call: Call) -> Answer:
        self.calls.append(call)
        if (fault := self._always) is not None:
            self.stopping.wait(self._hangs)
            return fault
        if self.faults and self.fails(call):
            return self.faults.pop(0)
        for method, pattern, route in self.routes:
            if method == call.method and (found := re.fullmatch(pattern, call.path)):
                return route(call, *found.groups())
        return 404, {"detail": f"nothing at {call.path}", "error": {"message": f"nothing at {call.path}"}}

    def paths(self, method: str = "POST") -> list[str]:
        return [call.path for call in self.calls if call.method == method]


class Letta(Product):
    """A Letta server. An agent replies with the newest message that shares a word, and keeps all messages."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.stop = "end_turn"
        self.inserts = ""
        """What the agents put into their archival memory at the next message."""
        agent = r"/v1/agents/(agent-\d+)"
        self.routes = [
            ("GET", "/v1/health/", lambda call: (200, {"status": "ok", "version": "0.16.9"})),
            ("GET", "/v1/agents/", self.list),
            ("POST", "/v1/agents/", self.create),
            ("GET", agent, lambda call, name: (200, self.state(name))),
            ("PATCH", agent, self.update),
            ("POST", agent + "/messages", self.message),
            ("PATCH", agent + "/reset-messages", self.reset),
            ("GET", agent + "/core-memory/blocks", self.blocks),
            ("PATCH", agent + r"/core-memory/blocks/(\w+)", self.write),
            ("POST", agent + "/archival-memory", self.insert),
            ("GET", agent + "/archival-memory", self.passages),
            ("GET", agent + "/archival-memory/search", self.search),
            ("DELETE", agent + r"/archival-memory/([\w-]+)", self.delete),
        ]

    def state(self, name: str) -> dict[str, Any]:
        agent = self.agents[name]
        return {"id": name, "name": agent["name"], "message_ids": agent["context"], "tags": agent["tags"]}

    def list(self, call: Call) -> Answer:
        return 200, [self.state(n) for n, agent in self.agents.items() if call.query["tags"] in agent["tags"]]

    def create(self, call: Call) -> Answer:
        name = f"agent-{next(self.number)}"
        blocks = {block["label"]: block["value"] for block in call.body["memory_blocks"]}
        self.agents[name] = {
            "name": call.body["name"],
            "tags": call.body["tags"],
            "asked": call.body,
            "blocks": blocks,
            "heard": {},
            "context": [],
            "passages": {},
        }
        return 200, self.state(name)

    def update(self, call: Call, name: str) -> Answer:
        self.agents[name]["context"] = call.body["message_ids"]
        return 200, self.state(name)

    def reset(self, call: Call, name: str) -> Answer:
        self.agents[name]["context"] = []
        return 200, self.state(name)

    def message(self, call: Call, name: str) -> Answer:
        agent = self.agents[name]
        text = call.body["messages"][0]["content"]
        known = [agent["heard"][each] for each in agent["context"]]
        archived = [text for text, _ in agent["passages"].values()]
        wanted = set(re.findall(r"\w{4,}", text)) - {"What", "called"}
        told = [each for each in known + archived if "?" not in each]
        shared = [each for each in told if wanted & set(re.findall(r"\w{4,}", each.rpartition("]")[2]))]
        said = shared[-1].rpartition("\n")[2] if "?" in text and shared else "Noted."
        number = f"message-{next(self.number)}"
        agent["heard"][number] = text
        agent["context"] = [*agent["context"], number]
        agent["blocks"]["human"] = f"Has said {len(agent['context'])} things."
        messages: list[dict[str, Any]] = [
            {
                "id": "r",
                "date": "2026-11-20T00:00:00Z",
                "message_type": "reasoning_message",
                "reasoning": "Hm.",
            }
        ]
        if self.inserts:
            agent["passages"][f"passage-{next(self.number)}"] = (self.inserts, [])
            self.inserts = ""
            made = {"name": "archival_memory_insert", "arguments": "{}", "tool_call_id": "c"}
            messages.append(
                {
                    "id": "t",
                    "date": "2026-11-20T00:00:00Z",
                    "message_type": "tool_call_message",
                    "tool_call": made,
                }
            )
        if said and self.stop == "end_turn":
            messages.append(
                {
                    "id": "a",
                    "date": "2026-11-20T00:00:00Z",
                    "message_type": "assistant_message",
                    "content": said,
                }
            )
        usage = {
            "message_type": "usage_statistics",
            "prompt_tokens": 1200,
            "cached_input_tokens": 1000,
            "completion_tokens": 30,
            "reasoning_tokens": 10,
            "total_tokens": 1230,
            "step_count": 1,
        }
        stop = {"message_type": "stop_reason", "stop_reason": self.stop}
        return 200, {"messages": messages, "stop_reason": stop, "usage": usage}

    def blocks(self, call: Call, name: str) -> Answer:
        if "after" in call.query:
            return 200, []
        blocks = self.agents[name]["blocks"]
        return 200, [{"id": f"block-{label}", "label": label, "value": blocks[label]} for label in blocks]

    def write(self, call: Call, name: str, label: str) -> Answer:
        self.agents[name]["blocks"][label] = call.body["value"]
        return 200, {"id": f"block-{label}", "label": label, "value": call.body["value"]}

    def insert(self, call: Call, name: str) -> Answer:
        number = f"passage-{next(self.number)}"
        self.agents[name]["passages"][number] = (call.body["text"], call.body.get("tags") or [])
        return 200, [{"id": number, "text": call.body["text"]}]

    def passages(self, call: Call, name: str) -> Answer:
        numbers = list(self.agents[name]["passages"])
        start = numbers.index(call.query["after"]) + 1 if "after" in call.query else 0
        page = numbers[start : start + int(call.query["limit"])]
        return 200, [{"id": each, "text": self.agents[name]["passages"][each][0]} for each in page]

    def search(self, call: Call, name: str) -> Answer:
        rows = [
            {"id": number, "content": text, "timestamp": "2026-01-05T09:00:00+00:00", "tags": tags}
            for number, (text, tags) in self.agents[name]["passages"].items()
            if set(text.split()) & set(call.query["query"].split())
        ][: int(call.query["top_k"])]
        return 200, {"count": len(rows), "results": rows}

    def delete(self, call: Call, name: str, passage: str) -> Answer:
        del self.agents[name]["passages"][passage]
        return 200, {}


class Zep(Product):
    """Zep's cloud: after a few polls, a message is processed and each of its sentences is a fact."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, dict[str, Any]] = {}
        self.threads: dict[str, str] = {}
        self.tasks: dict[str, tuple[int, str, list[dict[str, Any]]]] = {}
        self.slowness = 1
        self.outcome = "succeeded"
        self.routes = [
            ("POST", "/users", self.create),
            ("POST", "/users/lookup", self.lookup),
            ("DELETE", r"/users/(user-\d+)", self.delete),
            ("POST", "/threads", self.start),
            ("POST", r"/threads/(thread-\d+)/messages", self.add),
            ("GET", r"/tasks/(task-\d+)", self.task),
            ("POST", r"/graphs/(graph-user-\d+)/search/edges", self.edges),
            ("POST", r"/graphs/(graph-user-\d+)/search/episodes", self.episodes),
        ]

    def user(self, name: str) -> dict[str, Any]:
        return {"uuid": name, "graph_uuid": f"graph-{name}", "user_id": self.users[name]["id"]}

    def create(self, call: Call) -> Answer:
        name = f"user-{next(self.number)}"
        self.users[name] = {"id": call.body["user_id"], "episodes": []}
        return 201, self.user(name)

    def lookup(self, call: Call) -> Answer:
        for name, user in self.users.items():
            if user["id"] == call.body["user_id"]:
                return 200, self.user(name)
        return 404, {"error": {"message": "no such user"}}

    def delete(self, call: Call, name: str) -> Answer:
        del self.users[name]
        return 202, {"task": {"uuid": "task-0"}}

    def start(self, call: Call) -> Answer:
        name = f"thread-{next(self.number)}"
        self.threads[name] = call.body["user_uuid"]
        return 201, {"uuid": name, "user_uuid": self.threads[name]}

    def add(self, call: Call, name: str) -> Answer:
        assert len(call.body["messages"]) <= 30
        assert all(0 < len(message["content"]) <= 4096 for message in call.body["messages"])
        task = f"task-{next(self.number)}"
        self.tasks[task] = (self.slowness, self.threads[name], call.body["messages"])
        return 202, {"task": {"uuid": task, "status": "pending"}, "messages": []}

    def task(self, call: Call, name: str) -> Answer:
        left, user, messages = self.tasks[name]
        self.tasks[name] = (left - 1, user, messages)
        if left > 0:
            return 200, {"uuid": name, "status": "processing"}
        if left == 0 and self.outcome == "succeeded":
            self.users[user]["episodes"] += messages
        error = {"message": "the graph is full"} if self.outcome == "failed" else None
        return 200, {"uuid": name, "status": self.outcome, "error": error}

    def found(self, call: Call, graph: str) -> list[dict[str, Any]]:
        wanted = set(re.findall(r"\w{5,}", call.body["query"]))
        assert len(call.body["query"]) <= 400
        said = self.users[graph.removeprefix("graph-")]["episodes"]
        return [each for each in said if wanted & set(re.findall(r"\w{5,}", each["content"]))]

    def edges(self, call: Call, graph: str) -> Answer:
        items = [
            {
                "uuid": "edge-1",
                "fact": f"User says: {each['content']}",
                "valid_at": each["reference_time"],
                "score": 0.5,
            }
            for each in self.found(call, graph)
            if each["role"] == "user"
        ]
        return 200, {"items": items[: int(call.query["page_size"])]}

    def episodes(self, call: Call, graph: str) -> Answer:
        items = [{"uuid": "episode-1", **each, "score": 0.4} for each in self.found(call, graph)]
        return 200, {"items": items[: int(call.query["page_size"])]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body must not wait until its headers are acknowledged
    server: "Server"

    def _any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        url = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, answer = self.server.product.answer(
            Call(self.command, url.path, dict(parse_qsl(url.query)), body, headers)
        )
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the client may have given up
            self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_DELETE = _any

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    product: Product


@contextlib.contextmanager
def serving(product: Product) -> Iterator[None]:
    """Run a product's server for as long as the block lasts."""
    server = Server(("127.0.0.1", 0), Handler)
    server.product = product
    product.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield
    finally:
        product.stopping.set()
        server.shutdown()
        server.server_close()
