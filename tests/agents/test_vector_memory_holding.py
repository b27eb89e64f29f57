"""The contents of `vector_memory`: its memories, separate users, forgetting, and retrieval by words."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Reply, Turn
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.memories import Conversation, Open, conversations, model, turn
else:
    from memories import Conversation, Open, conversations, model, turn

TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]


@pytest.fixture
def open_in(tmp_path: Path) -> Iterator[Open]:
    with conversations(tmp_path, "vector_memory") as start:
        yield start


def held(talk: Conversation) -> list[str]:
    return [memory.text for memory in talk.memories() if memory.text != "Noted."]


def by(user: str, number: int, text: str) -> Turn:
    told = turn(number, text)
    return Turn(replace(told.message, user=user), told.reply)


def beside(talk: Conversation, turn: Turn) -> Callable[[], str]:
    """Freeze a question beside the conversation; return the call that answers it."""
    call = talk.runner.run(talk.agent.fork(turn.message))

    async def answered() -> str:
        return (await call()).text

    return lambda: talk.runner.run(answered())


def ask(talk: Conversation, user: str, number: int, text: str) -> str:
    reply: Reply = talk.runner.run(talk.agent.reply(by(user, number, text).message))
    return reply.text


def test_its_memories_are_its_passages(open_in: Open) -> None:
    talk = open_in()
    talk.observe(*(turn(n, text) for n, text in enumerate(TOLD)))
    found = talk.memories()
    assert held(talk) == TOLD
    assert len({memory.id for memory in found}) == len(found) == 6
    assert [(m.turn, m.at, m.user) for m in found][::2] == [
        (n, turn(n, "").message.at, None) for n in range(3)
    ]


@pytest.mark.parametrize("store", ["chroma", "sqlite", "chroma_index"])
def test_what_was_forgotten_stays_forgotten(open_in: Open, store: str) -> None:
    talk = open_in(store=store)
    turns = [turn(n, text) for n, text in enumerate([*TOLD, "What is my parrot called?"])]
    talk.observe(*turns)
    assert talk.runner.run(talk.agent.forget("parrot")) == 2  # the question was about it as well
    assert talk.runner.run(talk.agent.forget("parrot")) == 0
    assert held(talk) == TOLD[1:]
    assert "Zebedee" not in talk.say(4, "What is my parrot called?").reply.text
    assert "Ribe" in talk.say(5, "Where have I moved to?").reply.text
    talk.close()
    again = open_in(store=store)
    again.restore(*turns)
    assert held(again) == TOLD[1:]
    again.observe(turn(4, TOLD[0]))  # said again, it is news
    assert held(again) == [*TOLD[1:], TOLD[0]]


def test_what_was_forgotten_is_not_shown_to_the_core(open_in: Open, server: Provider, key: str) -> None:
    server.answer = model
    talk = open_in(core="openai:some-model", base_url=server.openai_url)
    talk.observe(turn(0, TOLD[0]))
    talk.runner.run(talk.agent.forget("parrot"))
    talk.say(1, "What is my parrot called?")
    assert "Zebedee" not in server.chats[-1].messages[-1]["content"]


def test_users_have_stores_of_their_own(open_in: Open) -> None:
    talk = open_in()
    assert talk.agent.keeps_users
    said = [by("Ada", 0, TOLD[0]), by("ada", 1, "My parrot is called Archibald."), turn(2, TOLD[2])]
    talk.observe(*said)
    for _ in range(2):
        assert "Zebedee" in ask(talk, "Ada", 3, "What is my parrot called?")
        assert "Archibald" in ask(talk, "ada", 4, "What is my parrot called?")
        assert "parrot" not in ask(talk, "Bob", 5, "Where did I put my umbrella?")
        owners = {m.text: m.user for m in talk.memories()}
        assert owners[TOLD[0]] == "Ada"
        assert owners["My parrot is called Archibald."] == "ada"
        assert owners[TOLD[2]] is None
        ids = [m.id for m in talk.memories()]
        assert len(set(ids)) == len(ids)
        talk.close()
        talk = open_in()
        talk.restore(*said)
    assert {m.turn for m in talk.memories()} == {
        0,
        1,
        2,
    }  # what the log lacks is gone, whoever said it


def test_a_question_beside_the_conversation_finds_its_users_passages_alone(open_in: Open) -> None:
    talk = open_in()
    talk.observe(by("Ada", 0, TOLD[0]), by("Bob", 1, "My parrot is called Archibald."))
    assert "Archibald" in beside(talk, by("Bob", 2, "What is my parrot called?"))()


@pytest.mark.parametrize("retrieval", ["bm25", "hybrid"])
def test_passages_are_found_by_their_words(open_in: Open, retrieval: str) -> None:
    talk = open_in(retrieval=retrieval)
    told = [*TOLD, *(f"The {n}th ferry leaves at noon." for n in range(30)), "My boat is called Undine."]
    turns = [turn(n, text) for n, text in enumerate(told)]
    talk.observe(*turns)
    found = talk.recall("What is my parrot called?", 5)
    assert found[0] == (TOLD[0], 0)
    call = beside(talk, turn(40, "What is my teacher called?"))
    talk.observe(turn(40, "My teacher is called Quillon."))
    assert "Quillon" not in call()
    assert "Quillon" in talk.say(41, "What is my teacher called?").reply.text
    talk.close()
    again = open_in(retrieval=retrieval)
    again.restore(*turns)
    assert again.recall("What is my parrot called?", 5) == found


def test_words_alone_find_nothing_that_shares_none(open_in: Open) -> None:
    talk = open_in(retrieval="bm25")
    talk.observe(turn(0, TOLD[0]))
    assert talk.recall("umbrella") == []


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"retrieval": "words"}, "retrieval='words'"),
        ({"retrieval": "bm25", "embedder": "wordllama"}, "needs no embedder"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        make_agent("vector_memory", settings)


def test_static_embeddings_need_no_download(open_in: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("wordllama") is None:
        pytest.skip("needs the extra: pip install ltm-bench[local]")
    import logging
    import socket

    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("it wants the network"))
    level, handlers = logging.getLogger().level, list(logging.getLogger().handlers)
    talk = open_in(embedder="wordllama")
    talk.observe(*(turn(n, text) for n, text in enumerate([*TOLD, "The soup is too salty."])))
    assert talk.recall("Which town do I live in now?", 1) == [(TOLD[1], 1)]  # no word in common
    assert talk.recall("What is the bird's name?", 1) == [(TOLD[0], 0)]
    assert (logging.getLogger().level, logging.getLogger().handlers) == (level, handlers)
    assert talk.agent.free


def test_missing_static_embeddings_are_reported_in_one_line(
    open_in: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from ltm_bench.adapters import wordllama

    wordllama._model.cache_clear()
    monkeypatch.setitem(sys.modules, "wordllama", None)
    talk = open_in(embedder="wordllama")
    with pytest.raises(ConfigError, match=r"wordllama is not installed; .*\[local\]'"):
        talk.observe(turn(0, TOLD[0]))
