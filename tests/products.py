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
            ("POST", r"/graphs/(graph-user-\d+)/search/nodes", self.nodes),
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
                "fact": f"{each['name']} says: {each['content']}",
                "valid_at": each["reference_time"],
                "score": 0.5,
            }
            for each in self.found(call, graph)
            if each["name"] != "Assistant"
        ]
        return 200, {"items": items[: int(call.query["page_size"])]}

    def nodes(self, call: Call, graph: str) -> Answer:
        who = dict.fromkeys(each["name"] for each in self.found(call, graph))
        items = [
            {
                "uuid": f"node-{name}",
                "name": name,
                "summary": "Somebody who talks.",
                "episode_uuids": [],
                "episode_uuids_truncated": False,
                "score": 0.4,
            }
            for name in who
        ]
        return 200, {"items": items[: int(call.query["page_size"])]}


class Supermemory(Product):
    """Supermemory's cloud: after a few polls, a document is processed and each of the user's sentences is a fact.

    A fact that begins like an older one replaces it. The older one does not return when the newer one is deleted, which
    is the worst that the real cloud could do.
    """

    def __init__(self) -> None:
        super().__init__()
        self.spaces: dict[str, dict[str, Any]] = {}
        """By namespace: its documents, and the facts learnt from them, each by id."""
        self.slowness = 1
        self.outcome = "done"
        self.refuses = False
        """Whether nothing can be deleted from a namespace."""
        self.routes = [
            ("POST", r"/ns/([\w-]+)/document", self.add),
            ("GET", r"/ns/([\w-]+)/document/([\w-]+)", self.get),
            ("DELETE", r"/ns/([\w-]+)/document", self.delete),
            ("POST", r"/ns/([\w-]+)/list/(\w+)", self.list),
            ("POST", r"/ns/([\w-]+)/search", self.search),
            ("DELETE", r"/ns/([\w-]+)/memories", self.forget),
            ("DELETE", r"/ns/([\w-]+)", self.drop),
        ]

    def contents(self, space: str) -> list[str]:
        return [each["content"] for each in self.spaces[space]["documents"].values()]

    def add(self, call: Call, space: str) -> Answer:
        documents = self.spaces.setdefault(space, {"documents": {}, "facts": {}})["documents"]
        known = next((each for each in documents.values() if each["name"] == call.body["id"]), None)
        if known is None:
            known = {
                "id": f"document-{next(self.number)}",
                "name": call.body["id"],
                "content": call.body["content"],
            }
            documents[known["id"]] = {
                **known,
                "metadata": call.body["metadata"],
                "left": self.slowness,
                "status": "queued",
            }
        assert known["content"] == call.body["content"]  # it would be appended
        return 202, {"id": known["id"], "status": "queued"}

    def looked_at(self, space: str, document: dict[str, Any]) -> dict[str, Any]:
        """Return what a listing says of a document, and process it a little."""
        shown = {
            "id": document["id"],
            "type": "text",
            "content": document["content"],
            "metadata": document["metadata"],
            "system": {
                "status": document["status"],
                "dreamingStatus": "done" if document["status"] in ("done", "failed") else "dreaming",
                **WHEN,
            },
        }
        document["left"] -= 1
        if document["left"] < 0 and document["status"] == "queued":
            document["status"] = self.outcome
            if self.outcome == "done":
                self.learn(space, document)
                return self.looked_at(space, document)
        return shown

    def learn(self, space: str, document: dict[str, Any]) -> None:
        facts = self.spaces[space]["facts"]
        said = re.search(r"^User: (.*)$", document["content"], re.MULTILINE)
        for told in re.findall(r"\b(?:My|I) [^.?\n]+\.", said[1] if said else ""):
            text = f"User says: {told}"
            older = [
                each for each in facts.values() if each["isLatest"] and _head(each["memory"]) == _head(text)
            ]
            for each in older:
                each["isLatest"] = False
            name = f"fact-{next(self.number)}"
            facts[name] = {
                "id": name,
                "memory": text,
                "metadata": document["metadata"],
                "isLatest": True,
                "version": 1 + len(older),
                "document": document["id"],
            }

    def get(self, call: Call, space: str, name: str) -> Answer:
        documents = self.spaces.get(space, {"documents": {}})["documents"]
        if name not in documents:
            return 404, {"error": "no such document"}
        shown = self.looked_at(space, documents[name])
        learnt = [each for each in self.spaces[space]["facts"].values() if each["document"] == name]
        return 200, {**shown, "memories": learnt}

    def delete(self, call: Call, space: str) -> Answer:
        errors, found = [], self.spaces[space]
        for name in call.body["ids"]:
            gone = [each["id"] for each in found["documents"].values() if name in (each["id"], each["name"])]
            if self.refuses or not gone:
                errors.append({"id": name, "error": "it is\nlocked"})
                continue
            del found["documents"][gone[0]]
            found["facts"] = {k: fact for k, fact in found["facts"].items() if fact["document"] != gone[0]}
        return 200, {"count": len(call.body["ids"]) - len(errors), "errors": errors}

    def list(self, call: Call, space: str, kind: str) -> Answer:
        if space not in self.spaces:
            return 404, {"error": "no such namespace"}
        documents = [*self.spaces[space]["documents"].values()]
        if call.query["order"] == "desc":
            documents.reverse()
        at, limit = int(call.query["page"]) - 1, int(call.query["limit"])
        if kind == "memories":
            rows = [fact for fact in self.spaces[space]["facts"].values() if fact["isLatest"]]
        else:
            rows = [each for each in documents if kind == "documents" or each["status"] == "done"]
        page = rows[at * limit : (at + 1) * limit]
        shown: dict[str, list[Any]] = {"documents": [], "chunks": [], "memories": []}
        for row in page:
            if kind == "documents":
                row = self.looked_at(space, row)
            elif kind == "chunks":
                row = {
                    "id": f"chunk-{row['id']}",
                    "content": row["content"],
                    "metadata": {},
                    "documentId": row["id"],
                }
            shown[kind].append(row)
        pages = {"currentPage": at + 1, "totalItems": len(rows), "totalPages": -(-len(rows) // limit)}
        return 200, {**shown, "pagination": pages}

    def search(self, call: Call, space: str) -> Answer:
        if space not in self.spaces:
            return 404, {"error": "no such namespace"}
        wanted = set(re.findall(r"\w{5,}", call.body["query"]))
        documents = self.spaces[space]["documents"]
        done = [each for each in documents.values() if each["status"] == "done"]
        facts = [each for each in self.spaces[space]["facts"].values() if each["isLatest"]]
        found = [
            *({"id": each["id"], "memory": each["memory"], "of": each["document"]} for each in facts),
            *({"id": f"chunk-{each['id']}", "chunk": each["content"], "of": each["id"]} for each in done),
        ]
        rows = []
        for each in found:
            text, of = each.get("memory") or each["chunk"], documents[each.pop("of")]
            if shared := wanted & set(re.findall(r"\w{5,}", text)):
                source = {"id": of["id"], "metadata": of["metadata"], "system": WHEN}
                included = {"document": source} if call.body["include"]["documents"] else None
                similarity = len(shared) / len(wanted)
                rows.append({**each, "metadata": {}, "similarity": similarity, "included": included})
        rows.sort(
            key=lambda row: (row["similarity"], row["included"]["document"]["metadata"]["turn"]), reverse=True
        )
        return 200, {"results": rows[: call.body["limit"]], "searchTime": 3}

    def forget(self, call: Call, space: str) -> Answer:
        facts = self.spaces[space]["facts"]
        gone = [{"id": name, "memory": facts.pop(name)["memory"]} for name in call.body["ids"]]
        return 200, {"count": len(gone), "errors": [], "matches": gone}

    def drop(self, call: Call, space: str) -> Answer:
        if self.spaces.pop(space, None) is None:
            return 404, {"error": "no such namespace"}
        return 200, {
            "status": "deleted",
            "namespace": space,
            "deletedDocumentsCount": 1,
            "deletedMemoriesCount": 1,
        }


WHEN = {"createdAt": "2026-11-20T00:00:00Z", "updatedAt": "2026-11-20T00:00:00Z"}
"""The cloud's own clock."""


def _head(fact: str) -> list[str]:
    return fact.split()[:6]


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
