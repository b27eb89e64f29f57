import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ltm_bench.adapters import extractive, hashing
from ltm_bench.adapters.passages import split
from ltm_bench.adapters.scratchpad import Scratchpad, read_queries
from ltm_bench.adapters.testing import Provider, provider
from ltm_bench.adapters.vector_store import VectorStore
from ltm_bench.core.errors import AgentError, CannotResume, ConfigError
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.core.tokens import counter
from ltm_bench.filler.filler import shipped
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import Talk

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
Start = Callable[..., "Talk"]


def trivia(first: int, count: int) -> str:
    items = shipped().items
    picked = [items[i % len(items)] for i in range(first, first + count)]
    return "\n".join(f"Q: {question} A: {answer}" for question, answer in picked)


CONVERSATION = [
    "My favourite soup is made with beetroot.",
    "I was born in a lighthouse. It stands on the coast of Jutland.",
    trivia(0, 30),
    "What is my favourite soup made with?",
    "From today my favourite soup is made with leeks.",
    trivia(30, 30),
    "What is my favourite soup made with?",
    "Where was I born?",
    "List all my favourite soups as a JSON list of strings.",
    "What is my blood type?",
    trivia(60, 300),  # more than is written at once
    "What did I tell you 8 minutes ago?",
    "Where was I born?",
]


def turn(number: int, text: str, reply: str = "Noted.") -> Turn:
    return Turn(Message(text, START + timedelta(minutes=number), number), Reply(reply))


class Conversation:
    """An agent in a folder; `say` takes a list of messages, the turns go on from where they are."""

    def __init__(self, home: Path, turns: list[Turn] | None = None, **settings: Any) -> None:
        self.agent: Any = make_agent("vector_memory", settings)
        self.turns = list(turns or [])
        asyncio.run(self.agent.open(home))
        if turns is not None:
            asyncio.run(self.agent.restore(turns))

    def say(self, *texts: str) -> list[str]:
        for text in texts:
            message = turn(len(self.turns), text).message
            self.turns.append(Turn(message, asyncio.run(self.agent.reply(message))))
        return [each.reply.text for each in self.turns[len(self.turns) - len(texts) :]]

    def stored(self) -> dict[str, str]:
        return {key: each.text for key, each in self.agent.store.load().items()}

    def recall(self, query: str, limit: int = 10) -> Any:
        return asyncio.run(self.agent.recall(query, limit))

    def close(self) -> None:
        asyncio.run(self.agent.close())


@pytest.fixture
def converse(tmp_path: Path) -> Iterator[Callable[..., Conversation]]:
    started: list[Conversation] = []

    def start(
        turns: list[Turn] | None = None, home: Path = tmp_path / "home", **settings: Any
    ) -> Conversation:
        home.mkdir(exist_ok=True)
        started.append(Conversation(home, turns, **settings))
        return started[-1]

    yield start
    for each in started:
        each.close()
    gc.collect()  # what was not closed warns now, and a warning is an error


Converse = Callable[..., Conversation]

# Settings


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"memories": 0}, "memories = 0"),
        ({"recent": -1}, "recent = -1"),
        ({"window": 10}, "window = 10"),
        ({"embedder": "locale"}, "'locale' is not known"),
        ({"embedder": "openai:"}, "'openai:' is not known"),
        ({"core": "openai_chatt:gpt-4o"}, "did you mean 'openai_chat'"),
        ({"core": "goldfish", "base_url": "http://localhost:1"}, "no setting 'base_url'"),
        ({"memory": 5}, "did you mean 'memories'"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, Any], complaint: str):
    with pytest.raises(ConfigError, match=complaint):
        make_agent("vector_memory", settings)


def test_it_is_free_only_where_nothing_is_remote(key: str):
    assert make_agent("vector_memory", {}).free
    assert not make_agent("vector_memory", {"embedder": "openai:text-embedding-3-small"}).free
    assert not make_agent("vector_memory", {"core": "openai_chat:gpt-4o"}).free


def test_offline_it_needs_neither_a_model_nor_a_provider(tmp_path: Path):
    code = """
        import asyncio, pathlib, sys, socket
        def refuse(*args, **more): raise AssertionError("network")
        socket.getaddrinfo = socket.create_connection = refuse
        from ltm_bench.plugins.agents import make_agent
        from ltm_bench.core.messages import Message
        from datetime import UTC, datetime
        async def main():
            agent = make_agent("vector_memory", {})
            await agent.open(pathlib.Path(sys.argv[1]))
            print((await agent.reply(Message("Where was I born?", datetime(2026, 1, 1, tzinfo=UTC), 0))).text)
            print("chromadb" in sys.modules)  # half a second that a run's first turn need not wait for
            await agent.close()
        asyncio.run(main())
        print({"onnxruntime", "openai", "anthropic", "tokenizers"} & set(sys.modules))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["I do not remember that.", "False", "set()"]
    assert (tmp_path / "chroma").is_dir()


# Determinism

ELSEWHERE = """
    import os, pathlib, signal, sys
    sys.path[:0] = [sys.argv[1], sys.argv[1] + "/agents"]
    import test_vector_memory as t
    talk = t.Conversation(pathlib.Path(sys.argv[2]))
    for i, text in enumerate(t.CONVERSATION):
        if str(i) == sys.argv[3]:
            os.kill(os.getpid(), signal.SIGKILL)
        print(*talk.say(text), flush=True)
    talk.close()
"""


def elsewhere(home: Path, *, seed: str = "0", dies_before: int = -1) -> list[str]:
    """Hold the conversation in another process; it can die before a turn, without any warning."""
    home.mkdir(exist_ok=True)
    tests = str(Path(__file__).parent.parent)
    command = [sys.executable, "-c", textwrap.dedent(ELSEWHERE), tests, str(home), str(dies_before)]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=Path(tests).parent)
    assert done.returncode == (0 if dies_before < 0 else -signal.SIGKILL), done.stderr
    return done.stdout.splitlines()


def test_the_conversation_itself_shows_something(converse: Converse):
    said = converse().say(*CONVERSATION)
    assert "beetroot" in said[3]
    assert "leeks" in said[6]
    assert "lighthouse" in said[7]
    assert json.loads(said[8]) == ["made with beetroot", "made with leeks"]
    assert said[9] == "I do not remember that."
    assert said[12] == said[7]


def test_other_processes_and_hash_seeds_say_the_same(converse: Converse, tmp_path: Path):
    here = converse().say(*CONVERSATION)
    assert elsewhere(tmp_path / "1", seed="1") == here
    assert elsewhere(tmp_path / "2", seed="4711") == here


@pytest.mark.parametrize("dies_before", [1, 6, 11, 12])
def test_killed_and_restored_it_goes_on_as_if_nothing_had_happened(
    converse: Converse, tmp_path: Path, dies_before: int
):
    undisturbed = converse(home=tmp_path / "undisturbed")
    undisturbed.say(*CONVERSATION)
    home = tmp_path / "killed"
    elsewhere(home, dies_before=dies_before)
    restored = converse(undisturbed.turns[:dies_before], home)
    restored.say(*CONVERSATION[dies_before:])
    assert restored.turns == undisturbed.turns
    for query in ("soup", "lighthouse", "the capital of France"):
        assert restored.recall(query, 30) == undisturbed.recall(query, 30)
    restored.close()
    undisturbed.close()
    again = converse(undisturbed.turns, home).stored()
    assert again == converse(undisturbed.turns, tmp_path / "undisturbed").stored()


def test_the_ranking_is_exact_among_thousands(converse: Converse):
    talk = converse()
    for number in range(100):
        asyncio.run(talk.agent.observe(turn(number, trivia(60 * number, 60), f"[{number}]")))
    store = talk.agent.store
    lines = [line for number in range(100) for line in [*trivia(60 * number, 60).splitlines(), f"[{number}]"]]
    whole = np.rint(hashing.embed(lines) * hashing.GRAIN).astype(np.int64)
    items = shipped().items
    for query in [question for question, _ in items[::40]] + ["of", "", "capital", "xyzzy"]:
        vector = hashing.embed([query])[0]
        scores = whole @ np.rint(vector * hashing.GRAIN).astype(np.int64)
        exact = sorted(range(len(lines)), key=lambda i: (-scores[i], i))[:20]
        assert [passage.text for passage, _ in store.nearest(vector, 20)] == [lines[i] for i in exact]


# The store


def test_every_passage_of_message_and_reply_is_stored(converse: Converse):
    talk = converse()
    asyncio.run(talk.agent.observe(turn(0, "One line.\nAnother line.", '["a",\n "b"]')))
    talk.close()
    assert converse([turn(0, "One line.\nAnother line.", '["a",\n "b"]')]).stored() == {
        "00000000.0000": "One line.",
        "00000000.0001": "Another line.",
        "00000000.0002": '["a",\n "b"]',
    }


def test_long_lines_are_cut_between_sentences():
    line = " ".join(f"This is the sentence with the number {i} in it." for i in range(20))
    passages = list(split(line))
    assert " ".join(passages) == line
    assert all(passage.endswith("in it.") and len(passage) <= 240 for passage in passages)
    assert len(passages) > 3


@pytest.mark.parametrize("text", ["", "\n \n", "…", "x" * 5000, "half \ud800 a pair", "nul \0 byte", "🎻"])
def test_no_text_is_too_strange(converse: Converse, text: str):
    talk = converse()
    talk.say(text, text + "?")
    talk.close()
    assert converse(talk.turns).say("What?")


def test_restoring_cuts_back_what_the_log_does_not_vouch_for(converse: Converse):
    talk = converse()
    talk.say("My boat is called Undine.", "My boat is now called Melusine.")
    talk.close()
    back = converse(talk.turns[:1])
    assert [memory.turn for memory in back.recall("boat")] == [0, 0]
    assert set(back.stored().values()) == {"My boat is called Undine.", "Noted."}
    assert "Undine" in back.say("What is my boat called?")[0]


def test_restoring_embeds_only_what_is_missing(converse: Converse, monkeypatch: pytest.MonkeyPatch):
    talk = converse()
    talk.say("My boat is called Undine.", "My horse is called Bucephalus.")
    talk.close()
    embedded: list[str] = []
    embed = hashing.embed

    def noted(texts: Sequence[str]) -> "hashing.Vectors":
        embedded.extend(texts)
        return embed(texts)

    monkeypatch.setattr(hashing, "embed", noted)
    converse([*talk.turns, turn(2, "My dog is called Argos.")])
    assert embedded == ["My dog is called Argos.", "Noted."]


def test_a_turn_of_which_half_is_missing_or_another_was_stored_is_mended(converse: Converse):
    talk = converse()
    talk.say("My boat is called Undine.\nMy horse is called Bucephalus.", "I like rain.")
    expected = {"00000000.0000", "00000000.0001", "00000000.0002", "00000001.0000", "00000001.0001"}
    talk.close()
    spoiled = converse()
    collection = spoiled.agent.store.connect()
    collection.delete(ids=["00000000.0001"])
    collection.update(ids=["00000001.0000"], metadatas=[{"text": "I like snow."}])
    spoiled.close()
    mended = converse(talk.turns)
    assert set(mended.stored()) == expected
    assert mended.stored()["00000001.0000"] == "I like rain."
    assert "Bucephalus" in mended.say("What is my horse called?")[0]


def test_a_new_conversation_in_an_old_folder_remembers_nothing_of_the_old_one(converse: Converse):
    talk = converse()
    talk.say("My boat is called Undine.")
    talk.close()
    assert converse().say("What is my boat called?") == ["I do not remember that."]


def test_the_vectors_of_another_embedder_are_dropped(converse: Converse, monkeypatch: pytest.MonkeyPatch):
    talk = converse()
    talk.say("My boat is called Undine.")
    talk.close()
    monkeypatch.setattr(hashing, "NAME", "local-2")
    assert converse(talk.turns[:0]).stored() == {}


def test_an_unreadable_store_says_what_to_do(converse: Converse, monkeypatch: pytest.MonkeyPatch):
    talk = converse()
    collection = talk.agent.store.connect()
    monkeypatch.setattr(type(collection), "count", lambda self: 1 / 0)
    with pytest.raises(CannotResume, match=r"cannot be read .* delete that folder and resume"):
        asyncio.run(talk.agent.restore([]))
    monkeypatch.undo()


def test_two_agents_can_use_one_folder_in_turn_and_at_once(converse: Converse):
    first, second = converse(), converse()
    first.say("My boat is called Undine.")
    first.close()
    assert second.say("What is my boat called?") == ["I do not remember that."]
    second.close()
    assert "Undine" in converse(first.turns).say("What is my boat called?")[0]


def test_recall_says_when_and_where_from(converse: Converse, tmp_path: Path):
    talk = converse()
    talk.say("I like rain.", "My boat is called Undine.")
    best, *others = talk.recall("boat", 3)
    assert (best.text, best.turn, best.at) == ("My boat is called Undine.", 1, START + timedelta(minutes=1))
    assert len(others) == 2
    assert best.relevance > others[0].relevance >= others[1].relevance
    assert converse(home=tmp_path / "other").recall("boat") == []


# The extractive core


def answers(converse: Converse, told: list[str], question: str) -> str:
    return str(converse().say(*told, question)[-1])


@pytest.mark.parametrize(
    "text",
    [
        "My favourite soup is goulash.",
        "When I was young, we had a goat.",
        "Could you please put two candles on the list?",
        "I know a riddle. What has a bed but never sleeps? A river.",
        "Here is one: What has keys but opens no door? A piano.",
        trivia(0, 5),
        "Shopping list: milk and honey",
    ],
)
def test_statements_are_acknowledged(converse: Converse, text: str):
    assert converse().say(text) == ["Noted."]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("I sold the goat. What is my dog called?", "What is my dog called?"),
        ("Hello! Where do I live? Thanks.", "Where do I live?"),
        ("Please tell me the name of the goat.", "Please tell me the name of the goat."),
        ("Can you repeat that?", "Can you repeat that?"),
        ("Can you feed the goat?", ""),
        ("Q: Who wrote Emma? A: Jane Austen", ""),
        ("Name my goat. Nothing else.", "Name my goat."),
        ("I sold a goat. What was it called?", "I sold a goat. What was it called?"),
    ],
)
def test_what_wants_an_answer_is_told_apart(text: str, question: str):
    assert extractive.question_in(text) == question


def test_the_best_passage_is_quoted(converse: Converse):
    told = ["I was born in a lighthouse.", "My aunt lives in a windmill.", trivia(0, 40)]
    assert answers(converse, told, "Where was I born?") == "You told me: “I was born in a lighthouse.”"


def test_what_was_said_later_replaces_what_was_said_before(converse: Converse):
    told = ["My locker is number 17.", "The weather is fine.", "My locker is now number 23."]
    assert "23" in answers(converse, told, "Which number is my locker?")
    assert "17" in answers(converse, told, "Which number was my locker originally?")


def test_a_later_remark_about_something_else_replaces_nothing(converse: Converse):
    told = ["My locker at the pool is number 17.", "The pool is closed on Mondays."]
    assert "17" in answers(converse, told, "What is the number of my locker at the pool?")


def test_a_question_about_me_is_answered_from_what_i_said_about_me(converse: Converse):
    told = [
        "We adopted a cat and called him Tripod.",
        "Q: What is the scientific name of the cat? A: Felis catus",
    ]
    assert "Tripod" in answers(converse, told, "What is the name of our cat?")


def test_general_questions_are_answered_from_what_was_told_in_general(converse: Converse):
    assert "Vaduz" in answers(
        converse,
        ["Q: What is the capital of Liechtenstein? A: Vaduz"],
        "What is the capital of Liechtenstein?",
    )


def test_a_question_is_not_answered_with_a_question(converse: Converse):
    told = ["What is my blood type?", "Tell me my blood type.", "I baked a cake. What is my blood type?"]
    assert answers(converse, told, "What is my blood type?") == "I do not remember that."


def test_what_was_never_said_is_not_remembered(converse: Converse):
    told = ["My aunt lives in a windmill.", trivia(0, 40)]
    assert answers(converse, told, "What did I weigh at birth?") == "I do not remember that."


def test_the_agents_own_words_are_quoted_when_they_are_asked_for(converse: Converse):
    talk = converse([turn(0, "What shall I cook?", "I recommend a goulash.")])
    assert talk.say("Which dish did you recommend to cook, the goulash?") == [
        "I told you: “I recommend a goulash.”"
    ]
    assert talk.say("Did I tell you about goulash?") == ["I do not remember that."]


def test_a_json_list_holds_what_was_said_in_order_of_time(converse: Converse):
    told = [
        "My name is Ada.",
        trivia(0, 40),
        "My name is now Berta.",
        "I changed my name: it is “Cleo” from today.",
    ]
    said = answers(
        converse, told, "What have my names been? Answer with a JSON list of strings, oldest first."
    )
    assert json.loads(said) == ["Ada", "Berta", "Cleo"]


def test_a_json_list_of_numbers_holds_numbers(converse: Converse):
    told = ["I saw 12 herons at the lake.", "Today I saw three herons there.", "I saw a boat."]
    said = answers(converse, told, "How many herons did I see each time? Reply with a JSON list of numbers.")
    assert json.loads(said) == [12, 3]


def test_a_list_without_json_is_a_sentence(converse: Converse):
    told = ["My goat Else is grey.", "My goat Frieda is white."]
    said = answers(converse, told, "List all my goats.")
    assert said == "You told me: “My goat Else is grey.”; “My goat Frieda is white.”"


def test_items_on_a_list_lose_the_verb(converse: Converse):
    told = ["Please add two candles to my list of gifts.", "Could you add a lamp to my list of gifts, too?"]
    said = answers(converse, told, "What is on my list of gifts? Answer as a JSON array.")
    assert json.loads(said) == ["two candles", "lamp"]


def test_answers_that_the_message_itself_holds_are_taken_from_it(converse: Converse):
    asked = f"Reply with the answers alone, as a JSON list.\n{trivia(0, 3)}"
    assert json.loads(converse().say(asked)[0]) == [item.answer for item in shipped().items[:3]]


def test_the_time_that_is_spoken_of_chooses_among_memories(converse: Converse):
    told = ["I saw a heron in the reeds.", "I like rain.", "I saw a heron on the roof.", "I like snow."]
    assert "reeds" in answers(converse, told, "Where did I see a heron 4 minutes ago?")
    assert "roof" in answers(converse, told, "Where did I see a heron two minutes ago?")


def test_without_any_subject_the_time_alone_chooses(converse: Converse):
    told = ["I like rain.", "The goat is ill.", "The lamp is lit."]
    assert "goat" in answers(converse, told, "What did I tell you 2 minutes ago?")


@pytest.mark.parametrize(
    ("spoken", "minutes"),
    [
        ("What was it 3 hours and 5 minutes ago?", 185),
        ("And 2 days, 1 hour and 1 minute ago?", 2 * 1440 + 61),
        ("What did I say an hour ago?", 60),
        ("Two weeks ago?", 2 * 10080),
        ("a couple of days ago", 2880),
        ("What did I buy yesterday?", 1440),
        ("What did I buy long ago?", None),
        ("What did I buy for 3 days?", None),
    ],
)
def test_times_are_understood(spoken: str, minutes: int | None):
    found = extractive.time_spoken_of(spoken, START)
    assert found == (None if minutes is None else START - timedelta(minutes=minutes))


def test_when_is_answered_with_the_time(converse: Converse):
    said = answers(converse, ["I broke my wrist.", "I like rain."], "When did I break my wrist?")
    assert said == "You told me 2 minutes ago, on Monday, 5 January 2026, 09:00: “I broke my wrist.”"


@pytest.mark.parametrize(
    ("said", "focus", "value"),
    [
        ("My name is Ada.", {"name"}, "Ada"),
        ("From now on my car is the old green Saab, as I said.", {"car"}, "old green Saab"),
        ("I bought three lamps for my garden.", {"garden"}, "bought three lamps"),
        ("The word is “no, never”.", {"word"}, "no, never"),
        ("My password: plum-harbour", {"password"}, "plum-harbour"),
    ],
)
def test_a_phrase_is_cut_out_of_a_statement(said: str, focus: set[str], value: str):
    assert extractive.phrase(said, dict.fromkeys(focus, 1.0)) == value


@pytest.mark.parametrize(
    ("said", "number"), [("I have 3 goats.", 3), ("seven of 9", 7), ("1.5 litres", 1.5), ("a goat", None)]
)
def test_numbers_are_read(said: str, number: float | None):
    assert extractive.number_in(said) == number


# A model as the core


@pytest.mark.parametrize("window", [600, 8192])
def test_a_core_gets_one_bounded_prompt(server: Provider, key: str, talk_to: Start, window: int):
    core = {"core": "openai_chat:some-model", "base_url": server.openai_url}
    talk = talk_to("vector_memory", window=window, recent=1, **core)
    talk.observe("My boat is called Undine.", "A fine name.")
    for i in range(4):
        talk.observe(trivia(30 * i, 30), "Noted.")
    talk.observe("I like rain.", "So do I.")
    reply = talk.say("What is my boat called?")
    prompt = server.chats[-1].messages[-1]["content"]
    assert len(server.chats[-1].messages) == 2
    assert server.measure([{"role": "user", "content": prompt}], "").prompt < window + 50
    assert "Monday, 5 January 2026, 09:00, 6 minutes ago] User: My boat is called Undine." in prompt
    latest = prompt.index("User: I like rain.\nYou: So do I.")
    assert prompt.index("Undine") < latest < prompt.index("What is my boat called?")
    assert reply.usage is not None
    assert reply.usage.output > 0
    reserve = talk.reserve("What is my boat called?")
    assert reserve is not None
    assert reserve.prompt >= max(window, reply.usage.prompt)


def test_a_core_waits_no_longer_and_tries_no_more_often_than_it_is_told(
    server: Provider, key: str, talk_to: Start
):
    patience = {"timeout": 0.2, "max_retries": 1, "base_url": server.openai_url}
    talk = talk_to("vector_memory", core="openai_chat:some-model", **patience)
    server.fail("hang", times=2)
    with pytest.raises(AgentError, match=r"no reply within timeout=0\.2 seconds, after 1 retry"):
        talk.say("My boat is called Undine.")
    assert len(server.chats) == 2


def test_memories_are_shown_in_order_of_time_and_not_twice(server: Provider, key: str, talk_to: Start):
    talk = talk_to("vector_memory", core="openai_chat:some-model", base_url=server.openai_url, recent=1)
    for text in ("My boat is called Undine.", "My boat is now called Melusine.", "My boat is at sea."):
        talk.observe(text, "Noted.")
    talk.say("Where is my boat called Melusine?")
    prompt = server.chats[-1].messages[-1]["content"]
    assert prompt.index("Undine") < prompt.index("now called Melusine") < prompt.index("at sea")
    assert prompt.count("at sea") == 1
    assert len(server.chats[-1].messages) == 2  # nothing is left over from an earlier turn


def test_a_core_that_fails_leaves_no_trace(server: Provider, key: str, talk_to: Start):
    talk = talk_to("vector_memory", core="openai_chat:some-model", base_url=server.openai_url)
    server.fail(status=400)
    with pytest.raises(AgentError):
        talk.say("My boat is called Undine.")
    assert talk.agent.store.passages == []


def thoughtful(messages: Sequence[dict[str, str]]) -> str:
    """Write queries and notes when asked to, and else answer from the notes."""
    prompt = messages[-1]["content"]
    if "Write up to three short search queries" in prompt:
        return 'Sure: ["name of the boat", 7, "vessel Undine"] as you wished'
    if "You keep notes about a user" in prompt:
        return '```json\n{"boat": "Undine"}\n```' if "Undine" in prompt else "no notes"
    return "By my notes it is Undine." if '{"boat": "Undine"}' in prompt else "I do not know."


@pytest.fixture
def thinker(key: str) -> Iterator[Provider]:
    with provider(thoughtful) as running:
        yield running


def test_a_core_writes_queries_whose_finds_are_shown_as_well(thinker: Provider, talk_to: Start):
    core = {"core": "openai_chat:some-model", "base_url": thinker.openai_url, "recent": 0, "memories": 6}
    talk = talk_to("vector_memory", variant="query_rewriting", **core)
    talk.observe("My boat is called Undine, a good vessel.", "A fine name.")
    talk.observe(trivia(0, 60), "Noted.")
    reply = talk.say("How does one speak of the thing that I sail in?")
    rewriting, answering = (request.messages[-1]["content"] for request in thinker.chats)
    assert "the thing that I sail in" in rewriting
    assert "Undine" not in rewriting
    assert "a good vessel" in answering
    assert reply.usage is not None
    assert reply.usage.prompt > thinker.measure([{"role": "user", "content": answering}], "").prompt + 50
    reserve = talk.reserve("How does one speak of the thing that I sail in?")
    assert reserve is not None
    assert reserve.prompt >= reply.usage.prompt


def test_a_core_keeps_notes_that_a_resumed_run_has_again_and_no_later_ones(
    thinker: Provider, talk_to: Start, tmp_path: Path
):
    core = {"core": "openai_chat:some-model", "base_url": thinker.openai_url, "recent": 0}
    talk = talk_to("vector_memory", variant="query_rewriting+scratchpad", **core)
    talk.say("Hello!")
    talk.say("My boat is called Undine.")
    assert talk.say("What is it called?").text == "By my notes it is Undine."
    assert len(thinker.chats) == 9
    (path,) = tmp_path.glob("*/agent/scratchpad.jsonl")
    assert [json.loads(line) for line in path.read_text().splitlines()] == [[1, '{"boat": "Undine"}']]
    with path.open("a") as file:
        file.write(
            '[2, "{\\"boat\\": \\"Melusine\\"}"]\n[3, "{'
        )  # of a turn that the log does not have, and torn
    talk.restore(talk.turns[:2])
    assert talk.say("What is it called?").text == "By my notes it is Undine."
    assert len(path.read_text().splitlines()) == 1
    talk.restore(talk.turns[:1])
    assert talk.say("What is it called?").text == "I do not know."
    assert path.read_text() == ""


@pytest.mark.parametrize("answer", ["", "[", "none", '{"a": 1}', "[[[[", '["", 3]', "][", "[" * 5000])
def test_queries_that_cannot_be_read_are_none(answer: str):
    assert read_queries(answer) == []


@pytest.mark.parametrize("answer", ["", "{", "[]", "notes", "{" * 5000, json.dumps({"a": "b" * 7000})])
def test_notes_that_cannot_be_read_or_are_too_long_leave_the_old_ones(answer: str, tmp_path: Path):
    pad = Scratchpad()
    pad.open(tmp_path / "pad.jsonl")
    pad.note(0, '{"a": 1}')
    pad.note(1, answer)
    assert pad.text == '{"a": 1}'


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"variant": "psychic"}, "variant = 'psychic' is not known"),
        ({"variant": "scratchpad"}, "needs a model: set core"),
        ({"embedder": "python:none:such"}, "python:none:such"),
    ],
)
def test_a_variant_that_cannot_work_is_named(settings: dict[str, Any], complaint: str):
    with pytest.raises(ConfigError, match=complaint):
        make_agent("vector_memory", settings)


def test_an_embedding_of_ones_own_is_used(talk_to: Start):
    own = talk_to("vector_memory", embedder="python:ltm_bench.adapters.hashing:embed")
    usual = talk_to("vector_memory")
    for talk in (own, usual):
        talk.say("My favourite soup is made with beetroot.")
    question = "What is my favourite soup made with?"
    assert own.say(question).text == usual.say(question).text
    assert "beetroot" in own.say(question).text


# An embedding model


class Embeddings(BaseHTTPRequestHandler):
    """Stands in for an embedding model: the local embedder's vectors, three times as long, in any order."""

    texts: list[str]
    status = 200

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        type(self).texts += asked["input"]
        rows = hashing.embed(asked["input"]) * 3
        data = [{"object": "embedding", "index": i, "embedding": row.tolist()} for i, row in enumerate(rows)][
            ::-1
        ]
        usage = {"prompt_tokens": 7 * len(rows), "total_tokens": 7 * len(rows)}
        answer = {"object": "list", "data": data, "model": asked["model"], "usage": usage}
        body = json.dumps(answer).encode()
        self.send_response(self.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def embeddings() -> Iterator[tuple[str, type[Embeddings]]]:
    handler = type("Fresh", (Embeddings,), {"texts": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_another_embedder_works_the_same_way(
    embeddings: tuple[str, type[Embeddings]], key: str, talk_to: Start
):
    url, handler = embeddings
    talk = talk_to("vector_memory", embedder="openai:some-model", base_url=url)
    assert talk.say("My boat is called Undine.").usage is not None
    talk.observe(trivia(0, 5), "Noted.")
    reply = talk.say("What is my boat called?")
    assert "Undine" in reply.text
    assert handler.texts.count("My boat is called Undine.") == 1
    assert reply.usage is not None
    count = counter().count
    first, filler = talk.turns[0], talk.turns[1]
    said = [
        first.message.text,
        *first.reply.text.splitlines(),
        *filler.message.text.splitlines(),
        filler.reply.text,
    ]
    embedded = sum(map(count, said)) + count("What is my boat called?")
    assert reply.usage.provider is None
    assert reply.usage.prompt == pytest.approx(
        embedded, abs=9
    )  # passages are cut a little otherwise than lines
    reserve = talk.reserve("What is it?")
    assert reserve is not None
    assert reserve.prompt >= count("What is it?")


@pytest.mark.parametrize("kept", [1, 3, 4])
def test_what_was_embedded_is_the_same_in_a_run_that_was_resumed(
    embeddings: tuple[str, type[Embeddings]], key: str, talk_to: Start, kept: int
):
    url, _ = embeddings

    def talk() -> "Talk":
        return talk_to("vector_memory", embedder="openai:some-model", base_url=url)

    whole = talk()
    whole.say("My boat is called Undine.")
    for number in (0, 5):
        whole.observe(trivia(number, 5), "Noted.")
        whole.turns[-1] = replace(whole.turns[-1], kind="fill")
    whole.say("What is my boat called?")
    whole.say("And what did I ask before?")
    again = talk()
    again.restore(whole.turns[:kept])
    for turn in whole.turns[kept:]:
        if turn.kind == "fill":
            again.observe(turn.message.text, turn.reply.text)
        else:
            assert again.say(turn.message.text) == turn.reply


def test_an_embedder_that_fails_is_an_error_of_the_agent(
    embeddings: tuple[str, type[Embeddings]], key: str, talk_to: Start
):
    url, handler = embeddings
    handler.status = 401
    talk = talk_to("vector_memory", embedder="openai:some-model", base_url=url)
    with pytest.raises(AgentError, match=r"some-model at 127\.0\.0\.1: HTTP 401"):
        talk.say("What is my boat called?")


def test_a_reply_that_was_paid_for_is_not_lost_when_it_cannot_be_embedded(
    server: Provider, key: str, talk_to: Start
):
    def answer(messages: Sequence[dict[str, str]]) -> str:
        server.fail(status=500)  # whatever comes next
        return "Noted: Undine."

    server.answer = answer
    talk = talk_to(
        "vector_memory",
        embedder="openai:text-embedding-3-small",
        core="openai_chat:some-model",
        base_url=server.openai_url,
        max_retries=0,
    )
    assert talk.say("My boat is called Undine.").text == "Noted: Undine."
    with pytest.raises(AgentError, match="HTTP 500"):
        talk.say("What is my boat called?")
    assert len(server.chats) == 1  # nobody was asked to answer without a memory
    talk.say("What is my boat called?")
    assert "Noted: Undine." in server.chats[-1].messages[-1]["content"]


def test_an_embedder_tries_no_more_often_than_it_is_told(
    embeddings: tuple[str, type[Embeddings]], key: str, talk_to: Start
):
    url, handler = embeddings
    handler.status = 500
    talk = talk_to("vector_memory", embedder="openai:some-model", base_url=url, timeout=5, max_retries=1)
    with pytest.raises(AgentError, match=r"HTTP 500, the provider failed, after 1 retry"):
        talk.say("What is my boat called?")
    assert handler.texts == ["What is my boat called?"] * 2


@pytest.mark.parametrize(("core", "found"), [("openai_chat:some-model", True), ("extractive", False)])
def test_a_chroma_that_does_not_work_is_found_before_anything_is_paid_for(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, core: str, found: bool
):
    def broken(*_: object) -> None:
        raise RuntimeError("an sqlite3 that is too old")

    monkeypatch.setattr(VectorStore, "connect", broken)
    agent = make_agent("vector_memory", {"core": core})
    with pytest.raises(RuntimeError, match="too old") if found else nullcontext():
        asyncio.run(agent.open(tmp_path))
