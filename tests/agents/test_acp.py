"""Agents of the Agent Client Protocol: a scripted one by the SDK, which can misbehave in every way that we know."""

import asyncio
import json
import os
import shlex
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import AgentError, CannotResume, Finish
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import Command

pytest.importorskip("acp", reason="needs the extra: pip install ltm-bench[acp]")

PROGRAM = Path(__file__).with_name("scripted_acp.py")


def made(mode: str = "", **settings: Any) -> Agent:
    return make_agent("acp", {"command": shlex.join([sys.executable, str(PROGRAM), mode]), **settings})


START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def said(number: int, text: str, user: str | None = None) -> Message:
    return Message(text, START, number, user=user)


async def failure(mode: str, folder: Path, **settings: Any) -> str:
    """Return the error of a reply, after which the same conversation goes on as if nothing had been asked."""
    agent = made(mode, **settings)
    folder.mkdir(exist_ok=True)
    await agent.open(folder)
    try:
        await agent.reply(said(0, "My parrot is called Zebedee."))
        with pytest.raises(AgentError) as caught:
            await agent.reply(said(1, "Now misbehave."))
        again = await agent.reply(said(1, "What is my parrot called?"))
        assert again.text == "You said: My parrot is called Zebedee."
    finally:
        await agent.close()
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(sys.executable, "program")


def gone(process: int) -> bool:
    """Whether a process has ended, or is only waited for."""
    for _ in range(200):
        try:
            if Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="not here: /proc")
def test_a_program_that_hangs_is_ended_with_its_children_and_its_files_are_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOLD", str(tmp_path / "told"))
    monkeypatch.setattr(sys.modules[type(made()).__module__], "_PATIENCE", 0.1)
    assert (
        asyncio.run(failure("hangs", tmp_path / "home", timeout=3.0)) == "program did not answer within 3 s"
    )
    assert gone(int((tmp_path / "told").read_text("utf-8")))
    assert not list((tmp_path / "home").rglob("half.txt"))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="not here: /proc")
@pytest.mark.parametrize("mode", ["leaves a child", "leaves a daemon"])
def test_what_a_dead_program_has_started_holds_nobody_up(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOLD", str(tmp_path / "told"))
    monkeypatch.setattr(sys.modules[type(made()).__module__], "_PATIENCE", 0.1)
    try:
        said_ = asyncio.run(failure(mode, tmp_path / "home", timeout=60.0))
    finally:
        child = int((tmp_path / "told").read_text("utf-8"))
        if mode == "leaves a daemon":  # in a session of its own, where nobody looks for it
            os.kill(child, signal.SIGKILL)
    assert said_ == "program ended with code 7"
    assert gone(child)


@pytest.mark.parametrize(
    ("mode", "line"),
    [
        ("dies", "program ended with code 7, saying: out of cheese"),
        ("floods", "program sent too much: the answer has more than 4,000,000 bytes"),
        ("drips", "program sent too much: the answer has more than 4,000,000 bytes"),
        ("errs", "program refused: Internal error (the model is gone and [removed])"),
    ],
)
def test_a_program_that_fails_is_told_of_in_one_line_and_the_conversation_goes_on(
    mode: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdefgh")
    found = asyncio.run(failure(mode, tmp_path, timeout=60.0))
    assert found.startswith(line) or found == line, found


@pytest.mark.parametrize(
    ("mode", "finish"),
    [("", Finish.STOP), ("cut", Finish.LENGTH), ("long", Finish.LENGTH), ("declines", Finish.REFUSAL)],
)
def test_a_reply_ends_as_the_program_says(mode: str, finish: Finish, tmp_path: Path) -> None:
    async def talk() -> Reply:
        agent = made(mode)
        await agent.open(tmp_path)
        try:
            return await agent.reply(said(0, "Hello!"))
        finally:
            await agent.close()

    assert asyncio.run(talk()) == Reply("I do not know.", finish=finish)


def test_a_turn_that_was_cancelled_is_no_answer(tmp_path: Path) -> None:
    async def talk() -> None:
        agent = made("gives up")
        await agent.open(tmp_path)
        try:
            await agent.reply(said(0, "Hello!"))
        finally:
            await agent.close()

    with pytest.raises(AgentError, match="ended its turn with 'cancelled', and not with an answer"):
        asyncio.run(talk())


def test_permissions_are_refused_unless_named_and_files_are_those_of_its_folder(tmp_path: Path) -> None:
    async def talk(mode: str, folder: Path, **settings: Any) -> str:
        agent = made(mode, **settings)
        folder.mkdir()
        await agent.open(folder)
        try:
            return (await agent.reply(said(0, "Please misbehave."))).text
        finally:
            await agent.close()

    heard = asyncio.run(talk("asks", tmp_path / "one"))
    assert heard == "read: reject_once. execute: reject_once. line: 2. no. no. no. \n\nI do not know."
    assert asyncio.run(talk("asks", tmp_path / "two", allow="read, edit")).startswith(
        "read: allow_once. execute: reject_once."
    )
    assert asyncio.run(talk("chats", tmp_path / "three")) == "I do not know."


def test_a_session_goes_on_after_a_restart_and_another_user_has_another(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        turns = []
        agent = made()
        await agent.open(tmp_path)
        for number, (user, text) in enumerate((("ada", "My parrot is called Zebedee."), ("bob", "Hello!"))):
            message = said(number, text, user)
            turns.append(Turn(message, await agent.reply(message)))
        await agent.close()
        again = made()
        await again.reopen(tmp_path, turns, len(turns))
        try:
            question = "What is my parrot called?"
            return [
                (await again.reply(said(2 + i, question, user))).text for i, user in enumerate(("ada", "bob"))
            ]
        finally:
            await again.close()

    assert asyncio.run(talk()) == ["You said: My parrot is called Zebedee.", "I do not know."]


def test_a_program_that_cannot_load_a_session_is_not_resumed(tmp_path: Path) -> None:
    async def talk() -> None:
        agent = made("forgets")
        await agent.open(tmp_path)
        hello = said(0, "Hello!")
        turn = Turn(hello, await agent.reply(hello))
        await agent.close()
        again = made("forgets")
        await again.open(tmp_path)
        await again.restore([turn])
        try:
            await again.reply(said(1, "Hello again!"))
        finally:
            await again.close()

    with pytest.raises(CannotResume, match=r"cannot load a session.*--fresh"):
        asyncio.run(talk())


def test_a_program_that_cannot_load_a_session_is_not_forked(tmp_path: Path) -> None:
    async def talk() -> None:
        agent = made("forgets")
        await agent.open(tmp_path)
        try:
            await agent.reply(said(0, "Hello!"))
            await agent.fork(said(1, "What did I say?"))
        finally:
            await agent.close()

    with pytest.raises(AgentError, match=r"cannot load a session.*--questions in-line$"):
        asyncio.run(talk())


def test_a_program_named_from_here_starts_in_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "agent.sh"
    program.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, str(PROGRAM)])}\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)

    async def talk() -> str:
        agent = make_agent("acp", {"command": "./agent.sh"})
        await agent.open(tmp_path / "home")
        try:
            return (await agent.reply(said(0, "Hello!"))).text
        finally:
            await agent.close()

    (tmp_path / "home").mkdir()
    assert asyncio.run(talk()) == "I do not know."


def test_doctor_says_what_the_program_can_do(tmp_path: Path) -> None:
    async def examined(mode: str) -> list[str]:
        agent, folder = made(mode), tmp_path / (mode or "usual")
        folder.mkdir()
        await agent.open(folder)
        try:
            return [finding.text for finding in await agent.examine()]
        finally:
            await agent.close()

    assert "quoting 1.0; it says 'I do not know.'" in asyncio.run(examined(""))[0]
    assert asyncio.run(examined("forgets"))[1] == "it cannot load a session: no run of it can be resumed"


@pytest.mark.parametrize("command", ["", "no-such-program-anywhere"])
def test_a_program_that_is_not_there_is_refused_before_the_run(command: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"acp: (command is empty|there is no program)"):
        asyncio.run(make_agent("acp", {"command": command}).open(tmp_path))


QWEN = os.environ.get("LTM_BENCH_QWEN")


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.skipif(QWEN is None, reason="no Qwen Code: set LTM_BENCH_QWEN (CONTRIBUTING.md, Groups)")
def test_a_real_agent_runs_is_restarted_and_its_calls_are_counted(
    command: "Command", server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdefgh")
    words = ("-A", f"command={QWEN} --acp --auth-type openai --model gpt-6-luna", "--max-cost", "50")
    through = ("--gateway", "--upstream", f"openai={server.openai_url}")
    run = ("run", "--span", "4k", "--scenario", "chapter_break", "--scenario", "colours", "--examples", "1")
    done = command(*run, "--agent", "acp", *words, *through, "--name", "r")
    assert done.exit_code == 0, done.err
    found = json.loads((tmp_path / "reports/r/results.json").read_text("utf-8"))
    assert found["costs"]["dollars"] > 0
    assert found["costs"]["gateway"]["unassigned"] == 0
    assert found["context"]["mean"] > 5_000
