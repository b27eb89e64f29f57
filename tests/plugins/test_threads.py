"""Synchronous agents: several at once, each object by itself, and none that keeps anybody waiting for ever."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from ltm_bench.api.calling import arun
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.plugins.functions import FunctionAgent

if TYPE_CHECKING:
    from tests.conftest import Command

MESSAGE = Message("Hello", datetime(2026, 1, 5, 9, 30, tzinfo=UTC), 0)
SEVERAL = 6
SHORT = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")


async def _all(agents: list[Agent]) -> list[Any]:
    return await asyncio.gather(*(each.reply(MESSAGE) for each in agents), return_exceptions=True)


class Meeting:
    """Answers when all others are being asked as well."""

    place: ClassVar[threading.Barrier]

    def __call__(self, message: str) -> str:
        self.place.wait(60)
        return "All are here."


def meeting(message: str) -> str:
    return Meeting()(message)


@pytest.mark.parametrize("function", [meeting, Meeting, partial(meeting)])
def test_conversations_call_a_function_or_instances_of_a_class_at_once(function: Callable[..., Any]) -> None:
    Meeting.place = threading.Barrier(SEVERAL)
    replies = asyncio.run(_all([FunctionAgent(function) for _ in range(SEVERAL)]))
    assert replies == [Reply("All are here.")] * SEVERAL


class Alone:
    """Notices if it is called while it is called."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0

    def __call__(self, message: str) -> str:
        self.inside += 1
        self.most = max(self.most, self.inside)
        threading.Event().wait(0.001)  # others get their chance
        self.inside -= 1
        return "Okay."


@pytest.mark.parametrize("of", [lambda each: each, lambda each: each.__call__, lambda each: partial(each)])
def test_conversations_call_an_object_one_after_the_other(of: Callable[[Alone], Any]) -> None:
    alone = Alone()
    assert len(asyncio.run(_all([FunctionAgent(of(alone)) for _ in range(SEVERAL)]))) == SEVERAL
    assert alone.most == 1


class Local:
    """Knows only the thread that made it, as a database's connection does."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def __call__(self, message: str) -> str:
        assert threading.get_ident() == self.thread != threading.main_thread().ident
        return "Okay."

    def observe(self, message: str, reply: str) -> None:
        self(message)


def test_an_instance_is_made_in_the_thread_in_which_it_is_called() -> None:
    async def talk() -> Reply:
        agent = FunctionAgent(Local)
        await agent.observe(Turn(MESSAGE, Reply("Hi")))
        return await agent.reply(MESSAGE)

    assert asyncio.run(talk()) == Reply("Okay.")


def test_a_thread_ends_with_its_agent() -> None:
    agent = FunctionAgent(lambda message: threading.current_thread().name)
    before = {each for each in threading.enumerate() if each.name == "ltm-bench agent"}
    assert asyncio.run(agent.reply(MESSAGE)) == Reply("ltm-bench agent")
    [thread] = {each for each in threading.enumerate() if each.name == "ltm-bench agent"} - before
    del agent
    thread.join(60)
    assert not thread.is_alive()


SAID: ContextVar[str] = ContextVar("said")


def test_a_call_has_the_context_of_its_conversation() -> None:
    async def talk() -> Reply:
        SAID.set("by the gateway")
        return await FunctionAgent(lambda message: SAID.get()).reply(MESSAGE)

    assert asyncio.run(talk()) == Reply("by the gateway")


@pytest.mark.parametrize("error", [OSError("no power"), StopIteration("no more"), SystemExit(3)])
def test_whatever_it_raises_is_for_whoever_asked(error: BaseException) -> None:
    def breaks(message: str) -> str:
        raise error

    with pytest.raises((type(error), RuntimeError)) as caught:
        asyncio.run(FunctionAgent(breaks).reply(MESSAGE))
    assert error in (caught.value, caught.value.__cause__)


class Hanging:
    """Answers nothing until it is told to."""

    def __init__(self) -> None:
        self.calls = 0
        self.entered, self.released = threading.Event(), threading.Event()

    def __call__(self, message: str) -> str:
        self.calls += 1
        self.entered.set()
        self.released.wait()
        return "At last."


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    made = Hanging()
    yield made
    made.released.set()


def test_a_call_that_takes_too_long_is_left_and_nobody_waits_behind_it(hanging: Hanging) -> None:
    agents: list[Agent] = [FunctionAgent(hanging, "the bot", timeout=0.05) for _ in range(SEVERAL)]
    late, *others = asyncio.run(_all(agents))
    assert str(late).startswith("the bot took more than 0.05 s")
    assert {str(each).partition(",")[0] for each in others} == {"the bot is still in a call that did not end"}
    hanging.released.set()  # what it knows is not what the log says, even if it ends
    with pytest.raises(AgentError, match="not called again"):
        asyncio.run(FunctionAgent(hanging, "the bot").reply(MESSAGE))
    assert hanging.calls == 1


def test_an_async_call_that_takes_too_long_is_ended() -> None:
    ended: list[bool] = []

    async def waits(message: str) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)
        return ""

    with pytest.raises(AgentError, match=r"the function took more than 0\.01 s"):
        asyncio.run(FunctionAgent(waits, timeout=0.01).reply(MESSAGE))
    assert ended == [True]

    async def own(message: str) -> str:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        asyncio.run(FunctionAgent(own).reply(MESSAGE))


def test_a_cancelled_call_is_left_and_that_is_said(hanging: Hanging) -> None:
    async def talk() -> str:
        agent = FunctionAgent(hanging, "the bot")
        asked = asyncio.ensure_future(agent.reply(MESSAGE))
        await asyncio.to_thread(hanging.entered.wait)
        asked.cancel()
        with suppress(asyncio.CancelledError):
            await asked
        await agent.close()
        return agent.left

    assert asyncio.run(talk()).startswith("A call of the bot had not ended")


BOT = """
import os, signal, threading
from ltm_bench import Reply, Usage

released = threading.Event()
calls = []

def hangs(message):
    calls.append(message)
    released.wait()
    return "At last."

def interrupts(message):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "hanging_bot.py").write_text(BOT, "utf-8")
    yield tmp_path
    if (bot := sys.modules.pop("hanging_bot", None)) is not None:
        bot.released.set()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--timeout", "0.1"), "python:hanging_bot:hangs took more than 0.1 s"),
        (("--run-timeout", "0.1"), "stopped after 0.1 seconds (--run-timeout)"),
    ],
)
def test_a_run_does_not_wait_for_an_agent_that_hangs_and_goes_on_later(
    place: Path, command: "Command", option: tuple[str, str], said: str
) -> None:
    done = command(*SHORT, "--agent", "python:hanging_bot:hangs", *option)
    assert done.exit_code == 3, done.output
    assert said.removeprefix("python:") in done.err
    bot: Any = sys.modules["hanging_bot"]
    if bot.calls:  # on a busy machine, a run may be stopped before it asks anything
        assert "A call of hanging_bot:hangs had not ended, and cannot be ended" in done.err
        calls = [
            json.loads(line) for line in (place / "reports/r/calls.jsonl").read_text("utf-8").splitlines()
        ]
        assert calls[-1]["ending"] == "lost"  # what it may still cost is unknown, which is more than nothing
        assert json.loads((place / "reports/r/results.json").read_text("utf-8"))["costs"]["dollars"] is None
    bot.released.set()
    assert command("resume", "r").exit_code == 0


@pytest.mark.slow
def test_one_ctrl_c_ends_a_run_whose_agent_hangs(place: Path) -> None:
    words = [*SHORT, "--agent", "python:hanging_bot:interrupts"]
    done = subprocess.run(
        [sys.executable, "-m", "ltm_bench", *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "nothing is lost" in done.stderr


def test_the_conversations_of_an_isolated_run_are_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All first calls wait for each other, which they could not do one after the other."""
    monkeypatch.chdir(tmp_path)
    place = threading.Barrier(SEVERAL)

    class Bot:
        def __init__(self) -> None:
            place.wait(60)

        def __call__(self, message: str) -> str:
            return "Okay."

    asked: dict[str, Any] = {"scenarios": ["colours"], "examples": SEVERAL, "isolated": True}
    assert asyncio.run(arun(Bot, "2k", **asked)).complete
