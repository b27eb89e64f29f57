"""Cognee itself, in a separate process, against a model on this machine."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Turn
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import Open, conversations, model, turn
else:
    from memories import Open, conversations, model, turn

TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]


@pytest.fixture
def open_in(tmp_path: Path, server: Provider, key: str) -> Iterator[Open]:
    python = os.environ.get("LTM_BENCH_COGNEE")
    if not python:
        pytest.skip("needs LTM_BENCH_COGNEE: a Python that has cognee==1.6.5")
    server.answer = model
    usual = {
        "model": "some-model",
        "python": python,
        "base_url": server.openai_url,
        "embedder": "local",
        "max_retries": 0,
    }
    with conversations(tmp_path, "cognee", **usual) as start:
        yield start


def made(python: object) -> Agent:
    return make_agent("cognee", {"model": "some-model", "embedder": "local", "python": str(python)})


def test_a_relative_python_is_that_of_the_folder_where_the_run_began(
    key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    agent: Any = made("env/bin/python")
    assert agent._python == str(tmp_path / "env" / "bin" / "python")


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (None, "No such file or directory"),
        ("import sys; sys.exit(3)", "its process ended with code 3"),
        ('print(\'{"version": ""}\')', "has no cognee"),
        ('print(\'{"version": "2.0"}\')', "has cognee 2.0"),
    ],
)
def test_a_python_without_cognee_is_reported_in_one_line(
    tmp_path: Path, key: str, program: str | None, why: str
) -> None:
    python = tmp_path / "python"
    if program is not None:
        python.write_text(f"#!{sys.executable}\n{program}\n", "utf-8")
        python.chmod(0o755)
    agent = made(python)
    with pytest.raises(ConfigError, match=rf"^agent cognee: {python}: .*{why}.*; make an environment .*$"):
        asyncio.run(agent.open(tmp_path))
    asyncio.run(agent.close())
    (finding,) = asyncio.run(made(python).examine())
    assert (finding.ok, why in finding.text) == (False, True)


def facts(agent: Agent) -> Any:
    async def listed() -> list[tuple[str, int | None, str | None]]:
        return [(each.text, each.turn, each.user) async for each in agent.memories()]

    return listed()


def test_it_answers_from_what_it_extracted_and_resumes_with_it(
    open_in: Open, server: Provider, key: str
) -> None:
    talk = open_in(recent=0, embedder="some-embedder", dimensions=512)
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns)
    asked = talk.say(3, "What is my parrot called?")
    assert "Zebedee" in asked.reply.text
    known = talk.runner.run(facts(talk.agent))
    assert ("User says: My parrot is called Zebedee.", 0, None) in known
    assert ("User says: I moved to Ribe.", 1, None) in known
    usage = asked.reply.usage
    assert usage is not None
    assert [each.model for each in usage.besides] == ["some-embedder"]
    assert len(server.chats) == 4 * 2 + 1  # an extraction and a summary of every turn, and one answer
    talk.close()

    before = len(server.chats)
    again = open_in(embedder="some-embedder", dimensions=512)
    again.restore(*turns)  # without the last one, already heard
    assert len(server.chats) == before  # nothing was extracted again
    left = again.runner.run(facts(again.agent))
    assert left == [each for each in known if each[1] != 3]
    again.close()

    again.home.rename(again.home.with_name("elsewhere"))
    moved = open_in("elsewhere", embedder="some-embedder", dimensions=512)
    moved.restore(turns[0])  # its databases contain their folders' paths, so it is told everything again
    assert len(server.chats) == before + 2
    assert {number for _, number, _ in moved.runner.run(facts(moved.agent))} == {0}


def test_a_failed_run_resumes_and_failures_are_one_line_without_the_key(
    open_in: Open, server: Provider
) -> None:
    talk = open_in()
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns[:2])
    server.fail(status=401, message="Incorrect API key provided: sk-not*****6789")
    with pytest.raises(AgentError, match="the key in OPENAI_API_KEY") as caught:
        talk.observe(turns[2])
    assert "sk-not" not in str(caught.value)
    talk.restore(*turns[:2])
    server.answer = lambda _: "I would rather not."
    with pytest.raises(AgentError, match=r"^cognee: remember failed: .*Invalid JSON"):
        talk.observe(turns[2])
    talk.close()
    server.answer = model
    again = open_in()
    again.restore(*turns)
    assert {number for _, number, _ in again.runner.run(facts(again.agent))} == {0, 1, 2}


def test_users_are_kept_apart_and_what_is_forgotten_stays_forgotten(open_in: Open) -> None:
    talk = open_in(recent=0)
    turns = [turn(0, TOLD[0]), turn(1, "My parrot is called Archibald."), turn(2, TOLD[1])]
    turns = [
        replace(each, message=replace(each.message, user=user))
        for each, user in zip(turns, ("Ada", "Bob", "Bob"), strict=True)
    ]
    talk.observe(*turns)
    asked = replace(turn(3, "Where is Ribe?").message, user="Bob")
    heard = Turn(asked, replace(turn(3, "").reply, text="Your parrot Archibald knows."))
    talk.observe(heard)

    async def listed(agent: Agent) -> set[tuple[str | None, int | None]]:
        return {(memory.user, memory.turn) async for memory in agent.memories()}

    assert talk.runner.run(listed(talk.agent)) == {("Ada", 0), ("Bob", 1), ("Bob", 2), ("Bob", 3)}
    assert talk.runner.run(talk.agent.forget("parrot")) == 5  # three passages, two facts
    kept = talk.runner.run(facts(talk.agent))
    assert {(user, number) for _, number, user in kept} == {("Bob", 2), ("Bob", 3)}
    assert not any("parrot" in text for text, _, _ in kept)
    assert "parrot" not in (talk.home / "heard.jsonl").read_text("utf-8")
    talk.close()

    shutil.rmtree(talk.home / "cognee")
    shutil.rmtree(talk.home / "states")
    (talk.home / "heard.jsonl").unlink()
    again = open_in(recent=0)
    again.restore(*turns, heard)  # told everything again, except that
    assert again.runner.run(facts(again.agent)) == kept
