"""The agent with a vector store: its settings, its determinism, and its contents, in all of its stores."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ltm_bench import run
from ltm_bench.adapters import hashing
from ltm_bench.adapters.memories import chroma_store
from ltm_bench.adapters.memories.chroma_store import ChromaIndex, ChromaStore
from ltm_bench.adapters.memories.sqlite_store import SqliteStore
from ltm_bench.adapters.passages import split_turn
from ltm_bench.core.errors import CannotResume, ConfigError
from ltm_bench.core.extras import dependency
from ltm_bench.filler.filler import shipped
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests import zygote
    from tests.memories import START, turn
    from tests.vectors import CONVERSATION, Conversation, Converse, trivia
else:
    import zygote
    from memories import START, turn
    from vectors import CONVERSATION, Conversation, Converse, trivia

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

STORES = {"chroma": ChromaStore, "sqlite": SqliteStore, "chroma_index": ChromaIndex}
EXACT = pytest.mark.parametrize("store", ["chroma", "sqlite"], indirect=True)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def converse(converse: Converse, store: str) -> Converse:
    return partial(converse, store=store)


# Settings


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"memories": 0}, "memories = 0"),
        ({"recent": -1}, "recent = -1"),
        ({"window": 10}, "window = 10"),
        ({"store": "faiss"}, "store = 'faiss' is not known; use one of chroma, sqlite, chroma_index"),
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


def test_a_missing_chroma_is_reported_before_anything_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "chromadb_rust_bindings", None)
    asyncio.run(make_agent("vector_memory", {"store": "sqlite"}).open(tmp_path / "sqlite"))
    with pytest.raises(ModuleNotFoundError) as raised:
        asyncio.run(make_agent("vector_memory", {}).open(tmp_path / "chroma"))
    assert dependency(raised.value).startswith("chromadb_rust_bindings is not installed, and ltm-bench needs")


@pytest.mark.unkept
def test_offline_it_needs_neither_a_model_nor_a_provider(store: str, tmp_path: Path):
    code = """
        import asyncio, pathlib, sys, socket
        def refuse(*args, **more): raise AssertionError("network")
        socket.getaddrinfo = socket.create_connection = refuse
        from ltm_bench.plugins.agents import make_agent
        from ltm_bench.core.messages import Message
        from datetime import UTC, datetime
        async def main():
            agent = make_agent("vector_memory", {"store": sys.argv[2]})
            print("chromadb_rust_bindings" in sys.modules)
            await agent.open(pathlib.Path(sys.argv[1]))
            print((await agent.reply(Message("Where was I born?", datetime(2026, 1, 1, tzinfo=UTC), 0))).text)
            await agent.close()
        asyncio.run(main())
        heavy = {"chromadb", "opentelemetry", "posthog", "grpc", "onnxruntime", "tokenizers", "openai", "anthropic"}
        print(heavy & set(sys.modules))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path), store]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["False", "I do not remember that.", "set()"]
    assert [path.name for path in tmp_path.iterdir()] == [STORES[store].place]


# Determinism

SHORT = [trivia(60, 60) if len(text) > 9999 else text for text in CONVERSATION]
"""The conversation for all that does not need a thousand passages; its batches are as much smaller."""
ELSEWHERE = """
    import json, os, pathlib, signal, sys
    sys.path.insert(0, sys.argv[1])
    from vectors import Conversation
    texts, dies, batch = json.loads(sys.argv[4])
    talk = Conversation(pathlib.Path(sys.argv[2]), store=sys.argv[3])
    talk.agent.store.batch = batch
    for i, text in enumerate(texts):
        if i == dies:
            os.kill(os.getpid(), signal.SIGKILL)
        print(*talk.say(text), flush=True)
    talk.close()
"""


def elsewhere(
    home: Path, store: str, texts: list[str] = CONVERSATION, *, seed: str = "", dies_before: int = -1
) -> list[str]:
    """Hold a conversation in another process, which may be killed before a turn."""
    home.mkdir(exist_ok=True)
    tests = str(Path(__file__).parent.parent)
    told = json.dumps([texts, dies_before, STORES[store].batch])
    command = [sys.executable, "-c", textwrap.dedent(ELSEWHERE), tests, str(home), store, told]
    environment = {**os.environ, "PYTHONHASHSEED": seed or "random"}
    start: Any = subprocess.run if seed else zygote.run  # a process that was forked has the seed of the tests
    done = start(command, env=environment, capture_output=True, text=True, cwd=Path(tests).parent)
    assert done.returncode == (0 if dies_before < 0 else -signal.SIGKILL), done.stderr
    said: list[str] = done.stdout.splitlines()
    return said


def test_the_conversation_itself_shows_something(converse: Converse):
    said = converse().say(*CONVERSATION)
    assert "beetroot" in said[3]
    assert "leeks" in said[6]
    assert "lighthouse" in said[7]
    assert json.loads(said[8]) == ["made with beetroot", "made with leeks"]
    assert said[9] == "I do not remember that."
    assert said[12] == said[7]


@pytest.mark.unkept
def test_other_processes_and_hash_seeds_give_the_same_replies(converse: Converse, store: str, tmp_path: Path):
    here = converse().say(*SHORT)
    seed = {"chroma": "1", "sqlite": "4711", "chroma_index": "2"}[
        store
    ]  # the one of the tests is another each time
    assert elsewhere(tmp_path / "other", store, SHORT, seed=seed) == here


@pytest.mark.unkept
@pytest.mark.parametrize("dies_before", [1, 6, 11, 12])
def test_killed_and_restored_it_continues_as_if_nothing_had_happened(
    converse: Converse, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies_before: int
):
    texts = CONVERSATION if dies_before == 12 else SHORT
    if texts is SHORT:
        monkeypatch.setattr(STORES[store], "batch", STORES[store].batch // 10)
    undisturbed = converse(home=tmp_path / "undisturbed")
    undisturbed.say(*texts)
    home = tmp_path / "killed"
    elsewhere(home, store, texts, dies_before=dies_before)
    before = [passage for each in undisturbed.turns[:dies_before] for passage in split_turn(each)]
    lost = len(before) - len(converse(home=home).agent.store.load())
    assert 0 <= lost < STORES[store].batch
    restored = converse(undisturbed.turns[:dies_before], home)
    restored.say(*texts[dies_before:])
    assert restored.turns == undisturbed.turns
    for query in ("soup", "lighthouse", "the capital of France"):
        assert restored.recall(query, 30) == undisturbed.recall(query, 30)
    restored.close()
    undisturbed.close()
    again = converse(undisturbed.turns, home).stored()
    assert again == converse(undisturbed.turns, tmp_path / "undisturbed").stored()


@EXACT
def test_the_ranking_is_exact_among_thousands(converse: Converse):
    talk = converse()
    for number in range(50):
        asyncio.run(talk.agent.observe(turn(number, trivia(60 * number, 60), f"[{number}]")))
    store = talk.agent.store
    lines = [line for number in range(50) for line in [*trivia(60 * number, 60).splitlines(), f"[{number}]"]]
    whole = np.rint(hashing.embed(lines) * hashing.GRAIN).astype(np.int64)
    items = shipped().items
    for query in [question for question, _ in items[:3000:40]] + ["of", "", "capital", "xyzzy"]:
        vector = hashing.embed([query])[0]
        scores = whole @ np.rint(vector * hashing.GRAIN).astype(np.int64)
        exact = sorted(range(len(lines)), key=lambda i: (-scores[i], i))[:20]
        assert [passage.text for passage, _ in store.now().nearest(vector, 20)] == [lines[i] for i in exact]


# The store


@contextmanager
def opened_by_chroma(home: Path) -> Iterator[Any]:
    """Open a memory's folder with Chroma's own client."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what Chroma itself imports
        import chromadb
        from chromadb.config import Settings
    settings = Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(home / "chroma"), settings=settings)
    yield client.get_collection("passages", embedding_function=None)
    client.close()  # type: ignore[attr-defined]  # which its type hides


@pytest.mark.parametrize("store", ["chroma", "chroma_index"], indirect=True)
def test_chromas_own_client_finds_what_was_said(converse: Converse, store: str, tmp_path: Path):
    talk = converse()
    talk.say("My boat is called Undine.", "I like rain.", "What is my boat called?")
    talk.close()
    with opened_by_chroma(tmp_path / "home") as collection:
        assert collection.count() == 6
        by_word = collection.get(where_document={"$contains": "Undine"}, include=["documents", "metadatas"])
        by_place = collection.get(where={"$and": [{"turn": 1}, {"speaker": "user"}]}, include=["embeddings"])
        vector = hashing.embed(["I like rain."])
        nearest = collection.query(query_embeddings=vector, n_results=1)
    assert by_word["documents"][0] == "My boat is called Undine."
    assert by_word["metadatas"][0] == {"speaker": "user", "turn": 0, "at": START.isoformat()}
    if store == "chroma":  # by cosine, Chroma keeps them at another length
        assert np.array_equal(np.array(by_place["embeddings"], dtype=np.float32), vector)
    assert nearest["documents"] == [["I like rain."]]


def test_a_run_that_version_0_2_began_goes_on_with_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    begun = Conversation(tmp_path, store="sqlite")  # which was the default
    begun.say("My boat is called Undine.")
    begun.close()
    monkeypatch.setattr(
        hashing, "embed", lambda texts: pytest.fail(f"embedded again: {texts}") if texts else []
    )
    resumed = Conversation(tmp_path, begun.turns)
    monkeypatch.undo()
    assert "Undine" in resumed.say("What is my boat called?")[0]
    resumed.close()
    assert [path.name for path in tmp_path.iterdir()] == [SqliteStore.place]


@pytest.mark.parametrize("store", ["chroma"], indirect=True)
def test_however_many_users_few_folders_are_open_at_once(
    converse: Converse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(chroma_store, "_MOST_OPEN", 2)
    monkeypatch.setattr(ChromaStore, "batch", 1)  # so that each turn opens one
    users = [f"user {number}" for number in range(5)]
    told = [turn(number, f"My boat is called {user}.") for number, user in enumerate(users * 2)]
    told = [replace(t, message=replace(t.message, user=users[n % 5])) for n, t in enumerate(told)]
    talk = converse()
    for each in told:
        asyncio.run(talk.agent.observe(each))
        assert 0 < len(chroma_store._open) <= 2
    talk.close()
    assert chroma_store._open == []
    again = converse(told)
    assert len(chroma_store._open) <= 2
    question = replace(turn(10, "What is my boat called?").message, user=users[3])
    assert "user 3" in asyncio.run(again.agent.reply(question)).text


def test_every_passage_of_message_and_reply_is_stored(converse: Converse):
    talk = converse()
    asyncio.run(talk.agent.observe(turn(0, "One line.\nAnother line.", '["a",\n "b"]')))
    talk.close()
    assert converse([turn(0, "One line.\nAnother line.", '["a",\n "b"]')]).stored() == {
        "00000000.0000": "One line.",
        "00000000.0001": "Another line.",
        "00000000.0002": '["a",\n "b"]',
    }


@pytest.mark.parametrize(
    "texts", [[""], ["\n \n"], ["…", "x" * 5000, "half \ud800 a pair", "nul \0 byte", "🎻"]]
)
def test_no_text_is_too_strange(converse: Converse, texts: list[str]):
    talk = converse()
    for text in texts:
        talk.say(text, text + "?")
    talk.close()
    assert converse(talk.turns).say("What?")


def test_restoring_removes_what_the_log_lacks(converse: Converse):
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


def test_a_turn_stored_by_half_or_wrongly_is_mended(converse: Converse, store: str, tmp_path: Path):
    talk = converse()
    talk.say("My boat is called Undine.\nMy horse is called Bucephalus.", "I like rain.")
    expected = {"00000000.0000", "00000000.0001", "00000000.0002", "00000001.0000", "00000001.0001"}
    talk.close()
    if store == "sqlite":
        with closing(sqlite3.connect(tmp_path / "home" / "memory.sqlite")) as opened, opened:
            opened.execute("DELETE FROM passages WHERE key = '00000000.0001'")
            opened.execute("UPDATE passages SET text = ? WHERE key = '00000001.0000'", [b"I like snow."])
    else:
        with opened_by_chroma(tmp_path / "home") as collection:
            collection.delete(ids=["00000000.0001"])
            vectors = collection.get(ids=["00000001.0000"], include=["embeddings"])["embeddings"]
            collection.update(ids=["00000001.0000"], embeddings=vectors, documents=["I like snow."])
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


def test_an_unreadable_store_says_what_to_do(converse: Converse, store: str, tmp_path: Path):
    talk = converse()
    talk.say("My boat is called Undine.")
    talk.close()
    where = tmp_path / "home" / STORES[store].place
    file = where / "chroma.sqlite3" if where.is_dir() else where
    file.write_bytes(b"no database" * 1000)
    kind = "folder" if where.is_dir() else "file"
    with pytest.raises(CannotResume, match=rf"cannot be read .* delete that {kind} and resume"):
        converse(talk.turns)


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


@pytest.mark.parametrize(("core", "found"), [("openai_chat:some-model", True), ("extractive", False)])
def test_a_broken_store_is_found_before_anything_is_paid_for(
    key: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, core: str, found: bool
):
    def broken(*_: object) -> None:
        raise RuntimeError("an sqlite3 that is too old")

    monkeypatch.setattr(STORES[store], "connect", broken)
    agent = make_agent("vector_memory", {"core": core, "store": store})
    with pytest.raises(RuntimeError, match="too old") if found else nullcontext():
        asyncio.run(agent.open(tmp_path))


# All stores


@pytest.mark.unkept
def test_a_fork_knows_nothing_of_what_was_said_after_it(converse: Converse):
    talk = converse()
    talk.say("My boat is called Undine.")
    message = turn(1, "What is my boat called?").message
    answered = asyncio.run(talk.agent.fork(message))
    talk.say("From today my boat is called Melusine.")
    said = asyncio.run(answered()).text
    assert "Undine" in said
    assert "Melusine" not in said
    assert "Melusine" in talk.say("What is my boat called?")[0]


@pytest.mark.parametrize("store", ["chroma_index"], indirect=True)
def test_chromas_index_misses_few_near_neighbours(converse: Converse, tmp_path: Path):
    talk, exact = converse(), converse(home=tmp_path / "exact", store="sqlite")
    for number in range(40):
        said = turn(number, trivia(60 * number, 60))
        for each in (talk, exact):
            asyncio.run(each.agent.observe(said))
    missed = wanted = 0
    for question, _ in shipped().items[:2400:40]:
        near = {(m.turn, m.text) for m in exact.recall(question, 20)}
        found = {(m.turn, m.text) for m in talk.recall(question, 20)}
        missed += len(near - found)
        wanted += len(near)
    assert wanted == 60 * 20
    assert missed <= wanted // 50


@pytest.mark.parametrize("questions", ["in-line", "forked"])
def test_in_chroma_or_in_sqlite_a_run_has_the_same_log(
    questions: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    logs, outcomes = {}, {}
    for store in STORES:
        made = run(
            agent="vector_memory",
            settings={"store": store},
            span="2k",
            scenarios=["colours", "shopping_list"],
            examples=5,
            questions=questions,
            name=store,
        )
        _, *logs[store] = (tmp_path / "reports" / store / "events.jsonl").read_bytes().splitlines()
        outcomes[store] = [(one.id, one.outcomes) for one in made.examples]
    assert len(logs["chroma"]) > 100
    assert logs["chroma"] == logs["sqlite"]
    assert outcomes["chroma_index"] == outcomes["sqlite"]  # its replies may differ, but not often
