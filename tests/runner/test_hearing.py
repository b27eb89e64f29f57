"""What the agent hears: the whole conversation, observed or asked; and how that is reported."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from ltm_bench import load_run
from ltm_bench.score.results.scoring import score_run

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("tests/golden/**/*.*", "agents/*.*", "configs/*.*"))

RUN = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")

DEAF = '''
"""Deaf: is asked, or hears nothing."""


def agent(message: str) -> str:
    with open("asked.txt", "a") as file:
        file.write(message.partition("\\n")[0] + "\\n")
    return "Okay."
'''

FRAIL = '''
"""Frail: fails once, and keeps nothing for the next process."""

import os
from ltm_bench import Agent, Message, Reply


class Frail(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        if message.turn == 6 and not os.path.exists("failed"):
            open("failed", "w").close()
            raise RuntimeError("not today")
        return Reply("Okay.")
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "deaf.py").write_text(DEAF, "utf-8")
    (tmp_path / "agents" / "frail.py").write_text(FRAIL, "utf-8")
    return tmp_path


def results(place: Path, name: str = "r") -> dict[str, Any]:
    content: dict[str, Any] = json.loads((place / "reports" / name / "results.json").read_text("utf-8"))
    return content


def test_an_agent_that_does_not_observe_is_asked_everything_at_an_announced_cost(
    place: Path, command: "Command"
) -> None:
    done = command(*RUN, "--agent", "deaf")
    assert done.exit_code == 0, done.output
    said = " ".join(done.err.split())
    assert "deaf does not observe, so it is asked everything: about" in said
    assert said.index("price unknown") < said.index("turn"), "announced before the run"
    found = results(place)
    assert found["costs"]["calls"] == found["turns"] == len((place / "asked.txt").read_text().splitlines())
    assert found["heard"] == {"asked": found["tokens"], "observed": 0, "missed": 0}
    heard = f"{found['tokens']:,} of {found['tokens']:,} tokens, filler asked"
    assert f"heard: {heard}" in " ".join(done.out.split())
    assert heard in (place / "reports" / "r" / "report.html").read_text("utf-8")


def test_an_agent_that_observes_hears_the_same_with_fewer_calls(place: Path, command: "Command") -> None:
    done = command(*RUN, "--agent", "vector_memory")
    assert "asked everything" not in done.err
    found = results(place)
    assert found["costs"]["calls"] < found["turns"]
    assert found["heard"] == {
        "asked": found["tokens"] - found["filler_tokens"],
        "observed": found["filler_tokens"],
        "missed": 0,
    }
    assert "tokens, filler observed" in " ".join(done.out.split())


def test_an_estimate_says_how_many_calls_asking_filler_takes(place: Path, command: "Command") -> None:
    lines = command("estimate", "--agent", "deaf", "--span", "32k").out.splitlines()
    rows = {line.strip().split("  ")[0]: line.split() for line in lines}
    turns, calls = (int(rows[name][-2].replace(",", "")) for name in ("turns", "of them asked of the agent"))
    assert turns == calls
    assert int(rows["of these filler"][-2].replace(",", "")) > calls / 4
    scripted = command("estimate", "--agent", "gpt-4o", "--span", "2k").out
    asked = command("estimate", "--agent", "gpt-4o", "--span", "2k", "--filler", "live").out
    assert scripted != asked


def test_comparing_runs_that_heard_filler_differently_brings_a_warning(
    place: Path, command: "Command"
) -> None:
    command(*RUN, "--agent", "deaf")
    command(*RUN[:-1], "other", "--agent", "vector_memory")
    said = " ".join(command("compare", "r", "other").output.split())
    assert "different way in which filler reached the agent: asked in r; observed in other" in said


def test_resuming_an_agent_that_cannot_hear_the_past_brings_a_warning(
    place: Path, command: "Command"
) -> None:
    assert command(*RUN, "--agent", "frail").exit_code == 3
    done = command("resume", "r")
    assert done.exit_code == 0, done.output
    remark = "resumed at turn 6, where the agent could not be told what had been said before"
    assert remark in " ".join(done.out.split())
    assert any(remark in each for each in results(place)["remarks"])


def test_a_run_from_0_1_0_does_not_say_what_its_agent_heard() -> None:
    golden = Path(__file__).parents[1] / "golden" / "0.1.0"
    old = score_run(golden / "conversation")
    assert (old.heard, old.filler_heard) == (None, "not recorded")
    assert "may not have reached" in old.hearing
    alone = score_run(golden / "isolated")
    assert alone.heard is not None
    assert (alone.heard.missed, alone.filler_heard) == (0, "no filler")


# Over HTTP ------------------------------------------------------------------------------------------------------------


class Endpoint(BaseHTTPRequestHandler):
    said: ClassVar[list[tuple[str, dict[str, Any]]]] = []
    refuse = 0
    """Observations that are refused."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/observe" and Endpoint.refuse:
            Endpoint.refuse -= 1
            self.send_response(400)
            self.end_headers()
            return
        self.said.append((self.path, body))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"reply": "Okay."}')

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.said, Endpoint.refuse = [], 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def at(url: str, *more: str) -> tuple[str, ...]:
    settings = (f"url={url}/chat", "session=who", "time=at", *more)
    return (*RUN, "--agent", "http", *(word for each in settings for word in ("-A", each)))


def test_an_endpoint_with_a_route_for_observing_is_told_of_filler(
    place: Path, command: "Command", endpoint: str
) -> None:
    done = command(
        *at(endpoint, "observe=/observe", "observe_reply=answer", 'observe_extra={"kind": "seen"}')
    )
    assert done.exit_code == 0, done.output
    told = [body for path, body in Endpoint.said if path == "/observe"]
    asked = [body for path, body in Endpoint.said if path == "/chat"]
    found = results(place)
    assert found["costs"]["calls"] == len(asked)
    assert len(told) + len(asked) == found["turns"]
    assert all(set(body) == {"kind", "message", "answer", "who", "at"} and body["answer"] for body in told)
    assert found["heard"]["observed"] == found["filler_tokens"] > 0
    assert Endpoint.said[-1][0] == "/chat"
    texts = [event["message"] for event in _log(place) if event["event"] == "sent"]
    assert [body["message"] for _, body in Endpoint.said] == texts, "the endpoint hears everything, in order"


def test_an_endpoint_without_such_a_route_is_asked(place: Path, command: "Command", endpoint: str) -> None:
    done = command(*at(endpoint))
    assert "http does not observe, so it is asked everything" in " ".join(done.err.split())
    found = results(place)
    assert found["heard"]["asked"] == found["tokens"]
    assert len(Endpoint.said) == found["turns"]


def test_filler_that_an_endpoint_did_not_take_is_sent_again_on_resuming(
    place: Path, command: "Command", endpoint: str
) -> None:
    Endpoint.refuse = 1
    stopped = command(*at(endpoint, "observe=/observe"))
    assert stopped.exit_code == 3
    assert "/observe refused the request: HTTP 400" in " ".join(stopped.err.split())
    assert command("resume", "r").exit_code == 0
    texts = [event["message"] for event in _log(place) if event["event"] == "sent"]
    assert [body["message"] for _, body in Endpoint.said] == texts


@pytest.mark.parametrize("bad", ["observe=observe", "observe=ftp://here/", "observe_extra={"])
def test_a_route_for_observing_that_cannot_be_used_is_named(
    place: Path, command: "Command", bad: str
) -> None:
    done = command(*at("http://127.0.0.1:9", bad))
    assert done.exit_code == 1
    assert bad.partition("=")[0] in done.err


def _log(place: Path) -> list[dict[str, Any]]:
    lines = (place / "reports" / "r" / "events.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


# As a program, and as a function --------------------------------------------------------------------------------------

PROGRAM = """
import json, sys

for line in sys.stdin:
    print("{}" if "observe" in json.loads(line) else '{"reply": "Okay."}', flush=True)
"""


def test_a_program_observes_when_the_setting_says_so(place: Path, command: "Command") -> None:
    (place / "program.py").write_text(PROGRAM, "utf-8")
    program = ("--agent", "command", "-A", f"command={sys.executable} program.py")
    assert command(*RUN, *program).exit_code == 0
    assert command(*RUN[:-1], "told", *program, "-A", "observe=true").exit_code == 0
    asked, told = load_run("r").results, load_run("told").results
    assert (asked.filler_heard, told.filler_heard) == ("asked", "observed")
    assert asked.costs.calls == asked.turns > told.costs.calls


def test_a_program_that_is_started_again_must_observe(place: Path, command: "Command") -> None:
    done = command(*RUN, "--agent", "command", "-A", "command=cat", "-A", "restarts=1")
    assert done.exit_code == 1
    assert "restarts=1 needs observe=true" in " ".join(done.err.split())
