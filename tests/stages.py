"""What the built-in adapters need in a test: their settings, and a fake of the server that they talk to.

An adapter without an entry here is made without settings or, if it takes a model or a core and a `base_url`, against
the test provider, if the module that agents/driven.toml names is there. Any other needs a function that yields a
`Stage`, under `@stage("its name")`.
"""

import contextlib
import gc
import inspect
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Failing, Provider, keep_files, provider, quote
from ltm_bench.core.agent import Agent
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.plan.suites import presets
from ltm_bench.plan.tables import config_folders
from ltm_bench.plugins.agents import agent_class, make_agent
from ltm_bench.plugins.driven import driven

if TYPE_CHECKING:
    from tests.a2a_server import Behind, sdk_server
    from tests.hindsight_server import hindsight_server
    from tests.memories import keep_graph, model, offline
    from tests.notes import keep_notes
    from tests.products import Call, Letta, Product, Supermemory, Zep, serving
else:
    from a2a_server import Behind, sdk_server
    from hindsight_server import hindsight_server
    from memories import keep_graph, model, offline
    from notes import keep_notes
    from products import Call, Letta, Product, Supermemory, Zep, serving

QUICK: dict[str, Any] = {"timeout": 3.0, "max_retries": 0}
"""For adapters that wait and try again. A shorter timeout is missed when the machine is busy for a moment."""


@dataclass(frozen=True)
class Stage:
    """An adapter, its settings, and what it talks to."""

    adapter: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    server: Failing | None = None
    within: float = 20.0
    """Seconds that one call may take in the conformance checks."""

    def make(self) -> Agent:
        """Make the agent for one run."""
        return make_agent(self.adapter, dict(self.settings))


@dataclass(frozen=True)
class Place:
    """The resources for setting up a stage."""

    folder: Path
    patch: pytest.MonkeyPatch
    needed: set[str] = field(default_factory=set)

    def needs(self, extra: str, package: str) -> None:
        """Skip if a package is not installed; it is not imported here, since the adapter decides how."""
        if not _found(package):
            pytest.skip(f"needs the extra: pip install ltm-bench[{extra}]")


def _found(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # not even its parent package
        return False


Setting = Callable[[Place], contextlib.AbstractContextManager[Stage]]

STAGES: dict[str, Setting] = {}


def stage(name: str) -> Callable[[Callable[[Place], Iterator[Stage]]], Setting]:
    """Register a generator with one yield that sets up an adapter."""

    def keep(function: Callable[[Place], Iterator[Stage]]) -> Setting:
        STAGES[name] = contextlib.contextmanager(function)
        return STAGES[name]

    return keep


def staged(name: str, place: Place) -> contextlib.AbstractContextManager[Stage]:
    """Set up an adapter."""
    return STAGES[name](place) if name in STAGES else usual(name, place)


@contextlib.contextmanager
def usual(name: str, place: Place) -> Iterator[Stage]:
    settings = set(inspect.signature(agent_class(name)).parameters)
    known = driven().get(name)
    if known is not None and known.module:
        place.needs(known.extras[0] if known.extras else name, known.module)
    if "base_url" not in settings or settings.isdisjoint({"model", "core"}):
        yield Stage(name)
        return
    # A memory product must answer from what it finds.
    own: dict[str, Any] = {"recent": 0} if "recent" in settings else {}
    with provider(model if "core" in settings else quote) as server:
        yield Stage(name, {**offline(name), **at(name, server), **own, **QUICK}, server)


def at(name: str, server: Provider) -> dict[str, str]:
    """Return the address of the test provider; it differs for Anthropic's protocol."""
    return {"base_url": server.url if name.startswith("anthropic") else server.openai_url}


@stage("pydantic_ai_chat")
def pydantic_ai_chat(place: Place) -> Iterator[Stage]:
    place.needs("pydantic-ai", "pydantic_ai")
    with provider() as server:
        settings = {"model": "openai-chat:some-model", "base_url": server.openai_url, **QUICK}
        yield Stage("pydantic_ai_chat", settings, server)


@stage("vector_memory")
def vector_memory(place: Place) -> Iterator[Stage]:
    with provider(model) as server:
        settings = {
            "core": "openai_chat:some-model",
            "embedder": "openai:some-embedder",
            "base_url": server.openai_url,
            "recent": 0,
            **QUICK,
        }
        yield Stage("vector_memory", settings, server)


@stage("anthropic_memory")
def anthropic_memory(place: Place) -> Iterator[Stage]:
    with provider(keep_files) as server:
        settings = {"model": "some-model", "base_url": server.url, **QUICK}
        yield Stage("anthropic_memory", settings, server)


@stage("mcp")
def mcp(place: Place) -> Iterator[Stage]:
    place.needs("mcp", "mcp")
    program = Path(__file__).parent / "agents" / "mcp_memory_server.py"
    with provider(model) as server:
        settings = {
            "core": "openai:some-model",
            "base_url": server.openai_url,
            "command": f"{sys.executable} {program} {{home}}/lines.jsonl",
            "store": "add_memory",
            "store_arguments": '{"content": "User: {message}"}',
            "search": "search_memory",
            "search_arguments": '{"query": "{query}", "limit": "{limit}"}',
            "listing": "list_memories",
            "forgetting": "delete_memory",
            "forgetting_arguments": '{"content": "{item}"}',
            "timeout": 3.0,
            "max_retries": 0,
        }
        yield Stage("mcp", settings, server)


@stage("mcp_memory")
def mcp_memory(place: Place) -> Iterator[Stage]:
    """The preset, with the reference server of MCP, which the core uses as it likes."""
    place.needs("mcp", "mcp")
    program = os.environ.get("LTM_BENCH_MCP_MEMORY")
    if program is None:
        pytest.skip("no MCP memory server: set LTM_BENCH_MCP_MEMORY (CONTRIBUTING.md, Groups)")
    with provider(keep_graph) as server:
        own = {"core": "openai:some-model", "base_url": server.openai_url, "command": program}
        usual = presets(config_folders())["mcp_memory"].settings
        yield Stage("mcp", {**usual, **own, "timeout": 3.0, "max_retries": 0}, server)


@stage("a2a")
def a2a(place: Place) -> Iterator[Stage]:
    place.needs("a2a", "a2a")
    with sdk_server(Behind()) as behind:
        yield Stage("a2a", {"url": behind.url, "timeout": 20.0}, within=40.0)


@stage("acp")
def acp(place: Place) -> Iterator[Stage]:
    place.needs("acp", "acp")
    program = Path(__file__).parent / "agents" / "scripted_acp.py"
    yield Stage("acp", {"command": f"{sys.executable} {program}", "timeout": 20.0}, within=40.0)


@stage("mem0")
def mem0(place: Place) -> Iterator[Stage]:
    place.needs("mem0", "mem0")
    place.patch.setenv("HOME", str(place.folder / "nobody"))
    with provider(model) as server:
        settings = {"model": "some-model", "base_url": server.openai_url, "dimensions": 512, **QUICK}
        yield Stage("mem0", settings, server)


@stage("graphiti")
def graphiti(place: Place) -> Iterator[Stage]:
    place.needs("graphiti", "graphiti_core")
    with provider(model) as server:
        settings = {"model": "some-model", "base_url": server.openai_url, "embedder": "local", "recent": 0}
        with warnings.catch_warnings():  # otherwise it looks these up in parallel, and stops when one fails
            warnings.filterwarnings("ignore", r"coroutine '\w+_search' was never awaited", RuntimeWarning)
            yield Stage("graphiti", {**settings, **QUICK}, server)
            gc.collect()


@stage("cognee")
def cognee(place: Place) -> Iterator[Stage]:
    python = os.environ.get("LTM_BENCH_COGNEE")
    if not python:
        pytest.skip("needs LTM_BENCH_COGNEE: a Python that has cognee==1.6.5")
    with provider(model) as server:
        settings = {"model": "some-model", "base_url": server.openai_url, "embedder": "local", "recent": 0}
        # Its process takes seconds to start, and more on a busy machine.
        yield Stage("cognee", {**settings, "python": python, **QUICK}, server, within=60.0)


@stage("hindsight")
def hindsight(place: Place) -> Iterator[Stage]:
    place.needs("hindsight", "hindsight_client")
    program = os.environ.get("LTM_BENCH_HINDSIGHT")
    if not program:
        pytest.skip("needs LTM_BENCH_HINDSIGHT: the program hindsight-api 1.1.0, with its embedded database")
    product = hindsight_server(program, model)
    # Hindsight asks its model at times of its own. If the core were the same server, a fault meant for the core could
    # meet a consolidation, which then lasts as long as the fault.
    with provider(model) as server:
        core = {"core": "openai:some-model", "core_url": server.openai_url}
        settings = {**core, "base_url": product.url, "recent": 0, "timeout": 5.0, "max_retries": 0}
        yield Stage("hindsight", settings, server, within=60.0)


@stage("letta")
def letta(place: Place) -> Iterator[Stage]:
    place.needs("letta", "letta_client")
    place.patch.setenv("LETTA_API_KEY", "sk-let-not-a-key-0123456789")
    product = Letta()
    with serving(product):
        settings = {"model": "openai/some-model", "base_url": product.url, **QUICK}
        yield Stage("letta", settings, product)


@stage("letta_code")
def letta_code(place: Place) -> Iterator[Stage]:
    place.needs("letta-code", "letta_code")
    with provider(keep_notes) as server:
        settings = {"model": "some-model", "base_url": server.openai_url, "timeout": 20.0}
        yield Stage("letta_code", settings, server, within=40.0)  # a program that retries by itself


@contextlib.contextmanager
def before_a_fake(place: Place, name: str, package: str, product: Product) -> Iterator[Stage]:
    """Set up a memory product of a cloud, and its core."""
    place.needs(name, package)
    place.patch.setenv(f"{name.upper()}_API_KEY", "not-a-key-0123456789")
    place.patch.setattr(sys.modules[agent_class(name).__module__], "_POLL", 0.0)
    with serving(product), provider(model) as server:
        core = {"core": "openai_chat:some-model", "core_url": server.openai_url}
        yield Stage(name, {**core, "base_url": product.url, **QUICK}, product)


@stage("zep")
def zep(place: Place) -> Iterator[Stage]:
    with before_a_fake(place, "zep", "zep_cloud", Zep()) as made:
        yield made


@stage("supermemory")
def supermemory(place: Place) -> Iterator[Stage]:
    with before_a_fake(place, "supermemory", "supermemory", Supermemory()) as made:
        yield made


class Diary(Product):
    """An endpoint that remembers what each session heard; a repeated turn makes it forget all later ones."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: dict[str, list[tuple[str, str]]] = {}
        self.routes = [
            ("POST", "/chat", self.chat),
            ("POST", "/observe", self.hear),
            ("POST", "/fork", self.fork),
        ]

    def heard(self, call: Call) -> list[tuple[str, str]]:
        known = self.sessions.get(call.body["session"], [])
        return [(time, text) for time, text in known if time < call.body["at"]]

    def hear(self, call: Call) -> tuple[int, Any]:
        self.sessions[call.body["session"]] = [*self.heard(call), (call.body["at"], call.body["message"])]
        return 200, {}

    def fork(self, call: Call) -> tuple[int, Any]:
        said = [*(text for _, text in self.heard(call)), call.body["message"]]
        return 200, {"reply": quote([{"role": "user", "content": text} for text in said])}

    def chat(self, call: Call) -> tuple[int, Any]:
        answer = self.fork(call)
        self.hear(call)
        return answer


@stage("http")
def http(place: Place) -> Iterator[Stage]:
    place.patch.setenv("DIARY_KEY", "a-key-that-only-diaries-have-0123")
    product = Diary()
    with serving(product):
        settings = {
            "url": f"{product.url}/chat",
            "observe": "/observe",
            "fork": "/fork",
            "session": "session",
            "time": "at",
            "headers": "X-Key=DIARY_KEY",
            **QUICK,
        }
        yield Stage("http", settings, product)


PROGRAM = """
import json, sys
from ltm_bench.adapters.testing import quote

heard = []
for line in sys.stdin:
    asked = json.loads(line)
    text = asked.get("message") or asked.get("fork") or asked["observe"]["message"]
    said = [{"role": "user", "content": each} for each in [*heard, text]]
    if "fork" not in asked:
        heard.append(text)
    print(json.dumps({} if "observe" in asked else {"reply": quote(said)}), flush=True)
"""


@stage("command")
def command(place: Place) -> Iterator[Stage]:
    program = place.folder / "diary.py"
    program.write_text(PROGRAM, "utf-8")
    settings = {"command": f"{sys.executable} {program}", "observe": True, "fork": True}
    yield Stage("command", settings)


NOTES = """
from ltm_bench.adapters.testing import quote

class Notes:
    def __init__(self):
        self.heard = []

    def observe(self, message, reply):
        self.heard.append({"role": "user", "content": message})

    def __call__(self, message):
        self.observe(message, "")
        return quote(self.heard)
"""


@stage("function")
def function(place: Place) -> Iterator[Stage]:
    (place.folder / "conforming_notes.py").write_text(NOTES, "utf-8")
    place.patch.syspath_prepend(str(place.folder))
    yield Stage("function", {"target": "conforming_notes:Notes"})


class Person:
    """A person who gives the same reply to everything."""

    def isatty(self) -> bool:
        return False

    def readline(self) -> str:
        return "Noted.\n"


@stage("human")
def human(place: Place) -> Iterator[Stage]:
    place.patch.setattr("sys.stdin", Person())
    yield Stage("human", {"where": "terminal"})


class Recorder(Agent):
    """Records a conversation as a run does, so that it can be played back."""

    free = True

    def __init__(self, folder: Path) -> None:
        self._log = folder / "events.jsonl"
        folder.mkdir()
        self._write({"event": "run", "filler": {"mode": "scripted"}})

    async def reply(self, message: Message) -> Reply:
        reply = Reply("Noted.")
        await self.observe(Turn(message, reply))
        return reply

    async def observe(self, turn: Turn) -> None:
        self._write({"event": "sent", "message": turn.message.text})
        self._write({"event": "replied", "reply": turn.reply.text})

    async def restore(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            await self.observe(turn)

    def _write(self, event: dict[str, Any]) -> None:
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")


@dataclass(frozen=True)
class Playback(Stage):
    """Plays back recorded conversations, one after the other."""

    recorded: Iterator[Path] = field(default_factory=lambda: iter(()))

    def make(self) -> Agent:
        return make_agent(self.adapter, {"run": str(next(self.recorded))})


@stage("transcript")
def transcript(place: Place) -> Iterator[Stage]:
    """Play back a first round of the same conversations, one after the other."""
    from ltm_bench.adapters.testing import conformance

    folders: list[Path] = []

    def record() -> Agent:
        folders.append(place.folder / f"run-{len(folders)}")
        return Recorder(folders[-1])

    conformance(record)
    yield Playback("transcript", recorded=iter(folders))
