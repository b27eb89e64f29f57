"""The adapter for Supermemory, through its real client, against a fake cloud."""

import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Turn
from ltm_bench.plugins.agents import agent_class, make_agent

if TYPE_CHECKING:
    from tests.memories import SESSION, Conversation, Open, Recalled, conversations, model, record, turn
    from tests.products import Supermemory, serving
else:
    from memories import SESSION, Conversation, Open, Recalled, conversations, model, record, turn
    from products import Supermemory, serving

REASON = "needs the extra: pip install ltm-bench[supermemory]"
KEY = "sm_not-a-key-0123456789"
TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]
PARROT = [
    ("User says: My parrot is called Zebedee.", 0),
    ("User: My parrot is called Zebedee.\nAssistant: Noted.", 0),
]
"""What a search for it finds."""


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, key: str) -> Iterator[Supermemory]:
    pytest.importorskip("supermemory", reason=REASON)
    monkeypatch.setenv("SUPERMEMORY_API_KEY", KEY)
    monkeypatch.delenv("SUPERMEMORY_BASE_URL", raising=False)
    product = Supermemory()
    with serving(product):
        yield product


@pytest.fixture
def open_in(
    tmp_path: Path, cloud: Supermemory, server: Provider, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Open]:
    server.answer = model
    core = {"core": "openai_chat:some-model", "core_url": server.openai_url}
    monkeypatch.setattr(sys.modules[agent_class("supermemory").__module__], "_POLL", 0.0)
    with conversations(tmp_path, "supermemory", **core, base_url=cloud.url, max_retries=0) as start:
        yield start


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the client retry without a pause."""
    client = pytest.importorskip("supermemory.core.http_client", reason=REASON)
    monkeypatch.setattr(client, "INITIAL_RETRY_DELAY_SECONDS", 0.001)


def turns() -> list[Turn]:
    return [turn(number, text) for number, text in enumerate(TOLD)]


def of(name: str, number: int, text: str, reply: str = "Noted.") -> Turn:
    """Return a turn of a user."""
    said = turn(number, text, reply)
    return replace(said, message=replace(said.message, user=name))


def recalled(talk: Conversation, query: str, user: str | None = None) -> list[Recalled]:
    agent: Any = talk.agent
    talk.runner.run(agent.settle())
    return [(memory.text, memory.turn) for memory in talk.runner.run(agent.find(query, 10, user))]


def forget(talk: Conversation, query: str) -> int:
    return talk.runner.run(talk.agent.forget(query))


# Setting it up


def test_a_missing_package_is_reported_in_one_line(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "supermemory", None)
    monkeypatch.setenv("SUPERMEMORY_API_KEY", KEY)
    agent = make_agent("supermemory", {"core": "openai_chat:m"})
    with pytest.raises(ConfigError, match=r"^agent supermemory: .* is not installed; .*\[supermemory\]'$"):
        asyncio.run(agent.open(tmp_path))
    asyncio.run(agent.close())


def test_a_wrong_setting_is_named(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUPERMEMORY_API_KEY", raising=False)
    monkeypatch.delenv("SUPERMEMORY_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match="SUPERMEMORY_API_KEY is not set"):
        make_agent("supermemory", {"core": "openai_chat:m"})
    monkeypatch.setenv("SUPERMEMORY_API_KEY", KEY)
    with pytest.raises(ConfigError, match="the setting 'core' is required"):
        make_agent("supermemory", {})
    with pytest.raises(ConfigError, match="memories = 0"):
        make_agent("supermemory", {"core": "openai_chat:m", "memories": 0})
    with pytest.raises(ConfigError, match="dreaming"):
        make_agent("supermemory", {"core": "openai_chat:m", "dreaming": "lucid"})


# What it remembers


def test_it_waits_for_the_documents_and_answers_from_them(open_in: Open, cloud: Supermemory) -> None:
    cloud.slowness = 3
    talk = open_in(recent=0)
    talk.observe(*turns())
    assert not any(path.endswith("/list/documents") for path in cloud.paths())
    assert talk.recall("parrot") == PARROT
    assert len([path for path in cloud.paths() if path.endswith("/list/documents")]) == 4
    reply = talk.say(3, "What is my parrot called?").reply
    assert "Zebedee" in reply.text
    assert reply.text.startswith("[Monday, 5 January 2026, 09:00, 3 minutes ago]")
    assert cloud.calls[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_document_has_the_benchmarks_time_and_is_processed_by_itself(
    open_in: Open, cloud: Supermemory
) -> None:
    open_in().observe(turns()[0])
    body = cloud.calls[0].body
    assert body["content"] == "User: My parrot is called Zebedee.\nAssistant: Noted."
    assert body["date"] == body["metadata"]["at"] == "2026-01-05T09:00:00+00:00"
    assert body["dreaming"] == "instant"
    open_in("other", dreaming="dynamic").observe(turns()[0])
    assert cloud.calls[1].body["dreaming"] == "dynamic"


def test_a_part_of_a_session_is_a_document_of_its_speakers_at_its_date(
    open_in: Open, cloud: Supermemory
) -> None:
    talk = open_in()
    talk.observe(*record(*SESSION))
    told = [call.body for call in cloud.calls if call.path.endswith("/document")]
    assert [body["content"] for body in told] == [
        "Melanie: Any news?\nCaroline: I moved to Ribe.\nIt rained.",
        "Melanie: My parrot is called Zebedee.",
    ]
    assert {body["date"] for body in told} == {"2023-05-07T13:56:00+00:00"}


def test_it_lists_facts_and_passages_page_by_page(
    open_in: Open, cloud: Supermemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[agent_class("supermemory").__module__], "_PAGE", 2)
    talk = open_in()
    talk.observe(*turns())
    talk.runner.run(talk.agent.settle())
    found = talk.memories()
    assert sorted((memory.text, memory.turn) for memory in found) == [
        ("User says: I moved to Ribe.", 1),
        ("User says: My parrot is called Zebedee.", 0),
        ("User: I moved to Ribe.\nAssistant: Noted.", 1),
        ("User: It rained all day.\nAssistant: Noted.", 2),
        ("User: My parrot is called Zebedee.\nAssistant: Noted.", 0),
    ]
    assert {memory.at for memory in found} == {each.message.at for each in turns()}
    assert len({memory.id for memory in found}) == 5


def test_its_price_is_unknown_and_its_tokens_are_the_cores(open_in: Open) -> None:
    talk = open_in()
    for reply in (talk.say(0, "Hello!").reply, talk.ask_apart(1, "Hello?")):
        assert reply.usage is not None
        assert reply.usage.prompt > 0
    agent: Any = talk.agent
    assert agent.charges_extra


def test_every_user_has_a_namespace_also_in_a_resumed_run(open_in: Open, cloud: Supermemory) -> None:
    told = [of("Ada", 0, TOLD[0]), of("Ben; ../x", 1, TOLD[1]), turn(2, "My boat is called Undine.")]
    talk = open_in()
    talk.observe(*told)
    assert len(cloud.spaces) == 3
    talk.close()
    again = open_in()
    again.restore(*told)
    assert recalled(again, "parrot", "Ada") == PARROT
    assert recalled(again, "parrot", "Ben; ../x") == recalled(again, "parrot", "Cy") == []
    assert [memory.user for memory in again.memories()] == [
        "Ada",
        "Ada",
        "Ben; ../x",
        "Ben; ../x",
        None,
        None,
    ]
    assert len(cloud.spaces) == 3


# A resumed run


def test_a_resumed_run_continues_with_its_documents(open_in: Open, cloud: Supermemory) -> None:
    cloud.slowness = 2
    talk = open_in()
    talk.observe(*turns())
    talk.close()
    again = open_in()
    again.restore(*turns())
    assert again.recall("parrot") == PARROT
    again.close()
    more = open_in()
    more.restore(*turns(), turn(3, "It snowed."))
    (space,) = cloud.spaces
    assert (
        len(cloud.contents(space)) == len([path for path in cloud.paths() if path.endswith("/document")]) == 4
    )


def test_documents_that_are_not_in_the_log_are_deleted(open_in: Open, cloud: Supermemory) -> None:
    talk, other = open_in(), open_in("other")
    other.observe(turn(0, "Another one's parrot."))
    talk.observe(*turns())
    talk.say(3, "My boat is called Undine.")
    talk.close()
    again = open_in()
    again.restore(*turns())
    assert again.recall("parrot boat Undine called") == PARROT
    assert [len(cloud.contents(space)) for space in cloud.spaces] == [1, 3]
    assert len([path for path in cloud.paths() if path.endswith("/document")]) == 5  # nothing was told again


@pytest.mark.parametrize("dreaming", ["instant", "dynamic"])
def test_everything_is_told_again_where_deleting_would_not_restore_it(
    open_in: Open, cloud: Supermemory, dreaming: str
) -> None:
    talk = open_in(dreaming=dreaming)
    talk.observe(*turns())
    new = "My parrot is called Archibald now." if dreaming == "instant" else "My boat is called Undine."
    talk.say(3, new)
    (old,) = cloud.spaces
    talk.close()
    again = open_in(dreaming=dreaming)
    again.restore(*turns())
    assert again.recall("parrot") == PARROT
    (space,) = cloud.spaces
    assert space != old
    again.close()
    once_more = open_in(dreaming=dreaming)
    once_more.restore(*turns())
    assert [*cloud.spaces] == [space]


def test_documents_that_cannot_be_deleted_have_everything_told_again(
    open_in: Open, cloud: Supermemory
) -> None:
    talk = open_in()
    talk.observe(*turns())
    talk.close()
    cloud.refuses = True
    again = open_in()
    again.restore(*turns()[:2])
    (space,) = cloud.spaces
    assert len(cloud.contents(space)) == 2


def test_a_turn_that_was_cut_off_by_a_crash_is_told_once(
    open_in: Open, cloud: Supermemory, tmp_path: Path
) -> None:
    talk = open_in()
    talk.observe(*turns())
    talk.close()
    heard = tmp_path / "home" / "heard.jsonl"
    lines = heard.read_text("utf-8").splitlines(keepends=True)
    heard.write_text("".join(lines[:-1]), "utf-8")  # Supermemory has it, the ledger does not
    again = open_in()
    again.restore(*turns())
    (space,) = cloud.spaces
    assert len(cloud.contents(space)) == 3
    assert again.recall("parrot") == PARROT


def test_a_document_that_was_lost_is_told_again_with_all_after_it(open_in: Open, cloud: Supermemory) -> None:
    talk = open_in()
    talk.observe(*turns(), turn(3, "It snowed."))
    talk.runner.run(talk.agent.settle())
    talk.close()
    (space,) = cloud.spaces
    del cloud.spaces[space]["documents"]["document-2"]
    again = open_in()
    again.restore(*turns())
    assert [content.splitlines()[0] for content in cloud.contents(space)] == [
        f"User: {text}" for text in TOLD
    ]


def test_what_supermemory_cannot_process_stops_the_run_and_is_told_again(
    open_in: Open, cloud: Supermemory
) -> None:
    talk = open_in()
    talk.observe(turns()[0])
    cloud.outcome = "failed"
    with pytest.raises(AgentError, match="failed to process a message; resume the run later"):
        talk.say(1, "What is my parrot called?")
    talk.close()
    cloud.outcome = "done"
    again = open_in()
    again.restore(turns()[0])
    assert again.recall("parrot") == PARROT


def test_it_does_not_wait_for_ever(open_in: Open, cloud: Supermemory) -> None:
    cloud.slowness = 10_000
    talk = open_in(patience=0.05)
    talk.observe(turns()[0])
    with pytest.raises(AgentError, match=r"within patience=0\.05 seconds"):
        talk.say(1, "What is my parrot called?")


def test_a_document_that_vanished_while_it_was_processed_is_told_again(
    open_in: Open, cloud: Supermemory
) -> None:
    talk = open_in(patience=0.05)
    talk.observe(*turns())
    (space,) = cloud.spaces
    del cloud.spaces[space]["documents"]["document-1"]  # it failed, some minutes ago
    with pytest.raises(AgentError, match="patience"):
        talk.recall("parrot")
    talk.close()
    again = open_in(patience=5.0)
    again.restore(*turns())
    assert again.recall("parrot") == PARROT


# Forgetting


def test_forgetting_deletes_facts_and_what_was_said_of_every_user(open_in: Open, cloud: Supermemory) -> None:
    told = [
        of("Ada", 0, TOLD[0]),
        of("Ben", 1, "I moved to Ribe.", "With your parrot?"),
        of("Ben", 2, TOLD[2]),
    ]
    talk = open_in()
    talk.observe(*told)
    assert forget(talk, "parrot") == 3  # a fact, Ada's message, and the reply to Ben
    assert recalled(talk, "parrot", "Ada") == recalled(talk, "parrot", "Ben") == []
    assert recalled(talk, "moved", "Ben") == [
        ("User says: I moved to Ribe.", 1),
        ("User: I moved to Ribe.", 1),
    ]
    assert forget(talk, "parrot") == 0
    assert sorted(memory.text for memory in talk.memories()) == [
        "Assistant: Noted.",
        "User says: I moved to Ribe.",
        "User: I moved to Ribe.",
        "User: It rained all day.\nAssistant: Noted.",
    ]


def test_what_is_forgotten_is_not_told_again(open_in: Open, cloud: Supermemory) -> None:
    talk = open_in(dreaming="dynamic")
    talk.observe(*turns())
    assert forget(talk, "parrot") == 2
    talk.close()
    cloud.calls.clear()
    again = open_in(dreaming="dynamic")
    again.restore(*turns())
    assert not again.recall("parrot")
    assert cloud.paths("DELETE") == []
    again.close()
    less = open_in(dreaming="dynamic")
    less.restore(*turns()[:2])  # a log that is shorter: everything is told again
    assert not less.recall("parrot")
    assert "Zebedee" not in json.dumps([call.body for call in cloud.calls])


def test_a_run_that_is_killed_while_it_forgets_has_forgotten(open_in: Open, cloud: Supermemory) -> None:
    talk = open_in()
    talk.observe(*turns())
    cloud.fails = lambda call: call.method == "DELETE" and call.path.endswith("/document")
    cloud.faults = [(500, {"error": "down"})]
    with pytest.raises(AgentError, match="HTTP 500"):
        forget(talk, "parrot")
    talk.close()
    again = open_in()
    again.restore(*turns())
    assert not again.recall("parrot")
    assert "Zebedee" not in str(cloud.spaces)


def test_a_refusal_to_forget_is_one_line(open_in: Open, cloud: Supermemory) -> None:
    talk = open_in()
    talk.observe(*turns())
    cloud.refuses = True
    with pytest.raises(AgentError, match=r"did not forget everything \(it is locked\)"):
        forget(talk, "parrot")


def test_there_is_nothing_to_forget_in_a_new_conversation(open_in: Open) -> None:
    talk = open_in()
    assert forget(talk, "parrot") == 0
    assert talk.memories() == []
    assert talk.recall("parrot") == []


# Failures


@pytest.mark.parametrize(
    ("status", "complaint"),
    [
        (401, "the key in SUPERMEMORY_API_KEY"),
        (404, "HTTP 404"),
        (429, "rate limit"),
        (500, "provider failed"),
    ],
)
def test_failures_are_one_line_without_the_key(
    open_in: Open, cloud: Supermemory, status: int, complaint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    talk = open_in()
    cloud.faults = [(status, {"error": f"no good:\n{KEY}"})]
    with pytest.raises(AgentError, match=complaint) as caught:
        talk.observe(turns()[0])
    assert KEY not in str(caught.value) + "".join(capfd.readouterr())
    assert "\n" not in str(caught.value)
    assert KEY not in repr(talk.agent) + repr(vars(talk.agent))
    assert not any(KEY in path.read_text("utf-8") for path in talk.home.iterdir())


@pytest.mark.parametrize("status", [429, 503])
def test_a_failed_request_is_sent_again_and_a_turn_is_told_once(
    open_in: Open, cloud: Supermemory, status: int, at_once: None
) -> None:
    talk = open_in(max_retries=2)
    cloud.faults = [(status, {"error": "busy"})] * 2
    talk.observe(turns()[0])
    assert talk.recall("parrot") == PARROT
    assert len([path for path in cloud.paths() if path.endswith("/document")]) == 3


@pytest.mark.parametrize("answer", [[], {}, {"results": [{"id": "x"}]}, {"results": 5}, "nothing"])
def test_a_wrong_answer_is_named_in_one_line(open_in: Open, cloud: Supermemory, answer: object) -> None:
    talk = open_in()
    talk.observe(turns()[0])
    talk.runner.run(talk.agent.settle())
    cloud.faults = [(200, answer)]
    with pytest.raises(
        AgentError, match=r"^supermemory at .*the answer could not be read \(.+\); check"
    ) as caught:
        talk.recall("parrot")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["documents", "memories", "chunks"])
@pytest.mark.parametrize("answer", [{}, {"documents": [{}], "memories": [{}], "chunks": [{}]}])
def test_a_wrong_listing_is_named_in_one_line(
    open_in: Open, cloud: Supermemory, kind: str, answer: object
) -> None:
    talk = open_in()
    talk.observe(turns()[0])
    cloud.fails = lambda call: call.path.endswith(f"/list/{kind}")
    cloud.faults = [(200, answer)]
    with pytest.raises(AgentError, match="the answer could not be read"):
        talk.memories()


def test_an_answer_that_is_too_large_is_not_read(
    open_in: Open, cloud: Supermemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = open_in()
    monkeypatch.setattr("ltm_bench.adapters.http.shared.MOST_BYTES", 1000)
    cloud.faults = [(202, {"id": "x" * 1001, "status": "queued"})]
    with pytest.raises(AgentError, match="more than 1,000 bytes"):
        talk.observe(turns()[0])
