"""Claude's memory tool, carried out by the SDK's own helper on files, against a scripted model."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Calls, Provider, keep_files
from ltm_bench.core.errors import AgentError, CannotResume, ConfigError
from ltm_bench.core.messages import Finish, Message
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import Conversation, Open, conversations, turn
else:
    from memories import Conversation, Open, conversations, turn

TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]


@pytest.fixture
def open_in(tmp_path: Path, server: Provider, key: str) -> Iterator[Open]:
    server.answer = keep_files
    usual = {"model": "some-model", "base_url": server.url, "max_retries": 0}
    with conversations(tmp_path, "anthropic_memory", **usual) as start:
        yield start


def held(talk: Conversation) -> list[str]:
    return [memory.text for memory in talk.memories()]


def held_in(home: Path) -> list[str]:
    return (home / "files" / "memories" / "notes.md").read_text().splitlines()


def by(user: str, number: int, text: str) -> Message:
    return replace(turn(number, text).message, user=user)


def test_what_it_writes_to_a_file_outlives_the_window(open_in: Open, server: Provider) -> None:
    talk = open_in(window=6000, max_output=500)
    talk.say(0, TOLD[0])
    talk.observe(*(turn(n, "Quiz round: " + "what is the capital of Peru " * 150) for n in range(1, 5)))
    assert talk.say(5, "What is my parrot called?").reply.text == TOLD[0]
    assert TOLD[0] not in "".join(m["content"] for m in server.chats[-3].messages if m["role"] == "user")
    assert (talk.home / "files" / "memories" / "notes.md").read_text() == f"{TOLD[0]}\n"


def test_the_tool_is_sent_under_the_providers_own_name(open_in: Open, server: Provider) -> None:
    open_in().say(0, TOLD[0])
    assert server.chats[0].body["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert server.chats[0].body["cache_control"] == {"type": "ephemeral"}
    call, result = server.chats[1].body["messages"][-2:]
    assert call["content"][0]["type"] == "tool_use"
    assert result["content"][0]["tool_use_id"] == call["content"][0]["id"]
    assert not result["content"][0]["is_error"]


def test_its_memories_are_the_lines_of_its_files(open_in: Open) -> None:
    talk = open_in()
    for number, text in enumerate(TOLD):
        talk.say(number, text)
    assert [(m.text, m.turn, m.id) for m in talk.memories()] == [
        (TOLD[1], 1, "files/notes.md:1"),
        (TOLD[0], 0, "files/notes.md:2"),
    ]
    assert {m.at for m in talk.memories()} == {turn(0, "").message.at, turn(1, "").message.at}


def test_the_usage_is_that_of_all_its_requests_and_no_more_than_was_reserved(
    open_in: Open, server: Provider
) -> None:
    spent: list[dict[str, int]] = []

    def note(body: dict[str, Any]) -> dict[str, Any]:
        spent.append(body["usage"])
        return body

    server.edit = note
    talk = open_in()
    most = talk.agent.reserve(turn(0, TOLD[0]).message)
    usage = talk.say(0, TOLD[0]).reply.usage
    assert len(spent) == 3
    assert usage is not None
    assert usage.prompt == sum(sum(v for k, v in each.items() if "input" in k) for each in spent)
    assert usage.output == sum(each["output_tokens"] for each in spent)
    assert most is not None
    assert most.prompt >= 7 * max(sum(v for k, v in each.items() if "input" in k) for each in spent)
    assert most.output == 7 * 4096
    server.edit = lambda body: {**body, "usage": None} if len(server.chats) == 5 else body
    assert talk.say(1, TOLD[1]).reply.usage is None  # one of the requests did not report any


def test_it_stops_after_the_set_number_of_rounds(open_in: Open, server: Provider) -> None:
    view = Calls(json.dumps([{"name": "memory", "arguments": {"command": "view", "path": "/memories"}}]))
    server.answer = lambda messages: "Enough." if len(server.chats) == 4 else view
    assert open_in(rounds=3).say(0, "Hello!").reply.text == "Enough."
    assert [request.tools for request in server.chats] == [["memory"]] * 3 + [[]]


def test_what_the_tool_answers_never_outgrows_the_window(open_in: Open, server: Provider) -> None:
    talk = open_in(window=8000, max_output=400)
    talk.say(0, TOLD[0])
    (talk.home / "files" / "memories" / "notes.md").write_text("My parrot likes nuts. " * 5000)
    talk.say(1, "What does my parrot like?")
    assert "(cut: no room for more)" in server.chats[-1].messages[-1]["content"]
    assert server.count(server.chats[-1].messages) * 1.5 + 400 < 8000
    assert server.chats[-1].tools == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "view", "path": "/etc/passwd"},
        {"command": "view", "path": "/memories/../../../name"},
        {"command": "create", "path": "/memories/../escaped.txt", "file_text": "x"},
        {"command": "view"},
        {"command": "burn", "path": "/memories"},
        {"command": "create", "path": 7, "file_text": ["x"]},
        {},
    ],
)
def test_an_invalid_call_is_answered_and_nothing_outside_is_touched(
    open_in: Open, server: Provider, tmp_path: Path, arguments: dict[str, Any]
) -> None:
    call = Calls(json.dumps([{"name": "memory", "arguments": arguments}]))
    server.answer = lambda messages: "Sorry." if messages[-1]["role"] == "tool" else call
    assert open_in().say(0, "Hello!").reply.text == "Sorry."
    result = server.chats[-1].body["messages"][-1]["content"][0]
    assert result["is_error"]
    assert str(tmp_path) not in result["content"]
    assert not list(tmp_path.rglob("escaped.txt"))


def test_a_tool_that_does_not_exist_is_named(open_in: Open, server: Provider) -> None:
    call = Calls(json.dumps([{"name": "bash", "arguments": {"command": "ls"}}]))
    server.answer = lambda messages: "Sorry." if messages[-1]["role"] == "tool" else call
    open_in().say(0, "Hello!")
    assert server.chats[-1].messages[-1]["content"] == "There is no tool 'bash', only memory."


def test_a_resumed_run_has_the_files_of_its_log_and_no_others(open_in: Open, server: Provider) -> None:
    talk = open_in()
    turns = [talk.say(0, TOLD[0]), talk.fill(1, TOLD[2])]
    files = held(talk)
    talk.say(2, "My parrot is called Archibald now.")  # not in the log
    assert len(held(talk)) == 2
    talk.close()
    before = len(server.chats)
    again = open_in()
    again.restore(*turns)
    assert held(again) == files == [TOLD[0]]
    assert len(server.chats) == before
    again.say(2, TOLD[1])
    assert held(again) == [TOLD[1], TOLD[0]]
    again.close()
    other = open_in()  # and a new conversation in the same folder has none
    other.say(0, "Hello!")
    assert held(other) == []


def test_a_run_whose_files_are_gone_cannot_be_resumed(open_in: Open) -> None:
    told = open_in("home").say(0, TOLD[0])
    with pytest.raises(CannotResume, match="what Claude had written down is missing"):
        open_in("elsewhere").restore(told)


def test_a_reply_that_is_interrupted_leaves_the_files_as_they_were(open_in: Open, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD[0])

    def hangs_after_writing(messages: Any) -> str:
        if len(server.chats) == 5:
            server.fail("hang", seconds=20)
        return keep_files(messages)

    server.answer = hangs_after_writing

    async def interrupted() -> None:
        task = asyncio.ensure_future(talk.agent.reply(turn(1, TOLD[1]).message))
        while len(server.chats) < 6:
            await asyncio.sleep(0.01)
        assert held_in(talk.home) == [TOLD[1], TOLD[0]]
        task.cancel()
        await asyncio.wait([task])

    talk.runner.run(interrupted())
    assert held_in(talk.home) == [TOLD[0]]


def test_a_reply_that_failed_leaves_the_files_as_they_were(open_in: Open, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD[0])

    def fails_after_writing(messages: Any) -> str:
        if len(server.chats) == 5:  # the next request carries the tool's answer to this one
            server.fail(status=500)
        return keep_files(messages)

    server.answer = fails_after_writing
    with pytest.raises(AgentError, match="HTTP 500"):
        talk.say(1, TOLD[1])
    assert held(talk) == [TOLD[0]]


def test_a_question_beside_the_conversation_writes_nothing(open_in: Open, server: Provider) -> None:
    talk = open_in()
    talk.say(0, TOLD[0])
    message = turn(1, "What is my parrot called?").message
    call = talk.runner.run(talk.agent.fork(message))
    told = talk.runner.run(talk.agent.fork(turn(1, "My parrot is called Archibald now.").message))
    talk.say(1, TOLD[1])

    async def both() -> list[str]:
        return [each.text for each in await asyncio.gather(call(), told())]

    assert talk.runner.run(both()) == [TOLD[0], "Noted."]
    assert held(talk) == [TOLD[1], TOLD[0]]
    assert not list(talk.home.glob("fork-*"))


def test_users_have_folders_and_conversations_of_their_own(open_in: Open, server: Provider) -> None:
    talk = open_in()
    assert talk.agent.keeps_users
    run, agent = talk.runner.run, talk.agent
    run(agent.reply(by("Ada", 0, "My parrot is called Zebedee.")))
    run(agent.reply(by("ada/..", 1, "My parrot is called Archibald.")))
    assert run(agent.reply(by("Ada", 2, "What is my parrot called?"))).text == "My parrot is called Zebedee."
    assert "Archibald" not in json.dumps(server.chats[-1].body)
    assert run(agent.reply(by("ada/..", 3, "My parrot?"))).text == "My parrot is called Archibald."
    assert run(agent.reply(by("Bob", 4, "What is my parrot called?"))).text == "I do not know."
    assert {(m.user, m.text) for m in talk.memories()} == {
        ("Ada", "My parrot is called Zebedee."),
        ("ada/..", "My parrot is called Archibald."),
    }
    assert all(path.parent == talk.home for path in talk.home.glob("files-*"))


def test_forgetting_deletes_the_lines_about_it_for_good(open_in: Open) -> None:
    talk = open_in()
    turns = [talk.say(n, text) for n, text in enumerate(TOLD)]
    assert talk.runner.run(talk.agent.forget("the parrot")) == 1
    assert held(talk) == [TOLD[1]]
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert held(again) == [TOLD[1]]
    assert again.runner.run(again.agent.forget("the parrot")) == 0


def test_a_message_that_does_not_fit_is_an_overflow(open_in: Open) -> None:
    talk = open_in(window=6000, max_output=500)
    reply = talk.say(0, "a lot " * 9000).reply
    assert reply.finish is Finish.OVERFLOW
    assert talk.agent.reserve(turn(1, "a lot " * 9000).message) == reply.usage


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({}, "the setting 'model' is required"),
        ({"model": "m", "rounds": 0}, "rounds = 0"),
        ({"model": "m", "window": 100}, "window = 100"),
        ({"model": "m", "ttl": "9m"}, "ttl"),
    ],
)
def test_a_wrong_setting_is_named(key: str, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        make_agent("anthropic_memory", settings)


def test_scripted_acknowledgements_are_refused(key: str) -> None:
    agent = make_agent("anthropic_memory", {"model": "some-model"})
    assert agent.writes_in_reply
    assert agent.observes
    assert agent.usage_model() is None
