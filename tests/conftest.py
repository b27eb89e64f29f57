"""What all tests share: a model provider on this machine, and a short way of talking to an agent."""

import asyncio
import gc
import os
import re
import signal
import ssl
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from ltm_bench.adapters import SdkChatModel
from ltm_bench.adapters.testing import Provider, provider
from ltm_bench.cli.main import main
from ltm_bench.core.agent import Agent
from ltm_bench.core.messages import Message, Reply, Turn, Usage
from ltm_bench.plugins.agents import make_agent

# tests/ is not a package (pytest runs with --import-mode=importlib): this lets a test import its helpers, such as
# `from made import read`. It happens once, here. Type checkers know the same file as tests.made.
sys.path.insert(0, str(Path(__file__).parent))

if TYPE_CHECKING:
    from tests.finished import changed, finished, place
    from tests.keeping import Keeping
    from tests.made import browser, hostile_run, made, read
    from tests.vectors import converse
else:
    from finished import changed, finished, place
    from keeping import Keeping
    from made import browser, hostile_run, made, read
    from vectors import converse

__all__ = ["browser", "converse", "finished", "hostile_run", "made", "read"]  # fixtures defined elsewhere

POSIX = re.compile(r"^import (?:fcntl|pty|resource|termios)$", re.MULTILINE)
"""Modules that a test imports if it needs a terminal or process limits, neither of which exists on Windows."""

if sys.platform == "win32":
    collect_ignore = [
        str(path)
        for path in Path(__file__).parent.rglob("test_*.py")
        if POSIX.search(path.read_text("utf-8"))
    ]

# By default, an example that takes 0.2 seconds is an error, and so is a generator that is slow: on a busy machine, any.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# Shells start background jobs with this signal ignored, and what a test starts and interrupts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a test has written to a run that others read."""
    if not os.environ.get("PYTEST_XDIST_WORKER"):
        config: Any = session.config
        terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
        for name in changed(place(config._tmp_path_factory)):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            terminal.write_line(
                f"ERROR the finished run {name} was written to by a test: take a copy of it", red=True
            )


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with which `scripts/check` keeps proofs."""
    parser.addoption(
        "--prove",
        choices=["changed", "all"],
        help="leave out the proofs whose files have not changed, or none; keep what is proved (tests/keeping.py)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep proofs by content."""
    config.pluginmanager.register(Keeping(config.getoption("--prove")), "keeping")


@pytest.fixture
def seeds(request: pytest.FixtureRequest) -> Callable[[int], range]:
    """`seeds(40)` is all of them; in a proof of which only shared code has changed, a third."""
    keeping: Any = request.config.pluginmanager.get_plugin("keeping")
    return lambda many: keeping.seeds(request.node.nodeid, many)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that have long tests first: one that begins last keeps a processor while the others have ended.

    Files stay whole, so that what is made once for a file is made once.
    """
    long = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish() -> None:
    """Exempt the collected tests from garbage collection, which would otherwise look through all of them each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def certificates() -> Iterator[None]:
    """Read the trusted certificates once: this takes longer than all else in a client, and no server here has any."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True)
def _places_of_modules() -> Iterator[None]:
    """Leave `sys.path` as it was: an agent of a test may add to it, and its neighbours import other modules then."""
    before = sys.path[:]
    yield
    sys.path[:] = before


KEY = "sk-not-a-key-0123456789"
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def server() -> Iterator[Provider]:
    with provider() as running:
        yield running


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """An environment with the keys of both providers and no others."""
    for name in (
        "OPENAI_BASE_URL",
        "ANTHROPIC_BASE_URL",
        "OPENAI_CUSTOM_HEADERS",
        "ANTHROPIC_CUSTOM_HEADERS",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return KEY


class Talk:
    """A conversation with an agent in plain calls: one message a minute, turns numbered."""

    def __init__(self, agent: Agent, home: Path, *, redirect: str | None = None) -> None:
        self.agent: Any = agent
        self.turns: list[Turn] = []
        self._runner = asyncio.Runner()
        self._runner.run(agent.open(home))
        if redirect is not None:  # the agent believes that it talks to its vendor
            assert isinstance(agent, SdkChatModel)
            agent.client = agent.client.with_options(base_url=redirect)

    def message(self, text: str) -> Message:
        turn = len(self.turns)
        return Message(text, START + timedelta(minutes=turn), turn)

    def say(self, text: str) -> Reply:
        message = self.message(text)
        reply: Reply = self._runner.run(self.agent.reply(message))
        self.turns.append(Turn(message, reply))
        return reply

    def observe(self, text: str, reply: str) -> None:
        turn = Turn(self.message(text), Reply(reply), answered="script")
        self._runner.run(self.agent.observe(turn))
        self.turns.append(turn)

    def observe_session(self, *texts: str) -> None:
        turns: list[Turn] = []
        for text in texts:
            said = Turn(self.message(text), Reply("Noted."), "tell", "talk/0", "script", session="1")
            turns.append(said)
            self.turns.append(said)
        self._runner.run(self.agent.observe_session(turns))

    def restore(self, turns: list[Turn]) -> None:
        self._runner.run(self.agent.restore(turns))
        self.turns = list(turns)

    def reserve(self, text: str) -> Usage | None:
        most: Usage | None = self.agent.reserve(self.message(text))
        return most

    def close(self) -> None:
        self._runner.run(self.agent.close())
        self._runner.close()


@pytest.fixture
def talk_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Talk]]:
    """Start conversations: `talk_to("parrot", setting=value)`. They are closed at the end of the test.

    Between two attempts, the SDKs do not wait.
    """

    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr("anyio.sleep", sleep)
    started: list[Talk] = []

    def start(adapter: str, *, redirect: str | None = None, **settings: Any) -> Talk:
        home = tmp_path / f"run-{len(started)}" / "agent"
        home.mkdir(parents=True)
        started.append(Talk(make_agent(adapter, settings), home, redirect=redirect))
        return started[-1]

    yield start
    for talk in started:
        talk.close()


class Done(NamedTuple):
    """The result of a command."""

    exit_code: int
    out: str
    err: str

    @property
    def output(self) -> str:
        """Return everything that it printed, with white space collapsed."""
        return " ".join((self.out + self.err).split())


@pytest.fixture
def quick_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` reads recitals of a tenth of the length, and starts two processes instead of four.

    For tests in which a file must pass; tests/runner/test_references.py and tests/cli/test_own_files.py have all of it.
    """
    monkeypatch.setattr("ltm_bench.runner.checking._HEAP", 0)
    monkeypatch.setattr("ltm_bench.runner.checking._HASH_SEEDS", ("1", "2"))


Command = Callable[..., Done]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Type a command: `command("run", "--span", "2k")`. It runs in this process, as `ltm-bench` would."""
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def call(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["ltm-bench", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, printed.out, printed.err)

    return call
