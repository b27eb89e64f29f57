"""The adapter for Zep, through its real client, against a fake cloud."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.plugins.agents import agent_class, make_agent

if TYPE_CHECKING:
    from tests.memories import SESSION, Open, conversations, model, record, turn
    from tests.products import Zep, serving
else:
    from memories import SESSION, Open, conversations, model, record, turn
    from products import Zep, serving

REASON = "needs the extra: pip install ltm-bench[zep]"
KEY = "z_not-a-key-0123456789"
TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]
FACT = ("User says: My parrot is called Zebedee.", None)


@pytest.fixture
def zep(monkeypatch: pytest.MonkeyPatch, key: str) -> Iterator[Zep]:
    pytest.importorskip("zep_cloud", reason=REASON)
    monkeypatch.setenv("ZEP_API_KEY", KEY)
    monkeypatch.delenv("ZEP_BASE_URL", raising=False)
    product = Zep()
    with serving(product):
        yield product


@pytest.fixture
def open_in(tmp_path: Path, zep: Zep, server: Provider, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    server.answer = model
    core = {"core": "openai_chat:some-model", "core_url": server.openai_url}
    monkeypatch.setattr(sys.modules[agent_class("zep").__module__], "_POLL", 0.0)
    with conversations(tmp_path, "zep", **core, base_url=zep.url, max_retries=0) as start:
        yield start


def test_a_missing_package_is_reported_in_one_line(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zep_cloud", None)
    monkeypatch.setenv("ZEP_API_KEY", KEY)
    agent = make_agent("zep", {"core": "openai_chat:m"})
    with pytest.raises(ConfigError, match=r"^agent zep: .* is not installed; .*\[zep\]'$"):
        asyncio.run(agent.open(tmp_path))
    asyncio.run(agent.close())


def test_a_wrong_setting_is_named(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZEP_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="ZEP_API_KEY is not set"):
        make_agent("zep", {"core": "openai_chat:m"})
    monkeypatch.setenv("ZEP_API_KEY", KEY)
    with pytest.raises(ConfigError, match="the setting 'core' is required"):
        make_agent("zep", {})
    with pytest.raises(ConfigError, match="memories = 0"):
        make_agent("zep", {"core": "openai_chat:m", "memories": 0})


def test_it_waits_for_the_graph_and_answers_from_it(open_in: Open, zep: Zep) -> None:
    zep.slowness = 3
    talk = open_in(recent=0)
    talk.observe(*(turn(n, text) for n, text in enumerate(TOLD)))
    reply = talk.say(3, "What is my parrot called?").reply
    assert "Zebedee" in reply.text
    assert reply.text.startswith("[Monday, 5 January 2026, 09:00, 3 minutes ago]")
    recalled = talk.recall("parrot", 4)
    assert (recalled[0], recalled[-1]) == (FACT, ("User: Somebody who talks.", None))
    assert zep.calls[0].headers["authorization"] == f"Api-Key {KEY}"
    assert zep.paths("GET").count("/tasks/task-3") == 4


def test_a_question_that_does_not_wait_is_answered_from_what_can_be_read(open_in: Open, zep: Zep) -> None:
    zep.slowness = 3
    talk = open_in(recent=0)
    talk.say(0, "My parrot is called Zebedee.")
    early = replace(turn(1, "What is my parrot called?").message, settle=False)
    assert "Zebedee" not in talk.runner.run(talk.agent.reply(early)).text
    assert "Zebedee" in talk.say(2, "What is my parrot called?").reply.text


def test_it_ranks_facts_and_entities_as_its_own_evaluation_does(open_in: Open, zep: Zep) -> None:
    talk = open_in()
    talk.observe(turn(0, TOLD[0]))
    talk.say(1, "What is my parrot called?")
    asked = {call.path.rpartition("/")[2]: call for call in zep.calls if "/search/" in call.path}
    assert {what: call.query["page_size"] for what, call in asked.items()} == {"edges": "15", "nodes": "5"}
    assert {call.body["reranker"] for call in asked.values()} == {"cross_encoder"}


def test_a_session_is_told_by_its_speakers_at_its_date(open_in: Open, zep: Zep) -> None:
    talk = open_in()
    told = record(*SESSION)
    talk.observe_session(told)
    [(_, _, messages)] = zep.tasks.values()
    assert [(each["role"], each["name"], each["content"]) for each in messages] == [
        ("assistant", "Melanie", "Any news?"),
        ("user", "Caroline", "I moved to Ribe.\nIt rained."),
        ("assistant", "Melanie", "My parrot is called Zebedee."),
    ]
    assert {each["reference_time"] for each in messages} == {"2023-05-07T13:56:00+00:00"}
    assert [each["metadata"]["turn"] for each in messages] == [0, 0, 1]
    talk.close()
    again = open_in()
    again.restore(*told)
    assert len(zep.tasks) == 1, "it was told twice"
    assert again.recall("parrot", 1) == [("Melanie says: My parrot is called Zebedee.", None)]


def test_its_price_is_unknown_and_its_tokens_are_the_cores(open_in: Open) -> None:
    talk = open_in()
    for reply in (talk.say(0, "Hello!").reply, talk.ask_apart(1, "Hello?")):
        assert reply.usage is not None
        assert reply.usage.prompt > 0
    agent: Any = talk.agent
    assert agent.charges_extra


def test_long_turns_come_in_pieces(open_in: Open, zep: Zep) -> None:
    talk = open_in()
    long = "One line of filler that is long enough.\n" * 4000
    talk.observe(turn(0, long + "x" * 9000 + " Zebedee"))
    talk.say(1, "What about " + "something " * 200 + "?")
    said = "".join(each["content"] for each in zep.users["user-1"]["episodes"] if each["role"] == "user")
    assert said.count("filler") == 4000
    assert said.count("x" * 1000) == 9
    assert "Zebedee" in said


def test_a_resumed_run_continues_with_its_graph(open_in: Open, zep: Zep) -> None:
    talk = open_in()
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns)
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert len(zep.tasks) == 3
    assert again.recall("parrot")[0] == FACT
    again.close()
    more = open_in()
    more.restore(*turns, turn(3, "It snowed."))
    assert len(zep.tasks) == 4
    assert list(zep.users) == ["user-1"]


def test_a_graph_that_heard_more_than_the_log_is_rebuilt(open_in: Open, zep: Zep) -> None:
    talk, other = open_in(), open_in("other")
    other.observe(turn(0, "Another one's parrot."))
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns)
    talk.say(3, "My parrot is called Archibald now.")
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert again.recall("parrot", 1) == [FACT]
    assert len(zep.users) == 2  # the other run's and a new one
    assert len({user["id"] for user in zep.users.values()}) == 2
    again.close()
    once_more = open_in()
    once_more.restore(*turns)
    assert len(zep.users) == 2


def test_a_user_that_was_created_but_not_recorded_is_deleted(open_in: Open, zep: Zep, tmp_path: Path) -> None:
    open_in().close()
    (tmp_path / "home" / "thread").unlink()
    open_in()
    assert list(zep.users) == ["user-3"]


def test_what_zep_cannot_process_stops_the_run_and_is_sent_again(open_in: Open, zep: Zep) -> None:
    talk = open_in()
    talk.observe(turn(0, TOLD[0]))
    zep.outcome = "failed"
    with pytest.raises(AgentError, match=r"failed to process a message \(the graph is full\)"):
        talk.say(1, "What is my parrot called?")
    talk.close()
    zep.outcome = "succeeded"
    again = open_in()
    again.restore(turn(0, TOLD[0]))
    assert again.recall("parrot")[0] == FACT


def test_it_does_not_wait_for_ever(open_in: Open, zep: Zep) -> None:
    zep.slowness = 10_000
    talk = open_in(patience=0.05)
    talk.observe(turn(0, TOLD[0]))
    with pytest.raises(AgentError, match=r"within patience=0\.05 seconds"):
        talk.say(1, "What is my parrot called?")


@pytest.mark.parametrize(
    ("status", "complaint"),
    [(401, "the key in ZEP_API_KEY"), (404, "HTTP 404"), (429, "rate limit"), (500, "provider failed")],
)
def test_failures_are_one_line_without_the_key(
    open_in: Open, zep: Zep, status: int, complaint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    talk = open_in()
    zep.faults = [(status, {"error": {"message": f"no good:\n{KEY}"}})]
    with pytest.raises(AgentError, match=complaint) as caught:
        talk.observe(turn(0, TOLD[0]))
    assert KEY not in str(caught.value) + "".join(capfd.readouterr())
    assert "\n" not in str(caught.value)
    assert KEY not in repr(talk.agent) + repr(vars(talk.agent))


def test_the_core_is_told_how_to_answer_by_us_or_by_the_maker(open_in: Open, server: Provider) -> None:
    prompts = {}
    for whose in ("ours", "maker"):
        open_in(whose, prompt=whose).say(0, "Hello!")
        prompts[whose] = server.chats[-1].messages[-1]["content"]
    assert "You are in one long conversation with a user." in prompts["ours"]
    assert "You have facts and entities from a conversation." in prompts["maker"]
    assert all(prompt.endswith("Hello!") for prompt in prompts.values())


def test_a_maker_that_says_nothing_about_answering_has_no_prompt(key: str) -> None:
    with pytest.raises(
        ConfigError, match="langmem: prompt=maker, but no answering prompt of its maker is known"
    ):
        make_agent("langmem", {"model": "m", "prompt": "maker"})
