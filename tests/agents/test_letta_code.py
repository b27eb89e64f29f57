"""Letta Code on its local backend: its own program, against a scripted model that keeps notes with its shell."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.adapters.testing.remembering import call, newest
from ltm_bench.core.errors import AgentError, CannotResume, ConfigError
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import Conversation, Open, conversations, turn
    from tests.notes import keep_notes
else:
    from memories import Conversation, Open, conversations, turn
    from notes import keep_notes

PARROT = "My parrot is called Zebedee."
BOAT = "My sailing boat is Undine."
NAMED = "Which is my sailing boat?"


@pytest.fixture
def open_in(tmp_path: Path, server: Provider, key: str) -> Iterator[Open]:
    pytest.importorskip("letta_code", reason="needs the extra: pip install ltm-bench[letta-code]")
    server.answer = keep_notes
    usual = {"model": "some-model", "base_url": server.openai_url, "timeout": 60.0}
    with conversations(tmp_path, "letta_code", **usual) as start:
        yield start


def held(talk: Conversation) -> list[str]:
    """Return the lines that the agent wrote, without Letta's own first lines."""
    return [memory.text for memory in talk.memories() if "/notes.md:" in str(memory.id)][2:]


def told(server: Provider) -> str:
    """Return what the user said in the newest request."""
    return [one["content"] for one in server.chats[-1].messages if one["role"] == "user"][-1]


def test_what_it_commits_is_its_memory_and_all_its_requests_are_counted(
    open_in: Open, server: Provider
) -> None:
    spent: list[dict[str, Any]] = []

    def note(body: dict[str, Any]) -> dict[str, Any]:
        spent.append(body["usage"])
        return body

    server.edit = note
    talk = open_in(window=16_000, max_output=500)
    reply = talk.say(0, PARROT).reply
    assert held(talk) == [PARROT]
    assert reply.text == "Noted."
    assert len(spent) == 2
    assert reply.usage is not None
    assert reply.usage.prompt == sum(each["prompt_tokens"] for each in spent)
    assert reply.usage.output == sum(each["completion_tokens"] for each in spent)
    assert server.chats[0].body["max_completion_tokens"] == 500
    assert sorted(server.chats[0].tools) == ["Bash", "Edit", "Memory", "Read", "Write"]
    assert "Local time" not in str(server.chats[0].body)  # this machine's is not the benchmark's


def test_its_programs_leave_nothing_in_the_folder_for_temporary_files(
    open_in: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    talk = open_in()
    talk.say(0, PARROT)
    talk.close()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_an_observed_turn_is_handed_over_with_the_next_message_and_once(
    open_in: Open, server: Provider
) -> None:
    talk = open_in()
    talk.fill(0, BOAT)
    assert server.chats == []
    assert talk.say(1, NAMED).reply.text == BOAT
    assert held(talk) == [BOAT]
    talk.say(2, "Hello!")
    assert "Hello!" in told(server)
    assert BOAT not in told(server)


def test_what_exceeds_the_window_is_handed_over_in_parts(open_in: Open, server: Provider) -> None:
    talk = open_in(window=24_000, tools="Memory,Read")
    server.answer = lambda _: "OK."
    for number in range(3):
        talk.fill(number, "It rained. " * 1000)
    talk.say(3, "Hello!")
    assert len(server.chats) == 2
    assert "Reply with OK" in server.chats[0].messages[-1]["content"]
    assert "Hello!" not in server.chats[0].messages[-1]["content"]


def test_a_conversation_that_outgrows_the_window_is_summarised(open_in: Open, server: Provider) -> None:
    talk = open_in(window=12_000, max_output=500, tools="Memory,Read")
    server.answer = lambda _: "So be it."
    for number in range(6):
        talk.say(number, f"{number}: {'It rained all day in Ribe. ' * 300}")
    assert all(server.count(request.messages) < 12_000 for request in server.chats)
    assert "0: It rained" not in str(server.chats[-1].body["messages"])


def test_a_resumed_run_has_the_files_of_its_log_and_the_pending_turns(open_in: Open) -> None:
    talk = open_in("one")
    first, filler = talk.say(0, PARROT), talk.fill(1, BOAT)
    talk.say(2, "I moved to Ribe.")  # not in the log: killed before
    assert held(talk) == [PARROT, BOAT, "I moved to Ribe."]
    talk.close()
    again = open_in("one")
    again.restore(first, filler)
    assert held(again) == [PARROT]
    assert again.say(2, NAMED).reply.text == BOAT  # it still commits, so Letta's hooks can run
    assert held(again) == [PARROT, BOAT]
    with pytest.raises(CannotResume, match="--fresh"):
        open_in("elsewhere").restore(first)


def test_what_is_forgotten_leaves_the_files_the_prompt_and_a_resumed_run(
    open_in: Open, server: Provider
) -> None:
    talk = open_in("one")
    turns = [talk.say(0, PARROT), talk.say(1, BOAT)]
    assert talk.runner.run(talk.agent.forget("parrot")) == 1
    assert held(talk) == [BOAT]
    talk.close()
    again = open_in("one")
    again.restore(*turns)
    assert held(again) == [BOAT]


def test_each_user_has_an_agent(open_in: Open) -> None:
    talk = open_in()
    for number, (user, text) in enumerate((("Ada", PARROT), ("Ben", BOAT))):
        talk.runner.run(talk.agent.reply(replace(turn(number, text).message, user=user)))
    notes = [(memory.user, memory.text) for memory in talk.memories() if "/notes.md:" in str(memory.id)]
    assert ("Ada", PARROT) in notes
    assert ("Ben", BOAT) in notes
    assert len(notes) == 6


def test_the_shell_sees_the_key_of_the_model_and_no_other(
    open_in: Open, server: Provider, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-key-of-something-else-0123")
    talk = open_in()
    asked = call("Bash", command="env; pwd", description="Look around")
    server.answer = lambda messages: "Done." if newest(messages)[1] else asked
    talk.say(0, "Look around.")
    [seen] = newest(server.chats[-1].messages)[1]
    assert "LMSTUDIO_API_KEY" in seen
    assert "SOME_API_KEY" not in seen
    assert f"HOME={talk.home.resolve()}" in seen


def test_a_model_that_does_not_exist_is_reported_in_one_line(open_in: Open) -> None:
    talk = open_in(model="no-such-model")
    with pytest.raises(AgentError, match="no-such-model") as error:
        talk.say(0, "Hello!")
    assert "\n" not in str(error.value)


def test_doctor_says_which_version_is_installed(open_in: Open) -> None:
    findings = open_in().runner.run(open_in("other").agent.examine())
    assert all(finding.ok for finding in findings)
    assert "Letta Code" in findings[-1].text


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": "some-model"}, "openai/NAME or anthropic/NAME"),
        ({"model": "mistral/large"}, "set base_url"),
        ({"model": "openai/gpt-6-luna", "window": 4000}, "window = 4000"),
        ({"model": "openai/gpt-6-luna", "command": " "}, "command is empty"),
    ],
)
def test_a_wrong_setting_is_refused(settings: dict[str, Any], said: str, key: str) -> None:
    with pytest.raises(ConfigError, match=said):
        make_agent("letta_code", settings)


def test_a_missing_program_is_reported_with_where_to_get_it(tmp_path: Path, key: str) -> None:
    agent = make_agent("letta_code", {"model": "openai/gpt-6-luna", "command": "no-such-letta"})
    with pytest.raises(ConfigError, match=r"ltm-bench\[letta-code\]"):
        asyncio.run(agent.open(tmp_path))
