"""Attempts are reported, and answers can be cached: over real connections to the local provider."""

import asyncio
import json
import sqlite3
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters import SdkChatModel
from ltm_bench.adapters.http.answers import AnswerCache, caching
from ltm_bench.adapters.http.traffic import Attempt, Traffic, listening, tell
from ltm_bench.adapters.testing import Provider
from ltm_bench.adapters.text import sendable
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Message, Reply
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("key")

ADAPTERS = pytest.mark.parametrize("adapter", ["openai_chat", "openai_responses", "anthropic_chat"])


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("é", "é"),
        ("\ud83d\ude00", "😀"),
        ("half \ud83d of it", "half \ufffd of it"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ufeffé", "\ufeffé"),
    ],
)
def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_becomes_its_character(
    text: str, sent: str
) -> None:
    assert sendable(text) == sent
    assert sendable(json.loads(json.dumps(text))) == sent  # as it comes out of a log


def ask(
    server: Provider, adapter: str, text: str, home: Path, cache: Path | None = None, **settings: Any
) -> tuple[Reply | AgentError, Traffic]:
    """Say one thing to a fresh agent; return the result and what went over the wire."""
    url = server.url if adapter == "anthropic_chat" else server.openai_url

    async def once() -> tuple[Reply | AgentError, Traffic]:
        agent = make_agent(adapter, {"model": "some-model", "base_url": url, **settings})
        home.mkdir(parents=True, exist_ok=True)
        await agent.open(home)
        said: Reply | AgentError
        heard = Traffic()
        try:
            with caching(cache), listening() as heard:
                said = await agent.reply(Message(text, datetime(2026, 1, 5, tzinfo=UTC), 0))
        except AgentError as error:
            said = error
        await agent.close()
        return said, heard

    return asyncio.run(once())


@ADAPTERS
def test_every_attempt_is_reported_with_its_status(server: Provider, tmp_path: Path, adapter: str) -> None:
    server.fail("error", status=529)
    server.fail("error", status=500)
    _, heard = ask(server, adapter, "Hello!", tmp_path)
    assert [attempt.status for attempt in heard.attempts] == [529, 500, 200]
    assert all(attempt.seconds > 0 for attempt in heard.attempts)
    assert not heard.cached


@ADAPTERS
def test_an_attempt_without_an_answer_says_why_there_is_none(
    server: Provider, tmp_path: Path, adapter: str
) -> None:
    server.fail("hang", times=2, seconds=20.0)
    said, heard = ask(server, adapter, "Hello!", tmp_path, timeout=0.5, max_retries=1)
    assert "no reply within" in str(said)
    assert [(attempt.status, attempt.error) for attempt in heard.attempts] == [(None, "ReadTimeout")] * 2


@ADAPTERS
def test_the_same_request_is_answered_once(server: Provider, tmp_path: Path, adapter: str) -> None:
    cache = tmp_path / "answers.sqlite"
    first, wire = ask(server, adapter, "My cat is Tom.", tmp_path / "one" / "agent", cache)
    again, quiet = ask(server, adapter, "My cat is Tom.", tmp_path / "two" / "agent", cache)  # of another run
    assert first == again
    assert isinstance(again, Reply)
    assert (wire.cached, quiet.cached) == (False, True)
    assert len(server.requests) == 1


def test_a_request_that_differs_in_any_way_is_sent(server: Provider, tmp_path: Path) -> None:
    cache = tmp_path / "answers.sqlite"
    for text, settings in (
        ("a", {}),
        ("b", {}),
        ("a", {"temperature": 0.5}),
        ("a", {"system": "Be kind."}),
        ("a", {"model": "another-model"}),
        ("a", {}),
    ):
        ask(server, "openai_chat", text, tmp_path, cache, **settings)
    assert len(server.requests) == 5


def test_a_useless_answer_is_not_cached(server: Provider, tmp_path: Path) -> None:
    server.fail("empty")
    first, _ = ask(server, "openai_chat", "Hello!", tmp_path, tmp_path / "answers.sqlite")
    second, _ = ask(server, "openai_chat", "Hello!", tmp_path, tmp_path / "answers.sqlite")
    assert "used up" in str(first)
    assert isinstance(second, Reply)


def test_the_cache_holds_neither_a_key_nor_anything_that_was_sent(
    server: Provider, tmp_path: Path, key: str
) -> None:
    path = tmp_path / "answers.sqlite"
    ask(server, "openai_chat", "My secret is Xylophone.", tmp_path, path)
    with sqlite3.connect(path) as database:
        [(request, body)] = database.execute("SELECT request, body FROM answers").fetchall()
    database.close()
    assert len(request) == 64
    assert json.loads(body)["choices"]
    content = b"".join(each.read_bytes() for each in tmp_path.glob("answers.sqlite*"))
    assert key.encode() not in content


def test_a_file_that_is_not_a_cache_is_reported_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_text("no database" * 100)
    with pytest.raises(ConfigError, match=r"answers\.sqlite: not a cache of answers"), caching(path):
        pass


def test_a_cache_that_breaks_in_use_is_empty_from_then_on_and_stops_nobody(tmp_path: Path) -> None:
    cache = tmp_path / "answers.sqlite"
    answers = AnswerCache(cache)
    with sqlite3.connect(cache) as database:
        database.execute("DROP TABLE answers")
    database.close()
    assert answers.get("x") is None
    answers.keep({"x": b"{}"})
    answers.close()


def test_a_cached_answer_that_is_larger_than_any_that_is_kept_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltm_bench.adapters.http.answers.BODY", 100)
    answers = AnswerCache(tmp_path / "answers.sqlite")
    answers.keep({"small": b"x" * 100, "large": b"x" * 101})
    assert [answers.get(each) for each in ("small", "large")] == [b"x" * 100, None]
    answers.close()


def test_agents_on_one_loop_share_their_connections_and_the_last_one_closes_them(
    server: Provider, tmp_path: Path
) -> None:
    async def talk() -> list[bool]:
        settings = {"model": "some-model", "base_url": server.openai_url}
        one, two = (make_agent(name, settings) for name in ("openai_chat", "openai_responses"))
        clients: list[Any] = []
        for agent in (one, two):
            await agent.open(tmp_path)
            assert isinstance(agent, SdkChatModel)
            clients.append(agent.client._client)
        assert clients[0] is clients[1]
        message = Message("Hello!", datetime(2026, 1, 5, tzinfo=UTC), 0)
        await one.reply(message)
        await one.close()
        closed = [clients[0].is_closed]
        await two.reply(message)
        await two.close()
        closed.append(clients[0].is_closed)
        third = make_agent("openai_chat", settings)
        await third.open(tmp_path)
        await third.reply(message)
        await third.close()
        return closed

    assert asyncio.run(talk()) == [False, True]
    assert len(server.requests) == 3


def test_attempts_need_no_listener() -> None:
    tell(Attempt(0.1, 200))


RUN = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--agent", "openai_chat")


def records(folder: Path, name: str = "timings.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def test_a_second_run_with_the_cache_asks_nobody_and_has_the_same_log(
    server: Provider, command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    where = ("-A", "model=some-model", "--base-url", server.openai_url, "--cache")
    assert command(*RUN, *where, "--name", "a").exit_code == 0
    asked, replies = len(server.requests), len(server.chats)
    assert command(*RUN, *where, "--name", "b").exit_code == 0
    assert len(server.requests) == asked
    logs = [(tmp_path / "reports" / name / "events.jsonl").read_bytes() for name in "ab"]
    assert logs[0] == logs[1]
    latency = json.loads((tmp_path / "reports" / "b" / "results.json").read_text("utf-8"))["latency"]
    assert (latency["cached"], latency["retries"]) == (replies, 0)
    assert replies > 3
    page = (tmp_path / "reports" / "b" / "report.html").read_text("utf-8")
    assert f"{replies} of {replies} replies came from the answer cache" in page
    assert command(*RUN, *where[:-1], "--name", "c").exit_code == 0
    assert len(server.requests) == 2 * asked


def test_every_attempt_is_in_the_timings_even_for_a_reply_that_never_came(
    server: Provider, command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    where = ("-A", "model=some-model", "--base-url", server.openai_url)
    server.fail("error", status=500, times=2)
    done = command(*RUN, *where, "--name", "a", "--max-retries", "1", "--timeout", "5")
    assert done.exit_code == 3
    assert "after 1 retry" in done.err
    [*_, failed] = records(tmp_path / "reports" / "a")
    assert [attempt["status"] for attempt in failed["attempts"]] == [500, 500]
    assert failed["failed_after"] > 0
    server.fail("error", status=429)
    assert command("resume", "a", "--max-retries", "3").exit_code == 0  # under other connections
    said = records(tmp_path / "reports" / "a")
    marks = records(tmp_path / "reports" / "a", "calls.jsonl")
    assert [record for record in marks if "doubtful" in record] == [{"turn": 0, "doubtful": True}]
    second, third, *_ = [record for record in said if "seconds" in record]
    assert [attempt["status"] for attempt in second["attempts"]] == [429, 200]
    assert [attempt["status"] for attempt in third["attempts"]] == [200]
    page = (tmp_path / "reports" / "a" / "report.html").read_text("utf-8")
    assert "3 requests failed and were retried" in page


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--timeout", "0"), "--timeout 0: write a number of seconds"),
        (("--timeout", "soon"), "--timeout soon: write a number of seconds"),
        (("--max-retries", "-1"), "--max-retries -1: write a whole number, 0 or more"),
        (("--agent", "parrot", "--timeout", "5"), "agent parrot: no setting 'timeout'"),
    ],
)
def test_flags_that_make_no_sense_are_reported_in_one_line(
    command: "Command",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("run", "--span", "2k", *words)
    assert done.exit_code == 1
    assert complaint in done.err
    assert not (tmp_path / "reports").exists()


def test_the_names_of_the_room_are_those_of_its_modules() -> None:
    http = import_module("ltm_bench.adapters.http")
    assert http.Answers is http.AnswerCache is AnswerCache
    for (
        name
    ) in "LONGEST_PAUSE MOST_BYTES Again attempt begin bounded client passing read retrying tell".split():
        assert getattr(http, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        http.nonsense  # noqa: B018  # asking is the test
