"""What agents and providers may try: none of it leads elsewhere, blocks the gateway, costs more or tells a key."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltm_bench.adapters.gateway.protocols import PROTOCOLS, Meter, ModelRequest
from ltm_bench.adapters.gateway.server import Gateway
from ltm_bench.adapters.gateway.upstreams import Upstream
from ltm_bench.adapters.routing import Family, Route
from ltm_bench.core.budget import Budget
from ltm_bench.log.calls import CALLS, KeptCalls, read_calls
from ltm_bench.log.journal import Journal

pytestmark = pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*"))

KEY = "sk-real-7Gh2/kQ9xW0zT5bN8vM1"
OWN = "ltm-0123456789abcdef"
CHAT, RESPONSES, MESSAGES = "/chat/completions", "/responses", "/messages"
MODELS = {CHAT: "gpt-6-luna", RESPONSES: "gpt-6-luna", MESSAGES: "claude-haiku-5-5"}
PATHS = [CHAT, RESPONSES, MESSAGES]


class Heard(NamedTuple):
    """A request that reached the provider."""

    method: str
    target: str
    headers: str
    body: bytes


class Server:
    """A provider that says any bytes, in pieces, and then hangs up."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.heard: list[Heard] = []
        self.pieces: Sequence[bytes] = [b""]
        self.held = threading.Event()
        self.held.set()
        self.over = threading.Event()
        self.listener.settimeout(0.05)
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self) -> None:
        while not self.over.is_set():
            with suppress(TimeoutError):
                there, _ = self.listener.accept()
                there.settimeout(20)
                threading.Thread(target=self._serve, args=(there,), daemon=True).start()

    def close(self) -> None:
        """End, before the listener is closed: its number would be another's, whose calls were taken here."""
        self.over.set()
        self.thread.join()
        self.listener.close()

    def _serve(self, there: socket.socket) -> None:
        with suppress(OSError), there:
            head, _, body = received(there).partition(b"\r\n\r\n")
            first, _, headers = head.decode("latin-1").partition("\r\n")
            method, target, *_ = first.split(" ")
            self.heard.append(Heard(method, target, headers, body))
            self.held.wait(20)
            for piece in self.pieces:
                there.sendall(piece)

    def says(self, body: Any, *, stream: bool = False, headers: str = "", status: int = 200) -> None:
        """Answer every request with this."""
        kind = "text/event-stream" if stream else "application/json"
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n{headers}\r\n"
        self.pieces = [head.encode("latin-1") + content]


def received(there: socket.socket) -> bytes:
    """Read a request: its head, and as much as it announces."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (piece := there.recv(65536)):
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    size = next((int(line[15:]) for line in lines if line.startswith("content-length:")), 0)
    while len(body) < size and (piece := there.recv(65536)):
        body += piece
    return head + b"\r\n\r\n" + body


class Place:
    """A gateway before that provider."""

    def __init__(self, server: Server, gateway: Gateway, budget: Budget, folder: Path) -> None:
        self.server, self.gateway, self.budget, self.folder = server, gateway, budget, folder
        self.port = int(gateway.url.rpartition(":")[2])

    def opened(
        self, method: str, target: str, body: bytes = b"", key: str = OWN, more: str = ""
    ) -> socket.socket:
        """Send a request as it stands, and return the open connection."""
        there = socket.create_connection(("127.0.0.1", self.port), 20)
        head = f"{method} {target} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n{more}"
        length = f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        there.sendall((head + length).encode("latin-1") + body)
        return there

    def ask(self, method: str, target: str, body: bytes = b"", key: str = OWN, more: str = "") -> bytes:
        """Send a request as it stands, and return all that comes back."""
        with (
            self.opened(method, target, body, key, more) as there,
            there.makefile("rb") as file,
            suppress(OSError),
        ):
            return file.read()
        return b""

    def call(self, path: str = CHAT, more: str = "", **fields: Any) -> bytes:
        """Ask for a reply."""
        return self.ask("POST", f"/c/a/v1{path}", content(path, **fields), more=more)

    @property
    def seen(self) -> KeptCalls:
        return read_calls(self.folder)

    def settled(self) -> None:
        """Check that all has ended, and that none of it cost more than was reserved for it."""
        until(lambda: self.budget.held == 0 and not self.gateway._passing)
        lines = (self.folder / CALLS).read_text("utf-8").splitlines() if self.seen.calls else []
        reserved = {each["call"]: each["reserved"] for each in map(json.loads, lines) if "reserved" in each}
        ended = {each["call"]: each["dollars"] for each in map(json.loads, lines) if "status" in each}
        assert ended.keys() == reserved.keys()
        assert all(ended[name] <= reserved[name] for name in ended)
        assert self.budget.spent == self.seen.spent
        assert not self.budget.unknown


def content(path: str = CHAT, **fields: Any) -> bytes:
    """Return the body of a request."""
    said = {"input": "Hello"} if path == RESPONSES else {"messages": [{"role": "user", "content": "Hello"}]}
    limit = {CHAT: "max_completion_tokens", RESPONSES: "max_output_tokens", MESSAGES: "max_tokens"}[path]
    body = {"model": MODELS[path], limit: 100, **said, **fields}
    return json.dumps({name: value for name, value in body.items() if value != "left out"}).encode()


def until(due: Callable[[], bool]) -> None:
    """Wait for the gateway's thread."""
    moment = threading.Event()
    for _ in range(2000):
        if due():
            return
        moment.wait(0.01)
    raise AssertionError("it never happened")


@contextmanager
def placed(limit: str | None = "1", key: str = KEY) -> Iterator[Place]:
    """Serve a gateway before a provider that says anything."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        server = Server()
        stack.callback(server.close)
        budget = Budget(None if limit is None else Decimal(limit))
        journal = stack.enter_context(Journal(folder / CALLS, perf_counter))
        routes: dict[str, Route] = {}

        def adopt(name: str) -> Route:
            made = Route(gateway.url, name, OWN, journal, budget, {key}, (), name or None)
            return routes.setdefault(name, made)

        served: dict[Family, Upstream] = {
            "openai": Upstream(f"{server.url}/v1", "openai", key),
            "anthropic": Upstream(server.url, "anthropic", key),
        }
        gateway = Gateway(served, budget, adopt=adopt, key=OWN)
        stack.enter_context(gateway.listening())
        stack.callback(server.held.set)
        yield Place(server, gateway, budget, folder)


@pytest.fixture(scope="module")
def shared() -> Iterator[Place]:
    """A gateway whose money does not end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        with placed("1000000") as place:
            yield place


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with placed() as found:
        yield found


# Paths

ELSEWHERE = [
    "/v1/models/../files", "/v1/models/%2e%2e/files", "/v1/models/..%2ffiles", "/v1/models/%2e%2e%2ffiles",
    "/v1/models/%252e%252e%252ffiles", "/v1/models/x/../../batches", "/v1/models/.", "/v1/models/..", "/v1/models/...",
    "/v1/models/%2e", "/v1/models/%2E%2e", "/v1/models//files", "/v1/models/a%2fb", "/v1/models/a%5c..%5cfiles",
    "/v1/models/a\\..\\files", "/v1/models/a%00", "/v1/models/a%0d%0aX-Y:%20z", "/v1/models/a%0a", "/v1/models/a%09b",
    "/v1/models/a%3fx=1", "/v1/models/a%23b", "/v1/models/a;/../files", "/v1/models/..;/files", "/v1/models/a/content",
    "/v1/models/a/", "/v1/models/", "/v1//models", "//v1/models", "/v1/v1/models", "/v1beta/models", "/v1models",
    "/v1/modelsx", "/v1/models%2f..%2ffiles", "/v1/organization/usage/completions", "/v1/responses/resp_1",
    "/v1/chat/completions/../files", "/v1/messages/batches", "/v1/files/../models", "/./v1/models", "/v1/./models",
    "/../v1/models", "/%76%31/models", "/v1/models/%c3%a9", "/v1/models/%f0%9f%98%80", "/v1/models/a%80b",
    "http://127.0.0.1/v1/models/../files", "/v1/models/" + "a" * 300, "/v1/chat/completions", "/v1/messages",
    "/c/b/v1/models/..",
]  # fmt: skip


@pytest.mark.parametrize("target", ELSEWHERE, ids=ascii)
def test_nothing_but_the_list_and_one_name_of_a_model_reaches_a_provider(shared: Place, target: str) -> None:
    shared.server.says({"object": "list", "data": []})
    shared.server.heard.clear()
    for start in ("", "/c/a"):
        said = shared.ask("GET", start + target if target.startswith("/") else target)
        assert said.split()[1] in (b"400", b"401", b"404"), said[:100]
    assert shared.server.heard == []


@pytest.mark.unkept
@given(
    st.lists(
        st.sampled_from(
            ["..", ".", "/", "\\", "%2e", "%2f", "%5c", "%25", "%00", "a", ";", "files", "?", "%"]
        ),
        max_size=6,
    )
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_written_below_models_only_one_name_goes_on(shared: Place, parts: list[str]) -> None:
    shared.server.says({})
    shared.server.heard.clear()
    shared.ask("GET", "/v1/models/" + "".join(parts))
    for heard in shared.server.heard:
        place, _, name = heard.target.partition("?")[0].rpartition("/")
        assert place == "/v1/models"
        assert name.strip(".")
        assert "%" not in name


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/v1/models", "/v1/models"),
        ("/c/a/v1/models?limit=5", "/v1/models?limit=5"),
        ("/v1/models/gpt-6-luna", "/v1/models/gpt-6-luna"),
        ("/v1/models/ft%3agpt-6:me::7Qp", "/v1/models/ft:gpt-6:me::7Qp"),
        ("/c/a/models/claude-haiku-5-5.1", "/v1/models/claude-haiku-5-5.1"),
    ],
)
def test_questions_about_models_pass(shared: Place, target: str, path: str) -> None:
    shared.server.says({})
    shared.server.heard.clear()
    assert shared.ask("GET", target).split()[1] == b"200"
    assert [(each.method, each.target) for each in shared.server.heard] == [("GET", path)]


# Usage, cuts, and clients that leave

USAGE: dict[str, dict[str, Any]] = {
    CHAT: {"prompt_tokens": 10, "completion_tokens": 5},
    RESPONSES: {"input_tokens": 10, "output_tokens": 5},
    MESSAGES: {"input_tokens": 10, "output_tokens": 5},
}
HUGE = int("9" * 200)
FINE = {"prompt_tokens": 10, "input_tokens": 10, "completion_tokens": 5, "output_tokens": 5}
ODD: list[Any] = [
    5, "many", True, [], [{"prompt_tokens": 1}], {}, {"prompt_tokens": None},
    {"prompt_tokens": "10", "input_tokens": "10"},
    {"prompt_tokens": 10.5, "input_tokens": 10.5, "completion_tokens": 1, "output_tokens": 1},
    {"prompt_tokens": -10, "input_tokens": -10, "completion_tokens": 1, "output_tokens": 1},
    {"prompt_tokens": 0, "input_tokens": 0, "completion_tokens": 0, "output_tokens": 0},
    {"prompt_tokens": 10, "input_tokens": 10},
    {"completion_tokens": 10, "output_tokens": 10, "input_tokens": 0},
    {"prompt_tokens": HUGE, "input_tokens": HUGE, "completion_tokens": 1, "output_tokens": 1},
    {"prompt_tokens": 1, "input_tokens": 1, "completion_tokens": HUGE, "output_tokens": HUGE},
    {"prompt_tokens": 10**6, "input_tokens": 10**6, "completion_tokens": 10**6, "output_tokens": 10**6},
    {**FINE, "completion_tokens": True, "output_tokens": True},
    {**FINE, "prompt_tokens": [10], "input_tokens": {"a": 1}},
    {**FINE, "prompt_tokens_details": {"cached_tokens": 50}, "input_tokens_details": {"cached_tokens": 50},
     "iterations": 7},
    {**FINE, "prompt_tokens_details": 3, "input_tokens_details": [1], "cache_creation": "x"},
    {**FINE, "completion_tokens_details": {"reasoning_tokens": "1"},
     "output_tokens_details": {"reasoning_tokens": {}, "thinking_tokens": []}},
]  # fmt: skip


def answer(path: str, usage: Any, stream: bool) -> Any:
    """Return an answer that states a usage, whole or as a stream."""
    model = MODELS[path]
    if not stream:
        return {"model": model, "usage": usage, "type": "message"}
    begun = {
        "type": "message_start",
        "message": {"model": model, "usage": {"input_tokens": 10, "output_tokens": 1}},
    }
    events: dict[str, list[Any]] = {
        CHAT: [
            {"model": model, "choices": [{"delta": {"content": "Hi"}}]},
            {"model": model, "choices": [], "usage": usage},
        ],
        RESPONSES: [{"type": "response.completed", "response": {"model": model, "usage": usage}}],
        MESSAGES: [begun, {"type": "message_delta", "usage": usage}, {"type": "message_stop"}],
    }
    lines = [f"data: {json.dumps(each)}\n\n" for each in events[path]]
    return "".join([*lines, *(["data: [DONE]\n\n"] if path == CHAT else [])]).encode()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("usage", ODD, ids=lambda each: str(each)[:60])
def test_a_usage_that_cannot_be_is_lost_and_charged_as_reserved(
    shared: Place, path: str, usage: Any, stream: bool
) -> None:
    shared.server.says(answer(path, usage, stream), stream=stream)
    shared.call(path, stream=stream)
    shared.settled()
    call = shared.seen.calls[-1]
    assert (call.lost, call.usage) == (True, None)
    assert call.dollars is not None
    assert call.dollars > 0


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("path", PATHS)
def test_a_usage_that_can_be_is_charged_as_it_is(shared: Place, path: str, stream: bool) -> None:
    shared.server.says(answer(path, USAGE[path], stream), stream=stream)
    shared.call(path, stream=stream)
    shared.settled()
    call = shared.seen.calls[-1]
    assert not call.lost
    assert call.usage is not None
    assert (call.usage.prompt, call.usage.output) == (10, 5)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**9, 10**40)
    | st.floats()
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
FIGURES = st.dictionaries(
    st.sampled_from(
        """prompt_tokens completion_tokens input_tokens output_tokens total_tokens prompt_tokens_details
        input_tokens_details output_tokens_details completion_tokens_details cache_creation iterations
        cache_read_input_tokens cache_creation_input_tokens""".split()
    ),
    JSON
    | st.dictionaries(st.sampled_from(["cached_tokens", "reasoning_tokens", "type", "input_tokens"]), JSON)
    | st.integers(0, 50),
    max_size=8,
)


@pytest.mark.unkept
@given(
    st.sampled_from(PATHS),
    st.booleans(),
    FIGURES | JSON,
    st.integers(0, 2000),
    st.integers(0, 400),
    st.booleans(),
)
@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_passage_ends_whatever_a_provider_states_and_whoever_leaves(
    shared: Place, path: str, stream: bool, usage: Any, cut: int, left: int, stays: bool
) -> None:
    shared.server.says(answer(path, usage, stream), stream=stream)
    (whole,) = shared.server.pieces
    shared.server.pieces = [whole[: cut or None]] if cut % 2 else [whole[:cut], whole[cut:]]
    if stays:
        shared.call(path, stream=stream)
    else:
        with (
            shared.opened("POST", f"/c/a/v1{path}", content(path, stream=stream)) as there,
            suppress(OSError),
        ):
            there.settimeout(5)
            if left:
                there.recv(left)
    until(lambda: shared.budget.held == 0 and not shared.gateway._passing)
    assert not shared.budget.unknown
    calls = shared.folder / CALLS  # which the first call writes
    last = calls.read_text("utf-8").splitlines()[-2:] if calls.exists() else []
    begun, ended = map(json.loads, last) if len(last) == 2 else ({}, {})
    if "status" in ended and begun.get("call") == ended["call"]:
        assert ended["dollars"] <= begun["reserved"]


def test_what_was_recorded_never_refuses_a_later_start(tmp_path: Path) -> None:
    lines = [
        {"call": "a", "path": CHAT, "model": "m", "reserved": 0.25},
        {"call": "a", "status": 200, "dollars": 1e200},
        {"call": "b", "path": CHAT, "model": "m", "reserved": 0.25},
        {"call": "b", "status": 200, "dollars": 0.125},
    ]
    (tmp_path / CALLS).write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    assert read_calls(tmp_path).spent == Decimal("0.375")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("written", [0, 1], ids=["before", "after"])
def test_a_full_disk_blocks_nobody(
    place: Place, monkeypatch: pytest.MonkeyPatch, written: int, stream: bool
) -> None:
    place.server.says(answer(CHAT, USAGE[CHAT], stream), stream=stream)
    put, done = Journal.put, list[Mapping[str, Any]]()

    def full(journal: Journal, record: Mapping[str, Any]) -> None:
        if len(done) >= written:
            raise OSError(28, "No space left on device", str(journal.path))
        done.append(record)
        put(journal, record)

    monkeypatch.setattr(Journal, "put", full)
    status = place.call(stream=stream).split()[1]
    assert status == (b"200" if written else b"500")
    until(lambda: place.budget.held == 0)
    assert len(place.server.heard) == written
    assert place.budget.spent == place.seen.spent
    monkeypatch.setattr(Journal, "put", put)
    assert place.call().split()[1] == b"200"


@pytest.mark.parametrize("path", PATHS)
def test_a_call_whose_client_has_left_while_it_waited_is_neither_sent_nor_paid(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    most = ModelRequest.of(PROTOCOLS[path], content(path)).most("anthropic" if path == MESSAGES else "openai")
    assert most is not None
    with placed(str(most * Decimal("1.5"))) as place:
        place.server.says(answer(path, USAGE[path], False))
        place.server.held.clear()
        with place.opened("POST", f"/c/a/v1{path}", content(path)) as first:
            until(lambda: len(place.server.heard) == 1)
            waiting = [place.opened("POST", f"/c/a/v1{path}", content(path)) for _ in range(3)]
            with place.opened(
                "GET", "/v1/nothing"
            ) as marker:  # by its answer, those before it have been read
                marker.recv(100)
            for each in waiting:
                each.close()
            until(lambda: place.ask("GET", "/v1/nothing") != b"")
            place.server.held.set()
            with first.makefile("rb") as file:
                assert b" 200 " in file.readline()
        place.settled()
        assert place.call(path).split()[1] == b"200"
        assert len(place.server.heard) == 2
        assert len(place.seen.calls) == 2


# What is sent is what was judged

PICTURE = {"type": "image_url", "image_url": {"url": "http://x/y.png"}}
SHOWN = {"type": "computer_call_output", "output": {"type": "computer_screenshot"}}
UPLOADED = {"type": "container_upload", "file_id": "f"}
UNJUDGED: dict[str, list[dict[str, Any]]] = {
    CHAT: [
        {"n": 5.0}, {"n": "5"}, {"n": 0}, {"n": -1}, {"n": True}, {"n": [5]}, {"n": 10**12},
        {"best_of": "9"}, {"best_of": 2.5},
        {"web_search_options": {}}, {"web_search_options": []}, {"plugins": [{"id": "web"}]}, {"plugins": []},
        {"models": ["gpt-6-luna", "gpt-6-sol"]}, {"tools": [{}]}, {"tools": [{"web_search": {}}]}, {"tools": [None]},
        {"tools": {"type": "web_search"}}, {"tools": "web_search"}, {"tools": [{"type": "function_search"}]},
        {"tools": [{"type": ["function"]}]}, {"tools": [{"type": None, "name": "x", "input_schema": {}}]},
        {"max_completion_tokens": 100.0}, {"max_completion_tokens": "100"}, {"max_completion_tokens": -1},
        {"max_tokens": "7"}, {"max_tokens": 10**250}, {"model": ["gpt-6-luna"]}, {"model": None},
        {"model": "gpt-6-luna:online"}, {"modalities": ["text", "audio"]}, {"route": "fallback"}, {"speed": "fast"},
        {"provider": {"order": ["x"]}}, {"transforms": []}, {"a_field_of_next_year": {}}, {"service_tier": ["auto"]},
        {"messages": [{"role": "user", "content": [{"image_url": {"url": "http://x/y.png"}}]}]},
        {"messages": [{"role": "user", "content": PICTURE}]},
        {"messages": [{"role": "assistant", "audio": {"id": "audio_1"}}]},
    ],
    RESPONSES: [
        {"prompt": {"id": "pmpt_1"}}, {"background": 1}, {"tools": [{"type": "mcp", "server_url": "http://x"}]},
        {"tools": [{"name": "look", "input_schema": {}}]}, {"max_output_tokens": 1e2}, {"input": [SHOWN]},
    ],
    MESSAGES: [
        {"container": {}}, {"mcp_servers": []}, {"inference_geo": "us"}, {"tools": [{"name": "x"}]},
        {"max_tokens": "100"}, {"tools": [{"type": "web_fetch_20260101", "name": "web_fetch"}]},
        {"messages": [{"role": "user", "content": [UPLOADED]}]},
    ],
}  # fmt: skip


@pytest.mark.unkept
@pytest.mark.parametrize(
    ("path", "fields"),
    [(path, fields) for path, several in UNJUDGED.items() for fields in several],
    ids=lambda each: str(each)[:60],
)
def test_what_cannot_be_judged_is_refused_in_one_line_under_a_limit(
    shared: Place, path: str, fields: dict[str, Any]
) -> None:
    shared.server.says(answer(path, USAGE[path], False))
    shared.server.heard.clear()
    said = shared.call(path, **fields)
    assert said.split()[1] == b"400"
    assert b"cannot be guaranteed" in said
    assert b"\\n" not in said.partition(b"\r\n\r\n")[2]
    assert shared.server.heard == []


@pytest.mark.unkept
@pytest.mark.parametrize("fields", [{"n": 3}, {"best_of": 3}, {"n": 2, "best_of": 3}], ids=str)
def test_several_replies_are_all_reserved(fields: dict[str, Any]) -> None:
    def most(body: bytes) -> Decimal:
        found = ModelRequest.of(PROTOCOLS[CHAT], body).most("openai")
        assert found is not None
        return found

    output = most(content(max_completion_tokens=9_000)) - most(content(max_completion_tokens=1_000))
    several = most(content(max_completion_tokens=9_000, **fields)) - most(
        content(max_completion_tokens=1_000, **fields)
    )
    assert several == 3 * output


LUNA = b'"model":"gpt-6-luna","messages":[],"max_tokens":5'
JUDGED = {"model": "gpt-6-luna", "messages": [], "max_tokens": 5}
HALF = (
    '{"model":"gpt-6-luna","messages":[{"role":"user","content":"\\ud83d größer"}],"max_tokens":5}'.encode()
)
TWICE: dict[str, tuple[bytes, dict[str, Any]]] = {
    "limit": (b"{" + LUNA + b',"max_tokens":7}', {**JUDGED, "max_tokens": 7}),
    "n": (b'{"n":9,' + LUNA + b',"n":1}', {"n": 1, **JUDGED}),
    "tools": (b'{"tools":[{"type":"web_search"}],' + LUNA + b',"tools":null}', {"tools": None, **JUDGED}),
    "escaped": (b'{"mod\\u0065l":"gpt-6-sol",' + LUNA + b"}", JUDGED),
    "half": (HALF, json.loads(HALF)),
}


@pytest.mark.parametrize("way", TWICE)
def test_a_provider_gets_what_was_judged(shared: Place, way: str) -> None:
    body, judged = TWICE[way]
    shared.server.says(answer(CHAT, USAGE[CHAT], False))
    shared.server.heard.clear()
    odd = "content-type: multipart/form-data\r\n"
    assert shared.ask("POST", "/c/a/v1/chat/completions", body, more=odd).split()[1] == b"200"
    (heard,) = shared.server.heard
    names = [name for name, _ in json.loads(heard.body, object_pairs_hook=list)]
    assert len(set(names)) == len(names)
    assert json.loads(heard.body) == judged
    assert "content-type: application/json" in heard.headers.lower()
    assert "multipart" not in heard.headers.lower()


@pytest.mark.parametrize(
    "body",
    [b'{"n": NaN}', b'{"a": Infinity}', b'{"a": 1e999}', b"[]", b'"x"', b"{", b"", b"\xff{}", b"[" * 9999],
)
def test_what_is_no_json_is_refused_in_one_line(shared: Place, body: bytes) -> None:
    shared.server.heard.clear()
    said = shared.ask("POST", "/c/a/v1/chat/completions", body)
    assert said.split()[1] == b"400"
    assert b"the request is not JSON" in said
    assert shared.server.heard == []


@pytest.mark.parametrize(
    "more",
    [
        "anthropic-beta: caf\xe9\r\n",
        "accept: \xff\r\n",
        "openai-beta: a\tb\r\n",
        "x-stainless-retry-count: \xb2\r\n",
        f"x-stainless-retry-count: {'9' * 5000}\r\n",
    ],
)
def test_odd_headers_are_no_error(shared: Place, more: str) -> None:
    shared.server.says(answer(CHAT, USAGE[CHAT], False))
    assert shared.call(more=more).split()[1] == b"200"
    shared.settled()


# Keys

WAYS = {
    "as it is": KEY,
    "as JSON": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "by number": "".join(f"\\u{ord(each):04x}" for each in KEY),
    "as HTML": "".join(f"&#X{ord(each):05x};" for each in KEY),
    "as HTML, by tens": "".join(f"&#{ord(each)};" for each in KEY),
    "in a URL": KEY.replace("/", "%2F"),
    "with Bearer": f"Bearer {KEY}",
}


def echo(way: str, where: str) -> bytes:
    """Return an answer's JSON, as text, that holds the key."""
    body: dict[str, Any] = {
        "model": MODELS[CHAT],
        "usage": USAGE[CHAT],
        "choices": [{"message": {"content": "@"}}],
    }
    if where == "model":
        body["model"] = "@"
    if where == "name":
        body["@"] = 1
    if where == "twice":
        return (
            b'{"debug":"'
            + WAYS[way].encode()
            + b'","debug":1,'
            + json.dumps(body).replace("@", "Hi").encode()[1:]
        )
    return json.dumps(body).replace("@", WAYS[way]).encode()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("where", ["content", "model", "name", "twice"])
@pytest.mark.parametrize("way", WAYS)
def test_an_echoed_key_reaches_no_agent(shared: Place, way: str, where: str, stream: bool) -> None:
    text = echo(way, where)
    shared.server.says(b"data: " + text + b"\n\ndata: [DONE]\n\n" if stream else text, stream=stream)
    hidden(shared.call(stream=stream))
    shared.settled()
    assert KEY not in (shared.folder / CALLS).read_text("utf-8")


def hidden(said: bytes) -> None:
    """Check that an answer holds the key in no way, and is an answer all the same."""
    assert said.split()[1] in (b"200", b"500")
    for each in WAYS.values():
        assert each.encode() not in said
    text = said.replace(b"\0", b"").decode("latin-1")
    assert KEY not in text
    assert "7Gh2" not in text


@pytest.mark.parametrize(
    "name",
    [
        "content-type",
        "retry-after",
        "request-id",
        "x-request-id",
        "x-should-retry",
        "retry-after-ms",
        "x-debug",
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_key_in_a_header_reaches_no_agent(shared: Place, name: str, stream: bool) -> None:
    shared.server.says(answer(CHAT, USAGE[CHAT], stream), stream=stream, headers=f"{name}: a {KEY} b\r\n")
    hidden(shared.call(stream=stream))


@pytest.mark.parametrize(
    "body",
    [
        f"plain {KEY}".encode(),
        f"<p>{KEY}</p>".encode("utf-16"),
        f'{{"a": "{KEY}'.encode(),
        json.dumps([KEY]).encode("utf-16-le"),
    ],
    ids=["text", "utf-16", "cut", "utf-16-le"],
)
@pytest.mark.parametrize("status", [200, 500])
def test_a_key_in_what_is_no_json_reaches_no_agent(shared: Place, body: bytes, status: int) -> None:
    shared.server.says(body, status=status)
    hidden(shared.call())
    hidden(shared.ask("GET", "/v1/models"))
    shared.settled()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 12, 20])
@pytest.mark.parametrize("path", PATHS)
def test_no_stream_spells_a_key_in_pieces(shared: Place, path: str, size: int) -> None:
    def said(text: str) -> Any:
        if path == CHAT:
            return {"id": "chatcmpl-1", "choices": [{"index": 0, "delta": {"content": text}}]}
        kind = "response.output_text.delta" if path == RESPONSES else "content_block_delta"
        return {
            "type": kind,
            "index": 0,
            "delta": text if path == RESPONSES else {"type": "text_delta", "text": text},
        }

    parts = ["The key is ", *(KEY[at : at + size] for at in range(0, len(KEY), size)), ", is it not?"]
    events = b"".join(f"data: {json.dumps(said(each))}\n\n".encode() for each in parts)
    shared.server.says(events, stream=True)
    (whole,) = shared.server.pieces
    shared.server.pieces = [whole[at : at + 11] for at in range(0, len(whole), 11)]
    answered = shared.call(path, stream=True)
    lines = [line[6:] for line in answered.decode("latin-1").split("\n") if line.startswith("data: {")]
    texts = "".join(text_of(json.loads(line)) for line in lines)
    assert "The key is " in texts
    assert not any(KEY[at : at + 8] in texts for at in range(len(KEY) - 7))
    shared.settled()


def text_of(event: Any) -> str:
    """Return the text that an event adds."""
    if "choices" in event:
        return str(event["choices"][0]["delta"]["content"])
    delta = event.get("delta", "")
    return str(delta["text"] if isinstance(delta, dict) else delta)


def test_a_stream_without_a_key_passes_byte_for_byte(shared: Place) -> None:
    begun = KEY[:12]
    parts = ["sk-", "rea", "l is a word, and ", begun, " begins like a key \u00e9 \\u0041"]
    events = b"".join(
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': each}}]})}\n\n".encode()
        for each in parts
    )
    events += b"data: [DONE]\n\n"
    shared.server.says(events, stream=True)
    said = shared.call(stream=True)
    assert b"".join(line for line in said.split(b"\r\n") if line.startswith(b"data")).replace(
        b"\n\n", b""
    ) == events.replace(b"\n\n", b"")


def test_an_ordinary_word_as_a_key_spoils_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with placed(key="none") as place:
        body = {**answer(CHAT, USAGE[CHAT], False), "tool_choice": "none"}
        place.server.says(body)
        assert json.loads(place.call().partition(b"\r\n\r\n")[2]) == body


@pytest.mark.parametrize("key", ["ltm-bench", "", "x", KEY, OWN[:-1], OWN + "x", "Bearer " + OWN])
@pytest.mark.parametrize("start", ["", "/c/a", "/c/new"])
def test_no_other_key_opens_the_gateway(shared: Place, key: str, start: str) -> None:
    shared.server.heard.clear()
    said = shared.ask("POST", f"{start}/v1/chat/completions", content(), key=key)
    assert (said.split()[1], shared.server.heard) == (b"401", [])


@pytest.mark.unkept
@given(st.sampled_from(PATHS), JSON | FIGURES)
def test_a_meter_never_raises(path: str, usage: Any) -> None:
    for holder in ("usage", "response", "message", "model"):
        meter = Meter(PROTOCOLS[path], "openai")
        meter.event(b"data: " + json.dumps({holder: usage}).encode())
        meter.read(json.dumps({holder: usage, "type": "message_stop"}).encode())
        assert meter.usage is None or meter.usage.prompt > 0
