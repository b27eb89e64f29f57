"""The adapter for Hindsight, through its real client, against its real server with a model on this machine."""

import asyncio
import json
import os
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from ltm_bench.adapters import Again, Endpoint
from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Turn
from ltm_bench.plugins.agents import agent_class, make_agent

if TYPE_CHECKING:
    from tests.hindsight_server import free_port, hindsight_server
    from tests.memories import SESSION, Conversation, Open, conversations, model, record, turn
    from tests.products import Answer, Call, Product, serving
else:
    from hindsight_server import free_port, hindsight_server
    from memories import SESSION, Conversation, Open, conversations, model, record, turn
    from products import Answer, Call, Product, serving

KEY = "hsk_not-a-key-0123456789"
TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]


class Front(Product):
    """Passes requests on to a real server, except those that it fails."""

    def __init__(self, behind: str) -> None:
        super().__init__()
        self._behind = behind
        self.routes = [(method, "/.*", self.forward) for method in ("GET", "POST", "PATCH", "DELETE")]

    def forward(self, call: Call) -> Answer:
        request = urllib.request.Request(
            f"{self._behind}{call.path}?{urlencode(call.query)}",
            method=call.method,
            data=None if call.body is None else json.dumps(call.body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def retained(self) -> list[str]:
        """Return the texts that were sent to be stored."""
        stored = [call for call in self.calls if call.method == "POST" and call.path.endswith("/memories")]
        return [item["content"] for call in stored for item in call.body["items"]]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, key: str) -> Iterator[Provider]:
    """The model that Hindsight and the core share."""
    pytest.importorskip("hindsight_client", reason="needs the extra: pip install ltm-bench[hindsight]")
    program = os.environ.get("LTM_BENCH_HINDSIGHT")
    if not program:
        pytest.skip("needs LTM_BENCH_HINDSIGHT: the program hindsight-api 1.1.0, with its embedded database")
    running = hindsight_server(program, model)
    monkeypatch.setenv("HINDSIGHT_API_KEY", KEY)
    monkeypatch.setenv("HINDSIGHT_BASE_URL", running.url)
    yield running.model
    running.model.answer = model


@pytest.fixture
def front(server: Provider, monkeypatch: pytest.MonkeyPatch) -> Iterator[Front]:
    product = Front(os.environ["HINDSIGHT_BASE_URL"])
    with serving(product):
        monkeypatch.setenv("HINDSIGHT_BASE_URL", product.url)
        yield product


@pytest.fixture
def open_in(
    tmp_path: Path, front: Front, server: Provider, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Open]:
    monkeypatch.setattr(sys.modules[agent_class("hindsight").__module__], "_PAUSE", 0.0)
    core = {"core": "openai_chat:some-model", "core_url": server.openai_url}
    with conversations(tmp_path, "hindsight", **core, recent=0, max_retries=0) as start:
        yield start


def told(*texts: str) -> list[Turn]:
    return [turn(number, text) for number, text in enumerate(texts)]


def of(user: str, one: Turn) -> Turn:
    return replace(one, message=replace(one.message, user=user))


def facts(talk: Conversation) -> list[tuple[str, int | None]]:
    """Return what was extracted, without the observations made of it."""
    return sorted((each.text, each.turn) for each in talk.memories() if each.turn is not None)


def observations(talk: Conversation) -> list[str]:
    return sorted(each.text for each in talk.memories() if each.turn is None)


def refuse(front: Front, path: str, answer: Answer) -> None:
    """Give the next request whose path ends like this another answer."""
    front.fails = lambda call: call.path.endswith(path)
    front.faults = [answer]


# Settings


def test_a_missing_package_is_reported_in_one_line(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hindsight_client", None)
    agent = make_agent("hindsight", {"core": "openai_chat:m", "base_url": "http://localhost:8888"})
    with pytest.raises(ConfigError, match=r"^agent hindsight: .* not installed; .*\[hindsight\]'$"):
        asyncio.run(agent.open(tmp_path))
    asyncio.run(agent.close())


def test_a_wrong_setting_is_named(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HINDSIGHT_API_KEY", raising=False)
    monkeypatch.delenv("HINDSIGHT_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match="HINDSIGHT_API_KEY is not set"):
        make_agent("hindsight", {"core": "openai_chat:m"})
    make_agent("hindsight", {"core": "openai_chat:m", "base_url": "http://localhost:8888"})  # needs no key
    with pytest.raises(ConfigError, match="the setting 'core' is required"):
        make_agent("hindsight", {})
    here = {"core": "openai_chat:m", "base_url": "http://localhost:8888"}
    with pytest.raises(ConfigError, match="facts = 0"):
        make_agent("hindsight", {**here, "facts": 0})
    with pytest.raises(ConfigError, match="memories"):  # Hindsight counts tokens, not memories
        make_agent("hindsight", {**here, "memories": 5})


def test_an_error_that_has_its_status_as_status_is_explained(key: str) -> None:
    class ApiException(Exception):
        """As the client's."""

        status = 429
        body = "busy"

    endpoint = Endpoint.openai("m", base_url="http://localhost", timeout=1, max_retries=0)
    assert "HTTP 429, rate limit or quota (busy)" in str(endpoint.explain(ApiException()))


def test_doctor_is_told_which_server_answers(front: Front, server: Provider) -> None:
    core = {"core": "openai_chat:some-model", "core_url": server.openai_url}
    package, found = asyncio.run(make_agent("hindsight", core).examine())
    assert (package.ok, found.ok, found.text) == (True, True, "the server is Hindsight 1.1.0")
    elsewhere = {**core, "base_url": f"http://127.0.0.1:{free_port()}"}
    _, found = asyncio.run(make_agent("hindsight", elsewhere).examine())
    assert not found.ok
    assert "the connection failed" in found.text


# What it remembers


def test_it_waits_for_the_observations_and_answers(open_in: Open, front: Front) -> None:
    talk = open_in()
    talk.observe(*told(*TOLD))
    reply = talk.say(3, "What is my parrot called?").reply
    assert "Zebedee" in reply.text
    assert reply.text.startswith("[Monday, 5 January 2026, 09:00, 3 minutes ago]")
    found = talk.recall("What is my parrot called?")
    assert ("User says: My parrot is called Zebedee.", 0) in found
    assert ("Observed: My parrot is called Zebedee.", None) in found
    assert talk.recall("What is my parrot called?", 1) == found[:1]
    assert facts(talk) == [("User says: I moved to Ribe.", 1), ("User says: My parrot is called Zebedee.", 0)]
    assert front.calls[0].headers["authorization"] == f"Bearer {KEY}"
    asked = [call.body for call in front.calls if call.path.endswith("/memories/recall")]
    assert [body["query_timestamp"] for body in asked] == ["2026-01-05T09:03:00+00:00"] * 3


def test_its_price_is_unknown_and_its_tokens_are_the_cores(open_in: Open) -> None:
    talk = open_in()
    usage = talk.say(0, "Hello!").reply.usage
    assert usage is not None
    assert usage.prompt > 0
    assert usage.provider is None


def test_a_fork_leaves_no_trace(open_in: Open, front: Front) -> None:
    talk = open_in()
    talk.observe(turn(0, TOLD[0]))

    reply = talk.ask_apart(1, "What is my parrot called? I moved to Ribe.")
    assert "Zebedee" in reply.text
    assert reply.usage is not None
    assert reply.usage.provider is None
    assert len(front.retained()) == 1


def test_long_turns_and_empty_ones_are_heard(open_in: Open, front: Front) -> None:
    talk = open_in()
    filler = "One line of filler that is long enough.\n" * 400
    talk.observe(turn(0, f"{filler}My parrot is called Zebedee.", ""), turn(1, " ", "\n"))
    assert facts(talk) == [("User says: My parrot is called Zebedee.", 0)]
    assert len(front.retained()) == 1
    assert "Assistant" not in front.retained()[0]
    assert "Zebedee" in talk.say(2, "What is my parrot called? " * 200).reply.text


def test_users_are_kept_apart(open_in: Open) -> None:
    talk = open_in()
    talk.observe(of("Ada", turn(0, TOLD[0])), of("Bob", turn(1, "My parrot is called Archibald.")))
    asked = replace(turn(2, "What is my parrot called?").message, user="Bob")
    assert "Archibald" in talk.runner.run(talk.agent.reply(asked)).text
    assert {(each.user, each.turn) for each in talk.memories() if each.turn is not None} == {
        ("Ada", 0),
        ("Bob", 1),
    }
    assert talk.recall("parrot") == []  # of nobody


def test_recall_is_bounded_in_tokens_as_in_its_own_evaluation(open_in: Open, front: Front) -> None:
    talk = open_in()
    talk.observe(*told(*TOLD))
    recalled = [text for text, _ in talk.recall("What is my parrot called?", 50)]
    assert "User: My parrot is called Zebedee.\nAssistant: Noted." in recalled, "the words themselves"
    [asked] = [call.body for call in front.calls if call.path.endswith("/recall")]
    assert (asked["max_tokens"], asked["budget"]) == (4096, "high")
    assert asked["include"]["entities"]["max_tokens"] == 2048
    assert asked["include"]["chunks"]["max_tokens"] == 8192


def test_a_session_is_told_by_its_speakers_at_its_date(open_in: Open, front: Front) -> None:
    talk = open_in()
    talk.observe_session(record(*SESSION))
    items = [item for call in front.calls if call.path.endswith("/memories") for item in call.body["items"]]
    assert [item["content"] for item in items] == [
        "Melanie: Any news?\nCaroline: I moved to Ribe.\nIt rained.",
        "Melanie: My parrot is called Zebedee.",
    ]
    assert items[0]["context"] == "a conversation between Melanie and Caroline"
    assert {item["timestamp"] for item in items} == {"2023-05-07T13:56:00+00:00"}


# Resuming


def test_a_resumed_run_continues_with_its_bank(open_in: Open, front: Front) -> None:
    talk = open_in()
    turns = told(*TOLD)
    talk.observe(*turns)
    known = facts(talk)
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert len(front.retained()) == 3
    assert facts(again) == known
    again.close()
    more = open_in()
    more.restore(*turns, turn(3, "My boat is called Undine."))
    assert len(front.retained()) == 4
    assert ("User says: My boat is called Undine.", 3) in facts(more)


def test_what_is_not_in_the_log_is_deleted(open_in: Open, front: Front) -> None:
    talk, other = open_in(), open_in("other")
    other.observe(turn(0, "My boat is called Undine."))
    turns = told(*TOLD)
    talk.observe(*turns)
    talk.say(3, "My parrot is called Archibald now.")
    assert any("Archibald" in text for text in observations(talk))
    talk.close()
    again = open_in()
    again.restore(*turns[:2])
    assert len(front.retained()) == 5
    assert facts(again) == [
        ("User says: I moved to Ribe.", 1),
        ("User says: My parrot is called Zebedee.", 0),
    ]
    assert observations(again) == ["Observed: I moved to Ribe.", "Observed: My parrot is called Zebedee."]
    assert facts(other) == [("User says: My boat is called Undine.", 0)]


def test_a_turn_that_was_stored_but_not_recorded_is_deleted(
    open_in: Open, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = open_in()
    turns = told(*TOLD)
    talk.observe(turns[0])
    forward = front.forward

    def lose(call: Call) -> Answer:
        status, answer = forward(call)
        return (
            (502, {"detail": "lost"})
            if call.path.endswith("/memories") and status == 200
            else (status, answer)
        )

    front.routes = [("POST", "/.*", lose), *front.routes]
    with pytest.raises(AgentError, match="HTTP 502"):
        talk.observe(of("Ada", turns[1]))  # a new user, whose bank is not in the ledger
    front.routes = front.routes[1:]
    talk.close()
    again = open_in()
    again.restore(turns[0])
    again.observe(of("Ada", turn(1, "My boat is called Undine.")))
    assert facts(again) == [
        ("User says: My boat is called Undine.", 1),
        ("User says: My parrot is called Zebedee.", 0),
    ]


# Forgetting


def test_what_is_forgotten_stays_forgotten(open_in: Open, front: Front) -> None:
    talk = open_in()
    turns = [
        *(of("Ada", each) for each in told(TOLD[0], TOLD[1])),
        of("Bob", turn(2, "I sold my boat.", "And your parrot?")),
        turn(3, "My boat is called Undine."),
    ]
    talk.observe(*turns)
    assert talk.runner.run(talk.agent.forget("parrot")) == 2  # a fact and an observation
    kept = facts(talk)
    assert [number for _, number in kept] == [1, 2, 3]
    assert not any("parrot" in text for text in observations(talk))
    assert front.retained()[-1] == "User: I sold my boat."
    assert "parrot" not in (talk.home / "heard.jsonl").read_text("utf-8")
    assert talk.runner.run(talk.agent.forget("parrot")) == 0
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert facts(again) == kept
    again.close()

    (again.home / "heard.jsonl").unlink()
    (again.home / "banks.json").unlink()
    shutil.move(again.home / "name", again.home / "old-name")
    fresh = open_in()
    fresh.restore(*turns)  # told everything again, except that
    assert facts(fresh) == kept


def test_forgetting_that_was_interrupted_is_completed_by_a_resumed_run(open_in: Open, front: Front) -> None:
    talk = open_in()
    turns = told("My parrot is called Zebedee.", "I moved to Ribe.", "I sold the parrot.")
    talk.observe(*turns)
    refuse(front, "/documents/turn-2", (500, {"detail": "no good"}))
    with pytest.raises(AgentError, match="HTTP 500"):
        talk.runner.run(talk.agent.forget("parrot"))
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert facts(again) == [("User says: I moved to Ribe.", 1)]
    assert observations(again) == ["Observed: I moved to Ribe."]


# A slow or failing server


def test_it_does_not_wait_for_ever(open_in: Open, server: Provider) -> None:
    held = [True]

    def slow(messages: Sequence[dict[str, str]]) -> str:
        while held and "consolidation" in messages[0]["content"][:60]:
            time.sleep(0.01)
        return model(messages)

    server.answer = slow
    talk = open_in(patience=0.2)
    talk.observe(turn(0, TOLD[0]))
    with pytest.raises(AgentError, match=r"did not finish consolidation within patience=0\.2 seconds"):
        talk.say(1, "What is my parrot called?")
    held.clear()
    talk.close()
    again = open_in()
    again.restore(turn(0, TOLD[0]))
    assert observations(again) == ["Observed: My parrot is called Zebedee."]


def test_facts_that_could_not_be_consolidated_stop_the_run_and_are_tried_again(
    open_in: Open, server: Provider
) -> None:
    def unwilling(messages: Sequence[dict[str, str]]) -> str:
        consolidates = "consolidation" in messages[0]["content"][:60]
        return "I would rather not." if consolidates else model(messages)

    server.answer = unwilling
    talk = open_in()
    talk.observe(turn(0, TOLD[0]))
    with pytest.raises(AgentError, match=r"^Hindsight could not consolidate 1 fact\(s\)"):
        talk.memories()
    talk.close()
    server.answer = model
    again = open_in()
    again.restore(turn(0, TOLD[0]))
    assert observations(again) == ["Observed: My parrot is called Zebedee."]


def test_what_hindsight_failed_at_stops_the_run_and_is_tried_again(open_in: Open, front: Front) -> None:
    talk = open_in()
    talk.observe(turn(0, TOLD[0]))
    talk.memories()
    listed = next(call for call in front.calls if call.path.endswith("/operations"))
    _, answer = front.forward(listed)
    failed = {**answer["operations"][0], "status": "failed", "error_message": f"no good:\n{KEY}"}
    refuse(front, "/operations", (200, {**answer, "operations": [failed]}))
    talk.observe(turn(1, TOLD[1]))
    with pytest.raises(
        AgentError, match=r"failed at consolidation \(no good: \[removed\]\); resume"
    ) as caught:
        talk.say(2, "What is my parrot called?")
    assert KEY not in str(caught.value)
    talk.close()
    refuse(front, "/operations", (200, {**answer, "operations": [failed]}))
    again = open_in()
    again.restore(*told(*TOLD[:2]))
    assert any(call.path.endswith(f"/operations/{failed['id']}/retry") for call in front.calls)
    assert len(observations(again)) == 2  # it had not failed at all


@pytest.mark.parametrize("status", [429, 503, 500])
def test_a_passing_failure_is_tried_again(open_in: Open, front: Front, status: int) -> None:
    talk = open_in(max_retries=1)
    refuse(front, "/memories", (status, {"detail": "busy"}))
    talk.observe(turn(0, TOLD[0]))
    assert facts(talk) == [("User says: My parrot is called Zebedee.", 0)]
    assert len(front.retained()) == 2


def test_it_waits_as_long_as_the_server_says(server: Provider) -> None:
    again = sys.modules[agent_class("hindsight").__module__]._again
    for status, headers, verdict in (
        (429, {"Retry-After": "7"}, Again(7.0)),
        (503, {"Retry-After": "tomorrow"}, Again()),
        (500, None, Again()),
        (400, {"Retry-After": "7"}, None),
    ):
        error = import_module("hindsight_client_api.exceptions").ApiException(status=status)
        error.headers = headers
        assert again(error) == verdict


def test_a_failure_of_its_model_is_named(open_in: Open, server: Provider) -> None:
    talk = open_in()
    with (
        server.failing("error", status=401, message="Incorrect API key provided: sk-not*****6789"),
        pytest.raises(AgentError, match=r"^hindsight at 127\.0\.0\.1: HTTP 5") as caught,
    ):
        talk.observe(turn(0, TOLD[0]))
    assert "\n" not in str(caught.value)
    assert "sk-not" not in str(caught.value)
    talk.restore(turn(0, TOLD[0]))
    assert facts(talk) == [("User says: My parrot is called Zebedee.", 0)]


@pytest.mark.parametrize(
    ("status", "complaint"),
    [
        (401, "the key in HINDSIGHT_API_KEY"),
        (404, "HTTP 404"),
        (429, "rate limit"),
        (500, "provider failed"),
    ],
)
def test_failures_are_one_line_without_the_key(
    open_in: Open, front: Front, status: int, complaint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    talk = open_in()
    front.faults = [(status, {"detail": f"no good:\n{KEY}"})]
    with pytest.raises(AgentError, match=complaint) as caught:
        talk.observe(turn(0, TOLD[0]))
    assert KEY not in str(caught.value) + "".join(capfd.readouterr())
    assert "\n" not in str(caught.value)
    assert KEY not in repr(talk.agent) + repr(vars(talk.agent))


@pytest.mark.parametrize("answer", [{"results": "Zebedee"}, {"results": [{"id": 1}]}, ["Zebedee"], None])
def test_a_wrong_answer_is_named_in_one_line(open_in: Open, front: Front, answer: object) -> None:
    talk = open_in()
    talk.observe(turn(0, TOLD[0]))
    refuse(front, "/memories/recall", (200, answer))
    with pytest.raises(
        AgentError, match=r"^hindsight at 127\.0\.0\.1: the answer could not be read"
    ) as caught:
        talk.recall("parrot")
    assert "\n" not in str(caught.value)


def test_a_server_that_hangs_or_is_not_there_is_named(open_in: Open, front: Front) -> None:
    talk = open_in(timeout=0.3)
    with front.failing("hang", seconds=5), pytest.raises(AgentError, match=r"no reply within timeout=0\.3"):
        talk.observe(turn(0, TOLD[0]))
    away = open_in("away", base_url=f"http://127.0.0.1:{free_port()}")
    with pytest.raises(AgentError, match="the connection failed"):
        away.observe(turn(0, TOLD[0]))
