"""Mem0 itself, with its Qdrant and its files, against a model on this machine."""

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Turn, Usage
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import SESSION, Open, conversations, model, record, turn
else:
    from memories import SESSION, Open, conversations, model, record, turn

pytestmark = pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*"))

REASON = "needs the extra: pip install ltm-bench[mem0]"
TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]


@pytest.fixture
def open_in(tmp_path: Path, server: Provider, key: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    if find_spec("mem0") is None:  # not importorskip: Mem0 decides on telemetry when first imported
        pytest.skip(REASON)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    server.answer = model
    usual = {"model": "some-model", "base_url": server.openai_url, "dimensions": 512, "max_retries": 0}
    with conversations(tmp_path, "mem0", **usual) as start:
        yield start


def test_a_missing_package_is_reported_in_one_line(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mem0", None)
    agent = make_agent("mem0", {"model": "some-model"})
    with pytest.raises(ConfigError, match=r"^agent mem0: .* is not installed; .*\[mem0\]'$"):
        asyncio.run(agent.open(tmp_path))
    asyncio.run(agent.close())


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({}, "the setting 'model' is required"),
        ({"model": "m", "memories": 0}, "memories = 0"),
        ({"model": "m", "threshold": 1.5}, "threshold = 1.5 is not between 0 and 1"),
        ({"model": "m", "extraction_limit": 0}, "extraction_limit = 0 is not positive"),
        ({"model": "m", "core": "openai_chatt:m"}, "did you mean 'openai_chat'"),
        ({"model": "m", "api_key": "x"}, "looks like a secret"),
    ],
)
def test_a_wrong_setting_is_named(key: str, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        make_agent("mem0", settings)


def test_it_answers_from_what_mem0_extracted(open_in: Open, server: Provider, tmp_path: Path) -> None:
    talk = open_in(recent=0)
    talk.observe(*(turn(n, text) for n, text in enumerate(TOLD)))
    reply = talk.say(3, "What is my parrot called?").reply
    assert (
        reply.text == "[Monday, 5 January 2026, 09:00, 3 minutes ago] User says: My parrot is called Zebedee."
    )
    extracted = server.chats[0].messages[-1]["content"]
    assert "[Monday, 5 January 2026, 09:00]\nMy parrot is called Zebedee." in extracted
    assert "takes place at Monday, 5 January 2026, 09:00" in extracted
    assert not (tmp_path / "nobody").exists()  # no separate folder, and no telemetry
    assert sys.modules["mem0.memory.telemetry"].MEM0_TELEMETRY is False
    assert [memory.turn for memory in talk.runner.run(talk.agent.recall("parrot called", 1))] == [0]


def test_an_extraction_that_was_cut_off_is_an_error_not_an_empty_memory(
    open_in: Open, server: Provider
) -> None:
    talk = open_in(extraction_limit=300)
    talk.observe(turn(0, TOLD[0]))
    assert json.loads(json.dumps(server.chats[-1].body))["max_tokens"] == 300

    def cut(body: dict[str, Any]) -> dict[str, Any]:
        for choice in body.get("choices", ()):
            choice["finish_reason"] = "length"
        return body

    server.edit = cut
    with pytest.raises(AgentError, match=r"an extraction was cut off.*extraction_limit=N"):
        talk.observe(turn(1, TOLD[1]))


def test_vectors_of_another_size_are_named(open_in: Open) -> None:
    talk = open_in(dimensions=300)
    with pytest.raises(AgentError, match=r"vectors have 512 numbers; set dimensions=512"):
        talk.observe(turn(0, TOLD[0]))


LIKES = [turn(n, f"My parrot likes {what}.") for n, what in enumerate("nuts rain tea jazz maps salt".split())]


def test_a_threshold_decides_what_is_dropped_before_ranking(open_in: Open) -> None:
    for threshold, found in ((0, len(LIKES)), (0.99, 0)):
        talk = open_in(threshold=threshold)
        talk.observe(*LIKES)
        assert len(talk.recall("My parrot likes what?")) == found
        talk.close()
        shutil.rmtree(talk.home)


def test_equal_scores_come_by_turn_also_after_reopening(open_in: Open) -> None:
    talk = open_in()
    talk.observe(*LIKES)
    told = [turn for _, turn in talk.recall("My parrot likes what?", 3)]
    talk.close()
    again = open_in()
    again.restore(*LIKES)
    assert told == [turn for _, turn in again.recall("My parrot likes what?", 3)] == [3, 0, 2], (
        "0, 2, 4 are equal"
    )


def test_embeddings_are_counted_apart_and_an_observed_turn_keeps_its_calls(
    open_in: Open, server: Provider
) -> None:
    talk = open_in()
    talk.fill(0, TOLD[0])
    usage = talk.say(1, "Hello!").reply.usage
    assert usage is not None
    [embedded] = usage.besides
    assert embedded.model == "text-embedding-3-small"
    assert embedded.prompt > 0
    spent: list[dict[str, int]] = []

    def note(body: dict[str, Any]) -> dict[str, Any]:
        spent.append(body["usage"])
        return body

    server.edit = note
    talk.observe(replace(turn(2, "It rained."), kind="fill"))
    heard = [json.loads(line) for line in talk.home.joinpath("heard.jsonl").read_text().splitlines()]
    calls = [Usage(**call) for call in heard[-1][2]]
    assert [call.prompt for call in calls if call.output] == [spent[0]["prompt_tokens"]]
    assert {call.model for call in calls if not call.output} == {"text-embedding-3-small"}
    assert isinstance(talk.agent.reserve(turn(2, "Hello?").message), Usage | None)


def test_a_resumed_run_has_the_facts_of_its_log_and_no_others(open_in: Open, server: Provider) -> None:
    talk = open_in()
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns[:2])
    facts = talk.known()
    assert len(facts) == 2
    talk.say(2, "My parrot is called Archibald now.")  # not in the log
    assert len(talk.known()) == 3
    talk.close()
    before = len(server.chats)
    again = open_in()
    again.restore(*turns[:2])
    assert again.known() == facts
    assert len(server.chats) == before  # nothing was extracted twice
    again.observe(turns[2])
    assert "Archibald" not in server.chats[-1].messages[-1]["content"]
    assert "I moved to Ribe." in server.chats[-1].messages[-1]["content"]
    again.close()
    exact = open_in()
    exact.restore(*turns)
    assert exact.known() == facts
    assert len(server.chats) == before + 1


def session(*numbers: int) -> list[Turn]:
    told = [(number, turn(number, TOLD[number])) for number in numbers]
    return [
        replace(each, kind="tell", example="locomo/0", answered="script", session="1") for _, each in told
    ]


def test_a_session_is_extracted_in_one_call_and_a_resumed_run_stores_it_once(
    open_in: Open, server: Provider
) -> None:
    talk = open_in()
    told = session(0, 1)
    talk.runner.run(talk.agent.observe_session(told))
    assert len(server.chats) == 1
    assert all(text in server.chats[0].messages[-1]["content"] for text in TOLD[:2])
    found = talk.runner.run(talk.agent.recall("parrot called", 10))
    assert {(memory.since, memory.turn) for memory in found} == {(0, 1)}
    facts = talk.known()
    assert len(facts) == 2
    talk.close()
    again = open_in()
    again.restore(*told)
    assert again.known() == facts
    assert len(server.chats) == 1
    again.close()
    half = open_in()
    half.restore(told[0])
    assert half.known() == [("User says: My parrot is called Zebedee.", 0)], (
        "half a session is extracted again"
    )
    half.close()
    whole = open_in("elsewhere")
    whole.restore(*told)
    assert whole.known() == facts


def test_a_session_comes_in_messages_of_its_speakers_and_so_does_what_a_resumed_run_shows_again(
    open_in: Open, server: Provider
) -> None:
    talk = open_in()
    told = record(*SESSION)
    talk.observe_session(told)
    asked = server.chats[0].messages[-1]["content"]
    said = [
        "assistant: Melanie: Any news?",
        "user: [Sunday, 7 May 2023, 13:56]\nCaroline: I moved to Ribe.\nIt rained.",
        "assistant: Melanie: My parrot is called Zebedee.",
    ]
    assert "\n".join(said) in asked
    assert "Noted." not in asked
    last = turn(2, "It rained all day.")
    talk.observe(last)
    talk.say(3, "Hello!")  # not in the log
    shown = server.chats[1].messages[-1]["content"]
    talk.close()
    again = open_in()
    again.restore(*told)
    again.observe(last)
    assert server.chats[-1].messages[-1]["content"] == shown


def test_turns_that_a_crash_lost_are_extracted_again(open_in: Open, server: Provider) -> None:
    talk = open_in()
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns[:2])
    facts = talk.known()
    talk.close()
    heard = talk.home / "heard.jsonl"
    lines = heard.read_text("utf-8").splitlines()
    heard.write_text("\n".join(lines[:3]) + '\n[1, "', "utf-8")  # killed before it recorded that it was done
    again = open_in()
    again.restore(*turns)
    assert again.known() == facts


def test_conversations_do_not_see_each_other(open_in: Open) -> None:
    one, other = open_in("one"), open_in("other")
    one.observe(turn(0, TOLD[0]))
    other.observe(turn(0, TOLD[1]))
    assert [text for text, _ in one.known()] == ["User says: My parrot is called Zebedee."]
    assert [text for text, _ in other.known()] == ["User says: I moved to Ribe."]
    assert one.home.joinpath("name").read_text() != other.home.joinpath("name").read_text()


def test_our_own_embedder_needs_no_server(open_in: Open, server: Provider) -> None:
    talk = open_in(embedder="local")
    talk.observe(turn(0, TOLD[0]))
    assert talk.known() == [("User says: My parrot is called Zebedee.", 0)]
    assert {request.path for request in server.requests} == {"/v1/chat/completions"}


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (
            {"status": 401, "message": "Incorrect API key provided: sk-not*****6789"},
            "the key in OPENAI_API_KEY",
        ),
        ({"status": 429, "message": "slow down"}, "HTTP 429, rate limit"),
        ({"status": 500}, "HTTP 500, the provider failed"),
    ],
)
@pytest.mark.parametrize("embedding", [True, False])
def test_failures_are_one_line_without_the_key_and_no_fact_is_lost(
    open_in: Open,
    server: Provider,
    key: str,
    fault: dict[str, Any],
    complaint: str,
    embedding: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    talk = open_in() if embedding else open_in(embedder="local")
    server.fail(**fault)
    with pytest.raises(AgentError, match=complaint) as caught:
        talk.observe(turn(0, TOLD[0]))
    assert key not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "sk-not" not in str(caught.value) + "".join(capfd.readouterr())
    talk.close()
    again = open_in() if embedding else open_in(embedder="local")
    again.restore(turn(0, TOLD[0]))
    assert again.known() == [("User says: My parrot is called Zebedee.", 0)]


def test_a_fact_that_could_not_be_embedded_stops_the_run(open_in: Open, server: Provider) -> None:
    talk = open_in()

    def fail_next(messages: Any) -> str:
        server.fail(times=9, status=503)
        return model(messages)

    server.answer = fail_next
    with pytest.raises(AgentError, match="HTTP 503"):  # Mem0 itself only says that it stored nothing
        talk.observe(turn(0, TOLD[0]))
    assert json.loads(talk.home.joinpath("heard.jsonl").read_text()) == [0]


OPENING = """
import asyncio, sys
from pathlib import Path
from ltm_bench.plugins.agents import make_agent

async def main():
    agents = [make_agent("mem0", {"model": "m", "embedder": "local"}) for _ in range(8)]
    homes = [Path(sys.argv[1], str(n)) for n in range(8)]
    for home in homes:
        home.mkdir()
    await asyncio.gather(*(agent.open(home) for agent, home in zip(agents, homes)))
    await asyncio.gather(*(agent.close() for agent in agents))

asyncio.run(main())
"""


@pytest.mark.unkept
def test_the_runs_of_a_sweep_open_it_at_the_same_time(tmp_path: Path, key: str) -> None:
    """In a process that has not imported it, threads could see each other's half-finished imports."""
    if find_spec("mem0") is None:
        pytest.skip(REASON)
    done = subprocess.run([sys.executable, "-c", OPENING, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_interruption_does_not_wait_for_a_model_that_hangs(open_in: Open, server: Provider) -> None:
    talk = open_in(max_retries=9)
    server.fail("hang", times=20, seconds=250)
    begun = time.monotonic()

    async def interrupted() -> None:
        task = asyncio.ensure_future(talk.agent.observe(turn(0, TOLD[0])))
        while not server.requests and not task.done():
            await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        talk.runner.run(interrupted())
    talk.close()
    assert time.monotonic() - begun < 200  # one answer alone would take longer
    assert json.loads(talk.home.joinpath("heard.jsonl").read_text()) == [0]
    assert len(server.requests) == 1


def test_a_message_with_half_a_surrogate_pair_is_stored(open_in: Open) -> None:
    talk = open_in(embedder="local")
    talk.observe(turn(0, "\ud83d My parrot is called Zebedee."))
    assert len(talk.known()) == 1
