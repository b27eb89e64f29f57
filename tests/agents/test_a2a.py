"""Agents behind A2A: the SDK's own server, and one from the specification, which can misbehave."""

import asyncio
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import AgentError, CannotResume, Finish
from ltm_bench.core.agent import Agent
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.a2a_server import Behind, own_server, sdk_server
else:
    from a2a_server import Behind, own_server, sdk_server

pytest.importorskip("a2a", reason="needs the extra: pip install ltm-bench[a2a]")

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
PARROT, QUESTION = "My parrot is called Zebedee.", "What is my parrot called?"
RIGHT = f"You said: {PARROT}"


async def talk(
    behind: Behind, folder: Path, said: Iterable[str], user: str | None = None, **settings: Any
) -> list[Reply]:
    agent = make_agent("a2a", {"url": behind.url, "timeout": 20.0, **settings})
    folder.mkdir(exist_ok=True)
    try:
        await agent.open(folder)
        return [await agent.reply(Message(text, START, i, user=user)) for i, text in enumerate(said)]
    finally:
        await agent.close()


def heard(behind: Behind, folder: Path, *said: str, **settings: Any) -> list[str]:
    return [each.text for each in asyncio.run(talk(behind, folder, said, **settings))]


@pytest.mark.parametrize("binding", ["", "JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("version", ["", "1.0", "0.3"])
def test_a_server_of_the_sdk_is_spoken_to_in_both_bindings_and_versions(
    version: str, binding: str, tmp_path: Path
) -> None:
    with sdk_server(Behind(mode=version)) as behind:
        found = heard(behind, tmp_path, PARROT, QUESTION, f"{QUESTION} (completed)", binding=binding)
        assert found[:2] == ["I do not know.", RIGHT]
        assert found[2].startswith("You s\naid: ")  # two artifacts of a task
        assert len(behind.heard) == 1


@pytest.mark.parametrize("state", ["failed", "canceled", "auth_required"])
def test_a_task_that_did_not_end_with_an_answer_is_told_of_as_what_it_is(state: str, tmp_path: Path) -> None:
    with sdk_server(Behind()) as behind, pytest.raises(AgentError) as caught:
        heard(behind, tmp_path, state)
    assert str(caught.value) == f"{behind.url} left its task as {state!r}: It is {state}."


def test_a_task_that_is_rejected_is_a_refusal_and_one_that_needs_input_asks_back(tmp_path: Path) -> None:
    with sdk_server(Behind()) as behind:
        said = ("rejected", "input_required", "completed, now")
        rejected, asks, completed = asyncio.run(talk(behind, tmp_path, said))
    assert rejected == Reply("It is rejected.", finish=Finish.REFUSAL)
    assert asks == Reply("It is input_required.")
    assert completed.finish is Finish.STOP
    assert len(behind.heard) == 1


@pytest.mark.parametrize("mode", ["", "0.3"])
def test_a_server_from_the_specification_gets_what_that_shows(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "sk-planted-0123456789abcdefgh")
    with own_server(Behind(mode=mode)) as behind:
        assert heard(behind, tmp_path, PARROT, QUESTION, headers="Authorization=MY_TOKEN") == [
            "I do not know.",
            RIGHT,
        ]
    posted = [each for each in behind.seen if each[0] not in ("/.well-known/agent-card.json",)]
    assert [method for method, *_ in posted] == ["message/send" if mode else "SendMessage"] * 2
    first, second = (body["params"]["message"] for *_, body in posted)
    assert "contextId" not in first or not first["contextId"]
    assert second["contextId"] == "context-0"
    assert first["messageId"] != second["messageId"]
    assert first["role"] == ("user" if mode else "ROLE_USER")
    for _, headers, _ in behind.seen:
        assert {name.lower(): value for name, value in headers.items()}["authorization"].startswith(
            "sk-planted"
        )
    if not mode:
        assert {name.lower(): value for name, value in posted[0][1].items()}["a2a-version"] == "1.0"
    assert "sk-planted" not in "".join(path.read_text("utf-8") for path in tmp_path.iterdir())


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
def test_parts_are_joined_in_order_and_a_task_is_asked_for_until_it_ends(
    binding: str, tmp_path: Path
) -> None:
    with own_server(Behind(mode="parts")) as behind:
        assert heard(behind, tmp_path / "one", "Hello!", binding=binding) == [
            'I d\no not know.\n{"a": [2.0], "b": 1.0}'
        ]
        behind.mode = "slow"
        assert heard(behind, tmp_path / "two", "Hello!", binding=binding) == ["At last."]
        assert behind.tasks["t"] == 5


@pytest.mark.parametrize(
    ("mode", "line"),
    [
        ("no card", "failed: Failed to fetch agent card from"),
        ("moved", "failed: Failed to fetch agent card from"),
        ("elsewhere", "its card leads to another server; set url to 'http://127.0.0.2:1/rpc'"),
        ("dies", "failed: Network communication error"),
        ("floods", "failed: "),
        ("errs", "failed: out of cheese"),
        ("endless", "did not answer within timeout=2 seconds"),
        ("strays", "answered in another context than the one it was asked in"),
    ],
)
def test_a_hostile_agent_is_told_of_in_one_line(mode: str, line: str, tmp_path: Path) -> None:
    timeout = 2.0 if mode == "endless" else 30.0
    with own_server(Behind(mode=mode)) as behind, pytest.raises(AgentError) as caught:
        heard(behind, tmp_path, "Hello!", "Hello again!", timeout=timeout)
    said = str(caught.value)
    assert said.startswith(behind.url)
    assert line in said
    assert "\n" not in said
    assert len(said) < 500
    if mode == "endless":
        assert behind.seen[-1][0] == "CancelTask"


def test_a_conversation_goes_on_in_its_context_and_not_with_another_agent(tmp_path: Path) -> None:
    async def again(agent: Agent, turns: list[Turn]) -> str:
        try:
            await agent.open(tmp_path)
            await agent.restore(turns)
            return (await agent.reply(Message(QUESTION, START, 1))).text
        finally:
            await agent.close()

    with own_server(Behind()) as behind:
        heard(behind, tmp_path, PARROT)
        turns = [Turn(Message(PARROT, START, 0), Reply("I do not know."))]
        made = {"url": behind.url}
        assert asyncio.run(again(make_agent("a2a", made), turns)) == RIGHT
        behind.version = "2.0.0"
        with pytest.raises(CannotResume, match=r"is 'by hand 2\.0\.0' now, and was 'by hand 1\.0\.0'"):
            asyncio.run(again(make_agent("a2a", made), turns))
        behind.version = "1.0.0"
        (tmp_path / "contexts.json").write_text(json.dumps({"contexts": {}}), "utf-8")
        with pytest.raises(CannotResume, match="named no context"):
            asyncio.run(again(make_agent("a2a", made), turns))


def test_every_user_has_a_context(tmp_path: Path) -> None:
    with own_server(Behind()) as behind:
        asyncio.run(talk(behind, tmp_path, [PARROT], user="ada"))
        assert heard(behind, tmp_path, QUESTION, user="bob") == ["I do not know."]
        assert heard(behind, tmp_path, QUESTION, user="ada") == [RIGHT]


@pytest.mark.parametrize(("mode", "kept"), [("", "it keeps a context"), ("loose", "it names no context")])
def test_doctor_says_which_agent_it_is_and_whether_it_keeps_a_context(
    mode: str, kept: str, tmp_path: Path
) -> None:
    async def examined(url: str) -> list[str]:
        agent = make_agent("a2a", {"url": url})
        try:
            await agent.open(tmp_path)
            return [finding.text for finding in await agent.examine()]
        finally:
            await agent.close()

    with own_server(Behind(mode=mode)) as behind:
        first, second = asyncio.run(examined(behind.url))
    assert "by hand 1.0.0; it says 'I do not know.'" in first
    assert second.startswith(kept)
