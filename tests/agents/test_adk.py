"""Google ADK's own memory service, in memory, with a core on this machine."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Turn
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import SESSION, Open, conversations, model, record, turn
else:
    from memories import SESSION, Open, conversations, model, record, turn

REASON = "needs the extra: pip install ltm-bench[adk]"
TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]


@pytest.fixture
def open_in(tmp_path: Path, server: Provider, key: str) -> Iterator[Open]:
    pytest.importorskip("google.adk", reason=REASON)
    server.answer = model
    with conversations(tmp_path, "adk", core="openai:some-model", base_url=server.openai_url) as start:
        yield start


def test_a_missing_package_is_reported_in_one_line(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "google.adk.memory", None)
    agent = make_agent("adk", {"core": "openai:some-model"})
    with pytest.raises(ConfigError, match=r"^agent adk: .* is not installed; .*\[adk\]'$"):
        asyncio.run(agent.open(tmp_path))
    asyncio.run(agent.close())


def test_it_answers_from_what_shares_words_with_the_message(open_in: Open) -> None:
    talk = open_in(recent=0)
    talk.observe(*(turn(n, text) for n, text in enumerate(TOLD)))
    reply = talk.say(3, "What is my parrot called?").reply
    assert reply.text.endswith("3 minutes ago] User: My parrot is called Zebedee.")
    assert reply.usage is not None
    assert reply.usage.model == "some-model"
    assert talk.recall("parrot", 1) == [("User: My parrot is called Zebedee.", 0)]


def test_it_finds_no_more_than_ten(open_in: Open) -> None:
    talk = open_in()
    talk.observe(*(turn(n, f"My parrot number {n} sings.") for n in range(30)))
    assert len(talk.recall("parrot", 50)) == 10


def test_a_resumed_run_has_the_memory_of_its_log_and_no_more(open_in: Open) -> None:
    talk = open_in()
    turns = [turn(n, text) for n, text in enumerate(TOLD)]
    talk.observe(*turns)
    memories = talk.recall("parrot Ribe rained Noted", 50)
    talk.say(3, "My parrot is called Archibald now.")  # not in the log
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert again.recall("parrot Ribe rained Noted", 50) == memories


def test_users_are_kept_apart_and_what_is_forgotten_stays_forgotten(open_in: Open) -> None:
    talk = open_in(recent=0)
    turns = [turn(0, TOLD[0]), turn(1, "My parrot is called Archibald."), turn(2, TOLD[1])]
    turns = [
        replace(each, message=replace(each.message, user=user))
        for each, user in zip(turns, ("Ada", "Bob", None), strict=True)
    ]
    talk.observe(*turns)

    async def listed(agent: Agent) -> set[tuple[str | None, str]]:
        return {(memory.user, memory.text) async for memory in agent.memories() if "Noted" not in memory.text}

    asked = replace(turn(3, "What is my parrot called?").message, user="Bob")
    reply = talk.runner.run(talk.agent.reply(asked))
    assert ("Archibald" in reply.text, "Zebedee" in reply.text) == (True, False)
    assert {user for user, _ in talk.runner.run(listed(talk.agent))} == {"Ada", "Bob", None}
    assert talk.runner.run(talk.agent.forget("parrot")) >= 2
    left = talk.runner.run(listed(talk.agent))
    assert not [text for _, text in left if "parrot" in text]
    talk.close()
    again = open_in(recent=0)
    again.restore(*turns, Turn(asked, reply))
    assert again.runner.run(listed(again.agent)) == left


def test_a_session_of_a_public_set_has_its_speakers_and_dates(open_in: Open) -> None:
    talk = open_in()
    talk.observe_session(record(*SESSION))
    [found] = [memory for memory in talk.memories() if "Zebedee" in memory.text]
    assert found.text == "Melanie: My parrot is called Zebedee."
    assert (found.turn, found.at) == (1, datetime(2023, 5, 7, 13, 56, tzinfo=UTC))
    assert talk.memories()[0].text == "Melanie: Any news?"
